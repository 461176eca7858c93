// What tokens of well-known services look like, in prompts and in diffs. Pure functions, any thread.
#pragma once

#include <string_view>

namespace hone::review {

// What the text seems to hold ("a GitHub token"); empty: nothing.
std::string_view seeming_secret(std::string_view text);

} // namespace hone::review
