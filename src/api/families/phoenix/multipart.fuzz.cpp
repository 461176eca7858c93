// Any body is a form or an error, and contents lie inside it.
#include "api/families/phoenix/multipart.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    const auto parts = hone::api::parse_form("multipart/form-data; boundary=x", body);
    if (!parts.ok()) return 0;
    for (const auto& part : parts.value())
        if (part.content.data() < body.data() || part.content.data() + part.content.size() > body.data() + size)
            __builtin_trap();
    return 0;
}
