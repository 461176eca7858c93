#include "signal/replay/fix_replays.h"

#include "base/log.h"
#include "base/text.h"
#include "signal/replay/fix_traces.h"
#include "signal/replay/fix_verdicts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace hone::signal {

using access::Caller, access::Permission;
using review::ArtifactId, review::BranchReplay, review::ReplaySet, review::ReplayState;

namespace {

// Makes the names of two things different, and is short enough for people.
std::string end_of_id(const std::string& id) {
    constexpr size_t letters = 8;
    return id.size() < letters ? id : id.substr(id.size() - letters);
}

std::string replays_of(const Issue& issue) {
    std::string title(truncate_utf8(issue.title, 80));
    for (char& letter : title)
        if (static_cast<unsigned char>(letter) < ' ' || letter == 0x7f) letter = ' ';
    return fmt::format("Replays of {} ({})", title, end_of_id(issue.id.text()));
}

constexpr Duration replay_poll = std::chrono::seconds(1);
constexpr Duration replay_retry = std::chrono::seconds(15);

// A step that another one can repeat later: the machine is busy, or the engine sleeps.
bool is_passing(const Error& error) {
    return error.code == Code::busy || error.code == Code::unavailable;
}

Caller replayer(const BranchReplay& replay) {
    Caller caller = Caller::system();
    caller.name = replay.started_by;
    return caller;
}

void replace(json::Defaulted<int64_t>& setting, const std::optional<int64_t>& wanted) {
    if (wanted) setting = *wanted;
}
void replace(json::Defaulted<std::string>& setting, const std::optional<std::string>& wanted) {
    if (wanted) setting = *wanted;
}
void replace(json::Defaulted<bool>& setting, const std::optional<bool>& wanted) {
    if (wanted) setting = *wanted;
}

Result<review::ReplaySettings> settings_for(const review::Branch& branch, const StartReplay& wanted) {
    review::ReviewPolicy policy = branch.policy;
    review::ReplayPolicy& replay = policy.replay.value;
    replace(replay.command, wanted.command);
    replace(replay.evaluator, wanted.evaluator);
    replace(replay.control_evaluator, wanted.control_evaluator);
    replace(replay.repetitions, wanted.repetitions);
    replace(replay.evidence, wanted.evidence);
    replace(replay.control, wanted.control);
    replace(replay.timeout_seconds, wanted.timeout_seconds);
    replace(replay.budget_seconds, wanted.budget_seconds);
    replace(replay.last_line, wanted.last_line);
    replace(replay.live_tools, wanted.live_tools);
    TRY(review::validate(policy));
    if (trim(*replay.command).empty())
        return invalid("command is missing: give the shell command that runs the application on one example, or set "
                       "review.replay.command in the preset");
    const std::string issue = wanted.issue.value_or(branch.fix_of);
    if (issue.empty()) return invalid("issue is missing: the branch fixes no issue, so name the one to replay");
    return review::replay_settings(replay, issue);
}

} // namespace

Result<EvaluatorVersion> FixReplays::evaluator_of(const access::SpaceId& space, const std::string& named,
                                                  const Issue& issue) const {
    std::string name = !named.empty() ? named : issue.evaluator_id.value_or("");
    if (name.empty())
        return invalid("evaluator is missing: the issue has none, so name one that decides whether an output passes");
    std::optional<int64_t> number;
    if (const size_t at = name.rfind('@'); at != std::string::npos) {
        const auto parsed = parse_integer(std::string_view(name).substr(at + 1));
        if (!parsed.ok() || parsed.value() < 1) return invalid("evaluator has no version number after @");
        number = parsed.value();
        name.resize(at);
    }
    const Caller system = Caller::system();
    const Evaluator family = TRY(m_parts.evaluators.find_named(system, space, name));
    if (family.space_id != space) return not_found("evaluator " + std::string(truncate_utf8(name, 100)));
    if (family.kind == EvaluatorKind::rule)
        return invalid("evaluator " + family.name +
                       " is a rule over spans, and a replayed run has no spans: name one that evaluates outputs");
    return m_parts.evaluators.version(system, family.id, number.value_or(family.revision));
}

