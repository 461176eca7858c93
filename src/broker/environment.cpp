// The environment variables that describe the broker to a sandbox.
#include "broker/broker.h"
#include "broker/egress/placeholder.h"
#include "broker/wire/authority.h"
#include "broker/wire/trust_store.h"

namespace hone::broker {

namespace {

constexpr std::string_view proxy_url = "http://127.0.0.1:3128";
constexpr std::string_view gateway_url = "http://127.0.0.1:3129";
constexpr std::string_view bundle_path = "/hone/ca.pem";
constexpr std::string_view java_store_path = "/hone/ca.jks";
constexpr std::string_view java_password = "changeit"; // Java's own default

// Every tool has its own name for the file of authorities.
constexpr const char* bundle_variables[] = {
    "SSL_CERT_FILE", "CURL_CA_BUNDLE",       "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",     "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",      "AWS_CA_BUNDLE",        "CARGO_HTTP_CAINFO",  "BUNDLE_SSL_CA_CERT", "NPM_CONFIG_CAFILE",
    "DENO_CERT",     "CODEX_CA_CERTIFICATE", "HEX_CACERTS_PATH",   "NIX_SSL_CERT_FILE",
};

void add_proxy(SandboxEnvironment& environment) {
    for (const char* name : {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"})
        environment.variables.emplace_back(name, proxy_url);
    for (const char* name : {"NO_PROXY", "no_proxy"})
        environment.variables.emplace_back(name, "127.0.0.1,localhost,::1");
    environment.variables.emplace_back("NODE_USE_ENV_PROXY", "1");
    environment.variables.emplace_back("HONE_GATEWAY_URL", gateway_url);
}

Result<> add_trust(AttachedRun& attached, SandboxEnvironment& environment) {
    const std::string bundle = attached.authority().certificate() + system_authorities();
    for (const char* name : bundle_variables) environment.variables.emplace_back(name, bundle_path);
    environment.ca_bundle_content = bundle;
    environment.files.push_back({std::string(bundle_path), bundle});
    // For tools that read no variable.
    environment.files.push_back({"/etc/ssl/certs/ca-certificates.crt", bundle});
    std::string java_store = TRY(make_java_trust_store(bundle, java_password));
    environment.files.push_back({std::string(java_store_path), std::move(java_store)});
    environment.variables.emplace_back(
        "JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStore=" + std::string(java_store_path) +
                                 " -Djavax.net.ssl.trustStorePassword=" + std::string(java_password) +
                                 " -Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=3128 -Dhttps.proxyHost=127.0.0.1"
                                 " -Dhttps.proxyPort=3128 -Dhttp.nonProxyHosts=localhost|127.*");
    return {};
}

} // namespace

Result<SandboxEnvironment> sandbox_environment(AttachedRun& attached) {
    SandboxEnvironment environment;
    add_proxy(environment);
    TRY(add_trust(attached, environment));
    const auto policy = attached.policy();
    for (const auto& [name, value] : policy->grant().plain) environment.variables.emplace_back(name, value);
    std::string last;
    for (const skill::Credential& credential : policy->grant().credentials) {
        // One variable may have several bindings.
        if (credential.variable.empty() || credential.variable == last) continue;
        last = credential.variable;
        if (credential.brokered) {
            environment.variables.emplace_back(credential.variable, TRY(attached.placeholders().of(credential)));
            continue;
        }
        const crypto::SecretBytes secret = TRY(attached.open_secret(credential.secret_id));
        environment.variables.emplace_back(credential.variable, secret.reveal());
        environment.exposed.push_back(credential.variable);
    }
    return environment;
}

} // namespace hone::broker
