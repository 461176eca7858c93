// The built-in evaluators without a model: code and rules. Values only; any thread.
#pragma once

#include "evaluate/judges/builtin.h"

namespace hone::evaluate {

std::vector<Builtin> code_builtins();

} // namespace hone::evaluate
