// The provider of pods, from the server's settings.
#pragma once

#include "config/config.h"
#include "kubernetes/provider/cluster_check.h"
#include "kubernetes/provider/kubernetes_provider.h"
#include "secret/vault.h"

namespace hone::server {

// What stands for a file in the setting kubernetes_kubeconfig: what ClusterCredentials has.
constexpr std::string_view sealed_kubeconfig = "sealed";

// A kubeconfig that is stored in the vault, for all servers of the database. Thread-safe.
class ClusterCredentials {
public:
    struct Stored {
        std::string kubeconfig;
        std::string context;
        Time set_at{};
        static constexpr Pack fields{
            Field{"kubeconfig", &Stored::kubeconfig, ""},
            Field{"context", &Stored::context, ""},
            Field{"set_at", &Stored::set_at, ""},
        };
    };
    ClusterCredentials(sql::Database& database, const Clock& clock, const secret::Vault& vault,
                       const access::AuditLog& audit)
        : m_database(database),
          m_clock(clock),
          m_vault(vault),
          m_audit(audit) {}

    // Nothing when there are none.
    Result<std::optional<kubernetes::ClusterAccess>> find() const;
    Result<std::optional<Stored>> stored() const;
    // Errors: a text that names files or programs, or has no credentials.
    Result<> set(const access::Caller& caller, const std::string& kubeconfig, const std::string& context) const;
    Result<> remove(const access::Caller& caller) const;

private:
    sql::Database& m_database;
    const Clock& m_clock;
    const secret::Vault& m_vault;
    const access::AuditLog& m_audit;
};

// Null: no cluster is set, or its credentials are not stored yet.
Result<std::unique_ptr<sandbox::Provider>> open_cluster(const config::Config& config, const Clock& clock,
                                                        const ClusterCredentials& credentials);

// Nothing when no cluster is set.
std::vector<kubernetes::ClusterFinding> check_cluster(const config::Config& config, const Clock& clock);

} // namespace hone::server
