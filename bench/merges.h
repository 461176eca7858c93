// After a quick load the engine merges parts for a while; a server has long done so.
#pragma once

#include "telemetry/telemetry.h"

#include <thread>

namespace hone::bench {

// Waits until no merge has run for three seconds; false: the engine fails, or it takes longer than this.
inline bool wait_for_merges(telemetry::Telemetry& telemetry, int most_seconds) {
    for (int quiet = 0, waited = 0; quiet < 3; ++waited) {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        const auto running =
            telemetry.engine().query(telemetry::ClickHouseQuery("SELECT count() FROM system.merges FORMAT TSV"));
        if (!running.ok() || waited > most_seconds) return false;
        quiet = running.value() == "0\n" ? quiet + 1 : 0;
    }
    return true;
}

} // namespace hone::bench
