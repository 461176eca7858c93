#include "broker/egress/attached_run.h"

#include "broker/egress/forge.h"
#include "broker/egress/placeholder.h"
#include "broker/wire/authority.h"

#include <algorithm>
#include <sys/socket.h>

namespace hone::broker {

LiveSockets::Entry::Entry(LiveSockets& sockets, int descriptor, std::optional<HostPort> target) : m_sockets(&sockets) {
    const Lock lock(sockets.m_mutex);
    m_key = sockets.m_next++;
    Socket& socket = sockets.m_sockets[m_key] = {descriptor, std::move(target)};
    if (sockets.m_cut) socket.end();
}

bool LiveSockets::Entry::was_cut() const {
    if (m_sockets == nullptr) return false;
    const Lock lock(m_sockets->m_mutex);
    const auto found = m_sockets->m_sockets.find(m_key);
    return found != m_sockets->m_sockets.end() && found->second.cut;
}

void LiveSockets::Socket::end() {
    cut = true;
    ::shutdown(descriptor, target ? SHUT_RDWR : SHUT_RD);
}

LiveSockets::Entry::~Entry() {
    if (m_sockets == nullptr) return;
    const Lock lock(m_sockets->m_mutex);
    m_sockets->m_sockets.erase(m_key);
}

void LiveSockets::cut_all() {
    const Lock lock(m_mutex);
    m_cut = true;
    for (auto& [key, socket] : m_sockets) socket.end();
}

void LiveSockets::cut_if(const std::function<bool(const HostPort&)>& gone) {
    const Lock lock(m_mutex);
    for (auto& [key, socket] : m_sockets)
        if (socket.target && gone(*socket.target)) socket.end();
}

AttachedRun::AttachedRun(const RunAccess& access, std::shared_ptr<const Policy> policy,
                         std::unique_ptr<Authority> authority, const Dialer& dialer, const Clock& clock)
    : m_run_id(access.run_id),
      m_space_id(access.space_id),
      m_project_id(access.project_id),
      m_reach(access.reach),
      m_private_hosts(access.private_hosts),
      m_dialer(dialer),
      m_clock(clock),
      m_authority(std::move(authority)),
      m_placeholders(std::make_unique<Placeholders>(
          access.seed, [this](const std::string& secret_id) { return open_secret(secret_id); }, clock)),
      m_forge_addresses(std::make_unique<ForgeAddresses>(dialer, clock)),
      m_decisions(access.decisions),
      m_secrets(access.secrets),
      m_policy(std::move(policy)),
      m_caps(access.caps) {}

AttachedRun::~AttachedRun() = default;

Reach AttachedRun::reach_of(const HostPort& target) const {
    const bool by_leave = std::find(m_private_hosts.begin(), m_private_hosts.end(), target) != m_private_hosts.end();
    return by_leave ? Reach::also_private : m_reach;
}

NamedBy AttachedRun::named_by(const HostPort& target) const {
    const bool by_leave = std::find(m_private_hosts.begin(), m_private_hosts.end(), target) != m_private_hosts.end();
    return by_leave || policy()->names(target) ? NamedBy::configuration : NamedBy::worker;
}

std::string AttachedRun::forge_at(const HostPort& target) const {
    const auto policy = this->policy();
    if (policy->forges().empty() || find_forge(policy->forges(), target.host) != nullptr) return "";
    const auto endpoints = m_dialer.resolve(target.host, target.port);
    if (!endpoints.ok()) return ""; // connecting fails too, or is left to the upstream proxy
    // A rule can name another service of the same machine, at another port.
    const bool any_port = target.is_address || !policy->names(target);
    for (const net::Endpoint& endpoint : endpoints.value())
        if (const ForgeHost* forge = m_forge_addresses->find(policy->forges(), endpoint, any_port)) return forge->host;
    return "";
}

DialLimits AttachedRun::limits_of(const HostPort& target, bool is_forge) const {
    DialLimits limits{named_by(target), {}};
    const auto policy = this->policy();
    if (is_forge || policy->forges().empty() || find_forge(policy->forges(), target.host) != nullptr) return limits;
    const bool any_port = target.is_address || !policy->names(target);
    limits.refuses = [this, policy, any_port](const net::Endpoint& endpoint) -> std::optional<std::string> {
        const ForgeHost* forge = m_forge_addresses->find(policy->forges(), endpoint, any_port);
        if (forge == nullptr) return std::nullopt;
        return "that is the forge " + forge->host + " under another name; use its own name";
    };
    return limits;
}

std::shared_ptr<const Policy> AttachedRun::policy() const {
    const Lock lock(m_mutex);
    return m_policy;
}

Caps AttachedRun::caps() const {
    const Lock lock(m_mutex);
    return m_caps;
}

Result<crypto::SecretBytes> AttachedRun::open_secret(const std::string& secret_id) const {
    if (!m_secrets) return unavailable("this run has no secrets");
    return m_secrets->open(secret_id);
}

Result<> AttachedRun::decided(Decision& decision) const {
    if (!m_decisions) return internal("the run has no recorder of the broker's decisions");
    return m_decisions->decided(decision);
}

void AttachedRun::finished(const Decision& decision, const Outcome& outcome) const {
    if (m_decisions) m_decisions->finished(decision, outcome);
}

Result<> AttachedRun::count_bytes(int64_t bytes) {
    const int64_t total = m_total_bytes += bytes;
    const int64_t most = caps().total_bytes;
    if (most > 0 && total > most) return too_large("the run has reached its limit of bytes");
    return {};
}

} // namespace hone::broker
