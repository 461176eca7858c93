// Where a span, a trace or a chat session lies that a request names without its project: among the projects of one
// space in which the caller holds a permission. On the threads of a lane; blocks.
#pragma once

#include "api/span_handlers.h"

#include <map>

namespace hone::api {

struct Place {
    access::Project project;
    std::string id;       // span id, trace id, or the chat session's name
    std::string trace_id; // of a span
};

// By the text in the request: a bare id, or a GlobalID. What is not found, or not allowed, is absent. Spans that were
// acknowledged before are found.
using Places = std::map<std::string, Place, std::less<>>;
Result<Places> find_places(const Call& call, const std::optional<std::string>& space, telemetry::EvalTarget target,
                           const std::vector<std::string>& texts, access::Permission permission);
// Of a single one; not_found when it is absent.
Result<Place> find_place(const Call& call, const std::optional<std::string>& space, telemetry::EvalTarget target,
                         const std::string& text, access::Permission permission);

// Until what was acknowledged before this call can be asked for.
Result<> wait_until_loaded(const Call& call);

// "span", "trace" or "session", for messages.
std::string_view plain_name(telemetry::EvalTarget target);

} // namespace hone::api
