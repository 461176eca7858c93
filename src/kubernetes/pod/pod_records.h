// What a cluster recorded about a pod: its events, and the end of a container's log. Only to explain a failure: events
// are kept for an hour, and nodes rotate logs. Any thread; blocks.
#pragma once

#include "kubernetes/api/api.h"
#include "kubernetes/pod/pod_state.h"

#include <string>
#include <vector>

namespace hone::kubernetes {

// The latest events of the object with this uid, at most 500.
Result<std::vector<json::Value>> read_events(Api& api, const std::string& name_space, const std::string& uid,
                                             net::Cancel* cancel = nullptr);

// The last lines of a container's output, at most 64 KiB. `previous`: of the container before its last restart.
Result<std::string> read_log_end(Api& api, const std::string& name_space, const std::string& pod,
                                 const std::string& container, bool previous = false, net::Cancel* cancel = nullptr);

// Why the pod is in this state, with its events, and the last words of its program if it has ended. What cannot be read
// is left out.
std::string explain_pod(Api& api, const std::string& name_space, const std::string& pod, const std::string& uid,
                        const PodState& state);

} // namespace hone::kubernetes
