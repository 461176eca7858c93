#include "broker/egress/forge.h"

#include <algorithm>

namespace hone::broker {

namespace {

constexpr auto address_lifetime = std::chrono::seconds(60);
constexpr size_t most_resolved = 32; // names per minute and run

bool is_below(std::string_view host, std::string_view parent) {
    return host.size() > parent.size() && host.ends_with(parent) && host[host.size() - parent.size() - 1] == '.';
}

// "140.82.112.6:443" and "[2001:db8::1]:443" without the port.
std::string_view address_of(const net::Endpoint& endpoint) {
    const std::string_view text = endpoint.text;
    return text.substr(0, text.rfind(':'));
}

bool has_port(const ForgeHost& forge, const net::Endpoint& endpoint) {
    const std::string_view text = endpoint.text;
    const std::string_view port = text.substr(text.rfind(':') + 1);
    return std::any_of(forge.ports.begin(), forge.ports.end(),
                       [&](uint16_t each) { return std::to_string(each) == port; });
}

} // namespace

std::vector<std::string> forge_aliases(std::string_view host) {
    // Names of one service; a repository that is registered below one of them is reached below the others too.
    static constexpr std::string_view azure[] = {"dev.azure.com", "visualstudio.com"};
    static constexpr std::string_view services[] = {"github.com", "gitlab.com", "bitbucket.org", "codeberg.org"};
    std::vector<std::string> aliases;
    const auto belongs = [&](std::string_view name) { return host == name || is_below(host, name); };
    if (std::any_of(std::begin(azure), std::end(azure), belongs)) aliases.assign(std::begin(azure), std::end(azure));
    for (const std::string_view service : services)
        if (belongs(service)) aliases.emplace_back(service);
    std::erase(aliases, host);
    return aliases;
}

const ForgeHost* find_forge(std::span<const ForgeHost> forges, std::string_view host) {
    const ForgeHost* nearest = nullptr;
    for (const ForgeHost& forge : forges)
        if (forge.host == host || is_below(host, forge.host))
            if (nearest == nullptr || forge.host.size() > nearest->host.size()) nearest = &forge;
    return nearest;
}

void ForgeAddresses::resolve(std::span<const ForgeHost> forges) {
    const Duration now = m_clock.steady();
    {
        const Lock lock(m_mutex);
        if (m_resolved_at && now - *m_resolved_at < address_lifetime) return;
        m_resolved_at = now;
    }
    for (const ForgeHost& forge : forges.first(std::min(forges.size(), most_resolved))) {
        const auto endpoints = m_dialer.resolve(forge.host, 443);
        if (!endpoints.ok()) continue; // nobody can be led to an address that its name does not have
        const Lock lock(m_mutex);
        for (const net::Endpoint& endpoint : endpoints.value()) m_addresses[forge.host].emplace(address_of(endpoint));
    }
}

const ForgeHost* ForgeAddresses::find(std::span<const ForgeHost> forges, const net::Endpoint& endpoint, bool any_port) {
    if (forges.empty()) return nullptr;
    resolve(forges);
    const Lock lock(m_mutex);
    for (const ForgeHost& forge : forges) {
        const auto known = m_addresses.find(forge.host);
        if (known == m_addresses.end() || !known->second.contains(std::string(address_of(endpoint)))) continue;
        if (any_port || has_port(forge, endpoint)) return &forge;
    }
    return nullptr;
}

} // namespace hone::broker
