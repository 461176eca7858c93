#include "managed/api.h"

#include "base/text.h"
#include "net/http/sse.h"

#include <algorithm>
#include <fmt/format.h>
#include <poll.h>

namespace hone::managed {

namespace {

constexpr std::string_view api_version = "2026-10-21";
constexpr std::string_view api_beta = "managed-agents-2026-04-01";
constexpr size_t most_page_bytes = 64 << 20;
constexpr size_t most_event_bytes = 32 << 20;
constexpr int most_pages = 1000;
constexpr int events_per_page = 200;

bool is_success(int status) {
    return status >= 200 && status < 300;
}

SessionView view_of(const json::Value& value) {
    const std::string status = text_at(value, {"status"});
    SessionView view;
    view.id = text_at(value, {"id"});
    view.status = status == "idle"           ? SessionStatus::idle
                  : status == "running"      ? SessionStatus::running
                  : status == "rescheduling" ? SessionStatus::rescheduling
                  : status == "terminated"   ? SessionStatus::terminated
                                             : SessionStatus::unknown;
    view.is_archived = !text_at(value, {"archived_at"}).empty();
    view.run_id = text_at(value, {"metadata", "hone_run"});
    return view;
}

std::string with_page(const std::string& target, const std::string& page) {
    if (page.empty()) return target;
    return target + (target.find('?') == std::string::npos ? "?page=" : "&page=") + percent_encode(page);
}

} // namespace

Error explain(int status, std::string_view body) {
    const auto parsed = json::parse(body);
    const std::string type = parsed.ok() ? text_at(parsed.value(), {"error", "type"}) : "";
    std::string message = parsed.ok() ? text_at(parsed.value(), {"error", "message"}) : "";
    message = truncate_utf8(message, 400);
    std::ranges::replace_if(
        message, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    std::string text = fmt::format("Managed Agents returned {}", status);
    if (!type.empty()) text += " (" + std::string(truncate_utf8(type, 60)) + ")";
    if (!message.empty()) text += ": " + message;
    switch (status) {
    case 401:
        return unauthorized(text);
    case 403:
        return forbidden(text);
    case 404:
        return {Code::not_found, text, {}};
    case 408:
        return unavailable(text); // the API timed out
    case 409:
    case 412:
        return conflict(text);
    case 413:
        return too_large(text);
    case 429:
        return busy(text);
    default:
        return status >= 400 && status < 500 ? invalid(text) : unavailable(text);
    }
}

bool Api::wait(Duration time, const net::Cancel& cancel) {
    pollfd poll{cancel.descriptor(), POLLIN, 0};
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    ::poll(&poll, 1, static_cast<int>(std::clamp<int64_t>(milliseconds, 0, 3'600'000)));
    return !cancel.is_cancelled();
}

net::ClientRequest Api::request_to(const std::string& method, const std::string& target, net::Cancel& cancel) const {
    net::ClientRequest request;
    request.method = method;
    request.url = m_options.base_url + target;
    request.headers = {{"Accept", "application/json"},
                       {"anthropic-version", std::string(api_version)},
                       {"anthropic-beta", std::string(api_beta)}};
    if (!m_options.workspace.empty()) request.headers.push_back({"anthropic-workspace-id", m_options.workspace});
    request.max_response_bytes = most_page_bytes;
    request.total_timeout = m_options.pace.call_timeout;
    request.cancel = &cancel;
    return request;
}

Duration Api::retry_after(const net::ClientResponse& response, int attempt) const {
    const Pace& pace = m_options.pace;
    const auto seconds = parse_integer(response.header("retry-after"));
    if (seconds.ok() && seconds.value() >= 0)
        return std::min<Duration>(std::chrono::seconds(std::min<int64_t>(seconds.value(), 3600)), pace.longest_retry);
    return std::min(pace.first_retry * (1 << std::min(attempt, 16)), pace.longest_retry);
}

Result<json::Value> Api::call(const std::string& method, const std::string& target, const std::string& body,
                              Repeat repeat, net::Cancel& cancel) {
    for (int attempt = 0;; ++attempt) {
        net::ClientRequest request = request_to(method, target, cancel);
        if (!body.empty()) {
            request.body = body;
            request.headers.push_back({"Content-Type", "application/json"});
        }
        auto response = m_transport.send(std::move(request));
        if (response.ok() && is_success(response.value().status)) return parse_response(response.value().body);
        if (cancel.is_cancelled()) return conflict("cancelled");
        Error error = response.ok() ? explain(response.value().status, response.value().body) : response.error();
        if (!response.ok() && (error.code == Code::busy || error.code == Code::unavailable))
            error = unavailable("could not reach Managed Agents: " + error.message);
        // A call that was rejected for its rate had no effect. Any other failure leaves it open.
        const bool is_repeatable =
            error.code == Code::busy || (repeat == Repeat::safe && error.code == Code::unavailable);
        if (!is_repeatable || attempt >= m_options.pace.retries) return error;
        if (!wait(retry_after(response.ok() ? response.value() : net::ClientResponse{}, attempt), cancel))
            return conflict("cancelled");
    }
}

Result<json::Value> Api::get(const std::string& target, net::Cancel& cancel) {
    return call("GET", target, {}, Repeat::safe, cancel);
}

Result<> Api::each(const std::string& target, net::Cancel& cancel,
                   const std::function<bool(const json::Value&)>& found) {
    std::string page;
    for (int count = 0; count < most_pages; ++count) {
        const json::Value value = TRY(get(with_page(target, page), cancel));
        const json::Value* data = member(value, {"data"});
        if (data == nullptr || !data->is_array()) return invalid("a list of Managed Agents has no data");
        for (const json::Value& one : data->get_array())
            if (found(one)) return {};
        page = text_at(value, {"next_page"});
        if (page.empty()) return {};
    }
    return too_large(fmt::format("a list of Managed Agents has more than {} pages", most_pages));
}

Result<SessionView> Api::session(const std::string& id, net::Cancel& cancel) {
    const json::Value value = TRY(get("/v1/sessions/" + percent_encode(id), cancel));
    return view_of(value);
}

Result<> Api::send(const std::string& session, const json::Array& events, net::Cancel& cancel) {
    const std::string body = json::print(json::Object{{"events", events}});
    TRY(call("POST", "/v1/sessions/" + percent_encode(session) + "/events", body, Repeat::unsafe, cancel));
    return {};
}

Result<EventPage> Api::events(const std::string& session, const std::string& from, const std::string& page,
                              net::Cancel& cancel) {
    // Large results: the page gets smaller until it fits.
    for (int limit = events_per_page;; limit /= 4) {
        std::string target =
            fmt::format("/v1/sessions/{}/events?order=asc&limit={}", percent_encode(session), std::max(1, limit));
        if (!from.empty()) target += "&" + percent_encode("created_at[gte]") + "=" + percent_encode(from);
        const auto read = get(with_page(target, page), cancel);
        if (!read.ok() && read.error().code == Code::too_large && limit > 1) continue;
        if (!read.ok()) return read.error();
        const json::Value* data = member(read.value(), {"data"});
        if (data == nullptr || !data->is_array()) return invalid("the history of the session has no data");
        EventPage made;
        for (const json::Value& one : data->get_array()) made.events.push_back(event_of(one));
        made.next_page = text_at(read.value(), {"next_page"});
        return made;
    }
}

Result<> Api::stream(const std::string& session, net::Cancel& cancel, const std::function<Result<>()>& opened,
                     const std::function<Result<>(const Event*)>& received) {
    net::ClientRequest request =
        request_to("GET", "/v1/sessions/" + percent_encode(session) + "/events/stream", cancel);
    request.headers.front().value = "text/event-stream";
    request.total_timeout = {};
    request.idle_timeout = m_options.pace.quiet;
    net::EventParser parser(most_event_bytes);
    int status = 0;
    std::string error_body;
    request.on_head = [&](const net::ClientResponse& head) -> Result<> {
        status = head.status;
        return is_success(status) ? opened() : Result<>();
    };
    request.on_body = [&](std::string_view bytes) -> Result<> {
        if (!is_success(status)) {
            error_body += bytes.substr(0, (64 << 10) - std::min<size_t>(error_body.size(), 64 << 10));
            return {};
        }
        bool any = false;
        std::optional<Error> failure; // of `received`
        const auto fed = parser.feed(bytes, [&](net::ServerEvent&& event) -> Result<> {
            if (event.event == "ping") return {};
            if (event.event == "error") return explain(500, event.data);
            const Event read = TRY(read_event(event.data));
            any = true;
            auto taken = received(&read);
            if (!taken.ok()) failure = taken.error();
            return taken;
        });
        if (failure) return *failure;
        // The list may have what this stream could not carry.
        if (!fed.ok()) return unavailable("could not read the stream of the session: " + fed.error().message);
        return any ? Result<>() : received(nullptr);
    };
    TRY(m_transport.send(std::move(request)));
    if (!is_success(status)) return explain(status, error_body);
    return {};
}

Result<std::string> Api::create_vault(const std::string& name, net::Cancel& cancel) {
    const std::string body = json::print(json::Object{{"display_name", name}});
    const json::Value made = TRY(call("POST", "/v1/vaults", body, Repeat::unsafe, cancel));
    return text_at(made, {"id"});
}

Result<> Api::add_variable(const std::string& vault, const std::string& name, const crypto::SecretBytes& value,
                           const std::vector<std::string>& hosts, net::Cancel& cancel) {
    std::string body = R"({"auth":{"type":"environment_variable","networking":{"type":"limited","allowed_hosts":)" +
                       json::write(hosts) + R"(},"secret_name":)" + quote_json(name) + R"(,"secret_value":)";
    std::string quoted = quote_json(value.reveal());
    body += quoted + "}}";
    crypto::wipe(quoted);
    const auto added =
        call("POST", "/v1/vaults/" + percent_encode(vault) + "/credentials", body, Repeat::unsafe, cancel);
    crypto::wipe(body);
    if (!added.ok()) return added.error();
    return {};
}

Result<> Api::delete_vault(const std::string& id, net::Cancel& cancel) {
    const auto deleted = call("DELETE", "/v1/vaults/" + percent_encode(id), {}, Repeat::safe, cancel);
    if (!deleted.ok() && deleted.error().code != Code::not_found) return deleted.error();
    return {};
}

Result<std::vector<SessionFile>> Api::files(const std::string& session, net::Cancel& cancel) {
    std::vector<SessionFile> files;
    TRY(each("/v1/files?limit=100&scope_id=" + percent_encode(session), cancel, [&](const json::Value& one) {
        const json::Value* bytes = member(one, {"size_bytes"});
        files.push_back({text_at(one, {"id"}), text_at(one, {"filename"}),
                         bytes != nullptr && bytes->is_int64() ? bytes->get_int64() : 0});
        return false;
    }));
    return files;
}

Result<std::string> Api::download(const std::string& file, size_t most_bytes, net::Cancel& cancel) {
    net::ClientRequest request = request_to("GET", "/v1/files/" + percent_encode(file) + "/content", cancel);
    request.max_response_bytes = most_bytes;
    net::ClientResponse response = TRY(m_transport.send(std::move(request)));
    if (!is_success(response.status)) return explain(response.status, response.body);
    return std::move(response.body);
}

} // namespace hone::managed
