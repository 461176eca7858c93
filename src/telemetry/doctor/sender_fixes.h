// The line to change in a sender, by its instrumentation. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

enum class Missing { kind, tokens, model, texts };

// One line per instrumentation scope that has its own way, else the general one.
std::string fix_for(Missing missing, const std::vector<std::string>& scopes);

} // namespace hone::telemetry
