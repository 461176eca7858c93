#include "forge/clients/rest.h"

#include "base/text.h"
#include "net/http/url.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr int most_pages = 10;
constexpr auto longest_wait = std::chrono::hours(1);

// The message of the forge, made safe to show.
std::string message_of(const net::ClientResponse& response) {
    const auto body = json::parse(response.body);
    if (!body.ok()) return {};
    std::string said = text_at(body.value(), {"message"});
    if (said.empty()) said = text_at(body.value(), {"error"});
    // GitLab responds with a list of messages, GitHub with a list of errors beside its message.
    if (const json::Value* list = member(body.value(), {"message"}); list != nullptr && list->is_array())
        for (const json::Value& one : list->get_array())
            if (one.is_string()) said += (said.empty() ? "" : "; ") + std::string(one.get_string());
    if (const json::Value* list = member(body.value(), {"errors"}); list != nullptr && list->is_array())
        for (const json::Value& one : list->get_array()) {
            std::string part = one.is_string() ? std::string(one.get_string()) : text_at(one, {"message"});
            if (part.empty()) part = text_at(one, {"field"}) + " " + text_at(one, {"code"});
            said += (said.empty() ? "" : "; ") + part;
        }
    std::string shown;
    for (const char c : truncate_utf8(said, 400)) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    return shown;
}

} // namespace

const json::Value* member(const json::Value& value, std::initializer_list<std::string_view> keys) {
    const json::Value* at = &value;
    for (const std::string_view key : keys) {
        if (!at->is_object()) return nullptr;
        at = at->get_object().if_contains(key);
        if (at == nullptr) return nullptr;
    }
    return at;
}

