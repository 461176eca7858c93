// "closes #8": words that make a forge close an issue when it merges a commit or a pull request. Pure functions, any
// thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::review {

// Whether the text has such a word and names an issue: #8, GH-8, or its address.
bool closes_issue(std::string_view text);
// "closes #8" becomes "closes no. 8": the same for people, and nothing for a forge. Other text is unchanged.
std::string without_closing(std::string_view text);

} // namespace hone::review
