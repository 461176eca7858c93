#include "forge/credential.h"

#include "base/text.h"

#include <algorithm>
#include <optional>

namespace hone::forge {

namespace {

bool allows_method(const skill::HostRule& rule, std::string_view method) {
    return method.empty() || rule.methods.empty() ||
           std::find(rule.methods.begin(), rule.methods.end(), method) != rule.methods.end();
}

// The longest path prefix of its rules that fit; none: no rule does.
std::optional<size_t> fit_of(const skill::Credential& credential, const Place& place, std::string_view method) {
    std::optional<size_t> longest;
    for (const skill::HostRule& rule : credential.hosts)
        if (covers(rule, place) && allows_method(rule, method))
            longest = std::max(longest.value_or(0), rule.path_prefix.size());
    return longest;
}

} // namespace

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

const skill::Credential* choose_credential(const skill::Grant& grant, const Place& place, ForgeUse use,
                                           std::string_view method) {
    const skill::Credential* chosen = nullptr;
    std::pair<size_t, bool> best;
    for (const skill::Credential& credential : grant.credentials) {
        const auto fit = fit_of(credential, place, method);
        if (!fit) continue;
        const bool is_basic = credential.format.starts_with("Basic ");
        const bool is_expected = credential.format.empty() || is_basic == (use == ForgeUse::git);
        const std::pair rank{*fit, is_expected};
        if (chosen != nullptr && rank <= best) continue;
        chosen = &credential;
        best = rank;
    }
    return chosen;
}

Result<> check_may_write(const skill::Credential& credential) {
    if (!credential.workers_see_it) return {};
    return conflict(
        "Could not deliver: workers see the secret " + credential.secret_name +
        " itself (exposure env), so the forge cannot distinguish them from Hone. Set GH_DELIVERY_TOKEN in the skill "
        "of the repository, or set the exposure of " +
        credential.secret_name + " to brokered and replace its value");
}

} // namespace hone::forge
