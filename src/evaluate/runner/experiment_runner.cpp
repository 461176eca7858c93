#include "evaluate/runner/experiment_runner.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/evaluators/short_lived_file.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/runner/rule_evals.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller;

namespace {

// An example, and an output, has up to 4 MiB.
constexpr int64_t examples_read_at_once = 25;
constexpr int64_t evals_at_once = 50;
constexpr Duration renewal = std::chrono::seconds(2);
// A run that the machine could not begin (no sandbox, no memory) is retried this often before the experiment fails.
constexpr int most_machine_errors = 3;

// A place of the server, until the end of the scope.
class Place {
public:
    Place(SharedPlaces* places, const std::function<bool()>& ended)
        : m_places(places),
          m_is_taken(places == nullptr || places->take(ended)) {}
    ~Place() {
        if (m_places != nullptr && m_is_taken) m_places->give();
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    bool is_taken() const { return m_is_taken; }

private:
    SharedPlaces* const m_places;
    const bool m_is_taken;
};

} // namespace

json::Value document_of(const RunRecord& record) {
    json::Object document;
    document["input"] = stored_json(record.example.input);
    const auto output = json::parse(record.run.output);
    document["output"] = output.ok() ? output.value() : json::Value(nullptr);
    document["reference"] = stored_json(record.example.output);
    document["metadata"] = stored_json(record.example.metadata);
    document["example_id"] = record.example.id.text();
    document["repetition"] = record.run.repetition;
    document["latency_ms"] = static_cast<double>((record.run.ended_at - record.run.started_at).count()) / 1'000'000.0;
    return document;
}

ExperimentRunner::ExperimentRunner(RunnerParts parts)
    : m_parts(std::move(parts)),
      m_server(to_hex(crypto::random_bytes(12))),
      m_tasks(m_parts.provider, m_parts.sources, m_parts.spans),
      m_duty({"experiments", std::chrono::seconds(2)}, [this] { return step(); }) {
    // The layers of sandboxes are in the data directory, which is the folder of `directory`.
    if (m_parts.provider != nullptr)
        m_layers.emplace(*m_parts.provider, m_parts.directory.substr(0, m_parts.directory.rfind('/')), m_parts.packages,
                         m_parts.directory + "-layers");
}

ExperimentRunner::~ExperimentRunner() {
    m_ending = true;
    m_tasks.abandon();
    m_duty.stop();
    std::deque<std::unique_ptr<Live>> live;
    {
        const Lock lock(m_mutex);
        live.swap(m_live);
    }
    for (const auto& one : live) {
        const Lock lock(one->mutex);
        one->changed.notify_all();
    }
    for (const auto& one : live) one->thread.join();
}

Result<> ExperimentRunner::start() {
    TRY(sandbox::remove_tree(m_parts.directory));
    TRY(make_readable_directory(m_parts.directory));
    m_duty.start();
    return {};
}

Result<std::vector<CodeResult>> ExperimentRunner::run_code(const EvaluatorVersion& version,
                                                           const std::vector<json::Value>& documents,
                                                           const std::function<bool()>& stopped) {
    if (!m_layers) return unavailable("this machine cannot isolate code, so none is run; `hone check` states why");
    return CodeRunner(*m_parts.provider, *m_layers, m_parts.directory).run_code(version, documents, stopped);
}

// At the start and every hour.
void ExperimentRunner::collect_layers() {
    if (!m_layers) return;
    const Duration now = m_parts.clock.steady();
    {
        const Lock lock(m_mutex);
        if (m_collected && now - *m_collected < std::chrono::hours(1)) return;
        m_collected = now;
    }
    const auto removed = m_layers->collect(m_parts.tasks.database());
    if (!removed.ok()) log(Level::warning, "layers of evaluators not removed", {{"why", removed.error().message}});
}

void ExperimentRunner::join_finished() {
    std::deque<std::unique_ptr<Live>> finished;
    {
        const Lock lock(m_mutex);
        for (auto one = m_live.begin(); one != m_live.end();) {
            if (!(*one)->finished) {
                ++one;
                continue;
            }
            finished.push_back(std::move(*one));
            one = m_live.erase(one);
        }
    }
    for (const auto& one : finished) one->thread.join();
}

Result<> ExperimentRunner::step() {
    join_finished();
    collect_layers();
    for (;;) {
        {
            const Lock lock(m_mutex);
            if (m_ending || m_live.size() >= m_parts.most_at_once) return {};
        }
        const auto claimed = TRY(m_parts.tasks.claim(m_server));
        if (!claimed) return {};
        const Lock lock(m_mutex);
        m_live.push_back(std::make_unique<Live>(*claimed));
        Live& live = *m_live.back();
        live.thread = std::jthread([this, &live] {
            keep(live);
            live.finished = true;
            m_duty.wake();
        });
    }
}

// Renews the lease while another thread works, then writes how it ended.
void ExperimentRunner::keep(Live& live) {
    Duration renewed = m_parts.clock.steady();
    {
        const std::jthread worker([this, &live] { work(live); });
        for (;;) {
            {
                const Lock lock(live.mutex);
                if (!live.worked) live.changed.wait_for(live.mutex, renewal);
                if (live.worked) break;
            }
            const Duration now = m_parts.clock.steady();
            const auto kept = m_parts.tasks.renew(live.id, m_server, now - renewed);
            renewed = now;
            if (!kept.ok())
                log(Level::warning, "lease of an experiment not renewed", {{"why", kept.error().message}});
            else if (!kept.value())
                live.stopping = true;
            const auto task = m_parts.tasks.find(Caller::system(), live.id);
            if (task.ok() && task.value().budget_seconds &&
                task.value().spent_ms >= *task.value().budget_seconds * 1000) {
                live.out_of_budget = true;
                live.stopping = true;
            }
        }
    }
    static_cast<void>(m_parts.tasks.renew(live.id, m_server, m_parts.clock.steady() - renewed));
    const auto ended = [&]() -> Result<> {
        const Lock lock(live.mutex);
        if (live.out_of_budget)
            return m_parts.tasks.end(live.id, m_server, TaskState::budget_stopped,
                                     live.problem.empty() ? "budget_seconds is used up" : live.problem);
        // A busy database passes: the experiment is claimed again and continues.
        if (live.error && live.error->code == Code::busy) return m_parts.tasks.release(live.id, m_server);
        if (live.error && live.error->code != Code::conflict)
            return m_parts.tasks.end(live.id, m_server, TaskState::failed, live.error->message);
        if (is_over(live)) return m_parts.tasks.release(live.id, m_server);
        return m_parts.tasks.end(live.id, m_server, TaskState::done, live.problem);
    }();
    if (!ended.ok()) log(Level::warning, "the end of an experiment was not stored", {{"why", ended.error().message}});
}

void ExperimentRunner::work(Live& live) {
    const auto worked = [&]() -> Result<> {
        const ExperimentTask task = TRY(m_parts.tasks.find(Caller::system(), live.id));
        if (task.task.kind != TaskKind::evaluate) TRY(run_examples(live, task));
        {
            const Lock lock(live.mutex);
            if (live.error) return *live.error;
        }
        return evaluate(live, task);
    }();
    const Lock lock(live.mutex);
    if (!worked.ok() && !live.error) live.error = worked.error();
    live.worked = true;
    live.changed.notify_all();
}

Result<> ExperimentRunner::run_examples(Live& live, const ExperimentTask& task) {
    if (task.task.kind == TaskKind::replay) TRY(m_tasks.recordings().prepare());
    std::string commit = task.commit_name;
    const auto folder = TRY(TaskFolder::make(m_parts.directory, task, m_parts.sources, commit));
    if (commit != task.commit_name) TRY(m_parts.tasks.set_commit(live.id, commit));
    std::vector<std::jthread> lanes;
    for (int64_t i = 0; i < task.concurrency; ++i)
        lanes.emplace_back([this, &live, &task, &folder] { run_lane(live, task, *folder); });
    lanes.clear(); // joins
    return {};
}

Result<std::optional<PendingRun>> ExperimentRunner::take(Live& live, const ExperimentTask& task) {
    const Lock lock(live.mutex);
    while (live.pending.empty() && !live.all_read) {
        int64_t last = live.position;
        auto more = TRY(m_parts.tasks.pending_runs(task, live.position, examples_read_at_once, last));
        live.all_read = last == live.position;
        live.position = last;
        for (PendingRun& run : more) live.pending.push_back(std::move(run));
    }
    if (live.pending.empty()) return std::optional<PendingRun>();
    PendingRun next = std::move(live.pending.front());
    live.pending.pop_front();
    return std::optional(std::move(next));
}

void ExperimentRunner::run_lane(Live& live, const ExperimentTask& task, const TaskFolder& folder) {
    const auto ran = [&]() -> Result<> {
        int machine_errors = 0;
        std::optional<PendingRun> next;
        while (!is_over(live)) {
            if (!next) next = TRY(take(live, task));
            if (!next) return {};
            const Place place(m_parts.places, [&] { return is_over(live); });
            if (!place.is_taken()) return {};
            ExperimentRun run;
            run.experiment_id = live.id;
            run.example_id = next->example.id;
            run.repetition = next->repetition;
            run.started_at = m_parts.clock.now();
            const auto outcome = m_tasks.run(task, folder, *next, [this] { return m_ending.load(); });
            run.ended_at = std::max(m_parts.clock.now(), run.started_at);
            if (!outcome.ok() && outcome.error().code == Code::conflict) return {};
            if (!outcome.ok()) {
                if (++machine_errors >= most_machine_errors) return outcome.error();
                log(Level::warning, "a run of an experiment could not begin", {{"why", outcome.error().message}});
                continue;
            }
            machine_errors = 0;
            if (const auto& why = outcome.value().out_of_budget) {
                const Lock lock(live.mutex);
                live.problem = *why;
                live.out_of_budget = true;
                live.stopping = true;
                return {};
            }
            run.output = outcome.value().output;
            run.error = outcome.value().error;
            run.trace_id = outcome.value().trace_id;
            if (const auto& recording = outcome.value().recording) {
                TRY(m_parts.tasks.set_replay(live.id, recording->replay));
                if (outcome.value().is_recorded) {
                    run.started_at = recording->started_at;
                    run.ended_at = recording->ended_at;
                    run.trace_id = recording->trace_id;
                }
            }
            const auto stored = m_parts.experiments.add_run(Caller::system(), run);
            // Another server stored this run meanwhile: it stays.
            if (!stored.ok() && stored.error().code != Code::conflict) return stored.error();
            next.reset();
        }
        return {};
    }();
    if (ran.ok()) return;
    live.stopping = true;
    const Lock lock(live.mutex);
    if (!live.error) live.error = ran.error();
}

Result<> ExperimentRunner::evaluate(Live& live, const ExperimentTask& task) {
    for (const TaskEvaluator& evaluator : task.evaluators) {
        if (is_over(live)) return {};
        TRY(evaluate_with(live, task, evaluator));
    }
    return {};
}

// A model, an agent or a remote service: several documents at the same time.
std::vector<JudgeOutcome> ExperimentRunner::apply_judge(Live& live, const ExperimentTask& task,
                                                        const EvaluatorVersion& version,
                                                        const std::vector<RunRecord>& records) {
    std::vector<JudgeOutcome> outcomes(records.size());
    std::atomic<size_t> next{0};
    const auto lane = [&] {
        for (size_t i = next++; i < records.size(); i = next++) {
            const json::Value document = document_of(records[i]);
            JudgeRequest request{version, document};
            request.owner = task.experiment_id.text();
            request.repetition = records[i].run.repetition;
            request.target = {"experiment_run", records[i].run.id.text(), task.project_id, task.project_name};
            if (task.budget_micro_usd) request.cost_limit_nano_usd = *task.budget_micro_usd * 1000;
            request.stopped = [&] { return is_over(live); };
            outcomes[i] = m_parts.judges.judge_persistently(request);
        }
    };
    std::vector<std::jthread> lanes;
    for (int64_t i = 0; i < task.concurrency; ++i) lanes.emplace_back(lane);
    lanes.clear(); // joins
    return outcomes;
}

Result<std::vector<JudgeOutcome>> ExperimentRunner::apply_evaluator(Live& live, const ExperimentTask& task,
                                                                    const TaskEvaluator& evaluator,
                                                                    const EvaluatorVersion& version,
                                                                    const std::vector<RunRecord>& records) {
    if (version.kind != EvaluatorKind::rule && version.kind != EvaluatorKind::code)
        return apply_judge(live, task, version, records);
    std::vector<CodeResult> results;
    if (version.code) {
        std::vector<json::Value> documents;
        for (const RunRecord& record : records) documents.push_back(document_of(record));
        const Place place(m_parts.places, [&] { return is_over(live); });
        if (!place.is_taken()) return conflict("the experiment ends");
        results = TRY(run_code(version, documents, [this, &live] { return is_over(live); }));
    } else {
        if (m_parts.spans == nullptr) return unavailable("this server stores no spans, so no rule can be applied");
        const Experiment of = TRY(m_parts.experiments.find(Caller::system(), task.experiment_id));
        // Recorded traces are in the projects that they came from.
        std::vector<std::string> projects = task.source_projects;
        projects.push_back(of.project_id.text());
        if (evaluator.project_id) projects.push_back(evaluator.project_id->text());
        results = TRY(apply_rule(*m_parts.spans, *version.rule, projects, records));
    }
    std::vector<JudgeOutcome> outcomes;
    for (CodeResult& result : results) {
        JudgeOutcome outcome;
        outcome.verdict = std::move(result.verdict);
        outcome.error = std::move(result.error);
        outcome.duration_ms = result.duration_ms;
        outcomes.push_back(std::move(outcome));
    }
    return outcomes;
}

Result<> ExperimentRunner::evaluate_with(Live& live, const ExperimentTask& task, const TaskEvaluator& evaluator) {
    const auto version = m_parts.tasks.version(evaluator);
    if (!version.ok()) {
        const Lock lock(live.mutex);
        live.problem += fmt::format("evaluator {} was deleted; ", evaluator.name);
        return {};
    }
    const bool is_model = version.value().llm || version.value().agent;
    std::string after;
    for (;;) {
        const auto records = TRY(m_parts.tasks.pending_evals(task, evaluator.name, after, evals_at_once));
        if (records.empty() || is_over(live)) return {};
        const Time began = m_parts.clock.now();
        const auto judged = TRY(apply_evaluator(live, task, evaluator, version.value(), records));
        for (size_t i = 0; i < records.size(); ++i) {
            if (judged[i].reason == JudgeReason::stopped) continue;
            if (judged[i].reason == JudgeReason::budget) {
                const Lock lock(live.mutex);
                live.problem = judged[i].error;
                live.out_of_budget = true;
                live.stopping = true;
                continue;
            }
            ExperimentEval eval;
            eval.run_id = records[i].run.id;
            eval.name = evaluator.name;
            eval.kind = is_model ? AnnotatorKind::llm : AnnotatorKind::code;
            if (!judged[i].trace_id.empty() && version.value().llm) eval.trace_id = judged[i].trace_id;
            json::Object metadata;
            if (const auto& verdict = judged[i].verdict) {
                eval.label = verdict->label;
                eval.score = verdict->score;
                eval.explanation = verdict->explanation;
                metadata = verdict->metadata.get_object();
            } else {
                eval.error = judged[i].error;
            }
            metadata["evaluator"] = evaluator.evaluator_id.text();
            metadata["version"] = evaluator.number;
            if (judged[i].reason != JudgeReason::none) metadata["reason"] = std::string(name_of(judged[i].reason));
            if (is_model) metadata["cached"] = judged[i].is_cached;
            if (judged[i].tokens() > 0) metadata["tokens"] = judged[i].tokens();
            eval.metadata = std::move(metadata);
            eval.started_at = began;
            eval.ended_at = began + std::chrono::milliseconds(judged[i].duration_ms);
            const auto stored = m_parts.experiments.set_eval(Caller::system(), std::move(eval));
            if (!stored.ok() && stored.error().code != Code::not_found) return stored.error();
        }
        after = records.back().run.id.text();
    }
}

} // namespace hone::evaluate
