#include "forge/clients/rest.h"

#include "base/text.h"
#include "net/http/url.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr int most_pages = 10;
constexpr auto longest_wait = std::chrono::hours(1);
constexpr size_t most_log_bytes = 16 << 20;
constexpr int most_redirects = 3;

// Each forge has an address that the others do not.
struct Probe {
    ForgeKind kind;
    std::string_view api, address;
};
constexpr Probe probes[] = {
    {ForgeKind::gitea, "/api/v1", "/version"},
    {ForgeKind::gitlab, "/api/v4", "/version"},
    {ForgeKind::github, "/api/v3", "/meta"},
};

Result<ForgePlace> read_kind(ForgeHttp& http, const Remote& remote, const std::string& home, const std::string& path) {
    for (const Probe& probe : probes) {
        net::ClientRequest request;
        request.url = home + std::string(probe.api) + std::string(probe.address);
        request.headers = {{"Accept", "application/json"}};
        request.max_response_bytes = 1 << 20;
        request.total_timeout = std::chrono::seconds(20);
        const net::ClientResponse response = TRY(http.send(remote, std::move(request)));
        const bool json = response.header("content-type").starts_with("application/json");
        if (json && (response.status == 200 || response.status == 401 || response.status == 403))
            return ForgePlace{probe.kind, home + std::string(probe.api), path};
    }
    return ForgePlace{};
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 307 || status == 308;
}

// Where a redirect leads, on the same host; empty: elsewhere. The credential does not leave the host.
Result<std::string> redirected_to(const std::string& from, std::string_view location) {
    const std::string origin = from.substr(0, from.find('/', from.find("://") + 3));
    if (location.starts_with('/') && !location.starts_with("//")) return origin + std::string(location);
    if (!location.starts_with("https://")) return std::string();
    const auto target = net::parse_url(std::string(location));
    if (!target.ok() || target.value().origin() != TRY(net::parse_url(from)).origin()) return std::string();
    return std::string(location);
}

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

std::string line_at(const json::Value& value, std::initializer_list<std::string_view> keys, size_t bytes) {
    std::string text(truncate_utf8(text_at(value, keys), bytes));
    std::replace_if(
        text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return text;
}

std::string result_of(const std::vector<ForgeCheck>& checks) {
    const auto has = [&](std::string_view result) {
        return std::ranges::any_of(checks, [&](const ForgeCheck& one) { return one.result == result; });
    };
    return has("failed") ? "failed" : has("running") ? "running" : checks.empty() ? "" : "passed";
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
        m_diagnosis = {Cause::rate_limited, said, {}};
        return busy(fmt::format("could not {}: the forge limits the rate of requests{}", doing, tail));
    }
    m_diagnosis = {cause_of_status(response.status, said), said, {}};
    if (m_diagnosis.cause == Cause::repository_moved) m_diagnosis.said.clear();
    if (m_diagnosis.cause == Cause::credential_refused && m_remote.skill_id.empty())
        m_diagnosis = {Cause::credential_missing, {}, {}};
    if (response.status == 409) {
        m_diagnosis.cause = Cause::none; // the caller knows what the conflict is
        return conflict(fmt::format("could not {} (409){}", doing, tail));
    }
    Error error = to_error(doing, m_diagnosis);
    error.message += fmt::format(" ({})", response.status);
    return error;
}

net::ClientRequest RestClient::request_to(const std::string& method, const std::string& url) const {
    net::ClientRequest request;
    request.method = method;
    request.url = url;
    request.headers = {{"Accept", "application/json"}, {"User-Agent", "hone"}};
    if (m_place.kind == ForgeKind::github) {
        request.headers.front().value = "application/vnd.github+json";
        request.headers.push_back({"X-GitHub-Api-Version", "2022-11-28"});
    }
    request.max_response_bytes = 8 << 20;
    request.total_timeout = std::chrono::seconds(30);
    return request;
}

Result<net::ClientResponse> RestClient::send(std::string_view doing, const Remote& remote, net::ClientRequest request) {
    auto sent = m_http.send(remote, std::move(request));
    if (sent.ok()) return sent;
    m_diagnosis = {cause_of_transport(sent.error()), sent.error().message, {}};
    if (m_diagnosis.cause == Cause::none) return sent.error();
    return to_error(doing, m_diagnosis);
}

