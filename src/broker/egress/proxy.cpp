#include "broker/egress/proxy.h"

#include "base/text.h"
#include "broker/egress/exchange.h"
#include "broker/egress/placeholder.h"
#include "broker/egress/tunnel.h"
#include "broker/wire/authority.h"

#include <algorithm>

namespace hone::broker {

namespace {

constexpr auto head_timeout = std::chrono::seconds(60); // also how long a kept connection waits for its next request
constexpr auto hello_timeout = std::chrono::seconds(15);
constexpr auto response_timeout = std::chrono::seconds(10);

bool same_place(const HostPort& header, const HostPort& target, uint16_t default_port) {
    return header.host == target.host && (header.port == 0 ? default_port : header.port) == target.port;
}

// The refusal that a decision causes.
std::string explain(const Decision& decision) {
    return decision.method + " " + decision.target.text() + decision.path + ": " + decision.reason + " (" +
           decision.rule + ")";
}

// The method and the path that were allowed are those that count. Servers behind CGI read '_' as '-'.
void remove_overrides(std::vector<Header>& headers) {
    static constexpr std::string_view names[] = {"x-http-method-override", "x-http-method",    "x-method-override",
                                                 "x-original-method",      "x-original-url",   "x-original-uri",
                                                 "x-rewrite-url",          "x-rewrite-uri",    "x-override-url",
                                                 "x-http-path-override",   "x-forwarded-path", "x-forwarded-prefix"};
    std::erase_if(headers, [](const Header& header) {
        std::string name = lowercase_ascii(header.name);
        std::replace(name.begin(), name.end(), '_', '-');
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    });
}

class Connection {
public:
    Connection(AttachedRun& attached, Channel& client) : m_attached(attached), m_client(client) {}

    void serve() {
        for (bool more = true; more && !m_attached.cancel().fired();) {
            auto head = read_request(m_client, Deadline::after(head_timeout));
            if (!head.ok()) {
                if (head.error().code == Code::invalid || head.error().code == Code::too_large) refuse(head.error());
                return;
            }
            if (!head.value()) return;
            RequestHead request = std::move(*head.value());
            more = request.method == "CONNECT" ? connect(request) : pass_plain(std::move(request));
        }
    }

private:
    // Sends a response of the proxy and ends the connection: the bytes that follow may not be a request.
    bool refuse(const Error& error) { return refuse(status_of(error), code_name(error.code), error.message); }
    bool refuse(int status, std::string_view code, std::string_view message) {
        const Deadline deadline = Deadline::after(response_timeout);
        if (m_client.write(refusal(status, code, message), deadline).ok()) m_client.shut_down_writing();
        return false;
    }

    Decision decision(const RequestHead& request, const HostPort& target, bool tls, const Verdict& verdict) const {
        return {m_attached.clock().now(),
                m_attached.run_id(),
                verdict.allowed,
                request.method,
                target,
                tls,
                std::string(request.path_without_query()),
                verdict.rule,
                verdict.reason,
                {}};
    }

    bool pass_plain(RequestHead request) {
        if (request.form != TargetForm::absolute)
            return refuse(400, "invalid", "this is a proxy: the request must name its host");
        if (request.secure) return refuse(400, "invalid", "https goes through CONNECT");
        const HostPort target = *request.target;
        if (request.host && !same_place(*request.host, target, 80))
            return refuse(421, "misdirected", "the Host header differs from the host of the request");
        const std::shared_ptr<const Policy> policy = m_attached.policy();
        Verdict verdict = policy->decide_connect(target);
        m_at_forge = false;
        if (verdict.allowed) find_forge_behind(*policy, target, verdict);
        if (!m_forge_refusal.empty()) {
            Decision made = decision(request, target, false, verdict);
            if (const auto noted = m_attached.decided(made); !noted.ok())
                return refuse(503, "unavailable", noted_failed);
            return refuse(403, "forbidden", explain(made));
        }
        return pass(std::move(request), target, false);
    }

