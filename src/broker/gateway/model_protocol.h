// The model endpoints that the gateway offers, the shapes of their errors, and which of a run's own endpoints serves a
// request. Pure: any thread.
#pragma once

#include "base/result.h"
#include "broker/spending/usage.h"
#include "broker/wire/http_head.h"
#include "skill/grant.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::broker {

// One request to a model endpoint, read from its target.
struct ModelRoute {
    ModelApi api = ModelApi::messages;
    bool counts_only = false; // only counts the tokens of a request: free of charge
    bool streams = false;     // in the path for Gemini, in the body for the others
    std::string path;         // below the provider's base: "/v1/messages"
    std::string query;        // without credentials; empty, or starting with '?'
    std::string model;        // Gemini: from the path
};

// "anthropic", "openai", "gemini": the value of ModelEndpoint::protocol.
std::string_view protocol_of(ModelApi api);
// The protocol a target below the gateway belongs to ("/openai/v2/x" -> chat), to shape a refusal; nothing for others.
std::optional<ModelApi> family_of(std::string_view path);
// Exactly the endpoints that are offered; nothing for all others.
std::optional<ModelRoute> find_model_route(std::string_view method, std::string_view path_with_query);

// Why the gateway responds instead of the provider.
enum class ModelRefusal {
    invalid,
    forbidden,
    not_found,
    not_configured, // no usable credential: a setting is missing, a retry does not help
    too_large,
    budget,
    busy,
    unreachable,
    too_slow,
};

struct ModelError {
    int status = 500;
    std::string body; // JSON as the provider's own clients expect it
};
// Statuses are chosen for the behaviour of the harnesses: 400 for what must stop them, 429 and 5xx for what they
// should try again.
ModelError model_error(ModelApi api, ModelRefusal refusal, std::string_view message);

// The endpoint of the run that serves this model: one that names it first, else one that takes any. A '*' at the end of
// a name stands for any rest. Null: none.
const skill::ModelEndpoint* choose_endpoint(std::span<const skill::ModelEndpoint> endpoints, ModelApi api,
                                            std::string_view model);

// Where an endpoint is, from its base_url.
struct ModelAddress {
    bool tls = true;
    HostPort host;
    std::string base_path; // without a slash at its end
    // The request's target: a base that ends with the version the path starts with does not repeat it.
    std::string target(const ModelRoute& route) const;
};
Result<ModelAddress> parse_model_address(std::string_view base_url);

} // namespace hone::broker
