// Sandboxes on this machine: a spawner process and one shim per sandbox. Any thread.
#pragma once

#include "sandbox/local/spawner_process.h"
#include "sandbox/provider/provider.h"

#include <memory>
#include <string>

namespace hone::sandbox {

enum class SpawnerKind {
    executed, // a new process from the program: for servers, which are large and have threads
    inside,   // this process itself: for short commands, which are small and have none
};

struct LocalOptions {
    std::string data_directory;
    std::string program; // the program `hone`; empty: the one beside this executable
    SpawnerKind spawner = SpawnerKind::executed;
    size_t ready = 0;                     // sandboxes to keep prepared, so that a start costs half
    std::shared_ptr<Launcher> launcher{}; // shared: these options are copied; null: this process starts the spawner
};

// Starts the spawner, which cleans up after crashes. Call before threads hold much memory; it is small either way.
Result<std::unique_ptr<Provider>> open_local_provider(const LocalOptions& options);

} // namespace hone::sandbox
