// Which runs a command is about: the options of `session list` and `session export`. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"

namespace hone::cli {

std::vector<Option> run_filter_options();
// Their values, and the space, as a query.
Result<Query> run_filter_query(const Context& context);

} // namespace hone::cli
