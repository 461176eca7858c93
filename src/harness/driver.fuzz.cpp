// Any bytes from a harness: no crash, no growth beyond the input, an answer only where one is due.
#include "harness/catalog.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    const auto all = hone::harness::catalog();
    auto driver = hone::harness::make_driver(all[data[0] % all.size()]);
    hone::harness::Setup setup{.model = "m", .session = "s", .program = "/p"};
    if (!driver->launch(setup).ok()) return 0;
    hone::harness::Output output;
    driver->begin(output);
    driver->send("prompt", output);
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    driver->read(bytes.substr(0, bytes.size() / 2), output);
    driver->interrupt(output);
    driver->read(bytes.substr(bytes.size() / 2), output);
    driver->end({.code = 1}, output);
    return 0;
}
