// Where a span, a trace or a chat session lies that a request names without its project.
#pragma once

#include "access/access.h"

#include <map>
#include <string>

namespace hone::telemetry {

struct PlaceName {
    std::string text;      // as the request has it
    std::string id;        // span id, trace id, or the chat session's name
    std::string project{}; // empty: any of the space
};

struct Place {
    access::Project project;
    std::string id;
    std::string trace_id; // of a span
};

// By the text of the request.
using Places = std::map<std::string, Place, std::less<>>;

} // namespace hone::telemetry
