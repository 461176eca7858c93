// Any bytes of an event: no crash, counts that can be summed, and a progress that is read back as it was written.
#include "managed/event.h"
#include "managed/progress.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

using namespace hone;
using namespace hone::managed;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto event = read_event(text);
    if (!event.ok()) return 0;
    const ModelUsage& usage = event.value().usage;
    for (const int64_t count : {usage.input, usage.output, usage.cache_read, usage.cache_write})
        if (count < 0 || count > int64_t{1} << 53) std::abort();
    if (event.value().id.size() > 200) std::abort();
    Progress progress;
    for (int times = 0; times < 3; ++times) apply(progress, event.value());
    if (progress.sequence != 3) std::abort();
    const auto again = json::read<Progress>(json::write(progress));
    if (!again.ok() || json::write(again.value()) != json::write(progress)) std::abort();
    return 0;
}
