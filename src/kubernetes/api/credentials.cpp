#include "kubernetes/api/credentials.h"

#include "base/file.h"
#include "base/text.h"
#include "net/http/url.h"
#include "json/yaml.h"

#include <algorithm>

namespace hone::kubernetes {

namespace {

constexpr size_t most_file_bytes = 1 << 20;
constexpr Duration token_age = std::chrono::seconds(60);

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == ':';
}

// It becomes part of paths.
bool is_namespace(std::string_view name) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return !name.empty() && name.size() <= 63 && std::all_of(name.begin(), name.end(), fits);
}

const json::Value* member(const json::Value& value, std::string_view name) {
    return value.is_object() ? value.get_object().if_contains(name) : nullptr;
}

// Absent, null and "" are the same: kubectl writes all three.
Result<std::string> text_member(const json::Value& value, std::string_view name) {
    const json::Value* found = member(value, name);
    if (found == nullptr || found->is_null()) return std::string();
    if (!found->is_string()) return invalid("the kubeconfig's " + std::string(name) + " must be text");
    return std::string(found->get_string());
}

bool is_set(const json::Value& value, std::string_view name) {
    const json::Value* found = member(value, name);
    if (found == nullptr || found->is_null()) return false;
    if (found->is_bool()) return found->get_bool();
    if (found->is_string()) return !found->get_string().empty();
    return true;
}

// The `kind` ("cluster") of the entry with this name in the list `kinds` ("clusters").
Result<json::Value> named_entry(const json::Value& config, std::string_view kinds, std::string_view kind,
                                const std::string& name) {
    const json::Value* list = member(config, kinds);
    if (list != nullptr && list->is_array())
        for (const json::Value& entry : list->get_array()) {
            if (TRY(text_member(entry, "name")) != name) continue;
            const json::Value* found = member(entry, kind);
            if (found == nullptr || !found->is_object())
                return invalid("the kubeconfig's " + std::string(kind) + " \"" + name + "\" has no content");
            return *found;
        }
    return invalid("the kubeconfig has no " + std::string(kind) + " named \"" + name + "\"");
}

Result<std::string> decode_base64(std::string_view name, std::string_view text) {
    std::string plain;
    for (const char c : text)
        if (c != '\n' && c != '\r' && c != ' ' && c != '=') plain += c == '+' ? '-' : c == '/' ? '_' : c;
    auto decoded = from_base64url(plain);
    if (!decoded.ok()) return invalid("the kubeconfig's " + std::string(name) + " is not base64");
    return decoded;
}

Result<std::string> path_of(const std::string& directory, const std::string& path) {
    if (directory.empty())
        return invalid("the kubeconfig names the file " + path +
                       ", which was not sent with it: use the output of `kubectl config view --flatten --minify`");
    return path.starts_with('/') ? path : directory + "/" + path;
}

// The value of `name`-data, or the content of the file `name`. The data wins, as in other clients.
Result<std::string> data_or_file(const json::Value& value, const std::string& name, const std::string& directory) {
    const std::string data = TRY(text_member(value, name + "-data"));
    if (!data.empty()) return decode_base64(name + "-data", data);
    const std::string path = TRY(text_member(value, name));
    if (path.empty()) return std::string();
    return read_file(TRY(path_of(directory, path)), most_file_bytes);
}

Result<> read_cluster(const json::Value& cluster, const std::string& directory, ClusterAccess& access) {
    if (is_set(cluster, "insecure-skip-tls-verify"))
        return invalid(
            "the kubeconfig has insecure-skip-tls-verify: Hone verifies the certificate of a cluster. Add its "
            "certificate-authority-data");
    if (is_set(cluster, "proxy-url")) return invalid("the kubeconfig has a proxy-url, which is not supported");
    access.server = TRY(text_member(cluster, "server"));
    while (access.server.ends_with('/')) access.server.pop_back();
    const auto url = net::parse_url(access.server);
    if (!url.ok() || !access.server.starts_with("https://") || !url.value().user_info.empty() ||
        access.server.find_first_of("?#") != std::string::npos)
        return invalid("the kubeconfig's server must be an https:// address: " + access.server);
    access.server_name = TRY(text_member(cluster, "tls-server-name"));
    if (!std::all_of(access.server_name.begin(), access.server_name.end(), is_host_character))
        return invalid("the kubeconfig's tls-server-name is not the name of a host");
    access.authorities = TRY(data_or_file(cluster, "certificate-authority", directory));
    return {};
}

Result<> reject_unsupported(const json::Value& user) {
    if (const json::Value* plugin = member(user, "exec"); plugin != nullptr && !plugin->is_null())
        return invalid("the kubeconfig gets its credentials from the program \"" +
                       std::string(truncate_utf8(TRY(text_member(*plugin, "command")), 200)) +
                       "\", and Hone runs no program that a configuration names. Use the token of a service account "
                       "(`kubectl create token`) or a client certificate");
    if (is_set(user, "auth-provider"))
        return invalid(
            "the kubeconfig has an auth-provider, which is not supported. Use the token of a service account");
    if (is_set(user, "username") || is_set(user, "password"))
        return invalid(
            "the kubeconfig has a user name and password, which clusters no longer accept. Use the token of a "
            "service account");
    for (const char* name : {"as", "as-uid", "as-groups", "as-user-extra"})
        if (is_set(user, name)) return invalid("the kubeconfig acts as another user, which is not supported");
    return {};
}

