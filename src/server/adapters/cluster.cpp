#include "server/adapters/cluster.h"

#include "base/file.h"

#include <cstdlib>
#include <filesystem>

namespace hone::server {

namespace {

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

} // namespace

Result<std::unique_ptr<sandbox::Provider>> open_cluster(const config::Config& config, const Clock& clock) {
    if (config.kubernetes_kubeconfig.empty()) return std::unique_ptr<sandbox::Provider>();
    kubernetes::ProviderOptions options;
    options.access = TRY(cluster_access(config));
    options.name_space = config.kubernetes_namespace;
    options.pods.image = config.kubernetes_image;
    options.pods.tools_image =
        config.kubernetes_tools_image.empty() ? config.kubernetes_image : config.kubernetes_tools_image;
    if (!config.kubernetes_runtime_class.empty())
        options.pods.runtime_classes[sandbox::Tier::gvisor] = config.kubernetes_runtime_class;
    const auto user = parse_enum<kubernetes::PodUser>(config.kubernetes_pod_user);
    if (!user) return invalid("kubernetes_pod_user must be own_uid, user_namespace or assigned");
    options.pods.user = *user;
    options.storage_class = config.kubernetes_storage_class;
    options.ready = static_cast<size_t>(config.kubernetes_ready);
    options.folder = config.data_dir + "/kubernetes";
    return kubernetes::open_kubernetes_provider(std::move(options), clock);
}

std::vector<kubernetes::ClusterFinding> check_cluster(const config::Config& config, const Clock& clock) {
    if (config.kubernetes_kubeconfig.empty()) return {};
    auto access = cluster_access(config);
    if (!access.ok()) return {{"kubernetes", false, access.error().message, "check kubernetes_kubeconfig"}};
    const std::string name_space =
        config.kubernetes_namespace.empty() ? access.value().name_space : config.kubernetes_namespace;
    const auto credentials = kubernetes::Credentials::open(std::move(access).value(), clock);
    if (!credentials.ok()) return {{"kubernetes", false, credentials.error().message, "check kubernetes_kubeconfig"}};
    kubernetes::Api api(*credentials.value(), clock);
    return kubernetes::check_cluster(api, name_space, config.kubernetes_storage_class);
}

} // namespace hone::server
