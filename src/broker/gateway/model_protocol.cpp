#include "broker/gateway/model_protocol.h"

#include "base/text.h"

#include <algorithm>

namespace hone::broker {

namespace {

struct FixedRoute {
    std::string_view path;
    ModelApi api;
    bool counts_only;
};
constexpr FixedRoute fixed_routes[] = {
    {"/anthropic/v1/messages", ModelApi::messages, false},
    {"/anthropic/v1/messages/count_tokens", ModelApi::messages, true},
    {"/openai/v1/responses", ModelApi::responses, false},
    {"/openai/v1/chat/completions", ModelApi::chat, false},
};
constexpr std::string_view gemini_models = "/gemini/v1beta/models/";
constexpr size_t model_name_bytes = 200;

bool is_model_name(std::string_view name) {
    return !name.empty() && name.size() <= model_name_bytes && name.front() != '.' &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                      c == '_' || c == '.';
           });
}

// The forwarded part of the query: the form of the response and the version of the API, no keys and nothing unknown.
std::string clean_query(std::string_view query) {
    std::string kept;
    for (const std::string_view part : split(query, '&')) {
        const auto name = percent_decode(part.substr(0, part.find('=')), true);
        if (part.empty() || !name.ok()) continue;
        const std::string lower = lowercase_ascii(name.value());
        if (lower != "alt" && lower != "beta" && lower != "api-version") continue;
        kept += (kept.empty() ? "?" : "&") + std::string(part);
    }
    return kept;
}

std::optional<ModelRoute> gemini_route(std::string_view path) {
    path.remove_prefix(gemini_models.size());
    const size_t colon = path.find(':');
    if (colon == std::string_view::npos || !is_model_name(path.substr(0, colon))) return std::nullopt;
    const std::string_view action = path.substr(colon + 1);
    if (action != "generateContent" && action != "streamGenerateContent") return std::nullopt;
    ModelRoute route;
    route.api = ModelApi::gemini;
    route.model = path.substr(0, colon);
    route.streams = action == "streamGenerateContent";
    route.path = "/v1beta/models/" + std::string(path);
    return route;
}

struct Shape {
    int status;
    std::string_view anthropic, openai, gemini;
};
Shape shape_of(ModelRefusal refusal) {
    switch (refusal) {
    case ModelRefusal::invalid:
        return {400, "invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"};
    case ModelRefusal::forbidden:
        return {403, "permission_error", "invalid_request_error", "PERMISSION_DENIED"};
    case ModelRefusal::not_found:
        return {404, "not_found_error", "invalid_request_error", "NOT_FOUND"};
    case ModelRefusal::too_large:
        return {413, "request_too_large", "invalid_request_error", "INVALID_ARGUMENT"};
    // No harness tries a 400 again. A 401 makes some of them prompt for a login ten times.
    case ModelRefusal::not_configured:
        return {400, "invalid_request_error", "invalid_request_error", "FAILED_PRECONDITION"};
    case ModelRefusal::budget:
        return {400, "invalid_request_error", "insufficient_quota", "FAILED_PRECONDITION"};
    case ModelRefusal::busy:
        return {429, "rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED"};
    case ModelRefusal::unreachable:
        return {502, "api_error", "server_error", "UNAVAILABLE"};
    case ModelRefusal::too_slow:
        return {504, "timeout_error", "server_error", "DEADLINE_EXCEEDED"};
    }
    return {500, "api_error", "server_error", "INTERNAL"};
}

bool names_model(const skill::ModelEndpoint& endpoint, std::string_view model) {
    return std::any_of(endpoint.models.begin(), endpoint.models.end(), [&](std::string_view pattern) {
        if (pattern.ends_with('*')) return model.starts_with(pattern.substr(0, pattern.size() - 1));
        return pattern == model;
    });
}

} // namespace

std::string_view protocol_of(ModelApi api) {
    switch (api) {
    case ModelApi::messages:
        return "anthropic";
    case ModelApi::responses:
    case ModelApi::chat:
        return "openai";
    case ModelApi::gemini:
        return "gemini";
    }
    return "";
}

