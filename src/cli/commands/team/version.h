// The name and version of this program.
#pragma once

namespace hone::cli {

const char* program_version();

} // namespace hone::cli