Result<std::string> RestClient::read_text(std::string_view doing, const std::string& path) {
    std::string url = m_place.api + path;
    Remote from = m_remote;
    for (int hop = 0; hop <= most_redirects; ++hop) {
        net::ClientRequest request = request_to("GET", url);
        request.max_response_bytes = most_log_bytes;
        net::ClientResponse response = TRY(send(doing, from, std::move(request)));
        if (response.status < 300) return std::move(response.body);
        if (!is_redirect(response.status)) return explain(doing, response);
        const std::string location(response.header("location"));
        url = TRY(redirected_to(url, location));
        if (!url.empty()) continue;
        if (!location.starts_with("https://"))
            return unavailable(fmt::format("could not {}: the forge redirects to an address that is not https", doing));
        url = location;
        from.skill_id.clear();
        from.allow_private = false;
    }
    return unavailable(fmt::format("could not {}: the forge redirects more than {} times", doing, most_redirects));
}

Result<RestClient::Response> RestClient::call(std::string_view doing, const std::string& method,
                                              const std::string& path, const std::optional<json::Value>& body,
                                              std::initializer_list<int> also, const std::string& etag) {
    const std::string url = path.starts_with("https://") || path.starts_with("http://") ? path : m_place.api + path;
    net::ClientRequest request = request_to(method, url);
    if (!etag.empty()) request.headers.push_back({"If-None-Match", etag});
    if (body) {
        request.headers.push_back({"Content-Type", "application/json"});
        request.body = json::print(*body);
    }
    const net::ClientResponse response = TRY(send(doing, m_remote, std::move(request)));
    if (method == "GET" && is_redirect(response.status) && !m_following) {
        const std::string target = TRY(redirected_to(url, response.header("location")));
        if (!target.empty()) {
            m_redirected = m_following = true;
            auto followed = call(doing, method, target, std::nullopt, also, etag);
            m_following = false;
            return followed;
        }
    }
    if (response.status >= 300 && std::find(also.begin(), also.end(), response.status) == also.end())
        return explain(doing, response);
    Response answer;
    answer.status = response.status;
    answer.etag = response.header("etag");
    answer.next = next_link(response.header("link"));
    answer.location = response.header("location");
    if (!trim(response.body).empty()) {
        auto parsed = json::parse(response.body);
        if (!parsed.ok()) return unavailable(fmt::format("could not {}: the response of the forge is not JSON", doing));
        answer.body = std::move(parsed).value();
    }
    return answer;
}

Result<> RestClient::try_requests(std::string_view doing, const std::string& read_path, const std::string& method,
                                  const std::string& write_path) {
    TRY(call(doing, "GET", read_path));
    if (!write_path.empty())
        TRY(call(doing, method, write_path, json::Value(json::Object{}), {400, 404, 405, 409, 410, 422}));
    return {};
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
    // A forge may be below a path: https://host/git/team/shop.
    std::string before;
    for (;;) {
        const ForgePlace found = TRY(read_kind(http, remote, origin + before, path));
        if (found.kind != ForgeKind::plain) return found;
        const size_t slash = path.find('/');
        if (path.find('/', slash + 1) == std::string::npos) return ForgePlace{};
        before += "/" + path.substr(0, slash);
        path.erase(0, slash + 1);
    }
}

Result<ForgePlace> ForgeFinder::find(const Remote& remote) {
    {
        const Lock lock(m_mutex);
        if (const auto known = m_places.find(remote.url); known != m_places.end()) return known->second;
    }
    const ForgePlace found = TRY(find_forge(m_http, remote));
    const Lock lock(m_mutex);
    // A host that has no API now may get one: it is probed again.
    if (found.kind != ForgeKind::plain) m_places[remote.url] = found;
    return found;
}

void ForgeFinder::forget(const std::string& url) {
    const Lock lock(m_mutex);
    m_places.erase(url);
}

Diagnosis diagnose(ForgeHttp& http, ForgeFinder& finder, const Remote& remote, const Diagnosis& known) {
    const auto place = finder.find(remote);
    if (!place.ok()) {
        const Cause cause = cause_of_transport(place.error());
        return cause == Cause::none ? known : Diagnosis{cause, place.error().message, {}};
    }
    const auto client = make_client(http, remote, place.value());
    if (client == nullptr) return known;
    const auto repository = client->repository();
    // Without a credential a forge hides what is private, and git knows that one is missing.
    if (!repository.ok() && known.cause == Cause::credential_missing) return {known.cause, {}, {}};
    if (!repository.ok()) return client->diagnosis().cause == Cause::none ? known : client->diagnosis();
    if (repository.value().moved) return {Cause::repository_moved, {}, repository.value().url};
    if (repository.value().archived) return {Cause::archived, {}, {}};
    if (known.cause == Cause::repository_missing || known.cause == Cause::credential_refused)
        return {Cause::not_allowed, known.said, {}}; // the API shows the repository to this credential
    return known;
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
