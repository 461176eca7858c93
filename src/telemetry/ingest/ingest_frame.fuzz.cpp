// Any bytes are a frame or are refused; rows of a frame have heads or not, without fault.
#include "telemetry/ingest/ingest_frame.h"
#include "telemetry/span/span_row.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::telemetry;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    auto frame = decode_frame(bytes);
    SpanRowHead head;
    if (frame.ok())
        for (const auto row : frame.value().rows) read_span_row_head(row, head);
    return decode_state(bytes).ok() ? 0 : 0;
}
