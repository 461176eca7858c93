#include "server/adapters/managed_links.h"

#include "base/file.h"
#include "base/text.h"
#include "broker/wire/authority.h"
#include "crypto/crypto.h"
#include "net/http/url.h"
#include "json/path.h"

#include <mutex>

namespace hone::server {

namespace {

constexpr size_t most_tool_bytes = 8 << 20;
// Tools whose results another place of the run needs: they are not offered to an agent elsewhere.
constexpr std::string_view left_out[] = {"report_verdict", "get_checks"};

net::ClientOptions managed_client_options(const ManagedLinkOptions& wanted, const std::string& proxy) {
    net::ClientOptions options;
    const auto extra =
        wanted.extra_ca_file.empty() ? Result<std::string>(std::string()) : read_file(wanted.extra_ca_file);
    if (extra.ok() && !extra.value().empty()) {
        const std::string bundle = wanted.data_directory + "/managed-authorities.pem";
        const auto written = write_file(bundle, broker::system_authorities() + "\n" + extra.value(), 0600);
        if (written.ok()) options.ca_file = bundle;
    }
    options.proxy = proxy;
    options.idle_connections = 0; // each request connects to an address that was checked for it
    return options;
}

std::string credential_value(const std::string& format, std::string_view secret) {
    std::string value = format.empty() ? "{}" : format;
    const size_t place = value.find("{}");
    if (place != std::string::npos) value.replace(place, 2, secret);
    return value;
}

} // namespace

// Opens the key once, at its first request: it is in the audit log then.
class SkillTransport final : public managed::Transport {
public:
    SkillTransport(VaultManagedLinks& links, access::SpaceId space, run::RunId run, skill::ModelEndpoint endpoint)
        : m_links(links),
          m_space(std::move(space)),
          m_run(std::move(run)),
          m_endpoint(std::move(endpoint)) {}

    Result<net::ClientResponse> send(net::ClientRequest request) override {
        // A base URL is the beginning of every request: nothing that the provider sends leads elsewhere.
        if (!request.url.starts_with(m_endpoint.base_url + "/")) return invalid("not an address of the provider");
        if (!request.url.starts_with("https://") && !m_endpoint.allow_private)
            return invalid("the base URL of provider claude-managed must begin with https://");
        const std::string value = TRY(credential());
        request.headers.push_back({m_endpoint.header.empty() ? "x-api-key" : m_endpoint.header, value});
        request.max_redirects = 0;
        auto response = m_links.send(request, m_endpoint.allow_private);
        for (net::Header& header : request.headers) crypto::wipe(header.value);
        return response;
    }

private:
    Result<std::string> credential() {
        const std::lock_guard lock(m_mutex);
        if (!m_key) {
            TRY(m_links.m_audit.record(access::Caller::system(), {"managed_request",
                                                                  m_space,
                                                                  m_run.text(),
                                                                  {{"target", m_endpoint.base_url},
                                                                   {"secrets", json::Array{m_endpoint.secret_name}}}}));
            m_key.emplace(TRY(m_links.m_vault.open(m_space, m_endpoint.secret_id, m_run.text())));
        }
        return credential_value(m_endpoint.format, m_key->reveal());
    }

    VaultManagedLinks& m_links;
    const access::SpaceId m_space;
    const run::RunId m_run;
    const skill::ModelEndpoint m_endpoint;
    std::mutex m_mutex;
    std::optional<crypto::SecretBytes> m_key;
};

namespace {

// MCP over the server's own address.
class OwnTools final : public run::ToolCaller {
public:
    OwnTools(net::HttpClient& http, std::string url, const std::string& key, Duration timeout)
        : m_http(http),
          m_url(std::move(url)),
          m_key(key),
          m_timeout(timeout) {}

    Result<json::Array> list() override {
        const json::Value result = TRY(talk("tools/list", json::Object{}));
        const json::Value* tools = json::member(result, {"tools"});
        if (tools == nullptr || !tools->is_array()) return internal("the server lists no tools");
        json::Array made;
        for (const json::Value& tool : tools->get_array()) {
            const std::string name = json::text_at(tool, {"name"});
            if (std::ranges::find(left_out, name) != std::end(left_out)) continue;
            const json::Value* schema = json::member(tool, {"inputSchema"});
            made.push_back(json::Object{{"type", "custom"},
                                        {"name", name},
                                        {"description", json::text_at(tool, {"description"})},
                                        {"input_schema", schema != nullptr ? *schema : json::Value(json::Object{})}});
        }
        return made;
    }

