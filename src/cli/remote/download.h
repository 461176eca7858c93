// A download of any length into a file: written beside, synced and renamed, so that the file is whole or not there.
// Shows progress on a terminal. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"

#include <string>
#include <string_view>

namespace hone::cli {

// "-" is standard output. With --json prints {"file", "bytes"}.
Result<> download_to_file(const Context& context, const Call& call, std::string_view content_type,
                          const std::string& file);
// To standard output: to a pipe byte by byte, to a terminal with control characters made visible. For texts.
Result<> download_to_console(const Context& context, const Call& call, std::string_view content_type);

} // namespace hone::cli
