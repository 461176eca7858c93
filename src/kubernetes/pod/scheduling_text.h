// The scheduler's reasons in plain words: "0/3 nodes are available: 1 Insufficient memory, …". Pure, any thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::kubernetes {

// What is not known is kept as it is.
std::string explain_scheduling(std::string_view message);

} // namespace hone::kubernetes
