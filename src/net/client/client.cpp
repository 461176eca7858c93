#include "net/client/client.h"

#include "base/mutex.h"
#include "base/text.h"
#include "net/client/no_connection.h"
#include "net/client/wire.h"
#include "net/http/body_decoder.h"
#include "net/http/head_parser.h"
#include "net/http/url.h"

#include <algorithm>
#include <array>
#include <list>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace hone::net {

namespace {

constexpr size_t max_fields = 1000;

bool is_bodiless(const ClientRequest& request) {
    return request.body.empty() && !request.body_source;
}

// A request that may be sent a second time if a kept connection turns out dead.
bool is_repeatable(const ClientRequest& request) {
    constexpr std::array<std::string_view, 5> methods{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"};
    return !request.body_source && std::find(methods.begin(), methods.end(), request.method) != methods.end();
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool bypasses(const std::vector<std::string>& no_proxy, const std::string& host) {
    return std::any_of(no_proxy.begin(), no_proxy.end(), [&](const std::string& entry) {
        return entry == "*" || entry == host || (entry.starts_with('.') && host.ends_with(entry));
    });
}

Result<> check(const ClientRequest& request) {
    if (!is_token(request.method)) return invalid("not an HTTP method: " + request.method);
    for (const Header& header : request.headers) {
        if (!is_token(header.name) || !is_field_value(header.value)) return invalid("not a header: " + header.name);
        for (const char* reserved : {"Content-Length", "Transfer-Encoding", "Connection"})
            if (equals_ignoring_case(header.name, reserved))
                return invalid(header.name + " is set by the client itself");
    }
    return {};
}

constexpr std::string_view tunnel_prefix = "tunnel:"; // of ClientRequest::connect_to

// Where a request goes and by which way.
struct Route {
    Url url;
    Url proxy;
    bool has_proxy = false;
    std::string connect_to;
    std::string tunnel_to;
    std::string key() const {
        return url.origin() + "|" + connect_to + "|" + (has_proxy ? proxy.origin() + "|" + tunnel_to : "");
    }
};

std::string proxy_authorization(const Url& proxy) {
    return proxy.user_info.empty() ? "" : "Proxy-Authorization: Basic " + to_base64(proxy.user_info) + "\r\n";
}

std::string make_head(const ClientRequest& request, const Route& route, const std::string& user_agent) {
    const bool absolute = route.has_proxy && !route.url.tls;
    std::string head = request.method + " " + (absolute ? "http://" + route.url.host_header() : "") + route.url.target +
                       " HTTP/1.1\r\n";
    const auto add_default = [&](std::string_view name, std::string_view value) {
        if (header_value(request.headers, name).empty() && !value.empty())
            head.append(name).append(": ").append(value).append("\r\n");
    };
    add_default("Host", route.url.host_header());
    add_default("User-Agent", user_agent);
    add_default("Accept", "*/*");
    for (const Header& header : request.headers) head += header.name + ": " + header.value + "\r\n";
    if (absolute) head += proxy_authorization(route.proxy);
    if (!route.url.user_info.empty()) add_default("Authorization", "Basic " + to_base64(route.url.user_info));
    if (request.body_source && !request.body_length)
        head += "Transfer-Encoding: chunked\r\n";
    else if (request.body_source)
        head += "Content-Length: " + std::to_string(*request.body_length) + "\r\n";
    else if (!request.body.empty() || request.method == "POST" || request.method == "PUT" || request.method == "PATCH")
        head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    return head + "\r\n";
}

std::string as_chunk(const std::string& piece) {
    std::array<char, 32> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", piece.size());
    return size.data() + piece + "\r\n";
}

// Reads one head, 1xx ones skipped. What follows it stays in the wire's input.
Result<ParsedResponse> read_head(Wire& wire, size_t header_bytes, bool to_head, const Timeouts& timeouts) {
    HeadScanner scanner;
    const HeadLimits limits{header_bytes, max_fields, header_bytes};
    for (;;) {
        const HeadScanner::Outcome outcome = scanner.scan(wire.input(), limits);
        if (outcome == HeadScanner::Outcome::bad) return unavailable("malformed response: " + scanner.error().message);
        if (outcome == HeadScanner::Outcome::more) {
            if (!TRY(wire.receive(timeouts))) return unavailable("the connection closed before a response arrived");
            continue;
        }
        auto parsed = parse_response_head(std::string_view(wire.input()).substr(0, scanner.size()), to_head);
        if (auto* error = std::get_if<HeadError>(&parsed)) return unavailable("malformed response: " + error->message);
        wire.input().erase(0, scanner.size());
        auto& response = std::get<ParsedResponse>(parsed);
        if (response.status / 100 != 1) return std::move(response);
        if (response.status == 101) return unavailable("the server switched protocols without a request to do so");
        scanner = {};
    }
}

Result<> send_body(Wire& wire, const ClientRequest& request, const Timeouts& timeouts) {
    if (!request.body_source) return wire.send(request.body, timeouts);
    uint64_t sent = 0;
    while (!wire.has_early_response()) {
        const std::string piece = TRY(request.body_source());
        sent += piece.size();
        if (request.body_length && (sent > *request.body_length || (piece.empty() && sent < *request.body_length)))
            return invalid("the upload is not as long as announced");
        if (piece.empty()) return request.body_length ? Result<>() : wire.send("0\r\n\r\n", timeouts);
        TRY(wire.send(request.body_length ? piece : as_chunk(piece), timeouts));
    }
    return {};
}

} // namespace

Cancel::Cancel() : m_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    CHECK_OR_ABORT(m_event.is_open());
}

void Cancel::cancel() {
    ::eventfd_write(m_event.get(), 1);
}

bool Cancel::is_cancelled() const {
    pollfd poll{m_event.get(), POLLIN, 0};
    return ::poll(&poll, 1, 0) == 1;
}

class HttpClient::State {
public:
    explicit State(ClientOptions options) : m_options(std::move(options)) {}

