// Options whose values are numbers or durations, put into the body of a request. One thread.
#pragma once

#include "cli/remote/context.h"
#include "json/json.h"

namespace hone::cli {

// Nothing when the option is absent.
Result<> set_number(const Context& context, std::string_view option, const char* key, json::Object& into);
// A duration like 15m or 24h, as whole seconds; nothing when it is absent.
Result<> set_seconds(const Context& context, std::string_view option, const char* key, json::Object& into);
// An amount in US dollars, as millionths of one; nothing when it is absent.
Result<> set_dollars(const Context& context, std::string_view option, const char* key, json::Object& into);

} // namespace hone::cli
