// SQL as people write it, before the guard looks at it. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::telemetry {

// Comments and a last semicolon become blanks, so that places in messages stay right.
std::string plain_sql(std::string_view sql);

} // namespace hone::telemetry