    Result<ClientResponse> send(const ClientRequest& request) {
        TRY(check(request));
        Timeouts timeouts{m_options.connect_timeout, request.idle_timeout.value_or(m_options.idle_timeout),
                          std::nullopt, request.cancel};
        if (request.total_timeout.count() > 0) timeouts.total_until = SystemClock().steady() + request.total_timeout;
        Url url = TRY(parse_url(request.url));
        if (request.max_redirects == 0) return send_to(request, std::move(url), false, timeouts);
        ClientRequest current = request;
        for (unsigned hops = 0;; ++hops) {
            const bool may_follow =
                hops < request.max_redirects && (request.method == "GET" || request.method == "HEAD");
            ClientResponse response = TRY(send_to(current, url, may_follow, timeouts));
            const std::string location(response.header("Location"));
            if (!may_follow || !is_redirect(response.status) || location.empty()) return response;
            Url next = TRY(resolve_url(url, location));
            if (next.origin() != url.origin()) forget_credentials(current);
            url = std::move(next);
        }
    }

private:
    struct Idle {
        std::string key;
        std::unique_ptr<Wire> wire;
    };

    // What belongs to one origin must not reach another.
    static void forget_credentials(ClientRequest& request) {
        std::erase_if(request.headers, [](const Header& header) {
            return equals_ignoring_case(header.name, "Authorization") || equals_ignoring_case(header.name, "Cookie") ||
                   equals_ignoring_case(header.name, "Host");
        });
        request.connect_to.clear();
    }

    Result<ClientResponse> send_to(const ClientRequest& request, Url url, bool may_follow, const Timeouts& timeouts) {
        // A response that arrives immediately would come before the first wait, where a cancellation is noticed.
        if (request.cancel != nullptr && request.cancel->is_cancelled()) return conflict("the request was cancelled");
        Route route;
        route.url = std::move(url);
        const std::string_view to = request.connect_to;
        (to.starts_with(tunnel_prefix) ? route.tunnel_to : route.connect_to) =
            to.substr(to.starts_with(tunnel_prefix) ? tunnel_prefix.size() : 0);
        const bool local = !route.url.unix_path.empty() || !route.connect_to.empty();
        route.has_proxy = !m_options.proxy.empty() && !local && !bypasses(m_options.no_proxy, route.url.host);
        if (route.has_proxy) {
            route.proxy = TRY(parse_url(m_options.proxy));
            if (route.proxy.tls || !route.proxy.unix_path.empty()) return invalid("a proxy is http://host:port");
        }
        if (!route.tunnel_to.empty() && !(route.has_proxy && route.url.tls))
            return invalid("a tunnel needs a proxy and https");
        if (std::unique_ptr<Wire> kept = take_idle(route.key())) {
            Result<ClientResponse> response = exchange(request, route, std::move(kept), may_follow, timeouts);
            // The server may have closed an idle connection; retry only if no byte of a response arrived.
            const bool retry = !response.ok() && response.error().trail == no_response && is_repeatable(request);
            if (!retry) return response;
        }
        Result<std::unique_ptr<Wire>> wire = connect(route, timeouts);
        if (!wire.ok()) {
            wire.error().trail = no_connection;
            return std::move(wire).error();
        }
        return exchange(request, route, std::move(wire).value(), may_follow, timeouts);
    }

    Result<std::unique_ptr<Wire>> connect(const Route& route, const Timeouts& timeouts) {
        std::vector<Endpoint> endpoints = TRY(find_endpoints(route));
        std::unique_ptr<Wire> wire = TRY(Wire::dial(endpoints, timeouts));
        if (!route.url.tls) return wire;
        if (route.has_proxy) TRY(open_tunnel(*wire, route, timeouts));
        const std::shared_ptr<const TlsContext> context = TRY(tls_context());
        TRY(wire->start_tls(*context, route.url.host, timeouts));
        return wire;
    }

    static Result<std::vector<Endpoint>> find_endpoints(const Route& route) {
        const std::string& to = route.connect_to;
        const std::string unix_path = to.starts_with("unix:") ? to.substr(5) : to.empty() ? route.url.unix_path : "";
        if (!unix_path.empty()) return std::vector{TRY(unix_endpoint(unix_path))};
        if (!to.empty()) {
            const auto [host, port] = TRY(parse_host_port(to));
            return resolve(host, port);
        }
        const Url& dialled = route.has_proxy ? route.proxy : route.url;
        return resolve(dialled.host, dialled.port);
    }

