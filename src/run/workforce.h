// Everybody who works: takes queued runs while there is a place, gives each a worker on a thread of its own, takes up
// what an earlier server process left. Thread-safe.
#pragma once

#include "run/runs.h"
#include "run/worker.h"

namespace hone::run {

struct WorkforceOptions {
    std::string server = "local"; // name of this server among those that share the database
    Places places;
    Duration poll = std::chrono::seconds(5); // other servers may queue runs too
};

class Workforce final : public Attention {
public:
    Workforce(WorkforceOptions options, Means& means) : m_options(std::move(options)), m_means(means) {}
    // Lets live sandboxes go on without us.
    ~Workforce() override;

    // Takes up what is in hand, removes sandboxes that belong to nobody, then works until the end.
    Result<> start();
    void look_at(const RunId& run) override;

    struct Count {
        int64_t live = 0;
        Time last_look{};
    };
    Count count() const;

private:
    struct Hand {
        std::unique_ptr<Worker> worker;
        std::jthread thread;
    };

    void watch(const std::stop_token& stop);
    void employ(const RunId& run);
    void dismiss_finished();
    Result<> remove_orphans(const std::vector<RunId>& in_hand);

    const WorkforceOptions m_options;
    Means& m_means;
    mutable Mutex m_mutex;
    Condition m_news;
    bool m_nudged GUARDED_BY(m_mutex) = false;
    Time m_last_look GUARDED_BY(m_mutex){};
    std::map<RunId, Hand> m_hands GUARDED_BY(m_mutex);
    std::jthread m_thread; // last: it uses what stands above
};

} // namespace hone::run
