// What the API needs of monitors and notices. Built once by server/; thread-safe.
#pragma once

#include "monitor/monitors.h"
#include "notice/sender.h"

namespace hone::api {

struct MonitorServices {
    monitor::Monitors& monitors;
    notice::Notices& notices;
    notice::Destinations& destinations;
    notice::Sender& sender;
};

} // namespace hone::api