    // A forge under another name: rejected, or checked as a forge when a rule names the other name exactly.
    void find_forge_behind(const Policy& policy, const HostPort& target, Verdict& verdict) {
        m_forge_refusal.clear();
        const std::string forge = m_attached.forge_at(target);
        m_at_forge = !forge.empty();
        if (m_at_forge && !policy.names(target)) {
            m_forge_refusal = "this is the forge " + forge + " under another name; use its own name";
            verdict.allowed = false;
            verdict.rule = "forge " + forge;
            verdict.reason = m_forge_refusal;
        }
        // Without a name in the tunnel nothing else shows which site the requests are for.
        verdict.terminate |= m_at_forge || (target.is_address && !policy.forges().empty() && !policy.names(target));
    }

    bool connect(const RequestHead& request) {
        const HostPort target = *request.target;
        if (request.host && request.host->host != target.host)
            return refuse(421, "misdirected", "the Host header differs from the host of the request");
        if (!m_client.buffer().empty()) return refuse(400, "invalid", "bytes came before the tunnel was open");
        const std::shared_ptr<const Policy> policy = m_attached.policy();
        Verdict verdict = policy->decide_connect(target);
        if (verdict.allowed) find_forge_behind(*policy, target, verdict);
        Decision made = decision(request, target, true, verdict);
        // An intercepted tunnel is decided request by request; only its refusal is a decision.
        if (!verdict.allowed || !verdict.terminate)
            if (const auto noted = m_attached.decided(made); !noted.ok())
                return refuse(503, "unavailable", noted_failed);
        if (!verdict.allowed) return refuse(403, "forbidden", explain(made));
        return verdict.terminate ? terminate(target) : tunnel(made);
    }

    bool confirm_tunnel() {
        return m_client.write("HTTP/1.1 200 Connection established\r\n\r\n", Deadline::after(response_timeout)).ok();
    }

    // The server name in the TLS handshake must be the one in the CONNECT request.
    Result<> check_hello(const HostPort& target) {
        const ClientHello hello = TRY(peek_client_hello(m_client, Deadline::after(hello_timeout)));
        if (hello.hides_its_name && m_attached.policy()->mode() != EgressMode::open)
            return forbidden("the TLS client encrypts the name of the server");
        if (target.is_address ? hello.server_name.empty() : hello.server_name == target.host) return {};
        return forbidden("the TLS client names the server \"" + hello.server_name + "\", the tunnel is for " +
                         target.host);
    }

    bool tunnel(const Decision& made) {
        const Duration start = m_attached.clock().steady();
        Outcome outcome;
        const auto finish = [&](const Error& error) {
            outcome.error = error.message;
            outcome.took = m_attached.clock().steady() - start;
            m_attached.finished(made, outcome);
        };
        auto dialed = m_attached.dialer().dial(made.target, m_attached.reach_of(made.target), m_attached.cancel(),
                                               m_attached.limits_of(made.target, false));
        if (!dialed.ok()) {
            finish(dialed.error());
            return refuse(dialed.error());
        }
        outcome.address = dialed.value().address;
        Channel upstream = std::move(dialed.value().channel);
        const LiveSockets::Entry entry(m_attached.live_sockets(), upstream.descriptor(), made.target);
        TunnelBytes bytes;
        const auto run = [&]() -> Result<> {
            if (!confirm_tunnel()) return unavailable("the client closed the connection");
            TRY(check_hello(made.target));
            return run_tunnel(m_attached, m_client, upstream, bytes);
        };
        const auto ran = run();
        outcome.sent_bytes = bytes.sent;
        outcome.received_bytes = bytes.received;
        finish(ran.ok() ? Error{} : ran.error());
        if (!ran.ok()) m_client.reset_connection();
        return false;
    }

