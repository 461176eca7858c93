#include "cli/remote/target.h"

#include "base/text.h"
#include "net/http/http.h"
#include "net/http/url.h"

namespace hone::cli {

namespace {

constexpr std::string_view fallback_url = "http://127.0.0.1:7070";

bool is_loopback(const std::string& host) {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::optional<std::string> either(const Context& context, std::string_view option, const std::string& variable) {
    if (auto given = context.parsed.value(option)) return given;
    auto found = context.environment(variable);
    return found && !found->empty() ? found : std::nullopt;
}

void find_proxy(const Context& context, const net::Url& url, Target& target) {
    if (is_loopback(url.host)) return;
    const auto variable = [&](const std::string& name) {
        if (auto lower = context.environment(name)) return *lower;
        std::string upper = name;
        for (char& c : upper) c = c == '_' ? c : static_cast<char>(c - 'a' + 'A');
        return context.environment(upper).value_or("");
    };
    target.proxy = variable(url.tls ? "https_proxy" : "http_proxy");
    const std::string no_proxy = variable("no_proxy");
    for (const auto host : split(no_proxy, ',')) {
        if (trim(host) == "*") target.proxy.clear();
        if (!trim(host).empty()) target.no_proxy.emplace_back(trim(host));
    }
}

} // namespace

Result<std::string> canonical_url(const std::string& text) {
    const net::Url url = TRY(net::parse_url(text));
    if (!url.unix_path.empty()) return invalid("not an http or https URL");
    if (!url.user_info.empty()) return invalid("the URL must not contain a user name or password");
    if (url.target.find('?') != std::string::npos) return invalid("the URL must not contain a query");
    std::string path = url.target;
    while (path.ends_with('/')) path.pop_back();
    return (url.tls ? "https://" : "http://") + url.host_header() + path;
}

Result<Target> find_target(const Context& context) {
    Target target;
    const auto given_url = either(context, "--url", "HONE_URL");
    const auto given_key = either(context, "--api-key", "HONE_API_KEY");
    Credentials stored;
    if (!given_url || !given_key)
        if (const auto path = credentials_path(context.environment); path.ok())
            stored = TRY(read_credentials(path.value()));

    auto url = canonical_url(given_url.value_or(stored.default_url.value_or(std::string(fallback_url))));
    if (!url.ok()) return context.fail(Exit::usage, url.error().message, "give the server as --url https://HOST:PORT");
    target.url = url.value();
    const net::Url parts = TRY(net::parse_url(target.url));
    target.plain_text = !parts.tls && !is_loopback(parts.host);

    const StoredLogin* login = stored.find(target.url);
    target.api_key = given_key.value_or(login ? login->api_key : "");
    if (!net::is_field_value(target.api_key))
        return context.fail(Exit::usage, "the API key contains line breaks or control characters");
    target.ca_file = either(context, "--ca-file", "HONE_CA_FILE").value_or(login ? login->ca_file.value_or("") : "");
    const auto timeout = parse_duration_ns(context.parsed.value("--timeout").value_or("30s"));
    if (!timeout.ok() || timeout.value() <= 0)
        return context.fail(Exit::usage, "--timeout must be a duration such as 30s or 2m");
    target.timeout = Duration(timeout.value());
    find_proxy(context, parts, target);
    return target;
}

} // namespace hone::cli
