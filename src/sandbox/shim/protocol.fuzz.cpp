// Any text as a request to the spawner and to a shim: refused or understood, and what is understood can be written
// again and read to the same.
#include "sandbox/shim/protocol.h"

#include <cstdlib>

using namespace hone;
using namespace hone::sandbox;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto request = json::read<SpawnerRequest>(text); request.ok()) {
        if (request.value().spec) (void)validate(*request.value().spec).ok();
        const std::string written = json::write(request.value());
        const auto again = json::read<SpawnerRequest>(written);
        if (!again.ok() || json::write(again.value()) != written) std::abort();
    }
    if (const auto request = json::read<ShimRequest>(text); request.ok()) {
        if (request.value().command) (void)validate(*request.value().command).ok();
        if (request.value().spec) (void)validate(*request.value().spec).ok();
    }
    return 0;
}
