#include "kubernetes/provider/pod_watch.h"

#include "base/log.h"
#include "kubernetes/api/object.h"

namespace hone::kubernetes {

namespace {

constexpr size_t most_gone = 256;

}

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

void PodWatch::wait(Duration longest) const {
    const Lock lock(m_mutex);
    m_changed.wait_for(m_mutex, longest);
}

void PodWatch::seen(const json::Value& object) {
    const std::string name = text_at(object, {"metadata", "name"});
    const PodState state = read_pod_state(object);
    {
        const Lock lock(m_mutex);
        m_pods[name] = {text_at(object, {"metadata", "uid"}), state};
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
        if (found != m_pods.end()) {
            const PodState& last = found->second.state;
            if (last.phase == PodPhase::ended || last.cause == PodCause::taken) state = last;
        }
        state.phase = PodPhase::ended;
        state.is_ready = false;
        m_pods[name] = {uid, state};
        m_gone.push_back(name);
        if (m_gone.size() > most_gone) {
            m_pods.erase(m_gone.front());
            m_gone.pop_front();
        }
    }
    m_changed.notify_all();
    m_ended(name, state);
}

} // namespace hone::kubernetes
