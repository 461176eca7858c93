// What names, e-mail addresses and passwords must look like; the errors name what to change.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace hone::access {

// Trimmed; 1 to 100 bytes of visible UTF-8.
Result<std::string> checked_name(std::string_view what, std::string_view name);
// As above, or empty; up to 2,000 bytes, line breaks allowed.
Result<std::string> checked_description(std::string_view text);
// Lower-case.
Result<std::string> checked_email(std::string_view email);
Result<> check_password(std::string_view password);

} // namespace hone::access