    bool terminate(const HostPort& target) {
        auto context = m_attached.authority().context_for(target.host);
        if (!context.ok()) return refuse(503, "unavailable", "no certificate could be made for this host");
        if (!confirm_tunnel()) return false;
        const auto shake = [&]() -> Result<> {
            TRY(check_hello(target));
            auto session = TRY(context.value()->accept(m_client.descriptor()));
            return m_client.start_tls(std::move(session), Deadline::after(hello_timeout));
        };
        if (const auto shaken = shake(); !shaken.ok()) {
            note_failed_tunnel(target, shaken.error());
            return false;
        }
        for (bool more = true; more && !m_attached.cancel().fired();) {
            auto head = read_request(m_client, Deadline::after(head_timeout));
            if (!head.ok()) {
                if (head.error().code == Code::invalid || head.error().code == Code::too_large) refuse(head.error());
                return false;
            }
            if (!head.value()) return false;
            RequestHead request = std::move(*head.value());
            if (request.form != TargetForm::origin && request.form != TargetForm::asterisk)
                return refuse(400, "invalid", "inside a tunnel a request names its path only");
            if (!request.host || !same_place(*request.host, target, 443))
                return refuse(421, "misdirected", "the Host header differs from the host of the tunnel");
            request.target = target;
            more = pass(std::move(request), target, true);
        }
        return false;
    }

    void note_failed_tunnel(const HostPort& target, const Error& error) {
        if (error.code == Code::conflict) return;
        Decision made{m_attached.clock().now(),
                      m_attached.run_id(),
                      false,
                      "CONNECT",
                      target,
                      true,
                      "",
                      "tunnel",
                      error.message,
                      {},
                      0};
        // The tunnel ends either way.
        if (const auto noted = m_attached.decided(made); !noted.ok()) return;
    }

    // Decides about one request and forwards it; false when the connection must end.
    bool pass(RequestHead request, const HostPort& target, bool tls) {
        const std::shared_ptr<const Policy> policy = m_attached.policy();
        const bool websocket = request.upgrade == "websocket" && request.method == "GET";
        const std::string_view path = request.path_without_query();
        const std::string_view query =
            std::string_view(request.path).substr(std::min(request.path.size(), path.size() + 1));
        const Verdict verdict =
            policy->decide({request.method, target, tls, std::string(path), websocket, std::string(query), m_at_forge});
        Decision made = decision(request, target, tls, verdict);
        ExchangeOptions options;
        if (verdict.allowed) {
            if (auto prepared = prepare(*policy, verdict, request, target, tls, options); prepared.ok()) {
                made.secret_names = std::move(prepared).value();
            } else {
                made.allowed = false;
                made.rule = "credentials";
                made.reason = prepared.error().message;
            }
        }
        const auto noted = m_attached.decided(made);
        const bool goes_on = noted.ok() && made.allowed && send(made, request, websocket, options);
        for (Header& header : request.headers) crypto::wipe(header.value);
        if (!noted.ok()) return refuse(503, "unavailable", noted_failed);
        if (!made.allowed) return refuse(403, "forbidden", explain(made));
        return goes_on;
    }

