// What the gateway keeps for one run while it lives: idle connections to providers, opened credentials, and whether its
// budget is used up. Shared by the run's connection threads; thread-safe. Private to gateway*.cpp.
#pragma once

#include "broker/egress/redactor.h"
#include "broker/gateway/gateway.h"
#include "broker/gateway/model_guard.h"
#include "broker/gateway/model_protocol.h"
#include "broker/gateway/model_request.h"
#include "broker/spending/usage_filter.h"

#include <functional>
#include <list>
#include <set>

namespace hone::broker {

// An opened credential, and the redactor that finds it in responses.
struct GatewayCredential {
    explicit GatewayCredential(crypto::SecretBytes opened)
        : value(std::move(opened)),
          redactor(std::array{value.reveal()}) {}
    const crypto::SecretBytes value;
    const Redactor redactor;
};

struct Gateway::RunState {
    explicit RunState(GatewayRun given) : run(std::move(given)) {}

    // A connection that was used before and is still good, if there is one.
    std::optional<Channel> take_idle(const std::string& key, Duration now);
    void keep_idle(const std::string& key, Channel channel, Duration until);

    // The credential of an endpoint, opened at most once per `lifetime`. Shared: a call in flight keeps the value it
    // started with.
    Result<std::shared_ptr<const GatewayCredential>> credential(AttachedRun& attached, const std::string& secret_id,
                                                                Duration lifetime);
    // Records a use of a secret in the audit log the first time; calls at the same time wait for it.
    Result<> note_once(const std::string& use, const std::function<Result<>()>& record);
    // Notifies the run, once, that its budget is used up.
    void stop_for_budget(BudgetScope scope, const std::string& message);

    const GatewayRun run;

private:
    struct Idle {
        std::string key;
        Channel channel;
        Duration until;
    };
    struct Opened {
        std::shared_ptr<const GatewayCredential> credential;
        Duration until;
    };
    static constexpr size_t most_idle = 16;

    Mutex m_noting;
    std::set<std::string> m_noted GUARDED_BY(m_noting);
    Mutex m_mutex;
    std::list<Idle> m_idle GUARDED_BY(m_mutex);
    std::map<std::string, Opened> m_opened GUARDED_BY(m_mutex);
    bool m_stopped GUARDED_BY(m_mutex) = false;
};

// One request to a model. Made per request, used once.
class ModelExchange {
public:
    // `own`: of a call of the server itself; null for a worker's.
    ModelExchange(Gateway& gateway, AttachedRun& attached, Gateway::RunState& run, Channel& client, const OwnCall* own)
        : m_gateway(gateway),
          m_attached(attached),
          m_run(run),
          m_client(client),
          m_own(own) {}
    // False when the connection must end.
    bool serve_request(RequestHead& head, ModelRoute route);

private:
    bool refuse(ModelRefusal refusal, std::string_view message, bool close);
    bool refuse_unoffered(const skill::Grant& grant);
    bool refuse_unreached(const Error& error);
    std::string prepare(const ModelRequest& request, std::string body, const Admission& admission,
                        const skill::ModelEndpoint& endpoint);
    Result<std::string> prepare_head(const RequestHead& head, const skill::ModelEndpoint& endpoint, size_t length);
    // Whether everything in the request is allowed.
    Result<> check(const RequestHead& head, std::string_view body, const skill::ModelEndpoint& endpoint);
    bool refuse_unpriced(BudgetScope scope);
    const telemetry::Price* price_of(std::string_view model) const;
    Result<ResponseHead> reach(const RequestHead& head, const skill::ModelEndpoint& endpoint, const std::string& body);
    ResponseHead client_head(const ResponseHead& response) const;
    bool take_piece(std::string& piece, bool last);
    bool forward_response(const ResponseHead& response);
    bool refuse_for_credential(const ResponseHead& response);
    Result<> note_use(const skill::ModelEndpoint& endpoint);
    void abandon();
    telemetry::Tokens unreported_tokens() const;
    void set_cost(UsageRow& row, const telemetry::Tokens& unreported) const;
    void settle();
    CallEstimate estimate(const ModelRequest& request, size_t body_bytes);

    Gateway& m_gateway;
    AttachedRun& m_attached;
    Gateway::RunState& m_run;
    Channel& m_client;
    const OwnCall* const m_own;
    ModelRoute m_route;
    ModelAddress m_address;
    ModelContent m_content;
    telemetry::Prices m_own_prices;                        // of the endpoint's skill
    std::vector<Header> m_headers;                         // of the request, as the provider gets them
    std::shared_ptr<const GatewayCredential> m_credential; // null: the endpoint wants none
    std::optional<Channel> m_other;
    std::optional<UsageMeter> m_meter;
    std::optional<UsageChunkFilter> m_filter; // when the client did not request the usage chunk
    std::optional<RedactedStream> m_blanked;  // the response without the credential
    ModelCall m_call;
    Capture m_capture = Capture::none; // the lesser of what run and space let be kept
    std::string m_skill_id;
    Duration m_began{};
    bool m_drops_usage = false; // the client did not request the usage chunk
    bool m_client_keeps = true;
    bool m_client_is_old = false; // HTTP/1.0
    bool m_was_sent = false;
    bool m_is_locked_out = false; // the credential cannot be opened
    bool m_is_abandoned = false;  // the response was not read to its end, by a decision of this side
    telemetry::Tokens m_most;     // that the call can use
    int64_t m_sent_bytes = 0;
    std::string m_sent; // the body as it went out
    Reservation m_reservation;
    bool m_is_settled = false;
    std::string m_idle_key;
};

constexpr std::string_view gateway_git_url = "http://127.0.0.1:3129/git/";

// One request of a git client.
class GitGate {
public:
    GitGate(Gateway& gateway, AttachedRun& attached, Channel& client)
        : m_gateway(gateway),
          m_attached(attached),
          m_client(client) {}
    static bool covers(std::string_view path);
    bool serve_request(const RequestHead& head);

private:
    bool refuse(int status, const std::string& message);
    bool reset_connection();
    Result<> take_body(const RequestHead& head, GitResponse& response);

    Gateway& m_gateway;
    AttachedRun& m_attached;
    Channel& m_client;
};

// One request to the server itself.
class ForwardExchange {
public:
    ForwardExchange(Gateway& gateway, AttachedRun& attached, Gateway::RunState& run, Channel& client)
        : m_gateway(gateway),
          m_attached(attached),
          m_run(run),
          m_client(client) {}
    // Whether a path is one of those that are forwarded.
    static bool covers(std::string_view path);
    bool serve_request(RequestHead& head);

private:
    bool refuse(int status, std::string_view code, std::string_view message);
    // Takes the key of the run's hone skill when the request carries its placeholder.
    Result<> take_skill_key(const RequestHead& head);
    Result<ResponseHead> reach(const RequestHead& head);
    Duration time_left(const RequestHead& head, Duration otherwise) const;
    Result<> send_head(const RequestHead& head);
    Result<> send_body(const RequestHead& head);

    Gateway& m_gateway;
    AttachedRun& m_attached;
    Gateway::RunState& m_run;
    Channel& m_client;
    Duration m_began{}; // steady time
    std::optional<Channel> m_other;
    std::shared_ptr<const GatewayCredential> m_skill_key; // null: the run's own key
};

} // namespace hone::broker
