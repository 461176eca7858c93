// Any bytes decode or are refused; what decodes survives encode and decode again.
#include "otlp/attribute_text.h"
#include "otlp/decode.h"
#include "otlp/encode.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::otlp;
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    auto batch = decode_protobuf(body);
    if (!batch.ok()) return 0;
    const std::string again = encode_batch(Encoding::protobuf, batch.value());
    auto second = decode_protobuf(again);
    if (!second.ok() || second.value().spans.size() != batch.value().spans.size()) std::abort();
    const std::string json = encode_batch(Encoding::json, batch.value());
    auto third = decode_json(json);
    if (!third.ok() || third.value().spans.size() != batch.value().spans.size()) std::abort();
    for (const Span& span : batch.value().spans) {
        std::string text, copy;
        append_attribute_text(text, span.attributes);
        Batch storage;
        auto attributes = read_attribute_text(text, storage);
        if (!attributes.ok()) std::abort();
        append_attribute_text(copy, attributes.value());
        if (copy != text) std::abort();
    }
    return 0;
}
