// The space that a skill of the installation is shared with. Any thread.
#pragma once

#include "access/access.h"

namespace hone::skill {

// By id or name. Callers with skill_share can name any space of the installation, also with an API key, which otherwise
// works in one space only.
Result<access::SpaceId> space_to_share_with(access::Access& access, const access::Caller& caller,
                                            const std::string& id_or_name);

} // namespace hone::skill
