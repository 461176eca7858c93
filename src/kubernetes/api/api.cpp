#include "kubernetes/api/api.h"

#include "base/text.h"
#include "net/http/url.h"

#include <algorithm>
#include <array>
#include <poll.h>

namespace hone::kubernetes {

namespace {

constexpr std::string_view list_page = "500";
constexpr size_t most_listed_bytes = 256 << 20; // objects of one list, about
constexpr size_t most_message_bytes = 4096;

std::string text_of(const json::Value& object, std::string_view name) {
    if (!object.is_object()) return {};
    const json::Value* found = object.get_object().if_contains(name);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

Result<> wait_for(Duration time, net::Cancel* cancel) {
    pollfd polled{cancel != nullptr ? cancel->descriptor() : -1, POLLIN, 0};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(time).count();
    if (::poll(&polled, 1, static_cast<int>(milliseconds)) > 0) return conflict("the request was cancelled");
    return {};
}

net::ClientOptions client_options(const Credentials& credentials) {
    net::ClientOptions options;
    options.tls = credentials.tls();
    return options;
}

bool is_wanted_later(const ApiResponse& response) {
    return response.retry_after && (response.status == 429 || response.status == 500 || response.status == 503);
}

// Where the client connects to, and by which name it checks the certificate.
Result<> set_address(net::ClientRequest& request, const ClusterAccess& access, const std::string& target) {
    request.url = access.server + target;
    if (access.server_name.empty()) return {};
    const net::Url url = TRY(net::parse_url(request.url));
    request.connect_to = url.host_and_port();
    request.headers.push_back({"Host", url.host_header()});
    const bool is_version_6 = access.server_name.find(':') != std::string::npos;
    request.url = "https://" + (is_version_6 ? "[" + access.server_name + "]" : access.server_name) + url.target;
    return {};
}

} // namespace

ApiResponse read_response(const net::ClientResponse& response) {
    ApiResponse read;
    read.status = response.status;
    read.bytes = response.body.size();
    if (auto parsed = json::parse(response.body); parsed.ok()) {
        read.body = std::move(parsed).value();
    } else if (read.ok()) { // a proxy in front of the server, or a broken one
        read.status = 502;
        read.message = "the response is not JSON";
        return read;
    }
    if (!read.ok()) {
        read.reason = text_of(read.body, "reason");
        read.message = text_of(read.body, "message");
        if (read.message.empty()) read.message = repair_utf8(trim(response.body));
        read.message = std::string(truncate_utf8(read.message, most_message_bytes));
        const auto seconds = parse_integer(trim(response.header("Retry-After")));
        if (seconds.ok() && seconds.value() >= 0)
            read.retry_after = std::chrono::seconds(std::min<int64_t>(seconds.value(), 86'400));
    }
    return read;
}

Error error_of(const ApiResponse& response, const std::string& what) {
    const std::string text = "could not " + what + ": " +
                             (response.message.empty() ? "the cluster responded with status " : response.message) +
                             (response.message.empty() ? std::to_string(response.status) : "");
    const auto code = [&] {
        switch (response.status) {
        case 400:
        case 422:
            return Code::invalid;
        case 401:
            return Code::unauthorized;
        case 403:
            return Code::forbidden;
        case 404:
            return Code::not_found;
        case 409:
            return Code::conflict;
        case 413:
            return Code::too_large;
        case 429:
            return Code::busy;
        default:
            return Code::unavailable;
        }
    }();
    return {code, text, std::to_string(response.status) + " " + response.reason};
}

std::string query_text(const Query& query) {
    std::string text;
    for (const auto& [name, value] : query)
        text += (text.empty() ? "?" : "&") + percent_encode(name) + "=" + percent_encode(value);
    return text;
}

Api::Api(Credentials& credentials, const Clock& clock, ApiOptions options)
    : wait(wait_for),
      m_credentials(credentials),
      m_options(options),
      m_rate(clock, options.requests_per_second, options.burst),
      m_client(client_options(credentials)) {}

Result<net::ClientRequest> Api::make_request(const std::string& method, const std::string& path, const Query& query) {
    net::ClientRequest request;
    request.method = method;
    TRY(set_address(request, m_credentials.access(), path + query_text(query)));
    request.headers.push_back({"Accept", "application/json"});
    request.total_timeout = m_options.request_timeout;
    request.max_response_bytes = m_options.most_response_bytes;
    return request;
}

Result<ApiResponse> Api::send(net::ClientRequest request, net::Cancel* cancel) {
    request.cancel = cancel;
    const size_t own_headers = request.headers.size();
    bool is_refreshed = false;
    for (int attempt = 1;; ++attempt) {
        if (const Duration later = m_rate.take(); later.count() > 0) TRY(wait(later, cancel));
        request.headers.resize(own_headers);
        const std::string authorization = TRY(m_credentials.authorization());
        if (!authorization.empty()) request.headers.push_back({"Authorization", authorization});
        const net::ClientResponse sent = TRY(m_client.send(request));
        ApiResponse response = read_response(sent);
        if (response.status == 401 && !is_refreshed && m_credentials.refresh()) {
            is_refreshed = true;
            continue;
        }
        if (!is_wanted_later(response) || attempt >= m_options.most_attempts ||
            *response.retry_after > m_options.longest_wait)
            return response;
        TRY(wait(*response.retry_after, cancel));
    }
}

Result<ApiResponse> Api::send_with(const std::string& method, const std::string& path, const Query& query,
                                   const std::string& content_type, const json::Value& content, net::Cancel* cancel) {
    net::ClientRequest request = TRY(make_request(method, path, query));
    request.headers.push_back({"Content-Type", content_type});
    request.body = json::print(content);
    return send(std::move(request), cancel);
}

Result<ApiResponse> Api::get(const std::string& path, const Query& query, net::Cancel* cancel) {
    net::ClientRequest request = TRY(make_request("GET", path, query));
    return send(std::move(request), cancel);
}

Result<ApiResponse> Api::create(const std::string& path, const json::Value& object, net::Cancel* cancel) {
    return send_with("POST", path, {}, "application/json", object, cancel);
}

Result<ApiResponse> Api::remove(const std::string& path, const json::Value& options, net::Cancel* cancel) {
    return send_with("DELETE", path, {}, "application/json", options, cancel);
}

Result<ApiResponse> Api::patch(const std::string& path, Patch kind, const json::Value& content, net::Cancel* cancel) {
    switch (kind) {
    case Patch::json:
        return send_with("PATCH", path, {}, "application/json-patch+json", content, cancel);
    case Patch::merge:
        return send_with("PATCH", path, {}, "application/merge-patch+json", content, cancel);
    case Patch::apply:
        break;
    }
    return send_with("PATCH", path, {{"fieldManager", "hone"}, {"force", "true"}}, "application/apply-patch+yaml",
                     content, cancel);
}

// The version; nothing: the next page has expired.
Result<std::optional<std::string>> Api::list_once(const std::string& path, const std::string& label_selector,
                                                  const ListHandler& handler, net::Cancel* cancel) {
    size_t bytes = 0;
    std::string next, version;
    do {
        Query query{{"limit", std::string(list_page)}};
        if (!label_selector.empty()) query.emplace_back("labelSelector", label_selector);
        if (!next.empty()) query.emplace_back("continue", next);
        net::ClientRequest request = TRY(make_request("GET", path, query));
        ApiResponse response = TRY(send(std::move(request), cancel));
        if (response.status == 410 && !next.empty()) return std::optional<std::string>();
        if (!response.ok()) return error_of(response, "list " + path);
        const json::Value* metadata =
            response.body.is_object() ? response.body.get_object().if_contains("metadata") : nullptr;
        json::Value* items = response.body.is_object() ? response.body.get_object().if_contains("items") : nullptr;
        if (metadata == nullptr || items == nullptr || !(items->is_array() || items->is_null()))
            return unavailable("the cluster's list of " + path + " has no items");
        if (items->is_array())
            for (json::Value& item : items->get_array()) handler.seen(std::move(item));
        bytes += response.bytes;
        version = text_of(*metadata, "resourceVersion");
        next = text_of(*metadata, "continue");
        if (bytes > most_listed_bytes) return too_large("the cluster's list of " + path + " is too large");
    } while (!next.empty());
    return std::optional<std::string>(std::move(version));
}

Result<std::string> Api::list_each(const std::string& path, const std::string& label_selector,
                                   const ListHandler& handler, net::Cancel* cancel) {
    for (int attempt = 0; attempt < 2; ++attempt) {
        if (attempt > 0) handler.restarted();
        if (auto version = TRY(list_once(path, label_selector, handler, cancel))) return std::move(*version);
    }
    return unavailable("the cluster's list of " + path + " changes faster than it can be read");
}

Result<Api::Listed> Api::list(const std::string& path, const std::string& label_selector, net::Cancel* cancel) {
    Listed listed;
    const ListHandler handler{[&](json::Value object) { listed.items.push_back(std::move(object)); },
                              [&] { listed.items.clear(); }};
    listed.resource_version = TRY(list_each(path, label_selector, handler, cancel));
    return listed;
}

Result<ApiResponse> Api::stream(const std::string& path, const Query& query, Duration idle_timeout,
                                const std::function<Result<>(std::string_view)>& on_piece, net::Cancel* cancel) {
    net::ClientRequest request = TRY(make_request("GET", path, query));
    request.total_timeout = {};
    request.idle_timeout = idle_timeout;
    request.cancel = cancel;
    const std::string authorization = TRY(m_credentials.authorization());
    if (!authorization.empty()) request.headers.push_back({"Authorization", authorization});
    if (const Duration later = m_rate.take(); later.count() > 0) TRY(wait(later, cancel));
    int status = 0;
    std::string refusal;
    request.on_head = [&](const net::ClientResponse& head) -> Result<> {
        status = head.status;
        return {};
    };
    request.on_body = [&](std::string_view piece) -> Result<> {
        if (status == 200) return on_piece(piece);
        if (refusal.size() < most_message_bytes * 16) refusal += piece;
        return {};
    };
    net::ClientResponse response = TRY(m_client.send(request));
    if (response.status == 200) {
        ApiResponse done;
        done.status = 200;
        return done;
    }
    if (response.status == 401) (void)m_credentials.refresh();
    response.body = std::move(refusal);
    return read_response(response);
}

Result<Api::Opened> Api::open_socket(const std::string& path, const Query& query, const std::string& protocol,
                                     net::WebSocketOptions options) {
    const ClusterAccess& access = m_credentials.access();
    options.url = access.server + path + query_text(query);
    options.protocol = protocol;
    options.tls = m_credentials.tls();
    options.server_name = access.server_name;
    const size_t own_headers = options.headers.size();
    for (bool is_refreshed = false;; is_refreshed = true) {
        if (const Duration later = m_rate.take(); later.count() > 0) TRY(wait(later, options.cancel));
        options.headers.resize(own_headers);
        const std::string authorization = TRY(m_credentials.authorization());
        if (!authorization.empty()) options.headers.push_back({"Authorization", authorization});
        auto opened = TRY(net::WebSocket::open(options));
        Opened made;
        made.socket = std::move(opened.socket);
        if (made.socket) return made;
        if (opened.refusal.status == 401 && !is_refreshed && m_credentials.refresh()) continue;
        made.refusal = read_response(opened.refusal);
        if (made.refusal.ok()) made.refusal.status = 502; // a proxy that does not pass WebSockets on
        return made;
    }
}

} // namespace hone::kubernetes
