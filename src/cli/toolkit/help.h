// Help pages and docs/cli.md, printed from the command table. Pure but for the console's colours.
#pragma once

#include "cli/table/command.h"
#include "cli/terminal/console.h"

#include <string>
#include <string_view>

namespace hone::cli {

// The page for "", a group, a command, or the topic "exit-codes"; not_found with a suggestion for anything else.
Result<std::string> help_page(const Tree& tree, std::string_view topic, const Console& console);

// docs/cli.md
std::string print_markdown(const Tree& tree);

} // namespace hone::cli
