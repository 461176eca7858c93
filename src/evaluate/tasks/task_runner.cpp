#include "evaluate/tasks/task_runner.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr Duration idle_wait = std::chrono::seconds(30);
constexpr Duration lease_renewal = std::chrono::seconds(5);
constexpr Duration collect_interval = std::chrono::hours(1);
constexpr int64_t nano_in_micro = 1000;

telemetry::EvalKind kind_of(EvaluatorKind kind) {
    if (kind == EvaluatorKind::llm) return telemetry::EvalKind::llm;
    return kind == EvaluatorKind::agent ? telemetry::EvalKind::agent : telemetry::EvalKind::code;
}

// Of a verdict, or of one of its named results.
template <class Found>
telemetry::Eval eval_of(const EvalTask& task, const EvaluatorVersion& version, const EvalJob& job,
                        const JudgeOutcome& outcome, const std::string& name, const Found& verdict) {
    telemetry::Eval eval;
    eval.project = task.project_id.text();
    eval.target = task.target;
    eval.target_id = job.target_id;
    eval.name = name;
    eval.annotator = eval.identifier = version.evaluator_id.text();
    eval.kind = kind_of(version.kind);
    eval.label = verdict.label.value_or("");
    eval.score = verdict.score;
    eval.explanation = verdict.explanation.value_or("");
    json::Object metadata = verdict.metadata.is_object() ? verdict.metadata.get_object() : json::Object{};
    metadata["evaluator"] = version.evaluator_id.text();
    metadata["version"] = version.number;
    metadata["task"] = task.id.text();
    if (!outcome.trace_id.empty()) metadata["judge_trace"] = outcome.trace_id;
    if (outcome.is_cached) metadata["cached"] = true;
    eval.metadata = json::print(metadata);
    eval.evaluator_version = version.number;
    eval.job = job.key;
    eval.inclusion = job.inclusion;
    eval.target_ns = to_ns(job.target_at);
    return eval;
}

std::vector<telemetry::Eval> evals_of(const EvalTask& task, const EvaluatorVersion& version, const EvalJob& job,
                                      const JudgeOutcome& outcome) {
    std::vector<telemetry::Eval> evals;
    const Verdict& verdict = *outcome.verdict;
    if (!verdict.is_only_named()) evals.push_back(eval_of(task, version, job, outcome, version.name, verdict));
    for (const NamedVerdict& named : *verdict.results)
        evals.push_back(eval_of(task, version, job, outcome, named.name, named));
    return evals;
}

} // namespace

EvalTaskRunner::EvalTaskRunner(TaskRunnerParts parts)
    : m_parts(std::move(parts)),
      m_server(to_hex(crypto::random_bytes(12))),
      m_versions(m_parts.database),
      m_queue(m_parts.database, m_parts.clock),
      m_search(m_parts.database, m_parts.clock, m_queue,
               m_parts.spans == nullptr ? nullptr : &m_parts.spans->telemetry),
      m_lease_duty({"leases of evaluator jobs", lease_renewal}, [this] { return keep_leases(); }),
      m_lanes({"evaluator jobs", idle_wait, m_parts.lanes}, Duty::TimedStep([this] { return lane_step(); })),
      m_search_duty({"targets of evaluators", TargetSearch::cadence}, Duty::TimedStep([this]() -> Result<Duration> {
                        if (TRY(search()) > 0) m_lanes.wake();
                        return Duration(TargetSearch::cadence);
                    })) {}

EvalTaskRunner::~EvalTaskRunner() {
    m_ending = true;
    m_parts.judges.stop();
    m_search_duty.stop();
    m_lanes.stop();
    m_lease_duty.stop();
}

void EvalTaskRunner::start() {
    if (m_parts.spans == nullptr) return;
    m_lease_duty.start();
    m_lanes.start();
    m_search_duty.start();
}

Result<> EvalTaskRunner::keep_leases() {
    std::vector<std::string> held;
    {
        const Lock lock(m_mutex);
        held.assign(m_held.begin(), m_held.end());
    }
    TRY(m_queue.renew(m_server, held));
    if (TRY(m_queue.rescue()) > 0) m_lanes.wake();
    {
        const Duration now = m_parts.clock.steady();
        const Lock lock(m_mutex);
        if (m_collected && now - *m_collected < collect_interval) return {};
        m_collected = now;
    }
    TRY(m_queue.collect());
    TRY(m_parts.judges.cache().collect());
    return {};
}

Result<Duration> EvalTaskRunner::lane_step() {
    if (m_ending) return idle_wait;
    if (TRY(run_some()) > 0) return Duration{};
    const auto due = TRY(m_queue.next_due());
    if (!due) return idle_wait;
    // At least a little, so that a job that another lane holds is not polled.
    return std::clamp<Duration>(*due - m_parts.clock.now(), std::chrono::milliseconds(200), idle_wait);
}

Result<int64_t> EvalTaskRunner::run_some() {
    const auto claimed = TRY(m_queue.claim(m_server, batch));
    if (!claimed) return int64_t{0};
    const auto holds = [&](bool is_begin) {
        const Lock lock(m_mutex);
        for (const EvalJob& job : claimed->jobs) {
            if (is_begin)
                m_held.insert(job.key);
            else
                m_held.erase(job.key);
        }
    };
    holds(true);
    const auto ran = run_jobs(*claimed);
    holds(false);
    if (!ran.ok()) return ran.error();
    return static_cast<int64_t>(claimed->jobs.size());
}

