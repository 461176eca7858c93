// Any bytes as a request and as a response that a span is made of: bounded, never an error.
#include "broker/gateway/model_response.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::broker;
    if (size < 1) return 0;
    const auto api = static_cast<ModelApi>(data[0] % 4);
    const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
    read_request_messages(api, body);
    read_response_message(api, ResponseFormat::events, body);
    read_response_message(api, ResponseFormat::json, body);
    return 0;
}
