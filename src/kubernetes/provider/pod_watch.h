// What the cluster reports about this installation's pods, by one watch on a thread of its own. Any thread.
#pragma once

#include "base/mutex.h"
#include "kubernetes/api/watcher.h"
#include "kubernetes/pod/pod_state.h"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <thread>

namespace hone::kubernetes {

class PodWatch final : private WatchHandler {
public:
    struct Seen {
        std::string uid;
        PodState state;
        bool exists = true;
        uint64_t change = 0; // grows with each change of any pod
    };
    // `ended` is called on the watch's thread for each pod that has ended or does not exist any more.
    PodWatch(Api& api, WatcherOptions options, std::function<void(const std::string& pod, const PodState&)> ended);
    ~PodWatch() override;
    PodWatch(const PodWatch&) = delete;
    PodWatch& operator=(const PodWatch&) = delete;

    // None: no such pod was seen yet, or it is gone and nothing expects it.
    std::optional<Seen> find(const std::string& pod) const;
    // Between the two, what is known of this pod stays, also when it is gone, however many others come and go.
    void expect(const std::string& pod);
    void forget(const std::string& pod);
    // Until the first list of the cluster was read; false after `longest`.
    bool await_listed(Duration longest) const;
    // Until this pod is not as it was at `change` (0: not seen), but no longer than `longest`. Changes of other pods do
    // not end it: there may be many of them.
    void wait(const std::string& pod, uint64_t change, Duration longest) const;

private:
    void seen(const json::Value& object) override;
    void gone(const std::string& name, const std::string& uid) override;
    void listed() override;

    Api& m_api;
    const std::function<void(const std::string&, const PodState&)> m_ended;
    mutable Mutex m_mutex;
    mutable Condition m_changed;
    std::map<std::string, Seen> m_pods GUARDED_BY(m_mutex);
    std::multiset<std::string> m_expected GUARDED_BY(m_mutex); // pods, once for each that waits
    uint64_t m_changes GUARDED_BY(m_mutex) = 0;
    bool m_is_listed GUARDED_BY(m_mutex) = false;
    net::Cancel m_cancel;
    Watcher m_watcher;
    std::jthread m_thread; // last
};

} // namespace hone::kubernetes
