// What the API needs of Signal. Built once by server/; thread-safe.
#pragma once

#include "signal/signal.h"

namespace hone::api {

struct SignalServices {
    signal::Signal& signal;
};

} // namespace hone::api
