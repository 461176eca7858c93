// Any bytes as a model request: what is accepted stays one JSON object after both edits, with the same model.
#include "broker/gateway/model_request.h"
#include "base/result.h"
#include "broker/spending/usage_filter.h"
#include "json/json.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    using namespace hone::broker;
    if (size < 1) return 0;
    const auto api = static_cast<ModelApi>(data[0] % 4);
    const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);

    std::string out;
    UsageChunkFilter filter;
    filter.feed(body.substr(0, body.size() / 2), out);
    filter.feed(body.substr(body.size() / 2), out);
    filter.finish(out);
    CHECK_OR_ABORT(out.size() <= body.size());

    const auto request = read_model_request(api, body);
    if (!request.ok()) return 0;
    const bool is_json = json::parse(body).ok();
    for (const auto& edited : {with_notice(api, body, "note \"x\""), std::optional(with_usage_in_stream(body))}) {
        if (!edited) continue;
        const auto again = read_model_request(api, *edited);
        CHECK_OR_ABORT(again.ok() && again.value().model == request.value().model);
        CHECK_OR_ABORT(again.value().stream == request.value().stream);
        if (is_json && request.value().model.size() > 0) CHECK_OR_ABORT(json::parse(*edited).ok());
    }
    return 0;
}
