#include "server/adapters/cluster.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#include <cstdlib>
#include <filesystem>

namespace hone::server {

namespace {

constexpr const char* vault_owner = "cluster";
constexpr const char* vault_name = "kubeconfig";

Result<kubernetes::ClusterAccess> cluster_access(const config::Config& config) {
    if (config.kubernetes_kubeconfig != "in-cluster") {
        const std::string text = TRY(read_file(config.kubernetes_kubeconfig, 1 << 20));
        return kubernetes::parse_kubeconfig(text, config.kubernetes_context,
                                            std::filesystem::path(config.kubernetes_kubeconfig).parent_path().string());
    }
    const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
    const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
    if (host == nullptr || port == nullptr)
        return invalid("kubernetes_kubeconfig is in-cluster, but this server does not run in a pod");
    return kubernetes::in_cluster_access(std::string(kubernetes::service_account_directory), host, port);
}

std::vector<std::string> parts_of(const std::string& list) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(list, ','))
        if (!trim(part).empty()) parts.emplace_back(trim(part));
    return parts;
}

Result<kubernetes::PodSettings> pod_settings(const config::Config& config) {
    kubernetes::PodSettings pods;
    pods.image = config.kubernetes_image;
    pods.tools_image = config.kubernetes_tools_image.empty() ? config.kubernetes_image : config.kubernetes_tools_image;
    pods.pull_secrets = parts_of(config.kubernetes_pull_secrets);
    for (const std::string& part : parts_of(config.kubernetes_node_selector)) {
        const size_t equals = part.find('=');
        if (equals == std::string::npos) return invalid("kubernetes_node_selector must be NAME=VALUE: " + part);
        pods.node_selector[part.substr(0, equals)] = part.substr(equals + 1);
    }
    if (!config.kubernetes_runtime_class.empty())
        pods.runtime_classes[sandbox::Tier::gvisor] = config.kubernetes_runtime_class;
    const auto user = parse_enum<kubernetes::PodUser>(config.kubernetes_pod_user);
    if (!user) return invalid("kubernetes_pod_user must be own_uid, user_namespace or assigned");
    pods.user = *user;
    return pods;
}

} // namespace

Result<std::optional<ClusterCredentials::Stored>> ClusterCredentials::stored() const {
    const auto text = m_vault.reveal({}, vault_owner, vault_name, "the server's cluster");
    if (!text.ok() && text.error().code == Code::not_found) return std::optional<Stored>();
    if (!text.ok()) return text.error();
    return std::optional<Stored>(TRY(json::read<Stored>(text.value().reveal())));
}

Result<std::optional<kubernetes::ClusterAccess>> ClusterCredentials::find() const {
    const auto known = TRY(stored());
    if (!known) return std::optional<kubernetes::ClusterAccess>();
    return std::optional<kubernetes::ClusterAccess>(
        TRY(kubernetes::parse_kubeconfig(known->kubeconfig, known->context, {})));
}

Result<> ClusterCredentials::set(const access::Caller& caller, const std::string& kubeconfig,
                                 const std::string& context) const {
    TRY(caller.require(access::Permission::user_manage));
    const kubernetes::ClusterAccess access = TRY(kubernetes::parse_kubeconfig(kubeconfig, context, {}));
    const std::string sealed = json::write(Stored{kubeconfig, context, m_clock.now()});
    if (sealed.size() > secret::largest_secret)
        return too_large(
            "the kubeconfig is over 64 KiB: leave one context in it (kubectl config view --minify --flatten)");
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_vault.keep(transaction, {}, vault_owner, vault_name, crypto::SecretBytes(sealed)));
        return m_audit.record(transaction, caller,
                              {"cluster_credential_update",
                               {},
                               "installation",
                               json::Object{{"server", access.server}, {"name_space", access.name_space}}});
    });
}

Result<> ClusterCredentials::remove(const access::Caller& caller) const {
    TRY(caller.require(access::Permission::user_manage));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        if (TRY(m_vault.kept_names(transaction, vault_owner)).empty()) return not_found("a credential for a cluster");
        TRY(m_vault.forget(transaction, vault_owner));
        return m_audit.record(transaction, caller, {"cluster_credential_delete", {}, "installation"});
    });
}

Result<std::unique_ptr<sandbox::Provider>> open_cluster(const config::Config& config, const Clock& clock,
                                                        const ClusterCredentials& credentials) {
    if (config.kubernetes_kubeconfig.empty()) return std::unique_ptr<sandbox::Provider>();
    kubernetes::ProviderOptions options;
    if (config.kubernetes_kubeconfig == sealed_kubeconfig) {
        auto known = TRY(credentials.find());
        if (!known) {
            log(Level::warning, "no credentials for a cluster are stored: provider kubernetes is not available",
                {{"advice", "hone cluster set FILE, and restart"}});
            return std::unique_ptr<sandbox::Provider>();
        }
        options.access = std::move(*known);
    } else {
        options.access = TRY(cluster_access(config));
    }
    options.name_space = config.kubernetes_namespace;
    options.pods = TRY(pod_settings(config));
    options.storage_class = config.kubernetes_storage_class;
    options.ready = static_cast<size_t>(config.kubernetes_ready);
    options.folder = config.data_dir + "/kubernetes";
    options.store = TRY(sandbox::Store::open(config.data_dir));
    return kubernetes::open_kubernetes_provider(std::move(options), clock);
}

std::vector<kubernetes::ClusterFinding> check_cluster(const config::Config& config, const Clock& clock) {
    if (config.kubernetes_kubeconfig.empty()) return {};
    if (config.kubernetes_kubeconfig == sealed_kubeconfig)
        return {{"kubernetes", true, "the credentials are sealed in the database: hone cluster show", ""}};
    auto access = cluster_access(config);
    if (!access.ok()) return {{"kubernetes", false, access.error().message, "check kubernetes_kubeconfig"}};
    const std::string name_space =
        config.kubernetes_namespace.empty() ? access.value().name_space : config.kubernetes_namespace;
    const auto credentials = kubernetes::Credentials::open(std::move(access).value(), clock);
    if (!credentials.ok()) return {{"kubernetes", false, credentials.error().message, "check kubernetes_kubeconfig"}};
    kubernetes::Api api(*credentials.value(), clock);
    return kubernetes::check_cluster(api,
                                     {name_space, config.kubernetes_storage_class, config.kubernetes_runtime_class});
}

} // namespace hone::server
