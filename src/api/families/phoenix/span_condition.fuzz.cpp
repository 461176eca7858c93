// Conditions of Phoenix' span queries: whatever is read becomes a filter that our parser takes.
#include "api/families/phoenix/span_condition.h"
#include "telemetry/query/filter.h"

#include <cstdint>
#include <cstdlib>

using namespace hone;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto filter = api::filter_of_condition({reinterpret_cast<const char*>(data), size});
    if (!filter.ok()) return 0;
    // Fields have types that the condition does not know: such a filter is refused, never misread.
    (void)telemetry::parse_filter(filter.value()).ok();
    return 0;
}