Result<> read_user(const json::Value& user, const std::string& directory, ClusterAccess& access) {
    TRY(reject_unsupported(user));
    access.client_certificate = TRY(data_or_file(user, "client-certificate", directory));
    std::string key = TRY(data_or_file(user, "client-key", directory));
    if (access.client_certificate.empty() != key.empty())
        return invalid("the kubeconfig has a client certificate without a key, or a key without a certificate");
    access.client_key = crypto::SecretBytes::take(key);
    std::string token = TRY(text_member(user, "token"));
    access.token = crypto::SecretBytes::take(token);
    const std::string token_file = TRY(text_member(user, "tokenFile"));
    if (!token_file.empty()) access.token_file = TRY(path_of(directory, token_file));
    if (access.client_certificate.empty() && access.token.empty() && access.token_file.empty())
        return invalid("the kubeconfig has no credentials: neither a token nor a client certificate");
    return {};
}

} // namespace

Result<ClusterAccess> parse_kubeconfig(std::string_view text, const std::string& context,
                                       const std::string& directory) {
    if (text.size() > most_file_bytes) return too_large("the kubeconfig is larger than 1 MiB");
    auto parsed = json::parse_yaml(text); // JSON is YAML
    if (!parsed.ok()) return invalid("the kubeconfig cannot be read: " + parsed.error().message);
    const json::Value& config = parsed.value();
    if (!config.is_object()) return invalid("the kubeconfig must be a mapping");
    const std::string name = context.empty() ? TRY(text_member(config, "current-context")) : context;
    if (name.empty()) return invalid("the kubeconfig has no current-context: name one");
    const json::Value chosen = TRY(named_entry(config, "contexts", "context", name));
    const json::Value cluster = TRY(named_entry(config, "clusters", "cluster", TRY(text_member(chosen, "cluster"))));
    const json::Value user = TRY(named_entry(config, "users", "user", TRY(text_member(chosen, "user"))));
    ClusterAccess access;
    TRY(read_cluster(cluster, directory, access));
    TRY(read_user(user, directory, access));
    access.name_space = TRY(text_member(chosen, "namespace"));
    if (access.name_space.empty()) access.name_space = "default";
    if (!is_namespace(access.name_space)) return invalid("the kubeconfig's namespace is not the name of one");
    return access;
}

Result<ClusterAccess> in_cluster_access(const std::string& directory, const std::string& host,
                                        const std::string& port) {
    if (host.empty() || port.empty())
        return unavailable(
            "this server does not run in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
    ClusterAccess access;
    const bool is_version_6 = host.find(':') != std::string::npos;
    access.server = "https://" + (is_version_6 ? "[" + host + "]" : host) + ":" + port;
    if (!net::parse_url(access.server).ok()) return invalid("not the address of a cluster: " + access.server);
    access.authorities = TRY(read_file(directory + "/ca.crt", most_file_bytes));
    if (trim(access.authorities).empty()) return unavailable(directory + "/ca.crt is empty");
    access.token_file = directory + "/token";
    access.name_space = std::string(trim(TRY(read_file(directory + "/namespace", most_file_bytes))));
    if (!is_namespace(access.name_space)) return unavailable(directory + "/namespace is not the name of one");
    return access;
}

Result<std::unique_ptr<Credentials>> Credentials::open(ClusterAccess access, const Clock& clock) {
    std::unique_ptr<Credentials> made(new Credentials(std::move(access), clock));
    const ClusterAccess& given = made->m_access;
    made->m_tls = TRY(net::TlsContext::for_client_text(given.authorities, given.client_certificate,
                                                       std::string(given.client_key.reveal())));
    return made;
}

Result<std::string> Credentials::authorization() {
    if (m_access.token_file.empty())
        return m_access.token.empty() ? std::string() : "Bearer " + std::string(m_access.token.reveal());
    const Lock lock(m_mutex);
    const Duration now = m_clock.steady();
    if (m_token.empty() || now - m_read_at >= token_age) {
        auto content = read_file(m_access.token_file, most_file_bytes);
        std::string token = content.ok() ? std::string(trim(content.value())) : std::string();
        const bool is_token =
            !token.empty() && std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
        // While a file is being replaced the last token stays valid for minutes.
        if (!is_token && m_token.empty())
            return unavailable("cannot read the cluster's token: " +
                               (content.ok() ? m_access.token_file + " has none" : content.error().message));
        if (is_token) {
            m_token = crypto::SecretBytes::take(token);
            m_read_at = now;
        }
    }
    return "Bearer " + std::string(m_token.reveal());
}

bool Credentials::refresh() {
    if (m_access.token_file.empty()) return false;
    const Lock lock(m_mutex);
    m_read_at = m_clock.steady() - token_age;
    return true;
}

} // namespace hone::kubernetes
