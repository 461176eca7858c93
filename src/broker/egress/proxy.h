// The egress proxy of one connection on port 3128: plain requests in absolute form, and CONNECT. Every request is
// decided separately, also on a connection that is kept alive. Runs on the connection's own thread until the connection
// is over.
#pragma once

#include "broker/egress/attached_run.h"

namespace hone::broker {

void serve_proxy(AttachedRun& attached, Channel& client);

} // namespace hone::broker