    Result<> open_tunnel(Wire& wire, const Route& route, const Timeouts& timeouts) {
        const std::string target = route.tunnel_to.empty() ? route.url.host_and_port() : route.tunnel_to;
        TRY(wire.send("CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n" + proxy_authorization(route.proxy) +
                          "\r\n",
                      timeouts));
        const ParsedResponse tunnel = TRY(read_head(wire, m_options.header_bytes, true, timeouts));
        if (tunnel.status != 200)
            return unavailable("the proxy refused a tunnel to " + target + " with status " +
                               std::to_string(tunnel.status));
        if (!wire.input().empty()) return unavailable("the proxy sent bytes ahead of the tunnel");
        return {};
    }

    Result<std::shared_ptr<const TlsContext>> tls_context() {
        if (m_options.tls) return m_options.tls;
        const Lock lock(m_mutex);
        if (!m_tls)
            m_tls = TRY(TlsContext::for_client(m_options.ca_file, m_options.certificate_file, m_options.key_file));
        return m_tls;
    }

    Result<ClientResponse> exchange(const ClientRequest& request, const Route& route, std::unique_ptr<Wire> wire,
                                    bool may_follow, const Timeouts& timeouts) {
        const bool small = request.body.size() <= 16384 && !request.body_source;
        const std::string head = make_head(request, route, m_options.user_agent);
        Result<> sent = wire->send(small ? head + request.body : head, timeouts);
        if (sent.ok() && !small && !is_bodiless(request)) sent = send_body(*wire, request, timeouts);
        if (!sent.ok()) {
            if (sent.error().code == Code::unavailable) sent.error().trail = no_response;
            return std::move(sent).error();
        }
        const bool early = wire->has_early_response() && !small;
        Result<ParsedResponse> parsed = read_head(*wire, m_options.header_bytes, request.method == "HEAD", timeouts);
        if (!parsed.ok()) {
            if (wire->input().empty() && parsed.error().code == Code::unavailable) parsed.error().trail = no_response;
            return std::move(parsed).error();
        }
        ClientResponse response;
        response.status = parsed.value().status;
        response.headers = std::move(parsed.value().headers);
        response.url = route.url.origin() + route.url.target;
        const bool passed_on = !(may_follow && is_redirect(response.status)); // the body of a redirect is discarded
        if (request.on_head && passed_on) TRY(request.on_head(response));
        TRY(read_body(*wire, request, parsed.value(), passed_on && request.on_body, response, timeouts));
        if (parsed.value().keep_alive && !early && wire->input().empty()) keep_idle(route.key(), std::move(wire));
        return response;
    }

    static Result<> read_body(Wire& wire, const ClientRequest& request, const ParsedResponse& parsed, bool streamed,
                              ClientResponse& response, const Timeouts& timeouts) {
        BodyDecoder decoder(parsed.framing, parsed.length);
        while (!decoder.is_done()) {
            std::string piece;
            wire.input().erase(0, decoder.feed(wire.input(), streamed ? piece : response.body));
            if (decoder.is_failed()) return unavailable("malformed response: invalid chunk");
            if (!piece.empty()) TRY(request.on_body(piece));
            if (!streamed && response.body.size() > request.max_response_bytes)
                return too_large("the response is larger than " + std::to_string(request.max_response_bytes) +
                                 " bytes");
            if (decoder.is_done()) break;
            const bool more = TRY(wire.receive(timeouts));
            if (!more && decoder.finish_at_end()) break;
            if (!more) return unavailable("the connection closed in the middle of the response");
        }
        return {};
    }

    std::unique_ptr<Wire> take_idle(const std::string& key) {
        const Lock lock(m_mutex);
        for (auto entry = m_idle.begin(); entry != m_idle.end();) {
            if (entry->key != key) {
                ++entry;
                continue;
            }
            std::unique_ptr<Wire> wire = std::move(entry->wire);
            entry = m_idle.erase(entry);
            if (wire->is_quiet()) return wire;
        }
        return nullptr;
    }

    void keep_idle(std::string key, std::unique_ptr<Wire> wire) {
        const Lock lock(m_mutex);
        m_idle.push_front({std::move(key), std::move(wire)});
        if (m_idle.size() > m_options.idle_connections) m_idle.pop_back();
    }

    static constexpr const char* no_response =
        "no response began"; // trail of errors after which the request can be repeated

    const ClientOptions m_options;
    Mutex m_mutex;
    std::shared_ptr<const TlsContext> m_tls GUARDED_BY(m_mutex);
    std::list<Idle> m_idle GUARDED_BY(m_mutex); // the last used first
};

HttpClient::HttpClient(ClientOptions options) : m_state(std::make_unique<State>(std::move(options))) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::send(const ClientRequest& request) {
    return m_state->send(request);
}

} // namespace hone::net
