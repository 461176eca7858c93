// One worker: takes one run from `preparing` to its end on a thread of its own, through preparation, conversation and
// ending. Each step is in the RunStore before or together with what it does, so that another server process can resume
// the run where this one was killed.
#pragma once

#include "run/worker/ending.h"
#include "run/worker/preparation.h"
#include "run/worker/run_worker.h"

namespace hone::run {

class Worker final : public RunWorker {
public:
    Worker(WorkerServices& services, RunId id)
        : m_run(services, std::move(id)),
          m_preparation(m_run),
          m_conversation(m_run),
          m_ending(m_run, m_conversation) {}
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void run() override;
    void wake() override { m_run.wake(); }
    void release() override { m_run.release(); }
    bool is_finished() const override { return m_is_finished; }

private:
    // None: released.
    std::optional<RunEnd> work();
    Result<> check_pins() const;
    Result<> place_uploads();
    std::optional<RunEnd> resume();

    LiveRun m_run;
    Preparation m_preparation;
    Conversation m_conversation;
    Ending m_ending;
    std::atomic<bool> m_is_finished{false};
};

} // namespace hone::run
