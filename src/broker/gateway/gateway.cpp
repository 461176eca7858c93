#include "broker/gateway/gateway.h"

#include "broker/gateway/gateway_pipe.h"
#include "broker/gateway/gateway_state.h"

#include <poll.h>

namespace hone::broker {

namespace {

class LocalUpstream final : public GatewayUpstream {
public:
    LocalUpstream(net::Endpoint endpoint, std::string host)
        : m_endpoint(std::move(endpoint)),
          m_host(std::move(host)) {}

    Result<Channel> connect(const Cancel& cancel) override {
        Fd descriptor = TRY(net::start_connect(m_endpoint));
        const int raw = descriptor.get();
        Channel channel(net::Socket(std::move(descriptor)), cancel);
        TRY(channel.wait(POLLOUT, Deadline::after(std::chrono::seconds(5))));
        TRY(net::connect_outcome(raw, m_endpoint.text));
        return channel;
    }
    std::string host() const override { return m_host; }

private:
    const net::Endpoint m_endpoint;
    const std::string m_host;
};

} // namespace

Result<std::unique_ptr<GatewayUpstream>> local_upstream(const std::string& address) {
    if (address.starts_with("unix:"))
        return std::unique_ptr<GatewayUpstream>(
            std::make_unique<LocalUpstream>(TRY(net::unix_endpoint(address.substr(5))), "localhost"));
    const HostPort place = TRY(parse_host_port(address, 0));
    auto endpoints = TRY(net::resolve(place.host, place.port));
    if (endpoints.empty()) return unavailable("no address for " + address);
    return std::unique_ptr<GatewayUpstream>(std::make_unique<LocalUpstream>(std::move(endpoints.front()), address));
}

std::optional<Channel> Gateway::RunState::take_idle(const std::string& key, Duration now) {
    for (;;) {
        std::optional<Channel> found;
        {
            const Lock lock(m_mutex);
            for (auto idle = m_idle.begin(); idle != m_idle.end(); ++idle)
                if (idle->key == key) {
                    if (idle->until > now) found = std::move(idle->channel);
                    m_idle.erase(idle);
                    if (!found) return std::nullopt; // the newest is too old, so all are
                    break;
                }
        }
        if (!found || !found->is_stale()) return found;
    }
}

void Gateway::RunState::keep_idle(const std::string& key, Channel channel, Duration until) {
    const Lock lock(m_mutex);
    m_idle.push_front({key, std::move(channel), until});
    if (m_idle.size() > most_idle) m_idle.pop_back();
}

Result<std::shared_ptr<const GatewayCredential>>
Gateway::RunState::credential(AttachedRun& attached, const std::string& secret_id, Duration lifetime) {
    const Duration now = attached.clock().steady();
    {
        const Lock lock(m_mutex);
        const auto known = m_opened.find(secret_id);
        if (known != m_opened.end() && known->second.until > now) return known->second.credential;
    }
    auto opened = std::make_shared<const GatewayCredential>(TRY(attached.open_secret(secret_id)));
    const Lock lock(m_mutex);
    m_opened[secret_id] = {opened, now + lifetime};
    return opened;
}

Result<> Gateway::RunState::note_once(const std::string& use, const std::function<Result<>()>& record) {
    const Lock lock(m_noting);
    if (m_noted.contains(use)) return {};
    TRY(record());
    m_noted.insert(use);
    return {};
}

void Gateway::RunState::stop_for_budget(BudgetScope scope, const std::string& message) {
    {
        const Lock lock(m_mutex);
        if (std::exchange(m_stopped, true)) return;
    }
    if (run.budget_stopped) run.budget_stopped(scope, message);
}

Gateway::Gateway(GatewayOptions options, Budgets& budgets, const telemetry::Prices& prices, const Clock& clock,
                 ModelCallSink* sink, GatewayUpstream* upstream)
    : m_options(options),
      m_budgets(budgets),
      m_prices(prices),
      m_clock(clock),
      m_sink(sink),
      m_upstream(upstream) {}

Gateway::~Gateway() = default;

Result<> Gateway::add_run(const std::string& run_id, GatewayRun run) {
    auto state = std::make_shared<RunState>(std::move(run));
    const Lock lock(m_mutex);
    if (!m_runs.emplace(run_id, std::move(state)).second) return conflict("the gateway serves this run already");
    return {};
}

void Gateway::remove_run(const std::string& run_id) {
    std::shared_ptr<RunState> last; // goes after the lock
    {
        const Lock lock(m_mutex);
        const auto found = m_runs.find(run_id);
        if (found == m_runs.end()) return;
        last = std::move(found->second);
        m_runs.erase(found);
    }
    m_budgets.forget(last->run.account.run_id);
}

std::shared_ptr<Gateway::RunState> Gateway::find(const std::string& run_id) {
    const Lock lock(m_mutex);
    const auto found = m_runs.find(run_id);
    return found == m_runs.end() ? nullptr : found->second;
}

void Gateway::serve_connection(AttachedRun& attached, Channel& client, const OwnCall* own) {
    const auto run = find(attached.run_id());
    for (;;) {
        auto head = read_request(client, Deadline::after(m_options.idle_timeout));
        if (!head.ok()) {
            const Code code = head.error().code;
            if (code != Code::invalid && code != Code::too_large) return;
            static_cast<void>(client.write(refusal(status_of(head.error()), code_name(code), head.error().message),
                                           Deadline::after(m_options.idle_timeout)));
            return end_politely(client);
        }
        if (!head.value()) return; // the client is done
        if (!run) {
            static_cast<void>(client.write(refusal(503, "unavailable", "this run has no gateway"),
                                           Deadline::after(m_options.idle_timeout)));
            return end_politely(client);
        }
        if (!serve_request(attached, *run, client, *head.value(), own)) return;
    }
}

bool Gateway::serve_request(AttachedRun& attached, RunState& run, Channel& client, RequestHead& head,
                            const OwnCall* own) {
    const auto refuse = [&](int status, std::string_view code, std::string_view message) {
        static_cast<void>(client.write(refusal(status, code, message), Deadline::after(m_options.idle_timeout)));
        end_politely(client);
        return false;
    };
    if (head.form != TargetForm::origin) return refuse(400, "invalid", "this is the gateway, not the proxy on 3128");
    if (head.path == "/healthz" && head.method == "GET" && head.framing == Framing::none)
        return send_response(client, 200, "application/json", R"({"status":"ok"})", !head.keep_alive,
                             m_options.idle_timeout)
                   .ok() &&
               head.keep_alive;
    if (auto route = find_model_route(head.method, head.path))
        return ModelExchange(*this, attached, run, client, own).serve_request(head, std::move(*route));
    if (const auto api = family_of(head.path)) {
        const ModelError error =
            model_error(*api, ModelRefusal::not_found,
                        "Hone's gateway does not offer " + head.method + " " + std::string(head.path_without_query()));
        static_cast<void>(send_response(client, error.status, "application/json",
                                        head.method == "HEAD" ? std::string_view() : error.body, true,
                                        m_options.idle_timeout));
        end_politely(client);
        return false;
    }
    if (GitGate::covers(head.path)) return GitGate(*this, attached, client).serve_request(head);
    if (ForwardExchange::covers(head.path)) return ForwardExchange(*this, attached, run, client).serve_request(head);
    return refuse(404, "not_found", "the gateway has /anthropic, /openai, /gemini, /api, /mcp, /otlp and /git");
}

} // namespace hone::broker
