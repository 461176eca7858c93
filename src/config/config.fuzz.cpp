#include "config/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    hone::config::Loaded loaded;
    (void)hone::config::apply_file(loaded, {reinterpret_cast<const char*>(data), size}, "hone.toml").ok();
    return 0;
}
