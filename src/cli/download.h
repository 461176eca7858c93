// A download of any length into a file: written beside, synced and renamed, so that the file is whole or not there.
// Shows progress on a terminal. One thread.
#pragma once

#include "cli/context.h"
#include "cli/remote.h"

#include <string>
#include <string_view>

namespace hone::cli {

// "-" is standard output. With --json prints {"file", "bytes"}.
Result<> download_to_file(const Context& context, const std::string& path, const Query& query,
                          std::string_view content_type, const std::string& file);

// "12.3 MB"
std::string bytes_text(uint64_t bytes);

} // namespace hone::cli