    // Rewrites the head for the way out.
    Result<std::vector<std::string>> prepare(const Policy& policy, const Verdict& verdict, RequestHead& request,
                                             const HostPort& target, bool tls, ExchangeOptions& options) {
        const bool websocket = request.upgrade == "websocket" && request.method == "GET";
        if (request.framing == Framing::length &&
            request.length > static_cast<uint64_t>(m_attached.caps().request_bytes))
            return too_large("the request is larger than the run may send");
        remove_hop_headers(request.headers);
        remove_overrides(request.headers);
        if (request.framing == Framing::none && request.declared_length.value_or(0) == 0 && request.method == "GET")
            request.declared_length.reset();
        set_header(request.headers, "Host", target.header(tls ? 443 : 80));
        std::vector<std::string> names;
        if (verdict.brokered && tls) {
            names = TRY(m_attached.placeholders().apply(policy, verdict, request));
            options.redactor = TRY(m_attached.placeholders().redactor_for(policy, target));
            // A secret must be seen whole and in the clear, or it cannot be blanked.
            set_header(request.headers, "Accept-Encoding", "identity");
            for (const char* name : {"range", "if-range", "sec-websocket-extensions"})
                remove_header(request.headers, name);
            // A cookie is a credential: what the secret opened would stay open for the worker.
            options.drops_cookies = true;
            options.on_response = [](ResponseHead& head) -> Result<> {
                const std::string_view encoding = header_value(head.headers, "content-encoding");
                if (encoding.empty() || equals_ignoring_case(encoding, "identity") || head.framing == Framing::none)
                    return {};
                return unavailable("the server compressed its response although the request forbids it; it cannot be "
                                   "searched for secrets");
            };
        } else {
            TRY(m_attached.placeholders().refuse_strays(request));
        }
        if (websocket) {
            request.headers.push_back({"Connection", "Upgrade"});
            request.headers.push_back({"Upgrade", "websocket"});
        } else {
            request.upgrade.clear();
        }
        return names;
    }

    Result<> dial(const Decision& made) {
        if (m_upstream && m_upstream_target == made.target && !m_upstream->is_stale()) {
            m_reused = true;
            return {};
        }
        hang_up();
        m_reused = false;
        const Reach reach = m_attached.reach_of(made.target);
        const DialLimits limits = m_attached.limits_of(made.target, m_at_forge);
        Dialed dialed = made.tls ? TRY(m_attached.dialer().dial_tls(made.target, reach, m_attached.cancel(), limits))
                                 : TRY(m_attached.dialer().dial(made.target, reach, m_attached.cancel(), limits));
        m_upstream.emplace(std::move(dialed.channel));
        m_upstream_entry = LiveSockets::Entry(m_attached.live_sockets(), m_upstream->descriptor(), made.target);
        m_upstream_target = made.target;
        m_upstream_address = std::move(dialed.address);
        return {};
    }

    void hang_up() {
        m_upstream_entry = {};
        m_upstream.reset();
    }

    bool send(const Decision& made, const RequestHead& request, bool websocket, ExchangeOptions& options) {
        const Duration start = m_attached.clock().steady();
        ExchangeResult result;
        for (int attempt = 0; attempt < 2; ++attempt) {
            if (auto dialed = dial(made); !dialed.ok()) {
                result.error = dialed.error();
                break;
            }
            options.was_cut = [&] { return m_upstream_entry.was_cut(); };
            result = run_exchange(m_attached, m_client, *m_upstream, request, options);
            // A kept connection may have been closed just when we used it; a request without a body can go again.
            const bool again = m_reused && result.status == 0 && !result.responded &&
                               request.framing == Framing::none && !websocket && result.error.code == Code::unavailable;
            if (!result.upstream_reusable) hang_up();
            if (!again) break;
        }
        m_attached.finished(made, {result.status, m_upstream_address, result.sent, result.received,
                                   m_attached.clock().steady() - start, result.error.message});
        if (!result.error.message.empty() && !result.responded && result.error.code != Code::conflict)
            return refuse(status_of(result.error, Part::body), code_name(result.error.code), result.error.message);
        if (!result.error.message.empty()) m_client.reset_connection();
        return result.client_reusable;
    }

    static constexpr std::string_view noted_failed =
        "the decision about this request could not be recorded, so it is not sent";

    AttachedRun& m_attached;
    Channel& m_client;
    std::optional<Channel> m_upstream;
    LiveSockets::Entry m_upstream_entry; // after m_upstream: leaves the list before the socket closes
    HostPort m_upstream_target;
    std::string m_upstream_address;
    bool m_reused = false;
    bool m_at_forge = false;     // the place of this connection is a forge under another name
    std::string m_forge_refusal; // why it is refused for that; empty: it is not
};

} // namespace

void serve_proxy(AttachedRun& attached, Channel& client) {
    Connection(attached, client).serve();
}

} // namespace hone::broker
