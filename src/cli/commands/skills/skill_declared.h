// The options that declare what a custom skill holds and where it may go: --bind, --header, --declare, --allow. Used by
// the commands of skills; one thread.
#pragma once

#include "cli/remote/context.h"
#include "json/json.h"

#include <string>
#include <string_view>
#include <utility>

namespace hone::cli {

// "NAME=VALUE" of an option.
Result<std::pair<std::string, std::string>> split_pair(const Context& context, const std::string& text,
                                                       std::string_view option);

// Puts `declared` and `allow` into a request's body, where such options were given; the server replaces those of
// before.
Result<> add_declared(const Context& context, json::Object& body);

} // namespace hone::cli
