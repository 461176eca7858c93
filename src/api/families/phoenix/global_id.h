// One text that names a span, a trace or a chat session together with its project: what Phoenix' clients call a
// GlobalID and keep for later calls that do not name the project. Pure; any thread.
#pragma once

#include "telemetry/query/evals.h"

#include <optional>
#include <string>
#include <string_view>

namespace hone::api {

struct GlobalId {
    std::string project;
    std::string id; // span id, trace id, or the chat session's name
};

std::string make_global_id(telemetry::EvalTarget target, std::string_view project, std::string_view id);
// Absent when the text is not one of these: then it is the bare id.
std::optional<GlobalId> parse_global_id(telemetry::EvalTarget target, std::string_view text);

} // namespace hone::api
