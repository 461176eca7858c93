// What one run gets from its skills: plain variables, credentials with the hosts they are bound to, reachable hosts
// and model endpoints. Made by skill::Skills::resolve, read by the broker. Plain values: no secret is ever in here,
// only the ids that secret::Vault opens.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hone::skill {

// Where a request may go.
struct HostRule {
    std::string host; // "api.github.com", or "*.example.com" for every name below example.com (not itself)
    std::uint16_t port = 443;
    bool tls = true;
    std::vector<std::string> methods; // "GET"; empty: all
    std::string path_prefix = "/"; // whole segments: "/v1" covers "/v1" and "/v1/x", not "/v10"; "*" is any one segment
    bool websocket = false;
    friend bool operator==(const HostRule&, const HostRule&) = default;
};

// One secret variable as the sandbox sees it.
struct Credential {
    std::string variable;        // GH_TOKEN
    std::string secret_id;       // for Vault::open
    std::string secret_name;     // for the audit log
    bool brokered = true;        // false: the value itself is put into the environment
    std::vector<HostRule> hosts; // where the placeholder may be replaced
    std::string header;          // "authorization"; empty: any header that is made for credentials
    std::string format;          // "Bearer {}", "token {}", "Basic x-access-token:{}" (base64 applied), "{}"
    bool workers_see_it = false; // the same secret is in the environment of workers in clear
};

struct ModelEndpoint {
    std::string skill_id;
    std::string protocol; // anthropic, openai, gemini
    std::string base_url;
    std::string secret_id, secret_name; // both empty: an endpoint without a key
    std::string header, format;
    std::vector<std::string> models;   // empty: any
    std::string prices;                // lines of telemetry/span/prices.h for models of this endpoint; empty: none
    bool allow_private = false;        // may be on a private address (a model server of one's own)
    std::vector<std::string> features; // names of types.h, model_features, and "beta:NAME": what requests may use
};

// Everything one run gets from its skills.
struct Grant {
    std::vector<std::pair<std::string, std::string>> plain; // DD_SITE=...
    std::vector<Credential> credentials;
    std::vector<HostRule> allow; // hosts reachable without a secret
    std::vector<ModelEndpoint> models;
    std::vector<std::string> skill_versions; // "skl_…@3" for the manifest
};

} // namespace hone::skill
