// The ledger of an automation as a list, for `hone automation slots` and `hone signal slots`. Any thread.
#pragma once

#include "cli/remote/context.h"

namespace hone::cli {

// Only moments that ended so.
Option outcome_option();

// Every scheduled time and its result, newest first; `automation` is an id or a name.
Result<> show_slots(Context& context, const std::string& automation);

} // namespace hone::cli
