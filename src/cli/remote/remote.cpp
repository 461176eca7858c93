#include "cli/remote/remote.h"

#include "base/text.h"
#include "cli/table/error_code.h"

namespace hone::cli {

namespace {

constexpr size_t max_answer = 32 << 20;
constexpr size_t max_items = 1'000'000;
constexpr size_t page_size = 1000;
constexpr size_t max_error_body = 64 << 10;
constexpr Duration longest_work = std::chrono::hours(12);

Exit exit_for(int status) {
    switch (status) {
    case 400:
    case 413:
    case 422:
        return Exit::refused;
    case 401:
        return Exit::unauthorized;
    case 403:
        return Exit::forbidden;
    case 404:
        return Exit::not_found;
    case 409:
        return Exit::conflict;
    case 429:
        return Exit::busy;
    case 502:
    case 503:
    case 504:
        return Exit::unavailable;
    default:
        return Exit::failure;
    }
}

Code code_for(int status) {
    return status == 413 ? Code::too_large : code_of(exit_for(status));
}

// What a role of the space cannot give.
bool names_installation(std::string_view message) {
    return message.find("installation owner") != message.npos ||
           message.find("owner of the installation") != message.npos;
}

std::string hint_for(int status, const std::string& url, std::string_view retry_after, std::string_view message) {
    const std::string when =
        parse_integer(retry_after).ok() ? " in " + std::string(trim(retry_after)) + " s" : " in a moment";
    switch (exit_for(status)) {
    case Exit::unauthorized:
        return "hone login --url " + url;
    case Exit::forbidden:
        if (names_installation(message))
            return "hone whoami shows your permissions; an owner of the installation can do this";
        return "hone whoami shows your permissions; an owner of the space can change your role";
    case Exit::not_found:
        return "check the spelling; hone whoami shows the current space";
    case Exit::busy:
    case Exit::unavailable:
        return "try again" + when;
    default:
        return status >= 300 && status < 400 ? "is " + url + " the address of a Hone server?" : "";
    }
}

// The message of an error envelope, or nothing.
std::string message_in(std::string_view body) {
    const auto parsed = json::parse(body);
    if (!parsed.ok() || !parsed.value().is_object()) return "";
    const auto* error = parsed.value().get_object().if_contains("error");
    const auto* message = error && error->is_object() ? error->get_object().if_contains("message") : nullptr;
    return message && message->is_string() ? std::string(message->get_string()) : "";
}

} // namespace

std::string path_of(std::string_view base, const std::vector<std::string>& segments) {
    std::string path(base);
    for (const auto& segment : segments) path += "/" + percent_encode(segment);
    return path;
}

void Remote::set_target(Target target) {
    m_target = std::move(target);
    net::ClientOptions options;
    options.proxy = m_target.proxy;
    options.no_proxy = m_target.no_proxy;
    options.ca_file = m_target.ca_file;
    options.connect_timeout = std::min(options.connect_timeout, m_target.timeout);
    options.idle_timeout = m_target.timeout;
    options.user_agent = "hone-cli";
    m_client = net::HttpClient(std::move(options));
}

net::ClientRequest Remote::request_of(const Call& call) const {
    net::ClientRequest request;
    request.method = call.method;
    request.url = m_target.url + call.path;
    char separator = '?';
    for (const auto& [name, value] : call.query) {
        if (value.empty()) continue;
        request.url += separator + percent_encode(name) + "=" + percent_encode(value);
        separator = '&';
    }
    request.headers = call.headers;
    if (net::header_value(call.headers, "Accept").empty()) request.headers.push_back({"Accept", "application/json"});
    if (!m_target.api_key.empty()) request.headers.push_back({"Authorization", "Bearer " + m_target.api_key});
    if (call.body) {
        request.headers.push_back({"Content-Type", "application/json"});
        request.body = json::print(*call.body);
    }
    request.max_response_bytes = max_answer;
    return request;
}

Error Remote::unreachable(Error error) {
    m_explanation.exit = error.code == Code::invalid     ? Exit::usage
                         : error.code == Code::too_large ? Exit::failure
                                                         : Exit::unavailable;
    if (m_explanation.exit == Exit::unavailable) {
        error.code = Code::unavailable;
        error.message = "cannot reach " + m_target.url + ": " + error.message;
        m_explanation.hint = "is the server running (hone serve) and the address right (--url, HONE_URL)?";
    }
    return error;
}

Error Remote::refusal(int status, const net::ClientResponse& response, std::string_view body) {
    m_explanation.exit = exit_for(status);
    m_explanation.request_id = std::string(response.header("X-Request-Id"));
    m_explanation.challenge = std::string(response.header("WWW-Authenticate"));
    std::string message = message_in(body);
    m_explanation.hint = hint_for(status, m_target.url, response.header("Retry-After"), message);
    if (message.empty()) message = "the server returned " + std::to_string(status);
    if (status >= 300 && status < 400) message = "the server redirects to " + std::string(response.header("Location"));
    return {code_for(status), std::move(message), {}};
}

Error Remote::not_understood(std::string why) {
    m_explanation.exit = Exit::failure;
    m_explanation.hint = "is " + m_target.url + " the address of a Hone server?";
    return corrupt("the response of the server is not valid: " + std::move(why));
}

Result<Reply> Remote::call(const Call& call) {
    net::ClientRequest request = request_of(call);
    request.total_timeout = m_target.timeout;
    return exchange(request);
}

Result<json::Value> Remote::perform(std::string path, Query query) {
    net::ClientRequest request = request_of({.method = "POST", .path = std::move(path), .query = std::move(query)});
    request.idle_timeout = longest_work;
    return TRY(exchange(request)).data;
}

Result<Reply> Remote::exchange(const net::ClientRequest& request) {
    auto sent = m_client.send(request);
    if (!sent.ok()) return unreachable(std::move(sent).error());
    return unpack(sent.value());
}

Result<Reply> Remote::upload(const Call& call, const std::function<Result<std::string>()>& source,
                             std::optional<uint64_t> length) {
    net::ClientRequest request = request_of(call);
    std::optional<Error> source_error;
    request.body_source = [&]() -> Result<std::string> {
        auto piece = source();
        if (!piece.ok()) source_error = piece.error();
        return piece;
    };
    request.body_length = length;
    auto sent = m_client.send(request);
    // What went wrong on this side must not be reported as an unreachable server.
    if (source_error) return *source_error;
    if (!sent.ok()) return unreachable(std::move(sent).error());
    return unpack(sent.value());
}

Result<Reply> Remote::unpack(const net::ClientResponse& response) {
    if (response.status < 200 || response.status > 299) return refusal(response.status, response, response.body);
    m_explanation.request_id = std::string(response.header("X-Request-Id"));
    Reply reply{json::Object(), "", response.headers};
    if (response.status == 204 || response.body.empty()) return reply;
    auto parsed = json::parse(response.body);
    if (!parsed.ok()) return not_understood(parsed.error().message);
    if (!parsed.value().is_object()) return not_understood("not a JSON object");
    auto& envelope = parsed.value().get_object();
    if (auto* data = envelope.if_contains("data"))
        reply.data = std::move(*data);
    else
        return not_understood("it has no data");
    if (const auto* cursor = envelope.if_contains("next_cursor"); cursor && cursor->is_string())
        reply.next_cursor = std::string(cursor->get_string());
    return reply;
}

Result<json::Value> Remote::get(std::string path, Query query) {
    return TRY(call({.path = std::move(path), .query = std::move(query)})).data;
}

Result<json::Value> Remote::post(std::string path, json::Value body, Query query) {
    return TRY(call({.method = "POST", .path = std::move(path), .query = std::move(query), .body = std::move(body)}))
        .data;
}

Result<json::Value> Remote::patch(std::string path, json::Value body) {
    return TRY(call({.method = "PATCH", .path = std::move(path), .body = std::move(body)})).data;
}

Result<json::Value> Remote::put(std::string path, json::Value body) {
    return TRY(call({.method = "PUT", .path = std::move(path), .body = std::move(body)})).data;
}

Result<json::Value> Remote::remove(std::string path, Query query) {
    return TRY(call({.method = "DELETE", .path = std::move(path), .query = std::move(query)})).data;
}

Result<> Remote::take_items(Reply& reply, std::optional<size_t> limit, Items& into) {
    if (!reply.data.is_array()) return not_understood("its data is not a list");
    for (auto& item : reply.data.get_array()) {
        if (!item.is_object()) return not_understood("an item of its list is not an object");
        if (limit && into.items.size() == *limit) break;
        into.items.push_back(std::move(item));
    }
    return {};
}

Result<Items> Remote::list(std::string path, Query query, std::optional<size_t> limit) {
    Items result;
    std::string cursor;
    do {
        const size_t wanted = limit ? std::min(page_size, *limit - result.items.size()) : page_size;
        Call page{.path = path, .query = query};
        page.query.emplace_back("limit", std::to_string(wanted));
        page.query.emplace_back("cursor", cursor);
        Reply reply = TRY(call(page));
        TRY(take_items(reply, limit, result));
        if (!reply.next_cursor.empty() && (reply.next_cursor == cursor || reply.data.get_array().empty()))
            return not_understood("its pages repeat");
        cursor = std::move(reply.next_cursor);
        if (result.items.size() > max_items) return not_understood("its list does not end");
    } while (!cursor.empty() && (!limit || result.items.size() < *limit));
    result.more = !cursor.empty();
    return result;
}

Result<Items> Remote::list_whole(std::string path, Query query) {
    Items result;
    Reply reply = TRY(call({.path = std::move(path), .query = std::move(query)}));
    TRY(take_items(reply, std::nullopt, result));
    return result;
}

Result<> Remote::stream(const Call& call, std::string_view content_type,
                        const std::function<Result<>(std::string_view)>& sink, std::optional<Duration> quiet) {
    net::ClientRequest request = request_of(call);
    request.idle_timeout = quiet;
    int status = 0;
    std::string error_body;
    std::optional<Error> sink_error;
    request.on_head = [&](const net::ClientResponse& head) -> Result<> {
        status = head.status;
        const std::string_view type = head.header("Content-Type");
        if (status == 200 && !content_type.empty() && type.substr(0, type.find(';')) != content_type) {
            sink_error = not_understood("it is " + std::string(type) + ", not " + std::string(content_type));
            return *sink_error;
        }
        return {};
    };
    request.on_body = [&](std::string_view piece) -> Result<> {
        if (status != 200) {
            error_body += piece.substr(0, max_error_body - std::min(max_error_body, error_body.size()));
            return {};
        }
        auto taken = sink(piece);
        if (!taken.ok()) sink_error = taken.error();
        return taken;
    };
    auto sent = m_client.send(request);
    // What went wrong on this side must not be reported as an unreachable server.
    if (sink_error) return *sink_error;
    if (!sent.ok()) return unreachable(std::move(sent).error());
    if (status != 200) return refusal(status, sent.value(), error_body);
    return {};
}

} // namespace hone::cli
