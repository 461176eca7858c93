#include "kubernetes/provider/pod_watch.h"

#include "base/log.h"
#include "kubernetes/api/object.h"

namespace hone::kubernetes {

PodWatch::PodWatch(Api& api, WatcherOptions options, std::function<void(const std::string&, const PodState&)> ended)
    : m_api(api),
      m_ended(std::move(ended)),
      m_watcher(api, *this, std::move(options), &m_cancel),
      m_thread([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
              const auto wait = m_watcher.step();
              if (!wait.ok() && !stop.stop_requested())
                  log(Level::warning, "pods cannot be watched", {{"why", wait.error().message}});
              if (!m_api.wait(wait.ok() ? wait.value() : Duration(std::chrono::seconds(5)), &m_cancel).ok()) return;
          }
      }) {}

PodWatch::~PodWatch() {
    m_thread.request_stop();
    m_cancel.cancel();
}

std::optional<PodWatch::Seen> PodWatch::find(const std::string& pod) const {
    const Lock lock(m_mutex);
    const auto found = m_pods.find(pod);
    return found == m_pods.end() ? std::nullopt : std::optional(found->second);
}

void PodWatch::expect(const std::string& pod) {
    const Lock lock(m_mutex);
    m_expected.insert(pod);
}

void PodWatch::forget(const std::string& pod) {
    const Lock lock(m_mutex);
    m_expected.extract(pod); // one of them
    const auto found = m_pods.find(pod);
    if (found != m_pods.end() && !found->second.exists && !m_expected.contains(pod)) m_pods.erase(found);
}

bool PodWatch::await_listed(Duration longest) const {
    const SystemClock clock;
    const Duration end = clock.steady() + longest;
    const Lock lock(m_mutex);
    while (!m_is_listed) {
        const Duration left = end - clock.steady();
        if (left.count() <= 0) return false;
        m_changed.wait_for(m_mutex, left);
    }
    return true;
}

void PodWatch::wait(const std::string& pod, uint64_t change, Duration longest) const {
    const SystemClock clock;
    const Duration end = clock.steady() + longest;
    const Lock lock(m_mutex);
    for (;;) {
        const auto found = m_pods.find(pod);
        const Duration left = end - clock.steady();
        if ((found == m_pods.end() ? 0 : found->second.change) != change || left.count() <= 0) return;
        m_changed.wait_for(m_mutex, left);
    }
}

void PodWatch::seen(const json::Value& object) {
    const std::string name = text_at(object, {"metadata", "name"});
    const PodState state = read_pod_state(object);
    {
        const Lock lock(m_mutex);
        m_pods[name] = {text_at(object, {"metadata", "uid"}), state, true, ++m_changes};
    }
    m_changed.notify_all();
    if (state.phase == PodPhase::ended) m_ended(name, state);
}

// A pod that is evicted or drained is marked first, and is deleted while its container still runs.
void PodWatch::gone(const std::string& name, const std::string& uid) {
    PodState state;
    state.phase = PodPhase::ended;
    state.cause = PodCause::deleted;
    state.text = "The pod was deleted.";
    {
        const Lock lock(m_mutex);
        const auto found = m_pods.find(name);
        if (found != m_pods.end() && found->second.uid != uid) return; // a later pod has its name
        if (found != m_pods.end()) {
            const PodState& last = found->second.state;
            if (last.phase == PodPhase::ended || last.cause == PodCause::taken) state = last;
        }
        state.phase = PodPhase::ended;
        state.is_ready = false;
        if (m_expected.contains(name))
            m_pods[name] = {uid, state, false, ++m_changes};
        else
            m_pods.erase(name);
    }
    m_changed.notify_all();
    m_ended(name, state);
}

void PodWatch::listed() {
    {
        const Lock lock(m_mutex);
        m_is_listed = true;
    }
    m_changed.notify_all();
}

} // namespace hone::kubernetes
