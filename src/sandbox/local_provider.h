// Sandboxes on this machine: a spawner process and one shim per sandbox. Any thread.
#pragma once

#include "sandbox/provider.h"

#include <string>

namespace hone::sandbox {

struct LocalOptions {
    std::string data_directory;
    std::string program; // the hone binary; empty: this executable
};

// Starts the spawner, which cleans up after crashes. Call before threads hold much memory; it is small either way.
Result<std::unique_ptr<Provider>> open_local_provider(const LocalOptions& options);

} // namespace hone::sandbox
