// Paths as people give them: relative, through links, with spaces and quotes. Pure but for the working directory and
// the links it resolves. Any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace hone {

// The same file from any working directory: a path that is relative now would be misread by a child that runs
// elsewhere. Links are kept, since a certificate is often renewed by changing one.
Result<std::string> absolute_path(const std::string& path);
// The same for a directory that may not exist yet, without links, `.`, `..` and slashes at the end: all parts of a
// program then use one name for it, and stay with it when a link changes. Refuses what engines and JSON cannot name.
Result<std::string> resolve_directory(const std::string& path);

// The text as one word of a shell's command line; in quotes only where it needs them.
std::string quote_shell(std::string_view text);

} // namespace hone
