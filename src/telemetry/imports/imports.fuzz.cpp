// Any bytes as an element of another product's export: refused, or spans with ids and times; the same bytes give the
// same spans.
#include "telemetry/imports/imports.h"

#include "crypto/crypto.h"
#include "otlp/decode.h"

#include <cstdlib>

using namespace hone;
using namespace hone::telemetry;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, size_t size) {
    static const bool is_started = (crypto::start(), true);
    (void)is_started;
    if (size < 1) return 0;
    const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto read = [&]() -> Result<ImportElement> {
        switch (data[0] % 4) {
        case 0:
            return read_langfuse(json);
        case 1:
            return read_langsmith(json);
        case 2:
            return read_openai_batch(json, 1);
        default:
            return read_anthropic_batch(json, 1);
        }
    };
    auto element = read();
    if (!element.ok()) return 0;
    auto batch = otlp::decode_protobuf(element.value().otlp, {});
    if (!batch.ok()) return 0; // over a limit
    for (const otlp::Span& span : batch.value().spans)
        if (span.trace_id.size() != 16 || span.span_id.size() != 8 || span.start_ns == 0) std::abort();
    if (read().value().otlp != element.value().otlp) std::abort();
    return 0;
}
