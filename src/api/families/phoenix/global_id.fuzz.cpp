// Ids as clients send them: what is read must be what makes the same text again.
#include "api/families/phoenix/global_id.h"
#include "base/text.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto target :
         {telemetry::EvalTarget::span, telemetry::EvalTarget::trace, telemetry::EvalTarget::chat_session}) {
        const auto read = api::parse_global_id(target, text);
        if (!read) continue;
        const auto again = api::parse_global_id(target, api::make_global_id(target, read->project, read->id));
        if (!again || again->project != read->project || again->id != read->id) std::abort();
    }
    return 0;
}
