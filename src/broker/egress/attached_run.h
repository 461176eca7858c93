// One run as the broker serves it: what it may reach, its counters, its live sockets, and who records its decisions.
// Every connection of the run and the gateway share it. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "broker/egress/policy.h"
#include "broker/wire/channel.h"
#include "broker/wire/dial.h"
#include "crypto/secret_bytes.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone::broker {

// One decision, as the egress log and the audit log get it. Never a secret, never a query string.
struct Decision {
    Time time{};
    std::string run_id;
    bool allowed = false;
    std::string method; // CONNECT for a tunnel that is passed through as it is
    HostPort target;
    bool tls = false;
    std::string path;
    std::string rule;
    std::string reason;
    std::vector<std::string> secret_names; // put into this request
    int64_t number = 0;                    // of the record of the decision
};
// How an allowed request ended.
struct Outcome {
    int status = 0;      // 0: a tunnel, or no response
    std::string address; // of the connection
    int64_t sent_bytes = 0;
    int64_t received_bytes = 0;
    Duration took{};
    std::string error; // empty: none
};

class Decisions {
public:
    virtual ~Decisions() = default;
    // Before anything leaves; may number the decision. An error refuses the request: what cannot be recorded is
    // not happen.
    virtual Result<> decided(Decision& decision) = 0;
    // After an allowed request; must not block for long.
    virtual void finished(const Decision& decision, const Outcome& outcome) = 0;
};

// Opens secrets for one run; the implementation knows the run's space.
class SecretOpener {
public:
    virtual ~SecretOpener() = default;
    virtual Result<crypto::SecretBytes> open(const std::string& secret_id) = 0;
};

struct Caps {
    int64_t connections = 256;                        // of one run, at the same time
    int64_t request_bytes = int64_t{4} << 30;         // one request's body, or what one tunnel sends
    int64_t response_bytes = int64_t{16} << 30;       // one response's body, or what one tunnel receives
    int64_t total_bytes = 0;                          // both ways, whole run; 0: no limit
    Duration idle_timeout = std::chrono::minutes(10); // nothing moves in either direction
};

struct RunAccess {
    std::string run_id;
    std::string space_id;
    std::string project_id;
    EgressMode mode = EgressMode::allowlist;
    skill::Grant grant;
    std::vector<PolicyRule> rules;    // of preset and space policy
    std::vector<ForgeHost> forges{};  // that this run must not write to
    Reach reach = Reach::public_only; // addresses that the proxy connects to; more only for `private_hosts`
    // Hosts that may be on a private address, if an installation owner allows them. Filled in by Broker::attach.
    std::vector<HostPort> private_hosts{};
    Caps caps;
    std::shared_ptr<Decisions> decisions; // shared: connections that are being cut may still report their end
    std::shared_ptr<SecretOpener> secrets;
    // 32 bytes that belong to the run's sandbox: its authority and placeholders follow from them, so that they are the
    // same after a restart of the server. Null: new ones.
    std::shared_ptr<const crypto::SecretBytes> seed = {};
};

class Authority;
class Placeholders;
class ForgeAddresses;

// The sockets of a run that are in use, so that another thread can end them immediately. Thread-safe.
class LiveSockets {
public:
    // Holds a socket on the list. Must go before the socket is closed.
    class Entry {
    public:
        Entry() = default;
        // `target`: where the socket leads, when a change of policy may end it.
        Entry(LiveSockets& sockets, int descriptor, std::optional<HostPort> target = {});
        Entry(Entry&& other) noexcept : m_sockets(std::exchange(other.m_sockets, nullptr)), m_key(other.m_key) {}
        Entry& operator=(Entry&& other) noexcept {
            std::swap(m_sockets, other.m_sockets);
            std::swap(m_key, other.m_key);
            return *this;
        }
        ~Entry();
        // It was ended from here: what looks like the end of its stream is none.
        bool was_cut() const;

    private:
        LiveSockets* m_sockets = nullptr;
        uint64_t m_key = 0;
    };
    // Ends all, and everything that is added later. A client's connection is only made deaf: its thread ends it by a
    // reset if it is in the middle of a response, while a FIN from here might look like the end of one.
    void cut_all();
    // Ends those that lead to a place for which `gone` returns true.
    void cut_if(const std::function<bool(const HostPort&)>& gone);

private:
    struct Socket {
        int descriptor;
        std::optional<HostPort> target;
        bool cut = false;
        void end();
    };
    mutable Mutex m_mutex;
    std::map<uint64_t, Socket> m_sockets GUARDED_BY(m_mutex);
    uint64_t m_next GUARDED_BY(m_mutex) = 1;
    bool m_cut GUARDED_BY(m_mutex) = false;
};

// One run. Connections and the gateway share it; it outlives `detach` until its last connection has noticed.
class AttachedRun {
public:
    ~AttachedRun();
    const std::string& run_id() const { return m_run_id; }
    const std::string& space_id() const { return m_space_id; }
    const std::string& project_id() const { return m_project_id; }
    std::shared_ptr<const Policy> policy() const; // as of now
    Caps caps() const;
    const Dialer& dialer() const { return m_dialer; }
    // How far a connection to this place may go.
    Reach reach_of(const HostPort& target) const;
    // A name that neither a rule nor a leave spells out is the worker's: one below "*.example.com", or any in mode
    // open.
    NamedBy named_by(const HostPort& target) const;
    // The forge that a place is under another name; empty: none. Resolves names.
    std::string forge_at(const HostPort& target) const;
    // For a connection to a place: `is_forge` when its requests are checked as those to a forge.
    DialLimits limits_of(const HostPort& target, bool is_forge) const;
    const Clock& clock() const { return m_clock; }
    Cancel& cancel() { return m_cancel; }

    Result<crypto::SecretBytes> open_secret(const std::string& secret_id) const;
    Result<> decided(Decision& decision) const;
    void finished(const Decision& decision, const Outcome& outcome) const;
    // Counts towards the run's total; too_large when that is used up.
    Result<> count_bytes(int64_t bytes);
    int64_t total_bytes() const { return m_total_bytes; }

    LiveSockets& live_sockets() { return m_live_sockets; }
    Authority& authority() { return *m_authority; }
    Placeholders& placeholders() { return *m_placeholders; }

private:
    friend class Broker;
    AttachedRun(const RunAccess& access, std::shared_ptr<const Policy> policy, std::unique_ptr<Authority> authority,
                const Dialer& dialer, const Clock& clock);

    const std::string m_run_id, m_space_id, m_project_id;
    const Reach m_reach;
    const std::vector<HostPort> m_private_hosts;
    const Dialer& m_dialer;
    const Clock& m_clock;
    Cancel m_cancel;
    std::atomic<int64_t> m_total_bytes{0};
    std::atomic<int64_t> m_connections{0};
    LiveSockets m_live_sockets;
    std::unique_ptr<Authority> m_authority;
    std::unique_ptr<Placeholders> m_placeholders;
    std::unique_ptr<ForgeAddresses> m_forge_addresses;
    const std::shared_ptr<Decisions> m_decisions;
    const std::shared_ptr<SecretOpener> m_secrets;
    mutable Mutex m_mutex;
    std::shared_ptr<const Policy> m_policy GUARDED_BY(m_mutex);
    Caps m_caps GUARDED_BY(m_mutex);
};

// Serves one connection of port 3129 on the connection's own thread; returns when it is over. The client's channel
// ends by itself when the run is detached.
class GatewayHandler {
public:
    virtual ~GatewayHandler() = default;
    virtual void serve(AttachedRun& attached, Channel& client) = 0;
};

} // namespace hone::broker
