#include "cli/toolkit/secret_input.h"

namespace hone::cli {

Result<std::string> read_secret(const Context& context, const std::string& name) {
    std::string value = context.console.is_interactive() ? TRY(context.console.prompt_secret(name + ": "))
                                                         : TRY(context.console.read_line());
    if (value.empty()) return context.usage("no value was given for " + name);
    return value;
}

} // namespace hone::cli
