// Times without notices: between two moments, or weekly hours by the clocks on the wall of a time zone. Pure, any
// thread.
#pragma once

#include "monitor/monitor.h"

namespace hone::monitor {

Result<> check_mute_window(const MuteWindow& window);
bool is_in(const MuteWindow& window, Time now);
bool is_muted_by(const std::vector<MuteWindow>& windows, Time now);

} // namespace hone::monitor
