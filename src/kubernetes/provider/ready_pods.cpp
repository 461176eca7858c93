#include "kubernetes/provider/ready_pods.h"

#include "base/id.h"
#include "base/log.h"
#include "json/json.h"

#include <algorithm>

namespace hone::kubernetes {

namespace {

constexpr Duration pause_after_problem = std::chrono::seconds(30);

// What must be the same for a pod to do: everything but whose it is.
std::string shape_of(const PodRequest& request) {
    std::string shape = std::string(name_of(request.tier)) + json::write(request.limits);
    for (const TargetMount& mount : request.mounts) shape += (mount.is_folder ? " d:" : " f:") + mount.target;
    return shape;
}

} // namespace

ReadyPods::ReadyPods(size_t wanted, const Clock& clock, Actions actions, Duration look_every)
    : m_wanted(wanted),
      m_clock(clock),
      m_actions(std::move(actions)),
      m_look_every(look_every),
      m_thread([this](const std::stop_token& stop) { run(stop); }) {}

ReadyPods::~ReadyPods() {
    m_thread.request_stop();
    m_changed.notify_all();
    m_thread.join();
    std::list<Kept> left;
    {
        const Lock lock(m_mutex);
        left.swap(m_kept);
    }
    for (const Kept& each : left)
        if (!m_actions.discard(each.pod).ok()) break;
}

std::optional<ReadyPod> ReadyPods::take(const PodRequest& request) {
    if (m_wanted == 0 || request.volume_claim) return std::nullopt;
    std::optional<ReadyPod> taken;
    const std::string shape = shape_of(request);
    {
        const Lock lock(m_mutex);
        if (shape != m_shape) m_not_before = {};
        m_like = request;
        m_shape = shape;
        for (auto kept = m_kept.begin(); kept != m_kept.end() && !taken;) {
            const bool will_do = kept->shape == shape && !kept->pod.connection->ended();
            if (will_do) taken = std::move(kept->pod);
            kept = will_do ? m_kept.erase(kept) : std::next(kept);
        }
    }
    m_changed.notify_all();
    return taken;
}

bool ReadyPods::make_room() {
    std::list<Kept> all;
    {
        const Lock lock(m_mutex);
        all.swap(m_kept);
        m_not_before = m_clock.steady() + pause_after_problem;
    }
    const bool had_some = !all.empty();
    discard(std::move(all));
    return had_some;
}

bool ReadyPods::has(const sandbox::SandboxId& id) const {
    const Lock lock(m_mutex);
    if (m_making == id) return true;
    return std::any_of(m_kept.begin(), m_kept.end(), [&](const Kept& kept) { return kept.pod.id == id; });
}

bool ReadyPods::await_full(Duration timeout) {
    const Duration end = m_clock.steady() + timeout;
    const Lock lock(m_mutex);
    if (!m_like) return true; // nothing is known that should be prepared
    while (m_kept.size() < m_wanted && m_clock.steady() < end)
        m_changed.wait_for(m_mutex, std::min(end - m_clock.steady(), m_look_every));
    return m_kept.size() >= m_wanted;
}

std::list<ReadyPods::Kept> ReadyPods::take_unusable() {
    std::list<Kept> unusable;
    for (auto kept = m_kept.begin(); kept != m_kept.end();) {
        const auto next = std::next(kept);
        if (kept->shape != m_shape || kept->pod.connection->ended() || m_clock.steady() - kept->since > ready_pod_kept)
            unusable.splice(unusable.end(), m_kept, kept);
        kept = next;
    }
    return unusable;
}

void ReadyPods::discard(std::list<Kept> kept) const {
    for (const Kept& each : kept) (void)m_actions.discard(each.pod); // what stays is deleted as a leftover
}

void ReadyPods::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        std::list<Kept> unusable;
        std::optional<PodRequest> wanted;
        std::string shape;
        const auto id = make_id<sandbox::SandboxTag>(m_clock);
        {
            const Lock lock(m_mutex);
            unusable = take_unusable();
            if (m_like && m_kept.size() < m_wanted && m_clock.steady() >= m_not_before) wanted = m_like;
            shape = m_shape;
            if (wanted) m_making = id;
            if (!wanted && unusable.empty()) m_changed.wait_for(m_mutex, m_look_every);
        }
        discard(std::move(unusable));
        if (!wanted) continue;
        auto made = m_actions.make(id, *wanted, [&](const std::string&) { return !stop.stop_requested(); });
        {
            const Lock lock(m_mutex);
            m_making.reset();
            if (made.ok())
                m_kept.push_back({std::move(made).value(), shape, m_clock.steady()});
            else
                m_not_before = m_clock.steady() + pause_after_problem;
        }
        if (!made.ok() && !stop.stop_requested())
            log(Level::warning, "no pod could be prepared", {{"why", made.error().message}});
        m_changed.notify_all();
    }
}

} // namespace hone::kubernetes