std::optional<ModelApi> family_of(std::string_view path) {
    const auto is_below = [&](std::string_view prefix) {
        return path.starts_with(prefix) &&
               (path.size() == prefix.size() || path[prefix.size()] == '/' || path[prefix.size()] == '?');
    };
    if (is_below("/anthropic")) return ModelApi::messages;
    if (is_below("/openai")) return ModelApi::chat;
    if (is_below("/gemini")) return ModelApi::gemini;
    return std::nullopt;
}

std::optional<ModelRoute> find_model_route(std::string_view method, std::string_view path_with_query) {
    if (method != "POST") return std::nullopt;
    const size_t question = path_with_query.find('?');
    const std::string_view path = path_with_query.substr(0, question);
    std::optional<ModelRoute> route;
    if (path.starts_with(gemini_models)) route = gemini_route(path);
    for (const FixedRoute& fixed : fixed_routes)
        if (path == fixed.path) {
            route.emplace();
            route->api = fixed.api;
            route->counts_only = fixed.counts_only;
            route->path = path.substr(1 + protocol_of(fixed.api).size());
        }
    if (route && question != std::string_view::npos) route->query = clean_query(path_with_query.substr(question + 1));
    return route;
}

ModelError model_error(ModelApi api, ModelRefusal refusal, std::string_view message) {
    const Shape shape = shape_of(refusal);
    ModelError error{shape.status, {}};
    const std::string text = quote_json(message);
    switch (api) {
    case ModelApi::messages:
        error.body =
            R"({"type":"error","error":{"type":")" + std::string(shape.anthropic) + R"(","message":)" + text + "}}";
        break;
    case ModelApi::responses:
    case ModelApi::chat:
        error.body = R"({"error":{"message":)" + text + R"(,"type":")" + std::string(shape.openai) +
                     R"(","param":null,"code":)" +
                     (refusal == ModelRefusal::budget ? R"("insufficient_quota")" : "null") + "}}";
        break;
    case ModelApi::gemini:
        error.body = R"({"error":{"code":)" + std::to_string(shape.status) + R"(,"message":)" + text +
                     R"(,"status":")" + std::string(shape.gemini) + R"("}})";
        break;
    }
    return error;
}

const skill::ModelEndpoint* choose_endpoint(std::span<const skill::ModelEndpoint> endpoints, ModelApi api,
                                            std::string_view model) {
    const skill::ModelEndpoint* takes_any = nullptr;
    for (const skill::ModelEndpoint& endpoint : endpoints) {
        if (endpoint.protocol != protocol_of(api)) continue;
        if (names_model(endpoint, model)) return &endpoint;
        if (endpoint.models.empty() && takes_any == nullptr) takes_any = &endpoint;
    }
    return takes_any;
}

Result<ModelAddress> parse_model_address(std::string_view base_url) {
    ModelAddress address;
    std::string_view rest = base_url;
    if (rest.starts_with("https://")) {
        rest.remove_prefix(8);
    } else if (rest.starts_with("http://")) {
        rest.remove_prefix(7);
        address.tls = false;
    } else {
        return invalid("a model endpoint starts with https:// or http://");
    }
    const size_t slash = rest.find('/');
    address.host = TRY(parse_host_port(rest.substr(0, slash), address.tls ? 443 : 80));
    if (slash == std::string_view::npos) return address;
    std::string_view path = rest.substr(slash);
    while (path.ends_with('/')) path.remove_suffix(1);
    for (const char c : path)
        if (c <= ' ' || c >= 0x7f || c == '?' || c == '#' || c == '\\')
            return invalid("the path of a model endpoint is plain: no query, no fragment, no blanks");
    address.base_path = path;
    return address;
}

std::string ModelAddress::target(const ModelRoute& route) const {
    const std::string_view path = route.path;
    const std::string_view version = path.substr(0, path.find('/', 1)); // "/v1"
    const bool repeats = std::string_view(base_path).ends_with(version);
    return base_path + std::string(repeats ? path.substr(version.size()) : path) + route.query;
}

} // namespace hone::broker
