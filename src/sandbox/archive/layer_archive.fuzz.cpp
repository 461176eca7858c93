// Bytes that claim to be a layer: nothing is written outside of its directory, and nothing is unbounded.
#include "sandbox/archive/layer_archive.h"
#include "sandbox/image/tree.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    char place[] = "/tmp/hone-layer-XXXXXX";
    if (::mkdtemp(place) == nullptr) std::abort();
    const std::string upper = std::string(place) + "/upper";
    if (::mkdir(upper.c_str(), 0700) != 0) std::abort();
    {
        const Fd opened(::open(upper.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        sandbox::LayerLimits limits;
        limits.most_entries = 200;
        limits.most_bytes = 1 << 20;
        bool is_given = false;
        (void)sandbox::unpack_layer(opened.get(), std::nullopt, limits, [&]() -> Result<std::string> {
            if (std::exchange(is_given, true)) return std::string();
            return std::string(reinterpret_cast<const char*>(data), size);
        }).ok();
    }
    if (!sandbox::remove_tree(upper).ok()) std::abort();
    if (::rmdir(place) != 0) std::abort(); // something lies beside the layer
    return 0;
}
