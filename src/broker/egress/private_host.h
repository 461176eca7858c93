// Hosts on private addresses that workers may reach if an installation owner allows them: an internal package mirror,
// an internal forge. The permission states where a connection may go; a rule of the run must still allow the request.
// Pure, any thread.
#pragma once

#include "broker/wire/http_head.h"
#include "skill/grant.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

struct PrivateHost {
    HostPort place;
    std::string skill_id; // only runs with this skill; empty: every run whose rules allow the host
    bool is_open_to(const skill::Grant& grant) const;
};

// "mirror.corp.example:443, forge.corp.example:3000=skl_01H…": the setting egress_private_hosts.
Result<std::vector<PrivateHost>> parse_private_hosts(std::string_view text);

} // namespace hone::broker
