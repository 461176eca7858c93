// Ids in paths: one that is malformed names nothing, so it is not found, like one that nobody has.
#pragma once

#include "api/call.h"
#include "base/id.h"
#include "base/text.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace hone::api {

template <class Tag>
Result<Id<Tag>> id_in_path(const Call& call, std::string_view parameter) {
    auto id = parse_id<Tag>(call.at(parameter));
    if (id.ok()) return id;
    std::string what(parameter);
    std::replace(what.begin(), what.end(), '_', ' ');
    return not_found(what + " " + std::string(truncate_utf8(call.at(parameter), 60)));
}

} // namespace hone::api
