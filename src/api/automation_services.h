// What the API needs of automations. Built once by server/; thread-safe.
#pragma once

#include "automation/automations.h"
#include "automation/scheduler.h"

namespace hone::api {

struct AutomationServices {
    automation::Automations& automations;
    automation::Scheduler& scheduler;
};

} // namespace hone::api
