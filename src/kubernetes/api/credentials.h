// How a cluster is reached: its address, its certificate authority, and who we are. From a kubeconfig, or from what
// Kubernetes mounts into each pod. Nothing here runs a program: a kubeconfig that names one is rejected.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "crypto/secret_bytes.h"
#include "net/tls.h"

#include <memory>
#include <string>
#include <string_view>

namespace hone::kubernetes {

struct ClusterAccess {
    std::string server;             // "https://host:port", maybe with a path, without a slash at its end
    std::string server_name;        // that the certificate must be for; empty: the host of `server`
    std::string authorities;        // PEM; empty: the system's store
    std::string client_certificate; // PEM with its chain, or empty
    crypto::SecretBytes client_key; // PEM
    crypto::SecretBytes token;      // bearer token, or empty
    std::string token_file;         // read again every minute; instead of `token`
    std::string name_space;         // of the context, or "default"
};

// `context` empty: the current one. Files that it names are relative to `directory`; when that is empty they are
// rejected, because the text came without its files. Fields that are not used here are ignored, as by other clients,
// but each one that would change who we are or whom we trust is used or rejected.
Result<ClusterAccess> parse_kubeconfig(std::string_view text, const std::string& context, const std::string& directory);

// Of a server that runs in a pod: `directory` is where the service account's files are mounted, `host` and `port` are
// KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
Result<ClusterAccess> in_cluster_access(const std::string& directory, const std::string& host, const std::string& port);
constexpr std::string_view service_account_directory = "/var/run/secrets/kubernetes.io/serviceaccount";

// The access with its token kept fresh. Any thread.
class Credentials {
public:
    // Checks the certificates; reads no token yet.
    static Result<std::unique_ptr<Credentials>> open(ClusterAccess access, const Clock& clock);

    const ClusterAccess& access() const { return m_access; }
    const std::shared_ptr<const net::TlsContext>& tls() const { return m_tls; }
    // "Bearer …", or empty with a client certificate. A file is read again when its content is older than a minute.
    Result<std::string> authorization();
    // The server responded with 401: the next call reads the file again. False when the token cannot have changed.
    bool refresh();

private:
    Credentials(ClusterAccess access, const Clock& clock) : m_access(std::move(access)), m_clock(clock) {}

    const ClusterAccess m_access;
    const Clock& m_clock;
    std::shared_ptr<const net::TlsContext> m_tls;
    Mutex m_mutex;
    crypto::SecretBytes m_token GUARDED_BY(m_mutex);
    Duration m_read_at GUARDED_BY(m_mutex){};
};

} // namespace hone::kubernetes
