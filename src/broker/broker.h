// The broker: everything that leaves a sandbox goes through here. It serves the two listening sockets of every run
// (3128 proxy, 3129 gateway) with one acceptor thread and one small thread per live connection. Thread-safe.
// The socket is the run's identity; without a broker nothing leaves the sandbox.
#pragma once

#include "broker/egress/attached_run.h"
#include "broker/egress/private_host.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hone::broker {

// As Sandbox::listeners gives them. An empty one is not served.
struct Listeners {
    Fd proxy;   // 3128
    Fd gateway; // 3129
};

struct BrokerOptions {
    int64_t connections = 2000; // of all runs together
    std::vector<PrivateHost> private_hosts{};
};

class Broker {
public:
    // `gateway` may be null: port 3129 then refuses. All references must outlive the broker.
    static Result<std::unique_ptr<Broker>> start(BrokerOptions options, const Dialer& dialer, const Clock& clock,
                                                 GatewayHandler* gateway);
    // Ends every connection and waits until the last is gone. The listening sockets stay usable for a next broker that
    // gets them from the sandboxes' shims.
    ~Broker();
    Broker(const Broker&) = delete;
    Broker& operator=(const Broker&) = delete;

    // Starts to serve a run. Errors: invalid rules, the run is attached already.
    Result<std::shared_ptr<AttachedRun>> attach(RunAccess access, Listeners listeners);
    // Changes mode, skills, rules and caps of a live run; cuts tunnels that are no longer allowed. On an error the old
    // policy stays.
    Result<> update(const RunAccess& access);
    // Closes all connections of the run immediately; nothing is sent or received afterwards. Unknown runs are ignored.
    void detach(const std::string& run_id);

    int64_t live_connections() const;

private:
    struct State;
    void remove(const std::string& run_id, bool run_has_ended);
    explicit Broker(std::unique_ptr<State> state);
    std::unique_ptr<State> m_state;
};

// What the sandbox needs to use its broker: proxy variables, the gateway's address, the placeholders and plain values
// of the skills, and this run's certificate authority in the shapes that tools read.
struct MountedFile {
    std::string path; // inside; read-only
    std::string content;
};
struct SandboxEnvironment {
    std::vector<std::pair<std::string, std::string>> variables;
    std::string ca_bundle_content;    // PEM: this run's authority and the system's store
    std::vector<MountedFile> files;   // the bundle (/hone/ca.pem, /etc/ssl/certs/ca-certificates.crt) and Java's store
    std::vector<std::string> exposed; // variables that hold a real secret because their exposure is `env`
};
// Opens the secrets; errors when one cannot be opened.
Result<SandboxEnvironment> sandbox_environment(AttachedRun& attached);

} // namespace hone::broker
