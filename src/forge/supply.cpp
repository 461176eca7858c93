#include "forge/supply.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

Result<Place> place_of(std::string_view url) {
    constexpr std::string_view scheme = "https://";
    if (!url.starts_with(scheme)) return invalid("not an https address");
    url.remove_prefix(scheme.size());
    const size_t slash = url.find('/');
    if (slash == std::string_view::npos) return invalid("the address has no path");
    Place place;
    place.path = url.substr(slash);
    const std::string_view authority = url.substr(0, slash);
    const size_t colon = authority.find(':');
    place.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) {
        const int64_t port = TRY(parse_integer(authority.substr(colon + 1)));
        if (port < 1 || port > 65535) return invalid("the port is malformed");
        place.port = static_cast<uint16_t>(port);
    }
    return place;
}

bool covers(const skill::HostRule& rule, const Place& place) {
    if (!rule.tls || (rule.port != 0 && rule.port != place.port)) return false;
    const bool host = rule.host.starts_with("*.") ? place.host.ends_with(std::string_view(rule.host).substr(1))
                                                  : equals_ignoring_case(rule.host, place.host);
    if (!host) return false;
    std::string_view prefix = rule.path_prefix;
    while (prefix.ends_with('/')) prefix.remove_suffix(1);
    return place.path.starts_with(prefix) && (place.path.size() == prefix.size() || place.path[prefix.size()] == '/');
}

// The first skill of the run with a credential for the forge.
std::optional<std::string> Supply::skill_for(const Wanted& wanted) const {
    const auto place = place_of(wanted.url);
    if (!place.ok()) return std::nullopt;
    for (const std::string& skill : wanted.skills) {
        const std::vector<std::string> one{skill};
        const auto grant = m_skills.resolve(access::Caller::system(), wanted.space, one);
        if (!grant.ok()) continue;
        for (const skill::Credential& credential : grant.value().credentials)
            if (std::any_of(credential.hosts.begin(), credential.hosts.end(),
                            [&](const skill::HostRule& rule) { return covers(rule, place.value()); }))
                return skill;
    }
    return std::nullopt;
}

Result<Supplied> Supply::supply(const Wanted& wanted) {
    Supplied supplied;
    supplied.repo = TRY(m_repos.find_or_create(wanted.space, wanted.url, skill_for(wanted), wanted.run));
    if (!m_quarantine.find(wanted.run, supplied.repo.id).ok()) {
        auto fetched = m_mirrors.fetch_if_old(supplied.repo, wanted.stopped);
        if (fetched.ok())
            supplied.repo = std::move(fetched).value();
        else if (supplied.repo.fetched_at)
            supplied.warning = "This is an older copy: " + fetched.error().message;
        else
            return fetched.error();
    }
    supplied.checkout = TRY(m_quarantine.open(wanted.run, supplied.repo, wanted.ref));
    for (const std::string& note : supplied.repo.notes)
        supplied.warning += (supplied.warning.empty() ? "" : " ") + note;
    return supplied;
}

} // namespace hone::forge
