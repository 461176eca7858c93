// Calls of models through the gateway, for experiments and the playground: metered, limited by budgets, traced, with
// the credential of a model skill that no caller sees. Implemented by server/.
#pragma once

#include "access/caller.h"
#include "evaluate/prompts/prompt_request.h"
#include "json/json.h"

#include <functional>
#include <map>
#include <memory>

namespace hone::evaluate {

// Who pays for calls and where their spans go.
struct ModelOwner {
    access::SpaceId space_id;
    std::string id; // of the experiment; calls are counted under it
    std::string project_id;
    std::string project_name;
    std::string skill_id;
    std::optional<int64_t> cost_limit_nano_usd{}; // of all calls of this owner together
    std::optional<int64_t> token_limit{};         // the same
};

struct OutgoingCall {
    PromptRequest request;
    Duration timeout = std::chrono::minutes(10);
    std::vector<std::pair<std::string, std::string>> attributes{}; // of the span
    // For a stream: gets the text that has arrived, whole, each time that it has grown; false ends the call.
    std::function<bool(const std::string& text)> watch{};
};

struct ModelToolUse {
    std::string id, name, arguments;
};

struct ModelReply {
    int status = 0;
    std::string error; // why there is no reply; empty: there is one
    bool out_of_budget = false;
    bool is_not_configured = false; // the model skill has no credential that works, or no price: the gateway refused
    bool is_temporary = false;      // the provider is busy or failed: a retry may help
    Duration retry_after{};
    std::string text;
    std::vector<ModelToolUse> tool_calls;
    std::string finish_reason;
    std::string model;
    std::string trace_id;     // empty: no span was written
    int64_t input_tokens = 0; // with those of caches
    int64_t output_tokens = 0;
    int64_t estimated_tokens = 0;         // used, but not reported by the provider; the cost includes them
    std::optional<int64_t> cost_nano_usd; // nothing: the model has no price
};

// One owner's calls. Thread-safe; `send` blocks.
class ModelSession {
public:
    virtual ~ModelSession() = default;
    // Errors: conflict (cancelled), busy (timeout), unavailable. A refusal of the provider is a reply.
    virtual Result<ModelReply> send(const OutgoingCall& outgoing) = 0;
    // Ends the calls that are under way and all later ones.
    virtual void cancel() = 0;
};

struct ModelSpending {
    int64_t tokens = 0;
    int64_t cost_nano_usd = 0;
};

// What to list the models of: a stored model skill, or one that is not stored yet.
struct ModelListRequest {
    json::Defaulted<std::string> skill;
    json::Defaulted<std::map<std::string, std::string>> variables;
    json::Defaulted<std::string> key;
    static constexpr Pack fields{
        Field{"skill", &ModelListRequest::skill, "Id or name of a model skill; or give variables."},
        Field{"variables", &ModelListRequest::variables,
              "Variables of a model skill that is not stored, such as PROTOCOL. Needs skill_write and secret_write."},
        Field{"key", &ModelListRequest::key, "Key for `variables`. It is not stored."},
    };
};

struct OfferedModel {
    std::string name;
    std::string title;
    static constexpr Pack fields{
        Field{"name", &OfferedModel::name, "As requests name it."},
        Field{"title", &OfferedModel::title, "Name for people; empty: the provider has none."},
    };
};

// What a call is likely to use.
struct CallForecast {
    int64_t output_tokens = 0;
    int64_t measured_calls = 0; // past calls whose mean that is; 0: the most that the request or the model allows
    std::optional<int64_t> cost_nano_usd{}; // nothing: the model has no price
};

class ModelCalls {
public:
    virtual ~ModelCalls() = default;
    // The models that the provider offers, from the provider itself. Blocks for up to half a minute.
    virtual Result<std::vector<OfferedModel>> list_models(const access::Caller& caller, const access::SpaceId& space,
                                                          const ModelListRequest& wanted) {
        static_cast<void>(caller), static_cast<void>(space), static_cast<void>(wanted);
        return unavailable("this server calls no models");
    }
    // The model skill of the space that offers this model, as the caller sees it. `wanted`: its id or name; empty: the
    // one that lists the model, else one that offers any.
    virtual Result<std::string> find_skill(const access::Caller& caller, const access::SpaceId& space,
                                           const std::string& wanted, const std::string& protocol,
                                           const std::string& model) = 0;
    // Of a request with so many input tokens to a model of this skill. Sends nothing.
    virtual Result<CallForecast> forecast(const access::SpaceId& space, const std::string& skill_id,
                                          const PromptRequest& request, int64_t input_tokens) {
        static_cast<void>(space), static_cast<void>(skill_id), static_cast<void>(request);
        static_cast<void>(input_tokens);
        return unavailable("this server calls no models");
    }
    virtual Result<std::unique_ptr<ModelSession>> open(const ModelOwner& owner) = 0;
    // Ends all calls: the server stops.
    virtual void stop() = 0;
    // Of all calls of an owner.
    virtual Result<ModelSpending> spent(const std::string& owner_id) = 0;
};

} // namespace hone::evaluate
