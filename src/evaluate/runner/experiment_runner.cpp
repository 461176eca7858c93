#include "evaluate/runner/experiment_runner.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "evaluate/evaluators/short_lived_file.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller;

namespace {

// An example, and an output, has up to 4 MiB.
constexpr int64_t examples_read_at_once = 25;
constexpr Duration renewal = std::chrono::seconds(2);
// A run that the machine could not begin (no sandbox, no memory) is retried this often before the experiment fails.
constexpr int most_machine_errors = 3;

} // namespace

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
                                                           const std::function<bool()>& stopped,
                                                           const DocumentFiles& files) {
    if (!m_layers) return unavailable("this machine cannot isolate code, so none is run; `hone check` states why");
    return CodeRunner(*m_parts.provider, *m_layers, m_parts.directory).run_code(version, documents, stopped, files);
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
            const SharedPlace place(m_parts.places, [&] { return is_over(live); });
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

} // namespace hone::evaluate
