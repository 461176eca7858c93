// Any bytes are a request's head or are refused.
#include "telemetry/engine/engine_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    auto request = hone::telemetry::parse_engine_request({reinterpret_cast<const char*>(data), size});
    return request.ok() ? 0 : 0;
}
