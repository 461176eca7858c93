#include "api/mcp/route_call.h"

#include "api/core/route.h"

#include <algorithm>

namespace hone::api {

size_t budget_of(const std::optional<int64_t>& bytes) {
    return static_cast<size_t>(std::clamp<int64_t>(bytes.value_or(usual_bytes), 1000, most_bytes));
}

Result<std::string> project_of(const Call& call, const std::optional<std::string>& project) {
    if (project) return *project;
    if (!call.caller.bound_project.empty()) return call.caller.bound_project.text();
    return invalid("project is missing; list_projects names them");
}

std::optional<std::string> text_of(const std::optional<Time>& time) {
    return time ? std::optional(to_text(*time)) : std::nullopt;
}

Result<json::Value> call_route(const Call& call, std::string_view method, std::string_view path, PathParameters in_path,
                               const QueryParameters& query, const std::string& body) {
    net::RequestHead head = call.head;
    head.query.clear();
    for (const auto& [name, value] : query)
        if (value) head.query += (head.query.empty() ? "" : "&") + std::string(name) + "=" + percent_encode(*value);
    const Call inner{head, call.caller, call.services, call.run_followers, std::move(in_path)};
    for (const Route& route : routes()) {
        if (route.method != method || route.path != path) continue;
        const net::Response response = TRY(route.handle(inner, body));
        return json::parse(response.body);
    }
    return internal("there is no route " + std::string(method) + " " + std::string(path));
}

Result<json::Value> read_project(const Call& call, const std::optional<std::string>& project, std::string_view path,
                                 const QueryParameters& query, PathParameters in_path) {
    in_path["project"] = TRY(project_of(call, project));
    return call_route(call, "GET", path, std::move(in_path), query);
}

json::Value data_in(json::Value body) {
    json::Value* const data = body.is_object() ? body.get_object().if_contains("data") : nullptr;
    return data != nullptr ? std::move(*data) : json::Value(nullptr);
}

} // namespace hone::api
