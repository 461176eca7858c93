#include "server/membership/roles.h"

#include "base/text.h"

namespace hone::server {

namespace {

struct NamedRole {
    std::string_view name;
    bool Roles::*member;
};

constexpr NamedRole named_roles[] = {
    {"api", &Roles::api}, {"ingest", &Roles::ingest}, {"scheduler", &Roles::scheduler}, {"worker", &Roles::worker}};

} // namespace

Result<Roles> Roles::parse(std::string_view text) {
    Roles roles;
    for (const std::string_view part : split(text, ',')) {
        bool is_known = false;
        for (const NamedRole& role : named_roles) {
            if (role.name != trim(part)) continue;
            roles.*role.member = true;
            is_known = true;
        }
        if (!is_known)
            return invalid("roles: `" + std::string(trim(part)) + "` is none of api, ingest, scheduler, worker");
    }
    if (roles.text().empty()) return invalid("roles: name at least one of api, ingest, scheduler, worker");
    return roles;
}

std::string Roles::text() const {
    std::string list;
    for (const NamedRole& role : named_roles)
        if (this->*role.member) list += (list.empty() ? "" : ",") + std::string(role.name);
    return list;
}

} // namespace hone::server
