// Tools that read call the routes of the HTTP API, so that permissions, limits and meanings are the same.
#pragma once

#include "api/core/call.h"
#include "json/json.h"

namespace hone::api {

constexpr size_t usual_bytes = 32 << 10;
constexpr size_t most_bytes = 256 << 10;
size_t budget_of(const std::optional<int64_t>& bytes);

// The project of a tool's call: the one it names, else the one the run is bound to.
Result<std::string> project_of(const Call& call, const std::optional<std::string>& project);

using PathParameters = std::map<std::string, std::string, std::less<>>;
using QueryParameters = std::vector<std::pair<std::string_view, std::optional<std::string>>>;

std::optional<std::string> text_of(const std::optional<Time>& time);

// Calls a route as if the request had come to its own address, and returns its body.
Result<json::Value> call_route(const Call& call, std::string_view method, std::string_view path, PathParameters in_path,
                               const QueryParameters& query, const std::string& body = "");
// The same for a GET below a project.
Result<json::Value> read_project(const Call& call, const std::optional<std::string>& project, std::string_view path,
                                 const QueryParameters& query, PathParameters in_path = {});
json::Value data_in(json::Value body);

} // namespace hone::api