Result<BranchReplay> FixReplays::start(const Caller& caller, const ArtifactId& id, const StartReplay& wanted) {
    const review::Artifact artifact = TRY(m_parts.artifacts.find(caller, id));
    if (artifact.kind != review::ArtifactKind::branch) return invalid("only branches are replayed");
    if (!caller.run.empty()) return forbidden("a worker cannot start a replay");
    TRY(caller.require(Permission::experiment_write, artifact.space_id));
    const review::Branch branch = TRY(m_parts.branches.find(id));
    if (wanted.revision && *wanted.revision != branch.revision)
        return conflict(fmt::format("the newest revision is {}; only this one is replayed", branch.revision));
    const review::ReplaySettings settings = TRY(settings_for(branch, wanted));
    const auto issue_id = parse_id<IssueTag>(*settings.issue);
    if (!issue_id.ok()) return not_found("issue " + std::string(truncate_utf8(*settings.issue, 60)));
    const Issue issue = TRY(m_parts.issues.find(caller, issue_id.value()));
    if (issue.space_id != artifact.space_id) return not_found("issue " + issue.id.text());
    std::vector<std::string> evaluators{*settings.evaluator};
    if (!settings.control_evaluator.value.empty()) evaluators.push_back(*settings.control_evaluator);
    for (const std::string& named : evaluators) {
        const EvaluatorVersion evaluator = TRY(evaluator_of(artifact.space_id, named, issue));
        if (evaluator.kind == EvaluatorKind::llm || evaluator.kind == EvaluatorKind::agent)
            TRY(caller.require(Permission::run_start, artifact.space_id)); // it spends money
    }
    TRY(m_parts.database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(review::Replays::enqueue(transaction, id, branch.revision, settings, caller.name, m_parts.clock.now()));
        return m_parts.access.audit.record(transaction, caller,
                                           {"replay_start",
                                            artifact.space_id,
                                            id.text(),
                                            {{"revision", branch.revision}, {"issue", issue.id.text()}}});
    }));
    if (m_listener) m_listener();
    return find(caller, id, branch.revision);
}

Result<BranchReplay> FixReplays::stop(const Caller& caller, const ArtifactId& id) {
    const review::Artifact artifact = TRY(m_parts.artifacts.find(caller, id));
    if (!caller.run.empty()) return forbidden("a worker cannot stop a replay");
    TRY(caller.require(Permission::experiment_write, artifact.space_id));
    BranchReplay replay = TRY(find(caller, id, 0));
    replay.state = ReplayState::stopped;
    replay.reason = "stopped by " + caller.name;
    if (!TRY(m_replays.stop(replay))) return conflict("the replay does not run");
    for (const std::string& experiment : {replay.base_experiment_id, replay.branch_experiment_id})
        if (!experiment.empty()) {
            const auto stopped = m_parts.evaluate.tasks.stop(Caller::system(), evaluate::ExperimentId(experiment));
            if (!stopped.ok() && stopped.error().code != Code::conflict && stopped.error().code != Code::not_found)
                return stopped.error();
        }
    return find(caller, id, replay.revision);
}

Result<BranchReplay> FixReplays::find(const Caller& caller, const ArtifactId& id, int64_t revision) const {
    const review::Artifact artifact = TRY(m_parts.artifacts.find(caller, id));
    if (artifact.kind != review::ArtifactKind::branch) return not_found("replay of artifact " + id.text());
    if (revision == 0) revision = TRY(m_parts.branches.find(id)).revision;
    auto replay = TRY(m_replays.find(id, revision));
    if (!replay) return not_found(fmt::format("replay of revision {}", revision));
    return std::move(*replay);
}

Result<Duration> FixReplays::step() {
    auto replay = TRY(m_replays.claim(m_parts.server));
    if (!replay) return Duration(std::chrono::seconds(5));
    const auto advanced = advance(*replay);
    if (advanced.ok()) return Duration::zero();
    if (is_passing(advanced.error())) {
        log(Level::warning, "a replay waits",
            {{"artifact", replay->artifact_id.text()}, {"why", advanced.error().message}});
        TRY(m_replays.release(*replay, m_parts.server, replay_retry));
        return Duration::zero();
    }
    replay->state = ReplayState::failed;
    replay->reason = truncate_utf8(advanced.error().message, 1000);
    TRY(m_replays.end(*replay, m_parts.server));
    return Duration::zero();
}

Result<> FixReplays::advance(BranchReplay& replay) {
    if (replay.state == ReplayState::queued) {
        TRY(prepare(replay));
        if (!TRY(m_replays.started(replay, m_parts.server)))
            return conflict("the replay was stopped, or another server works on it");
        m_parts.evaluate.runner.wake();
        TRY(m_replays.release(replay, m_parts.server, replay_poll));
        return {};
    }
    if (TRY(finish(replay)))
        TRY(m_replays.end(replay, m_parts.server));
    else
        TRY(m_replays.release(replay, m_parts.server, replay_poll));
    return {};
}