std::string text_at(const json::Value& value, std::initializer_list<std::string_view> keys) {
    const json::Value* found = member(value, keys);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

int64_t number_at(const json::Value& value, std::initializer_list<std::string_view> keys) {
    const json::Value* found = member(value, keys);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

bool true_at(const json::Value& value, std::initializer_list<std::string_view> keys) {
    const json::Value* found = member(value, keys);
    return found != nullptr && found->is_bool() && found->get_bool();
}

std::string next_link(std::string_view header) {
    for (const std::string_view part : split(header, ',')) {
        const size_t open = part.find('<'), close = part.find('>');
        if (open == std::string_view::npos || close == std::string_view::npos || close < open) continue;
        if (part.substr(close).find("rel=\"next\"") != std::string_view::npos)
            return std::string(part.substr(open + 1, close - open - 1));
    }
    return {};
}

Error RestClient::explain(std::string_view doing, const net::ClientResponse& response) {
    const std::string said = message_of(response);
    const std::string tail = said.empty() ? "" : ": " + said;
    const std::string lower = lowercase_ascii(said);
    const auto seconds = parse_integer(response.header("retry-after"));
    const bool limited = response.status == 429 || response.header("x-ratelimit-remaining") == "0" || seconds.ok() ||
                         lower.find("rate limit") != std::string::npos || lower.find("abuse") != std::string::npos;
    if (response.status == 429 || (response.status == 403 && limited)) {
        m_retry_after = std::chrono::minutes(1);
        if (seconds.ok() && seconds.value() >= 0)
            m_retry_after = std::min<Duration>(std::chrono::seconds(seconds.value()), longest_wait);
        else if (const auto reset = parse_integer(response.header("x-ratelimit-reset")); reset.ok())
            m_retry_after =
                std::clamp<Duration>(Duration(reset.value() * 1'000'000'000) - SystemClock().now().time_since_epoch(),
                                     std::chrono::seconds(1), longest_wait);
        return busy(fmt::format("could not {}: the forge limits the rate of requests{}", doing, tail));
    }
    switch (response.status) {
    case 401:
        return unauthorized(fmt::format("could not {}: the forge does not accept the credential of the skill (401){}. "
                                        "Has it expired?",
                                        doing, tail));
    case 403:
        return forbidden(fmt::format("could not {}: the credential of the skill may not do that (403){}. It needs to "
                                     "write contents and pull requests of the repository",
                                     doing, tail));
    case 404:
        return not_found(fmt::format("could not {}: the forge has no such repository, or hides it from the credential "
                                     "of the skill (404){}; the request was",
                                     doing, tail));
    case 409:
        return conflict(fmt::format("could not {} (409){}", doing, tail));
    case 400:
    case 422:
        return invalid(fmt::format("could not {}: the forge refuses it ({}){}", doing, response.status, tail));
    default:
        return response.status >= 500
                   ? unavailable(fmt::format("could not {}: the forge failed ({}){}", doing, response.status, tail))
                   : invalid(fmt::format("could not {}: the forge responded {}{}", doing, response.status, tail));
    }
}

Result<RestClient::Response> RestClient::call(std::string_view doing, const std::string& method,
                                              const std::string& path, const std::optional<json::Value>& body,
                                              std::initializer_list<int> also, const std::string& etag) {
    net::ClientRequest request;
    request.method = method;
    request.url = path.starts_with("https://") || path.starts_with("http://") ? path : m_place.api + path;
    request.headers = {{"Accept", "application/json"}, {"User-Agent", "hone"}};
    if (m_place.kind == ForgeKind::github) {
        request.headers.front().value = "application/vnd.github+json";
        request.headers.push_back({"X-GitHub-Api-Version", "2022-11-28"});
    }
    if (!etag.empty()) request.headers.push_back({"If-None-Match", etag});
    if (body) {
        request.headers.push_back({"Content-Type", "application/json"});
        request.body = json::print(*body);
    }
    request.max_response_bytes = 8 << 20;
    request.total_timeout = std::chrono::seconds(30);
    const net::ClientResponse response = TRY(m_http.send(m_remote, std::move(request)));
    if (response.status >= 300 && std::find(also.begin(), also.end(), response.status) == also.end())
        return explain(doing, response);
    Response answer;
    answer.status = response.status;
    answer.etag = response.header("etag");
    answer.next = next_link(response.header("link"));
    if (!trim(response.body).empty()) {
        auto parsed = json::parse(response.body);
        if (!parsed.ok()) return unavailable(fmt::format("could not {}: the response of the forge is not JSON", doing));
        answer.body = std::move(parsed).value();
    }
    return answer;
}

Result<> RestClient::each(std::string_view doing, const std::string& path,
                          const std::function<bool(const json::Value&)>& take) {
    std::string at = m_place.api + path;
    const net::Url first = TRY(net::parse_url(at));
    for (int page = 0; page < most_pages && !at.empty(); ++page) {
        const Response answer = TRY(call(doing, "GET", at));
        if (!answer.body.is_array())
            return unavailable(fmt::format("could not {}: the response of the forge is not a list", doing));
        for (const json::Value& item : answer.body.get_array())
            if (!take(item)) return {};
        at = answer.next;
        // A forge does not send us, or the credential, elsewhere.
        if (!at.empty() && TRY(net::parse_url(at)).origin() != first.origin()) return {};
    }
    return {};
}

Result<ForgePlace> find_forge(ForgeHttp& http, const Remote& remote) {
    const auto parsed = net::parse_url(remote.url);
    if (!parsed.ok()) return ForgePlace{};
    const net::Url& url = parsed.value();
    std::string path =
        url.target.substr(1, url.target.find('?') == std::string::npos ? std::string::npos : url.target.find('?') - 1);
    while (path.ends_with('/')) path.pop_back();
    if (path.ends_with(".git")) path.resize(path.size() - 4);
    if (path.find('/') == std::string::npos) return ForgePlace{};
    if (url.host == "github.com") return ForgePlace{ForgeKind::github, "https://api.github.com", path};
    const std::string origin = remote.url.substr(0, remote.url.find('/', remote.url.find("://") + 3));
    if (url.host == "gitlab.com") return ForgePlace{ForgeKind::gitlab, origin + "/api/v4", path};
    if (url.host == "codeberg.org" || url.host == "gitea.com")
        return ForgePlace{ForgeKind::gitea, origin + "/api/v1", path};
    // Each knows an address that the others do not.
    const std::pair<ForgeKind, std::pair<std::string_view, std::string_view>> questions[] = {
        {ForgeKind::gitea, {"/api/v1", "/version"}},
        {ForgeKind::gitlab, {"/api/v4", "/version"}},
        {ForgeKind::github, {"/api/v3", "/meta"}},
    };
    for (const auto& [kind, where] : questions) {
        net::ClientRequest request;
        request.url = origin + std::string(where.first) + std::string(where.second);
        request.headers = {{"Accept", "application/json"}};
        request.max_response_bytes = 1 << 20;
        request.total_timeout = std::chrono::seconds(20);
        const net::ClientResponse response = TRY(http.send(remote, std::move(request)));
        const bool json = response.header("content-type").starts_with("application/json");
        if (json && (response.status == 200 || response.status == 401 || response.status == 403))
            return ForgePlace{kind, origin + std::string(where.first), path};
    }
    return ForgePlace{};
}

std::unique_ptr<Client> make_client(ForgeHttp& http, const Remote& remote, const ForgePlace& place) {
    switch (place.kind) {
    case ForgeKind::plain:
        return nullptr;
    case ForgeKind::github:
    case ForgeKind::gitea:
        return make_github_client(http, remote, place);
    case ForgeKind::gitlab:
        return make_gitlab_client(http, remote, place);
    }
    return nullptr;
}

} // namespace hone::forge
