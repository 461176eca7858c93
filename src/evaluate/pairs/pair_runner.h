// Compares the pairs of two experiments on this server: claims one comparison after the other, calls a model for each
// pair in both orders, in lanes, and renews its lease meanwhile. The verdicts about a pair are stored when both are
// there; those of calls that a killed server made are in the cache, so nothing is paid twice. Threads: one that claims
// and works; for each comparison one that renews the lease, and its lanes.
#pragma once

#include "base/duty.h"
#include "evaluate/judges/judge.h"
#include "evaluate/pairs/pair_tasks.h"

#include <atomic>

namespace hone::evaluate {

class PairRunner {
public:
    PairRunner(PairTasks& tasks, Judges& judges);
    // Ends after the calls that are under way, and gives the comparison back.
    ~PairRunner();

    void start() { m_duty.start(); }
    void wake() { m_duty.wake(); }
    // Works on one comparison until it ends; false: none waits.
    Result<bool> step();

private:
    struct Live {
        explicit Live(PairTask given) : task(std::move(given)) {}
        const PairTask task;
        std::atomic<bool> stopping{false}; // no further pair begins
        Mutex mutex;
        Condition changed;
        bool is_worked GUARDED_BY(mutex) = false;
        TaskState state GUARDED_BY(mutex) = TaskState::done;
        std::string reason GUARDED_BY(mutex);
        std::optional<Error> error GUARDED_BY(mutex); // of the database
        int64_t failures GUARDED_BY(mutex) = 0;       // in a row
    };

    bool is_over(const Live& live) const { return m_ending || live.stopping; }
    void keep_lease(Live& live);
    Result<> work(Live& live, const EvaluatorVersion& version);
    void compare_pair(Live& live, const EvaluatorVersion& version, const PendingPair& pair);
    JudgeOutcome ask(Live& live, const EvaluatorVersion& version, const PendingPair& pair, bool is_swapped);
    void end_with(Live& live, TaskState state, const std::string& reason);

    PairTasks& m_tasks;
    Judges& m_judges;
    const std::string m_server; // name of this process among those that share the database
    std::atomic<bool> m_ending{false};
    Duty m_duty; // last: its thread uses what stands above
};

// What the model gets: `a` is the output that is shown first.
json::Value pair_document(const PendingPair& pair, bool is_swapped);

} // namespace hone::evaluate
