// Events of the server as they come, across lost connections: what `hone tail` and a watched session read. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"
#include "net/http/sse.h"

#include <functional>
#include <string>

namespace hone::cli {

enum class Next { go_on, enough };

// Until `take` has enough, the output was closed, or the server refuses. `last_id` is the last event that was seen;
// empty: from now on. The first connection must work: a wrong address is not retried.
Result<> follow_events(const Context& context, const Call& call, std::string last_id,
                       const std::function<Result<Next>(const net::ServerEvent&)>& take);

} // namespace hone::cli
