// Any bytes decode as a frame, or are refused; a decoded frame encodes to the same bytes or to shorter ones.
#include "telemetry/records/record_log.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::telemetry;
    const std::string_view payload(reinterpret_cast<const char*>(data), size);
    const auto frame = decode_record_frame(payload);
    if (frame.ok() && encode_record_frame(frame.value()).size() > payload.size()) std::abort();
    return 0;
}
