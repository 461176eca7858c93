// What this program is called in answers to "which version".
#pragma once

namespace hone::cli {

const char* program_version();

} // namespace hone::cli
