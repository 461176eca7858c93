// A worker as the Dispatcher has it: carries one run on a thread of its own, whichever provider it has.
#pragma once

namespace hone::run {

class RunWorker {
public:
    virtual ~RunWorker() = default;
    // The thread's work; returns when the run is over, or after `release`.
    virtual void run() = 0;
    // A command or a follow-up for the run is in the database. Any thread.
    virtual void wake() = 0;
    // The server stops: `run` returns soon, what the run has elsewhere continues. Any thread.
    virtual void release() = 0;
    virtual bool is_finished() const = 0;
};

} // namespace hone::run
