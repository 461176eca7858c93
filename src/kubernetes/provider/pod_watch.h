// What the cluster reports about this installation's pods, by one watch on a thread of its own. Any thread.
#pragma once

#include "base/mutex.h"
#include "kubernetes/api/watcher.h"
#include "kubernetes/pod/pod_state.h"

#include <deque>
#include <functional>
#include <map>
#include <thread>

namespace hone::kubernetes {

class PodWatch final : private WatchHandler {
public:
    struct Seen {
        std::string uid;
        PodState state;
    };
    // `ended` is called on the watch's thread for each pod that has ended or does not exist any more.
    PodWatch(Api& api, WatcherOptions options, std::function<void(const std::string& pod, const PodState&)> ended);
    ~PodWatch() override;
    PodWatch(const PodWatch&) = delete;
    PodWatch& operator=(const PodWatch&) = delete;

    // None: no such pod was seen yet. The last 256 that are gone are kept, for who waits for them.
    std::optional<Seen> find(const std::string& pod) const;
    // Until something has changed, but no longer than `longest`.
    void wait(Duration longest) const;

private:
    void seen(const json::Value& object) override;
    void gone(const std::string& name, const std::string& uid) override;

    Api& m_api;
    const std::function<void(const std::string&, const PodState&)> m_ended;
    mutable Mutex m_mutex;
    mutable Condition m_changed;
    std::map<std::string, Seen> m_pods GUARDED_BY(m_mutex);
    std::deque<std::string> m_gone GUARDED_BY(m_mutex); // of these, the oldest first
    net::Cancel m_cancel;
    Watcher m_watcher;
    std::jthread m_thread; // last
};

} // namespace hone::kubernetes
