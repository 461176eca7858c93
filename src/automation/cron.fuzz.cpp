// Any text as a schedule: refused with words, or a schedule whose moments go forward.
#include "automation/cron.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone;
    using namespace hone::automation;
    const auto schedule = Cron::parse({reinterpret_cast<const char*>(data), size});
    if (!schedule.ok()) {
        if (schedule.error().message.empty()) std::abort();
        return 0;
    }
    static const calendar::TimeZone berlin = calendar::TimeZone::find("Europe/Berlin").ok()
                                                 ? calendar::TimeZone::find("Europe/Berlin").value()
                                                 : calendar::TimeZone();
    Time before = from_ns(1'790'000'000'000'000'000);
    for (const Time moment : schedule.value().next(before, berlin, 5)) {
        if (moment <= before) std::abort();
        before = moment;
    }
    return 0;
}
