// Pods that are kept prepared for runs like the last one: made, connected, their network found to be closed, and
// nothing of a run in them. Each is used once, and ends after ten minutes unused. A pod with the volume of a thread
// cannot be prepared: its volume is part of its definition. Any thread; one of its own makes them.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "kubernetes/pod/pod_spec.h"
#include "kubernetes/provider/pod_connection.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace hone::kubernetes {

constexpr Duration ready_pod_kept = std::chrono::minutes(10);

struct ReadyPod {
    sandbox::SandboxId id;
    std::shared_ptr<PodConnection> connection;
};

class ReadyPods {
public:
    // `make` blocks until the pod is ready, and ends early when its progress returns false; `discard` deletes it.
    struct Actions {
        std::function<Result<ReadyPod>(const sandbox::SandboxId& id, PodRequest request,
                                       const sandbox::StartProgress& progress)>
            make;
        std::function<Result<>(const ReadyPod& pod)> discard;
    };
    // `look_every`: at the longest, for pods that have ended or waited too long.
    ReadyPods(size_t wanted, const Clock& clock, Actions actions, Duration look_every = std::chrono::seconds(5));
    // Discards those that are left; not the rest when one cannot be: a cluster that does not respond would keep the end
    // of the server for each of them, and a later server deletes them.
    ~ReadyPods();
    ReadyPods(const ReadyPods&) = delete;
    ReadyPods& operator=(const ReadyPods&) = delete;

    // One for this request, if there is one. From now on pods like it are prepared.
    std::optional<ReadyPod> take(const PodRequest& request);
    // Makes room for a pod that the cluster has no room for: true when some were discarded.
    bool make_room();
    // Also while it is made.
    bool has(const sandbox::SandboxId& id) const;
    // Until as many are prepared as should be; false after `timeout`.
    bool await_full(Duration timeout);

private:
    struct Kept {
        ReadyPod pod;
        std::string shape;
        Duration since{};
    };
    void run(const std::stop_token& stop);
    std::list<Kept> take_unusable() REQUIRES_LOCK(m_mutex);
    void discard(std::list<Kept> kept) const;

    const size_t m_wanted;
    const Clock& m_clock;
    const Actions m_actions;
    const Duration m_look_every;
    mutable Mutex m_mutex;
    Condition m_changed;
    std::optional<PodRequest> m_like GUARDED_BY(m_mutex);
    std::string m_shape GUARDED_BY(m_mutex);
    std::list<Kept> m_kept GUARDED_BY(m_mutex);
    std::optional<sandbox::SandboxId> m_making GUARDED_BY(m_mutex);
    Duration m_not_before GUARDED_BY(m_mutex){};
    std::jthread m_thread; // last
};

} // namespace hone::kubernetes
