#include "follow.h"

#include "base/id.h"
#include "base/mutex.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/admission.h"
#include "kubernetes/pod/pod_spec.h"
#include "kubernetes/provider/pod_watch.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <thread>
#include <unistd.h>

namespace hone::kubernetes {

namespace {

constexpr Duration longest = std::chrono::minutes(2); // until a pod is what was requested

std::string pods_of(const std::string& name_space) {
    return "/api/v1/namespaces/" + name_space + "/pods";
}

int64_t milliseconds(Duration time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

json::Object spread(std::vector<int64_t> values) {
    std::sort(values.begin(), values.end());
    if (values.empty()) return {{"count", 0}};
    return {{"count", static_cast<int64_t>(values.size())},
            {"p50_ms", values[values.size() / 2]},
            {"p99_ms", values[values.size() * 99 / 100]},
            {"max_ms", values.back()}};
}

int64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    int64_t all = 0, resident = 0;
    file >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

class Follower {
public:
    Follower(Api& api, FollowOptions options)
        : m_api(api),
          m_options(std::move(options)),
          m_watch(api, {pods_of(m_options.name_space), std::string(installation_label) + "=" + m_options.installation},
                  [this](const std::string& pod, const PodState& state) { ended(pod, state); }) {}

    Result<json::Object> serve(const json::Value& request) {
        const std::string verb = text_at(request, {"do"});
        if (verb == "create")
            return create(integer_at(request, {"count"}).value_or(0),
                          integer_at(request, {"wall_clock_ms"}).value_or(0));
        if (verb == "delete") return remove(names_in(request));
        if (verb == "report") return report(names_in(request));
        return invalid("not a request: " + verb);
    }

private:
    static std::vector<std::string> names_in(const json::Value& request) {
        std::vector<std::string> names;
        for (const json::Value& name : list_at(request, {"names"})) names.emplace_back(name.get_string());
        return names;
    }

    void ended(const std::string& pod, const PodState& state) {
        if (state.cause != PodCause::deleted) return;
        {
            const Lock lock(m_mutex);
            ++m_reports[pod];
            m_reported_at.emplace(pod, m_clock.steady());
        }
        m_changed.notify_all();
    }

    // Pods are awaited on a thread of its own, in their order, so that requests are not slower than the rate limit.
    Result<json::Object> create(int64_t count, int64_t wall_clock_ms) {
        const Duration began = m_clock.steady();
        int64_t differences = 0;
        std::vector<std::pair<std::string, Duration>> made;
        std::vector<int64_t> took;
        std::atomic<bool> is_late{false};
        {
            std::jthread awaiter([&](const std::stop_token& stop) {
                for (size_t next = 0;; ++next) {
                    std::pair<std::string, Duration> pod;
                    {
                        const Lock lock(m_mutex);
                        m_changed.wait(m_mutex, stop, [&] { return next < made.size(); });
                        if (next >= made.size()) return;
                        pod = made[next];
                    }
                    if (!await_ready(pod.first)) is_late = true;
                    if (is_late) return;
                    took.push_back(milliseconds(m_clock.steady() - pod.second));
                }
            });
            for (int64_t i = 0; i < count; ++i) {
                const std::string name = TRY(create_one(wall_clock_ms, differences));
                const Lock lock(m_mutex);
                made.emplace_back(name, m_clock.steady());
                m_changed.notify_all();
            }
            awaiter.request_stop(); // it awaits those that are left
        }
        if (is_late) return unavailable("a pod was not ready in time");
        json::Array names;
        for (const auto& [name, at] : made) names.push_back(json::Value(name));
        return json::Object{{"names", std::move(names)},
                            {"differences", differences},
                            {"took_ms", milliseconds(m_clock.steady() - began)},
                            {"to_ready", spread(std::move(took))}};
    }

    Result<std::string> create_one(int64_t wall_clock_ms, int64_t& differences) {
        PodSettings settings;
        settings.installation = m_options.installation;
        settings.image = settings.tools_image = m_options.image;
        settings.pull_policy = "Never";
        settings.node_selector[m_options.node_label] = m_options.node_value;
        PodRequest request;
        request.sandbox = make_id<sandbox::SandboxTag>(m_clock);
        request.user_key = request.sandbox.text();
        request.limits.memory_bytes = int64_t{64} << 20;
        request.limits.cpus = 0.1;
        request.limits.disk_bytes = int64_t{64} << 20;
        request.limits.wall_clock_ms = wall_clock_ms;
        const json::Value sent = TRY(pod_of(settings, request));
        const ApiResponse created = TRY(m_api.create(pods_of(m_options.name_space), sent));
        if (!created.ok()) return error_of(created, "create a pod");
        differences += static_cast<int64_t>(admission_differences(sent, created.body).size());
        return pod_name(request.sandbox);
    }

    // Or it has ended.
    bool await_ready(const std::string& pod) const {
        const Duration end = m_clock.steady() + longest;
        while (m_clock.steady() < end) {
            const auto seen = m_watch.find(pod);
            if (seen && (seen->state.is_ready || seen->state.phase == PodPhase::ended)) return true;
            m_watch.wait(pod, seen ? seen->change : 0, std::chrono::seconds(1));
        }
        return false;
    }

    Result<json::Object> remove(const std::vector<std::string>& names) {
        const Duration began = m_clock.steady();
        std::map<std::string, Duration> deleted;
        for (const std::string& name : names) {
            const auto seen = m_watch.find(name);
            if (!seen) return not_found("in the watch, the pod " + name);
            const ApiResponse removed =
                TRY(m_api.remove(pods_of(m_options.name_space) + "/" + name, delete_options(seen->uid, 5)));
            if (!removed.ok()) return error_of(removed, "delete the pod " + name);
            deleted[name] = m_clock.steady();
        }
        std::vector<int64_t> took;
        const Duration end = m_clock.steady() + longest;
        const Lock lock(m_mutex);
        for (const auto& [name, at] : deleted) {
            while (!m_reported_at.contains(name)) {
                const Duration left = end - m_clock.steady();
                if (left.count() <= 0) return unavailable("the watch did not report the end of the pod " + name);
                m_changed.wait_for(m_mutex, left);
            }
            took.push_back(std::max<int64_t>(0, milliseconds(m_reported_at.at(name) - at)));
        }
        return json::Object{{"took_ms", milliseconds(m_clock.steady() - began)}, {"to_gone", spread(std::move(took))}};
    }

    Result<json::Object> report(const std::vector<std::string>& names) {
        int64_t existing = 0;
        for (const std::string& name : names) existing += m_watch.find(name) ? 1 : 0;
        const Lock lock(m_mutex);
        const auto repeated =
            std::count_if(m_reports.begin(), m_reports.end(), [](auto& pod) { return pod.second > 1; });
        return json::Object{{"existing", existing},
                            {"gone", static_cast<int64_t>(m_reports.size())},
                            {"repeated", static_cast<int64_t>(repeated)},
                            {"memory_bytes", resident_bytes()}};
    }

    const SystemClock m_clock;
    Api& m_api;
    const FollowOptions m_options;
    Mutex m_mutex;
    Condition m_changed;
    std::map<std::string, int> m_reports GUARDED_BY(m_mutex); // that a pod does not exist any more
    std::map<std::string, Duration> m_reported_at GUARDED_BY(m_mutex);
    PodWatch m_watch; // last: its thread uses what stands above
};

} // namespace

Result<int> follow(Api& api, const FollowOptions& options) {
    Follower follower(api, options);
    for (std::string line; std::getline(std::cin, line);) {
        const json::Value request = TRY(json::parse(line));
        auto done = follower.serve(request);
        json::Object reply = done.ok() ? std::move(done).value() : json::Object{{"why", done.error().message}};
        reply["ok"] = !reply.contains("why");
        std::cout << json::print(reply) << std::endl;
    }
    return 0;
}

} // namespace hone::kubernetes
