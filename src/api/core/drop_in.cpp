#include "api/core/drop_in.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace hone::api {

namespace {

// What SDKs put before /v1/traces, /v1/logs and /v1/metrics.
constexpr std::string_view otlp_prefixes[] = {
    "/api/public/otel",          // Langfuse
    "/otel",                     // LangSmith, Weave
    "/api/v1/otel",              // LangSmith with its prefix
    "/api/v1/private/otel",      // Opik
    "/opik/api/v1/private/otel", // Opik behind its own prefix
};
constexpr std::string_view otlp_paths[] = {"/v1/traces", "/v1/logs", "/v1/metrics"};

// LangSmith's protocol, which its clients send below any prefix; the table has it under /api/v1.
constexpr std::string_view langsmith_paths[] = {"/info", "/runs", "/feedback", "/sessions"};
constexpr std::string_view langsmith_prefix = "/api/v1";

constexpr std::array<std::string_view, 11> headers{
    "authorization",        "x-api-key",   "api_key",           "api-key",    "wandb-api-key",
    "x-project-name",       "projectname", "langsmith-project", "project_id", "x-langfuse-public-key",
    "x_langfuse_public_key"};

bool contains(auto&& list, std::string_view text) {
    return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

bool take_scheme(std::string_view& value, std::string_view scheme) {
    if (value.size() <= scheme.size() || !equals_ignoring_case(value.substr(0, scheme.size()), scheme)) return false;
    value.remove_prefix(scheme.size());
    return true;
}

// The password of `user:password`; of `user:` the user.
std::string basic_password(std::string_view encoded) {
    std::string text(trim(encoded));
    while (text.ends_with('=')) text.pop_back();
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    const auto decoded = from_base64url(text);
    if (!decoded.ok()) return {};
    const std::string& pair = decoded.value();
    const size_t colon = pair.find(':');
    if (colon == std::string::npos || colon + 1 == pair.size()) return pair.substr(0, colon);
    return pair.substr(colon + 1);
}

} // namespace

std::optional<std::string> drop_in_path(std::string_view method, std::string_view path) {
    std::string_view plain = path;
    if (plain.size() > 1 && plain.ends_with('/')) plain.remove_suffix(1);
    for (const std::string_view known : otlp_paths) {
        if (!plain.ends_with(known)) continue;
        const std::string_view prefix = plain.substr(0, plain.size() - known.size());
        if (prefix.empty() ? plain.size() != path.size() : contains(otlp_prefixes, prefix)) return std::string(known);
    }
    const bool is_prefixed = plain.starts_with(langsmith_prefix);
    const bool is_reading = method == "GET" || method == "HEAD";
    const std::string_view rest = is_prefixed ? plain.substr(langsmith_prefix.size()) : plain;
    for (const std::string_view known : langsmith_paths)
        if (rest == known || (known == "/runs" && rest.starts_with("/runs/"))) {
            if (is_reading && !is_prefixed && (known == "/runs" || known == "/feedback")) return std::nullopt;
            std::string table_path = std::string(langsmith_prefix) + std::string(rest);
            if (table_path == path) return std::nullopt;
            return table_path;
        }
    return std::nullopt;
}

bool is_sender_path(std::string_view path) {
    return contains(otlp_paths, path) || path.starts_with("/api/v1/");
}

std::string sender_key(const net::RequestHead& head) {
    if (std::string_view value = trim(head.header("Authorization")); !value.empty()) {
        if (take_scheme(value, "Basic ")) return basic_password(value);
        if (take_scheme(value, "Bearer ") || take_scheme(value, "Bearer%20")) return std::string(trim(value));
        return std::string(value);
    }
    for (const char* name : {"x-api-key", "api_key", "api-key", "wandb-api-key"})
        if (const auto value = trim(head.header(name)); !value.empty()) return std::string(value);
    return {};
}

std::string_view project_header(const net::RequestHead& head) {
    for (const char* name : {"X-Project-Name", "Langsmith-Project", "projectName"})
        if (const auto value = trim(head.header(name)); !value.empty()) return value;
    if (const std::string_view of_weave = trim(head.header("project_id")); !of_weave.empty())
        return of_weave.substr(of_weave.rfind('/') + 1);
    for (const char* name : {"x-langfuse-public-key", "x_langfuse_public_key"})
        if (const auto value = trim(head.header(name)); !value.empty() && !value.starts_with("pk-lf-")) return value;
    return {};
}

std::span<const std::string_view> sender_headers() {
    return headers;
}

} // namespace hone::api
