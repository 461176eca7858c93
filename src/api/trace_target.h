// Where spans that come by hand (POST …/spans, imports) go. Any thread.
#pragma once

#include "api/call.h"
#include "api/requests.h"

namespace hone::api {

struct TraceTarget {
    access::SpaceId space;
    std::string project; // its name
};
// A project by its id must be there; one by its name is made on first use, as with traces.
Result<TraceTarget> trace_target(const Call& call, const std::optional<std::string>& space);

} // namespace hone::api
