// What runs left, as the commands of sessions and artifacts show and save it. One thread.
#pragma once

#include "cli/remote/view.h"

#include <string>

namespace hone::cli {

Columns artifact_columns();
// All that the query finds, as files of the directory; existing files of these names are replaced.
Result<> save_artifacts(const Context& context, Query query, const std::string& directory);

} // namespace hone::cli