Result<evaluate::ExperimentId> FixReplays::make_experiment(const BranchReplay& replay,
                                                           const evaluate::DatasetId& dataset, int64_t version,
                                                           const std::string& side,
                                                           const evaluate::StartTask& task) const {
    const Caller caller = replayer(replay);
    evaluate::NewExperiment wanted;
    wanted.name = fmt::format("{} of revision {}, attempt {} ({})", side, replay.revision, replay.attempt,
                              end_of_id(replay.artifact_id.text()));
    wanted.description = "Replay of an issue's traces for a review.";
    wanted.metadata = json::Object{
        {"review", replay.artifact_id.text()}, {"revision", replay.revision}, {"issue", *replay.settings.issue}};
    wanted.repetitions = *replay.settings.repetitions;
    wanted.version = version;
    // A server that died after it made the experiment has left it here.
    auto there = m_parts.evaluate.experiments.find_by_name(caller, dataset, *wanted.name);
    if (!there.ok() && there.error().code == Code::not_found)
        there = m_parts.evaluate.experiments.create(caller, dataset, wanted);
    const evaluate::Experiment experiment = TRY(std::move(there));
    const auto find_evaluator = [&](const std::string& id, std::optional<int64_t> number) -> Result<EvaluatorVersion> {
        return m_parts.evaluators.version(caller, EvaluatorId(id), number.value_or(1));
    };
    const auto started = m_parts.evaluate.tasks.start(caller, experiment.id, task, find_evaluator);
    if (!started.ok() && started.error().code != Code::conflict) return started.error();
    return experiment.id;
}

Result<> FixReplays::prepare(BranchReplay& replay) {
    if (m_parts.spans == nullptr) return invalid("this server stores no spans, so nothing can be replayed");
    review::ReplaySettings& settings = replay.settings;
    const review::Branch branch = TRY(m_parts.branches.find(replay.artifact_id));
    const review::Revision revision = TRY(m_parts.branches.revision(replay.artifact_id, replay.revision));
    const review::RunFacts facts = TRY(m_parts.runs.facts(branch.run_id));
    const auto issue = TRY(Issues::read(m_parts.database, IssueId(*settings.issue)));
    if (!issue) return not_found("issue " + (settings.issue.value.empty() ? "of this branch" : *settings.issue));
    if (issue->space_id != facts.space) return not_found("issue " + *settings.issue);
    const auto project = TRY(m_parts.access.projects.find(Caller::system(), facts.space, issue->project_id.text()));
    if (project.restricted && *settings.automatic)
        return forbidden(
            "the project of the issue is restricted, and replayed outputs are visible to the whole space: a "
            "member who can read the project starts the replay");
    const EvaluatorVersion evaluator = TRY(evaluator_of(facts.space, *settings.evaluator, *issue));
    settings.evaluator = fmt::format("{}@{}", evaluator.name, evaluator.number);
    std::vector<std::string> evaluators{fmt::format("{}@{}", evaluator.evaluator_id.text(), evaluator.number)};
    if (!settings.control_evaluator.value.empty()) {
        const EvaluatorVersion control = TRY(evaluator_of(facts.space, *settings.control_evaluator, *issue));
        settings.control_evaluator = fmt::format("{}@{}", control.name, control.number);
        std::string named = fmt::format("{}@{}", control.evaluator_id.text(), control.number);
        if (named != evaluators.front()) evaluators.push_back(std::move(named));
    }
    ChosenTraces chosen = TRY(choose_traces(*m_parts.spans, m_parts.issues, replay.settings, *issue));
    replay.result = {};
    replay.result.not_replayed = std::move(chosen.not_replayed);
    if (chosen.examples.empty() || chosen.examples.front().set != ReplaySet::evidence)
        return invalid(
            fmt::format("no trace of the issue can be replayed{}",
                        replay.result.not_replayed.empty() ? "" : ": " + replay.result.not_replayed.front().reason));
    evaluate::Upload upload;
    upload.action = evaluate::UploadAction::update;
    upload.name = replays_of(*issue);
    upload.description = "Traces that reviews of fixes replay; each replay makes a version.";
    upload.source = evaluate::VersionSource::spans;
    upload.note = fmt::format("{} revision {}", replay.artifact_id.text(), replay.revision);
    upload.replaces_splits = true;
    std::map<std::string, const ChosenTraces::One*> by_id;
    for (const ChosenTraces::One& one : chosen.examples) {
        by_id.emplace(*one.example.example_id, &one);
        upload.examples.push_back(one.example);
    }
    const Caller caller = replayer(replay);
    evaluate::Datasets& datasets = m_parts.evaluate.datasets;
    const evaluate::Uploaded uploaded = TRY(datasets.upload(caller, facts.space, std::move(upload)));
    const int64_t version = TRY(datasets.version(caller, uploaded.dataset, uploaded.version)).number;
    for (const evaluate::Example& example : TRY(datasets.examples(caller, uploaded.dataset, version, {}, -1, 1000))) {
        const auto one = by_id.find(example.external_id.value_or(""));
        if (one == by_id.end()) continue;
        review::ReplayedExample replayed;
        replayed.set = one->second->set;
        replayed.example_id = example.id.text();
        replayed.trace_id = example.source_trace.value_or("");
        replayed.tool_results = one->second->tool_results;
        replay.result.examples.push_back(std::move(replayed));
    }
    std::ranges::stable_sort(replay.result.examples, {}, &review::ReplayedExample::set);
    evaluate::StartTask task;
    task.task.kind = evaluate::TaskKind::replay;
    task.task.command = *settings.command;
    task.task.repo = branch.repo_id;
    task.task.image = facts.image;
    task.task.env = facts.env;
    task.task.last_line = *settings.last_line;
    task.task.timeout_ms = *settings.timeout_seconds * 1000;
    task.task.replay_tools = *settings.live_tools ? evaluate::ReplayTools::live : evaluate::ReplayTools::recorded;
    task.evaluators = evaluators;
    task.budget_seconds = *settings.budget_seconds;
    replay.dataset_id = uploaded.dataset.text();
    task.task.ref = evaluate::pushed_ref(branch.run_id, revision.base_commit);
    replay.base_experiment_id = TRY(make_experiment(replay, uploaded.dataset, version, "base", task)).text();
    task.task.ref = evaluate::pushed_ref(branch.run_id, revision.head_commit);
    replay.branch_experiment_id = TRY(make_experiment(replay, uploaded.dataset, version, "branch", task)).text();
    return {};
}