    Result<managed::ToolReply> call(const std::string& name, const std::string& input) override {
        auto arguments = input.empty() ? Result<json::Value>(json::Value(json::Object{})) : json::parse(input);
        if (!arguments.ok()) return managed::ToolReply{"the arguments are not JSON", true};
        const json::Value result =
            TRY(talk("tools/call", json::Object{{"name", name}, {"arguments", std::move(arguments).value()}}));
        managed::ToolReply reply;
        reply.is_error = json::true_at(result, {"isError"});
        const json::Value* content = json::member(result, {"content"});
        if (content != nullptr && content->is_array())
            for (const json::Value& block : content->get_array()) reply.text += json::text_at(block, {"text"});
        return reply;
    }

private:
    Result<json::Value> talk(std::string_view method, json::Object params) {
        net::ClientRequest request;
        request.method = "POST";
        request.url = m_url;
        request.headers = {{"Authorization", "Bearer " + std::string(m_key.reveal())},
                           {"Content-Type", "application/json"},
                           {"Accept", "application/json"}};
        request.body =
            json::print(json::Object{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}});
        request.total_timeout = m_timeout;
        request.max_response_bytes = most_tool_bytes;
        const auto response = m_http.send(request);
        crypto::wipe(request.headers.front().value);
        if (!response.ok()) {
            if (response.error().code == Code::busy)
                return unavailable("the tool did not respond in time (sandbox.tool_seconds)");
            return response.error();
        }
        if (response.value().status != 200)
            return unavailable("the tools of the server returned " + std::to_string(response.value().status));
        const json::Value reply = TRY(json::parse(response.value().body));
        if (const json::Value* result = json::member(reply, {"result"})) return *result;
        return invalid(json::text_at(reply, {"error", "message"}));
    }

    net::HttpClient& m_http;
    const std::string m_url;
    const crypto::SecretBytes m_key;
    const Duration m_timeout;
};

} // namespace

VaultManagedLinks::VaultManagedLinks(secret::Vault& vault, const access::AuditLog& audit, std::string address,
                                     ManagedLinkOptions options)
    : m_vault(vault),
      m_audit(audit),
      m_address(std::move(address)),
      m_options(std::move(options)),
      m_resolver(broker::system_resolver()),
      m_check(broker::default_address_check()),
      m_http(managed_client_options(m_options, "")),
      m_proxied_http(managed_client_options(m_options, m_options.proxy)) {}

std::unique_ptr<managed::Transport> VaultManagedLinks::transport(const access::SpaceId& space, const run::RunId& run,
                                                                 const skill::ModelEndpoint& endpoint) {
    return std::make_unique<SkillTransport>(*this, space, run, endpoint);
}

std::unique_ptr<run::ToolCaller> VaultManagedLinks::tools(const std::string& run_key, Duration timeout) {
    const std::string url = m_address.starts_with("unix:") ? m_address + ":/mcp" : "http://" + m_address + "/mcp";
    return std::make_unique<OwnTools>(m_own_http, url, run_key, timeout);
}

Result<net::ClientResponse> VaultManagedLinks::send(net::ClientRequest& request, bool allow_private) {
    const net::Url url = TRY(net::parse_url(request.url));
    const auto reach = allow_private ? net::Reach::also_private : net::Reach::public_only;
    const std::string host = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
    const auto proxy = TRY(broker::parse_upstream_proxy(m_options.proxy, m_options.without_proxy));
    const bool by_proxy = url.tls && proxy && proxy->covers(TRY(broker::parse_host_port(host, url.port)));
    auto resolved = m_resolver->resolve(url.host, url.port);
    if (by_proxy && !resolved.ok()) return m_proxied_http.send(request); // only the proxy knows the name
    if (!resolved.ok()) return unavailable(resolved.error().message);
    std::string_view why = "no address";
    for (const net::Endpoint& endpoint : resolved.value()) {
        if (const auto refused = m_check(endpoint, reach)) {
            why = *refused;
            continue;
        }
        request.connect_to = (by_proxy ? "tunnel:" : "") + endpoint.text;
        return by_proxy ? m_proxied_http.send(request) : m_http.send(request);
    }
    return forbidden("the provider " + url.host + " cannot be reached from here: " + std::string(why) +
                     " (ALLOW_PRIVATE of the model skill allows addresses of one's own)");
}

} // namespace hone::server
