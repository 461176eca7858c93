#include "skill/share.h"

namespace hone::skill {

Result<access::SpaceId> space_to_share_with(access::Access& access, const access::Caller& caller,
                                            const std::string& id_or_name) {
    auto found = access.spaces.find(caller, id_or_name);
    if (!found.ok() && caller.require(access::Permission::skill_share).ok())
        found = access.spaces.find(access::Caller::system(), id_or_name);
    if (!found.ok()) return std::move(found).error();
    return found.value().id;
}

} // namespace hone::skill