// Scores of 0.5 or more pass. An eval without a score, such as cannot_judge, is no verdict.
Result<> FixReplays::read_runs(BranchReplay& replay, const std::string& experiment,
                               review::ReplaySide review::ReplayedExample::*side) const {
    std::map<std::string, review::ReplayedExample*> by_id;
    for (auto& example : replay.result.examples) by_id.emplace(example.example_id, &example);
    const auto without_number = [](const std::string& name) { return name.substr(0, name.rfind('@')); };
    const std::string evaluator = without_number(*replay.settings.evaluator);
    const std::string control = replay.settings.control_evaluator.value.empty()
                                    ? evaluator
                                    : without_number(*replay.settings.control_evaluator);
    const auto note = [&](std::string_view problem) {
        if (replay.result.problem.empty()) replay.result.problem = truncate_utf8(problem, 500);
    };
    const evaluate::ExperimentId id(experiment);
    for (const auto& [example_id, example] : by_id) {
        review::ReplaySide& counted = example->*side;
        counted = {};
        const auto records =
            TRY(m_parts.evaluate.experiments.records_of(Caller::system(), id, evaluate::ExampleId(example_id)));
        for (const evaluate::RunRecord& record : records) {
            if (record.run.error) note(*record.run.error);
            for (const evaluate::ExperimentEval& eval : record.evals) {
                if (eval.name != (example->set == ReplaySet::control ? control : evaluator)) continue;
                if (eval.error) note(*eval.error);
                if (!eval.score || eval.error) continue;
                ++(*eval.score >= 0.5 ? counted.passed : counted.failed);
            }
        }
    }
    return {};
}

// True: it has ended, one way or the other.
Result<bool> FixReplays::finish(BranchReplay& replay) {
    const Caller system = Caller::system();
    int64_t done = 0;
    replay.result.spent_ms = replay.result.spent_micro_usd = 0;
    for (const std::string& experiment : {replay.base_experiment_id, replay.branch_experiment_id}) {
        const auto found = m_parts.evaluate.tasks.find(system, evaluate::ExperimentId(experiment));
        if (!found.ok() && found.error().code == Code::not_found)
            return invalid("an experiment of the replay was deleted");
        const evaluate::ExperimentTask task = TRY(found);
        replay.result.spent_ms += task.spent_ms;
        replay.result.spent_micro_usd += task.spent_micro_usd;
        const bool is_base = experiment == replay.base_experiment_id;
        switch (task.state) {
        case evaluate::TaskState::queued:
        case evaluate::TaskState::running:
            break;
        case evaluate::TaskState::done:
            ++done;
            break;
        case evaluate::TaskState::failed:
        case evaluate::TaskState::stopped:
        case evaluate::TaskState::budget_stopped:
            return invalid(fmt::format("the experiment on the {} is {}: {}", is_base ? "base" : "branch",
                                       name_of(task.state), task.reason));
        }
    }
    if (done < 2) return false;
    TRY(read_runs(replay, replay.base_experiment_id, &review::ReplayedExample::base));
    TRY(read_runs(replay, replay.branch_experiment_id, &review::ReplayedExample::branch));
    int64_t verdicts = 0;
    for (const auto& example : replay.result.examples) verdicts += example.base.passed + example.base.failed;
    if (verdicts == 0) return invalid("no run on the base has a verdict: " + replay.result.problem);
    conclude(replay);
    replay.state = ReplayState::done;
    return true;
}

} // namespace hone::signal
