// Uploads of files for sessions, shared by the commands that start a session and that give files to one.
#pragma once

#include "cli/remote/context.h"
#include "json/json.h"

#include <string>

namespace hone::cli {

// The upload as the server has it. `path`: in the workspace; empty: the file's own name.
Result<json::Value> upload_for_session(const Context& context, const std::string& file, const std::string& path,
                                       const std::string& space);

} // namespace hone::cli
