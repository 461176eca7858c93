// A background duty: calls a step function on threads of its own until it is stopped. Between two steps it waits as
// long as the step returned, or until `wake`. The owner keeps its step public, so that tests call it without threads.
// A Duty is the last member of its owner: its threads end before what they use is destroyed.
//   (start wake* stop?)?     starting is optional; stopping twice, or without a start, is allowed
// Thread-safe, except that `start` and `stop` belong to the owner's thread.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"

#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace hone {

struct DutyOptions {
    std::string name;                          // in the log when a step fails
    Duration period = std::chrono::seconds(5); // after a failed step, and after each step that names no time itself
    size_t threads = 1;                        // each of them calls the step
    bool is_reported = true;                   // steps that take long, or fail, are operations (metrics.h)
};

class Duty {
public:
    // Returns how long to wait until the next step; zero: there is more to do now.
    using TimedStep = std::function<Result<Duration>()>;
    // Is called again after the period.
    using Step = std::function<Result<>()>;

    Duty(DutyOptions options, TimedStep step);
    Duty(DutyOptions options, Step step);
    ~Duty() { stop(); }
    Duty(const Duty&) = delete;
    Duty& operator=(const Duty&) = delete;

    void start();
    // The next step begins as soon as the one that is under way ends. Wakes before `start` are not kept: the first step
    // begins immediately. Any thread.
    void wake();
    // Returns when no step is under way any more. A wait ends immediately.
    void stop();
    // One step on the caller's thread: what the threads do, without them.
    Result<Duration> step() { return m_step(); }

private:
    void run(const std::stop_token& stop);
    Result<Duration> timed_step();

    const DutyOptions m_options;
    const TimedStep m_step;
    Mutex m_mutex;
    Condition m_woken;
    uint64_t m_wakes GUARDED_BY(m_mutex) = 0;
    std::vector<std::jthread> m_threads; // last: they end before what they use is destroyed
};

} // namespace hone