// Nothing: the job was skipped, because its target is gone or must not be evaluated. Checked again here, after the
// search: a project may have been hidden, a span may be an evaluator's.
Result<std::optional<json::Value>> EvalTaskRunner::document_for(const EvalTask& task, const EvalJob& job) {
    const auto skip = [&](std::string_view reason, const std::string& why) -> Result<std::optional<json::Value>> {
        TRY(m_queue.skip(job, m_server, reason, why));
        return std::optional<json::Value>();
    };
    if (TRY(m_parts.access.projects.is_hidden(task.project_id)))
        return skip("evaluator_span", "the project has spans of experiments or evaluators");
    auto document = m_parts.documents.read(task.project_id.text(), task.target, job.target_id, job.trace_id);
    if (document.ok()) return std::optional(std::move(document).value());
    if (document.error().code == Code::not_found) return skip("target_gone", document.error().message);
    if (document.error().code == Code::invalid) return skip("evaluator_span", document.error().message);
    return document.error();
}

JudgeRequest EvalTaskRunner::request_for(const ClaimedJobs& claimed, const EvaluatorVersion& version,
                                         const json::Value& document, const EvalJob& job) const {
    const EvalTask& task = claimed.task;
    JudgeRequest request{version, document};
    // Calls of a day are counted together: the gateway reserves, settles and stops within the limits of the day.
    request.owner = task.id.text() + ":" + to_text(m_parts.clock.now()).substr(0, 10);
    request.target = {std::string(name_of(task.target)), job.target_id, task.project_id.text(), ""};
    request.job = job.key;
    request.token_limit = task.tokens_per_day;
    if (task.cost_micro_usd_per_day) request.cost_limit_nano_usd = *task.cost_micro_usd_per_day * nano_in_micro;
    request.stopped = [this] { return m_ending.load(); };
    return request;
}

Result<> EvalTaskRunner::end(const ClaimedJobs& claimed, const EvaluatorVersion& version, const EvalJob& job,
                             const JudgeOutcome& outcome) {
    const EvalTask& task = claimed.task;
    // First the eval, then the job: killed in between, the same eval is written again.
    if (outcome.verdict) {
        TRY(m_parts.spans->store());
        TRY(m_parts.spans->evals.upsert(evals_of(task, version, job, outcome)));
    }
    const EndedJob ended = TRY(m_queue.end(task, job, m_server, outcome));
    if (ended.paused.empty() || m_parts.notices == nullptr) return {};
    notice::Notice notice;
    notice.space = task.space_id;
    notice.project = task.project_id;
    notice.kind = notice::Kind::eval_task_paused;
    notice.title = "The evaluator " + version.name + " is paused";
    notice.body = ended.paused + "\nIts jobs wait. One is retried every 10 minutes; the task resumes when it succeeds.";
    notice.link = "/eval_tasks/" + task.id.text();
    TRY(m_parts.notices->notify(notice));
    return {};
}

Result<> EvalTaskRunner::run_jobs(const ClaimedJobs& claimed) {
    const auto give_back = [&](const std::vector<EvalJob>& jobs, const Error& error) -> Result<> {
        JudgeOutcome outcome;
        outcome.reason = JudgeReason::stopped;
        outcome.error = error.message;
        for (const EvalJob& job : jobs) TRY(m_queue.end(claimed.task, job, m_server, outcome));
        return error;
    };
    const auto version = m_versions.find(claimed.task.evaluator_id, claimed.jobs.front().version);
    if (!version.ok()) {
        for (const EvalJob& job : claimed.jobs)
            TRY(m_queue.skip(job, m_server, "target_gone", version.error().message));
        return {};
    }
    std::vector<json::Value> documents;
    std::vector<const EvalJob*> jobs;
    for (const EvalJob& job : claimed.jobs) {
        auto document = document_for(claimed.task, job);
        if (!document.ok()) return give_back(claimed.jobs, document.error());
        if (!document.value()) continue;
        documents.push_back(std::move(*document.value()));
        jobs.push_back(&job);
    }
    if (documents.empty()) return {};
    std::vector<JudgeOutcome> outcomes;
    if (version.value().kind == EvaluatorKind::code) {
        const SharedPlace place(m_parts.places, [this] { return m_ending.load(); });
        if (!place.is_taken()) return give_back(claimed.jobs, conflict("the server stops"));
        outcomes = m_parts.judges.judge_all(version.value(), documents,
                                            request_for(claimed, version.value(), documents.front(), *jobs.front()));
    } else {
        for (size_t i = 0; i < documents.size(); ++i)
            outcomes.push_back(m_parts.judges.judge(request_for(claimed, version.value(), documents[i], *jobs[i])));
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
        const auto ended = end(claimed, version.value(), *jobs[i], outcomes[i]);
        if (!ended.ok()) return give_back(claimed.jobs, ended.error());
    }
    return {};
}

} // namespace hone::evaluate
