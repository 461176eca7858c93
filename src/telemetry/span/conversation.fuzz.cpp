// A decoded span in any shape normalises and renders without fault.
#include "telemetry/span/conversation.h"
#include "otlp/decode.h"
#include "telemetry/span/normalise.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    static const telemetry::Prices prices = telemetry::Prices::built_in();
    const std::string body(reinterpret_cast<const char*>(data), size);
    auto batch = size % 2 ? otlp::decode_json(body) : otlp::decode_protobuf(body);
    if (!batch.ok()) return 0;
    for (const otlp::Span& raw : batch.value().spans) {
        const telemetry::Span span = telemetry::normalise(batch.value(), raw, prices);
        if (span.duration_ns < 0 || span.tokens.total() < 0) std::abort();
        telemetry::render(telemetry::derive_conversation(raw).input);
    }
    return 0;
}
