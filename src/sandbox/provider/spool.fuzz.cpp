// Any bytes: decode_frames must not read past them, and must never use more than there are.
#include "sandbox/provider/spool.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto decoded = hone::sandbox::decode_frames(std::string_view(reinterpret_cast<const char*>(data), size));
    if (decoded.ok() && decoded.value().used > size) std::abort();
    return 0;
}
