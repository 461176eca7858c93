// Any bytes as a model's response, in any format, cut at any place: the meter stays within its bounds, and the pieces
// in which the bytes come make no difference.
#include "broker/spending/usage.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::broker;
    if (size < 3) return 0;
    const auto api = static_cast<ModelApi>(data[0] % 4);
    const auto form = data[0] & 4 ? ResponseFormat::events : ResponseFormat::json;
    const size_t step = 1 + data[1] % 61;
    const bool is_whole = data[2] & 1;
    const std::string_view body(reinterpret_cast<const char*>(data) + 3, size - 3);

    UsageMeter whole(api, form);
    whole.observe(body);
    whole.finish(is_whole);
    UsageMeter pieces(api, form);
    for (size_t at = 0; at < body.size(); at += step) pieces.observe(body.substr(at, step));
    pieces.finish(is_whole);
    CHECK_OR_ABORT(whole.usage().tokens == pieces.usage().tokens);
    CHECK_OR_ABORT(whole.usage().complete == pieces.usage().complete);
    CHECK_OR_ABORT(whole.usage().estimated_output == pieces.usage().estimated_output);
    CHECK_OR_ABORT(whole.usage().tokens.total() >= 0);
    return 0;
}
