// Which hosts are a forge with a registered repository, however a worker names them: by the registered name, by a name
// below it, by another name of the same service, or by an address that one of these names leads to. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "broker/egress/policy.h"
#include "broker/wire/dial.h"

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace hone::broker {

// Other hosts of the same service: "dev.azure.com" for "team.visualstudio.com". Every name below one of them belongs to
// it too. Empty for a forge of one's own.
std::vector<std::string> forge_aliases(std::string_view host);

// The forge that a host belongs to: the host itself, or the nearest one above it. Null: none.
const ForgeHost* find_forge(std::span<const ForgeHost> forges, std::string_view host);

// On a forge the credential of a rule for the whole host goes with requests for the repositories of the run only.
// A rule that names a path beyond the root of an API ("/user", "/repos/*/*") defines what its credential reads.
bool names_forge_path(const skill::HostRule& rule);
// Whether a path is in a repository that the run names, on its pages or in an API of GitHub, Gitea, GitLab,
// Bitbucket.
bool is_in_own_repository(const ForgeHost& forge, std::string_view path);

// The addresses of forges, as this machine resolves them. All that were seen are kept: a service spreads its
// connections over several addresses.
class ForgeAddresses {
public:
    ForgeAddresses(const Dialer& dialer, const Clock& clock) : m_dialer(dialer), m_clock(clock) {}

    // The forge whose server listens at this address; null: none. `any_port`: on any port, else on its own ports.
    const ForgeHost* find(std::span<const ForgeHost> forges, const net::Endpoint& endpoint, bool any_port);

private:
    void resolve(std::span<const ForgeHost> forges);

    const Dialer& m_dialer;
    const Clock& m_clock;
    Mutex m_mutex;
    std::map<std::string, std::set<std::string>> m_addresses GUARDED_BY(m_mutex); // by the forge's host
    std::optional<Duration> m_resolved_at GUARDED_BY(m_mutex);
};

} // namespace hone::broker
