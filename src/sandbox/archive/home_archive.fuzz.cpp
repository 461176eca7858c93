// Bytes that claim to be the home of a pod: what is found to be one can be made, and nothing is written outside of it.
#include "sandbox/archive/home_archive.h"
#include "sandbox/image/tree.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    const sandbox::LayerLimits limits{200, 1 << 20, 20};
    const auto whole = [&] {
        return [&, is_given = false]() mutable -> Result<std::string> {
            if (std::exchange(is_given, true)) return std::string();
            return std::string(reinterpret_cast<const char*>(data), size);
        };
    };
    const bool is_home = sandbox::check_home(limits, whole()).ok();
    char place[] = "/tmp/hone-home-XXXXXX";
    if (::mkdtemp(place) == nullptr) std::abort();
    const std::string home = std::string(place) + "/home";
    if (::mkdir(home.c_str(), 0700) != 0) std::abort();
    {
        const Fd opened(::open(home.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const bool is_made = sandbox::unpack_home(opened.get(), sandbox::Existing::stays, limits, whole()).ok();
        if (is_home && !is_made) std::abort();
    }
    if (!sandbox::remove_tree(home).ok()) std::abort();
    if (::rmdir(place) != 0) std::abort(); // something lies beside the home
    return 0;
}
