#include "signal/text/failure_text.h"

#include <cstdint>
#include <cstdlib>

using namespace hone::signal;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (normalised_name(text).size() > 300) std::abort();
    const Cause cause = innermost_cause(text);
    if (cause.type.size() > 80 || cause.detail.size() > 300) std::abort();
    if (text.find(cause.detail) == std::string_view::npos || text.find(cause.type) == std::string_view::npos)
        std::abort();
    cause_template(cause);
    is_provider_limit(cause.type, text);
    is_context_limit(text);
    if (const auto reported = reported_failure(text); reported && reported->type.empty() && reported->detail.empty())
        std::abort();
    return 0;
}
