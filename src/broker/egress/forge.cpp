#include "broker/egress/forge.h"

#include "base/text.h"

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

namespace {

std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    for (const std::string_view part : split(path, '/'))
        if (!part.empty()) parts.push_back(part);
    return parts;
}

// How many parts belong to the root of an API: "/api/v4/projects", "/repos", "/2.0/repositories".
size_t api_root_size(std::span<const std::string_view> parts) {
    static constexpr std::string_view words[] = {"api", "rest", "repos", "projects", "repositories"};
    const auto is_version = [](std::string_view part) {
        if (part.starts_with('v')) part.remove_prefix(1);
        return !part.empty() && part.find_first_not_of("0123456789.") == part.npos;
    };
    size_t size = 0;
    while (size < parts.size() &&
           (is_version(parts[size]) || std::find(std::begin(words), std::end(words), parts[size]) != std::end(words)))
        ++size;
    return size;
}

bool begins_with_repository(std::span<const std::string_view> parts, std::string_view repository) {
    if (repository.ends_with(".git")) repository.remove_suffix(4);
    const auto names = parts_of(repository);
    if (names.empty() || parts.size() < names.size()) return false;
    for (size_t i = 0; i + 1 < names.size(); ++i)
        if (parts[i] != names[i]) return false;
    std::string_view last = parts[names.size() - 1];
    if (last.ends_with(".git")) last.remove_suffix(4);
    return last == names.back();
}

} // namespace

bool names_forge_path(const skill::HostRule& rule) {
    const auto parts = parts_of(rule.path_prefix);
    return api_root_size(parts) < parts.size();
}

bool is_in_own_repository(const ForgeHost& forge, std::string_view path) {
    if (is_ambiguous_path(path)) return false;
    // GitLab takes a whole name in one segment: "/api/v4/projects/team%2Fshop".
    const auto decoded = percent_decode(path, false);
    if (!decoded.ok() || decoded.value().find('%') != std::string::npos) return false;
    const auto parts = parts_of(decoded.value());
    const std::span<const std::string_view> all(parts);
    const auto below_root = all.subspan(api_root_size(all));
    return std::any_of(forge.own.begin(), forge.own.end(), [&](const std::string& repository) {
        return begins_with_repository(all, repository) || begins_with_repository(below_root, repository);
    });
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
        if (!endpoints.ok()) continue; // no request can be led to an address that its name does not have
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
