// Any bytes decode or are refused; what decodes survives encode and decode again.
#include "otlp/decode.h"
#include "otlp/encode.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::otlp;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    auto batch = decode_json(body);
    if (!batch.ok()) return 0;
    const std::string again = encode_batch(Encoding::json, batch.value());
    auto second = decode_json(again);
    if (!second.ok() || encode_batch(Encoding::json, second.value()) != again) std::abort();
    return 0;
}
