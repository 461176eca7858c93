#include "kubernetes/pod/pod_records.h"

#include "base/text.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/pod_spec.h"

namespace hone::kubernetes {

namespace {

constexpr size_t most_log_bytes = 64 << 10;
constexpr Duration log_idle_timeout = std::chrono::seconds(10);

} // namespace

Result<std::vector<json::Value>> read_events(Api& api, const std::string& name_space, const std::string& uid,
                                             net::Cancel* cancel) {
    const Query query{{"fieldSelector", "involvedObject.uid=" + uid}, {"limit", "500"}};
    const ApiResponse response = TRY(api.get("/api/v1/namespaces/" + name_space + "/events", query, cancel));
    if (!response.ok()) return error_of(response, "read the events of a pod");
    const json::Array& items = list_at(response.body, {"items"});
    return std::vector<json::Value>(items.begin(), items.end());
}

Result<std::string> read_log_end(Api& api, const std::string& name_space, const std::string& pod,
                                 const std::string& container, bool previous, net::Cancel* cancel) {
    Query query{{"container", container}, {"tailLines", "50"}, {"limitBytes", std::to_string(most_log_bytes)}};
    if (previous) query.emplace_back("previous", "true");
    std::string text;
    const ApiResponse response = TRY(api.stream(
        "/api/v1/namespaces/" + name_space + "/pods/" + pod + "/log", query, log_idle_timeout,
        [&](std::string_view piece) -> Result<> {
            if (text.size() < most_log_bytes) text += piece.substr(0, most_log_bytes - text.size());
            return {};
        },
        cancel));
    if (!response.ok()) return error_of(response, "read the log of a pod");
    return repair_utf8(text);
}

std::string explain_pod(Api& api, const std::string& name_space, const std::string& pod, const std::string& uid,
                        const PodState& state) {
    std::string text = state.text;
    const auto object = api.get("/api/v1/namespaces/" + name_space + "/pods/" + pod);
    const auto events = read_events(api, name_space, uid);
    if (object.ok() && object.value().ok() && events.ok())
        text = read_pod_state(object.value().body, events.value()).text;
    if (state.phase == PodPhase::ended)
        if (const auto log = read_log_end(api, name_space, pod, std::string(worker_container));
            log.ok() && !log.value().empty())
            text += " " + repair_utf8(trim(truncate_utf8(log.value(), 2000)));
    return text.empty() ? "the pod did not start" : text;
}

} // namespace hone::kubernetes
