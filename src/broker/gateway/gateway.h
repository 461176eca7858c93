// The gateway on port 3129 of every sandbox: models (/anthropic, /openai, /gemini), Hone's own API, MCP, OTLP and git
// (/api, /mcp, /otlp, /git) and /healthz. Adds the credential that the worker must not see, meters and limits model
// calls, passes everything else through byte for byte. Thread-safe: `serve` runs on the broker's connection threads.
#pragma once

#include "base/mutex.h"
#include "broker/egress/attached_run.h"
#include "broker/gateway/git_service.h"
#include "broker/gateway/model_protocol.h"
#include "broker/spending/budget.h"
#include "broker/spending/model_call.h"
#include "telemetry/span/prices.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace hone::broker {

struct GatewayOptions {
    size_t request_bytes = 64 << 20;                      // a model request's body
    size_t captured_bytes = 4 << 20;                      // of a response, for a span with Capture::full
    Duration response_timeout = std::chrono::minutes(15); // until the first byte of a response
    Duration idle_timeout = std::chrono::minutes(10);     // between bytes
    Duration budget_wait = std::chrono::seconds(45);      // below the response timeout of any harness
    Duration secret_lifetime = std::chrono::minutes(1);   // how long an opened credential is kept, locked in memory
    Duration reuse_for = std::chrono::seconds(30);        // an idle connection to a provider
};

// How to reach the server's own HTTP listener: /api, /mcp and /otlp of a run go there with the run's key.
class GatewayUpstream {
public:
    virtual ~GatewayUpstream() = default;
    virtual Result<Channel> connect(const Cancel& cancel) = 0;
    // The Host header.
    virtual std::string host() const = 0;
};
// A plain listener: "127.0.0.1:7070", or "unix:/path".
Result<std::unique_ptr<GatewayUpstream>> local_upstream(const std::string& address);

// What the gateway stores about a run beyond the broker's AttachedRun.
struct GatewayRun {
    BudgetAccount account;
    SpanPlace place;
    Capture capture = Capture::full;
    crypto::SecretBytes run_key; // empty: /api and the like are refused
    // Whether the key of a hone skill may be used by this run: it must not be wider than who started it. Null: never.
    std::function<Result<>(std::string_view key)> check_key;
    // Called once, on a connection's thread, when a call was refused because a budget is used up. Must not block.
    std::function<void(BudgetScope scope, const std::string& message)> budget_stopped;
    // Most time of one call of Hone's own tools (/mcp); 0: that of other requests.
    Duration tool_timeout{};
    // Whether requests get a notice near the end of a budget. Not where the request itself is measured.
    bool gets_notices = true;
};

// A model call of the server itself instead of a worker: where its span goes, and who gets its numbers.
struct OwnCall {
    SpanPlace place;
    std::vector<std::pair<std::string, std::string>> attributes{}; // of the span, beside its usual ones
    // On the connection's thread, before the client can see the end of the response. Must not block.
    std::function<void(const UsageRow& row, const ModelUsage& usage, bool is_traced)> settled{};
    // On the same thread, before its response: the gateway responds instead of the provider.
    std::function<void(ModelRefusal refusal)> refused{};
};

class Gateway final : public GatewayHandler {
public:
    // `sink` and `upstream` may be null: no spans; no forwards. References must outlive the gateway.
    Gateway(GatewayOptions options, Budgets& budgets, const telemetry::Prices& prices, const Clock& clock,
            ModelCallSink* sink, GatewayUpstream* upstream);
    ~Gateway() override;

    const telemetry::Prices& prices() const { return m_prices; }

    // Serves /git/; null: none. Set before the first run; must outlive the gateway.
    void set_git(GitService* git) { m_git = git; }

    // Before Broker::attach and after Broker::detach of the run. Errors: the run is known already.
    Result<> add_run(const std::string& run_id, GatewayRun run);
    void remove_run(const std::string& run_id);

    void serve(AttachedRun& attached, Channel& client) override { serve_connection(attached, client, nullptr); }
    // The same for a connection of the server itself. Its calls count for the account of the attached run.
    void serve_own(AttachedRun& attached, Channel& client, const OwnCall& call) {
        serve_connection(attached, client, &call);
    }

private:
    friend class ModelExchange;
    friend class ForwardExchange;
    friend class GitGate;
    struct RunState;

    std::shared_ptr<RunState> find(const std::string& run_id);
    // Serves one request; false when the connection must end.
    bool serve_request(AttachedRun& attached, RunState& run, Channel& client, RequestHead& head, const OwnCall* own);
    void serve_connection(AttachedRun& attached, Channel& client, const OwnCall* own);

    const GatewayOptions m_options;
    Budgets& m_budgets;
    const telemetry::Prices& m_prices;
    const Clock& m_clock;
    ModelCallSink* const m_sink;
    GatewayUpstream* const m_upstream;
    GitService* m_git = nullptr;
    Mutex m_mutex;
    // Shared: a connection that is being cut may still use its run's state after remove_run.
    std::map<std::string, std::shared_ptr<RunState>> m_runs GUARDED_BY(m_mutex);
};

} // namespace hone::broker
