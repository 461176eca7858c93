#include "broker/egress/private_host.h"

#include "base/text.h"

#include <algorithm>

namespace hone::broker {

bool PrivateHost::is_open_to(const skill::Grant& grant) const {
    if (skill_id.empty()) return true;
    return std::any_of(grant.skill_versions.begin(), grant.skill_versions.end(), [&](const std::string& version) {
        return std::string_view(version).substr(0, version.find('@')) == skill_id;
    });
}

Result<std::vector<PrivateHost>> parse_private_hosts(std::string_view text) {
    std::vector<PrivateHost> hosts;
    for (const std::string_view part : split(text, ',')) {
        const std::string_view entry = trim(part);
        if (entry.empty()) continue;
        const size_t equals = entry.find('=');
        PrivateHost host;
        auto place = parse_host_port(trim(entry.substr(0, equals)), 0);
        if (!place.ok())
            return invalid("egress_private_hosts: \"" + std::string(truncate_utf8(entry, 100)) +
                           "\" is not HOST:PORT or HOST:PORT=SKILL_ID: " + place.error().message);
        host.place = std::move(place).value();
        if (equals != entry.npos) host.skill_id = trim(entry.substr(equals + 1));
        if (equals != entry.npos && !host.skill_id.starts_with("skl_"))
            return invalid("egress_private_hosts: \"" + std::string(truncate_utf8(host.skill_id, 100)) +
                           "\" is not the id of a skill (skl_…)");
        hosts.push_back(std::move(host));
    }
    return hosts;
}

} // namespace hone::broker
