// What the Phoenix families share: names in capitals, and spans, traces and chat sessions that a request names without
// their project, by a bare id or a GlobalID. Blocks.
#pragma once

#include "api/core/in_path.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/global_id.h"
#include "api/families/phoenix/node_id.h"
#include "telemetry/spans.h"

namespace hone::api {

using telemetry::EvalTarget;

// Phoenix writes the names of kinds and statuses in capitals.
std::string uppercase(std::string_view text);

// "span", "trace" or "session", for messages.
std::string_view plain_name(EvalTarget target);

// Phoenix takes any text as the id of a span or trace. What is not hexadecimal is stored under a hash of it, with the
// text itself in an attribute, from which it is returned. `digits` is 16 for a span and 32 for a trace.
std::string stored_id(std::string_view text, size_t digits);
// A derived id of a trace begins with these digits, so that a list knows which traces to look up.
inline constexpr std::string_view derived_trace = "686f6e65"; // "hone"
inline constexpr std::string_view sent_span_id = "hone.sent_span_id";
inline constexpr std::string_view sent_trace_id = "hone.sent_trace_id";
inline constexpr std::string_view sent_parent_id = "hone.sent_parent_id";

// By the text in the request. What is not found, or not allowed, is absent. Spans that were accepted before are found.
Result<telemetry::Places> find_places(const Call& call, const std::optional<std::string>& space, EvalTarget target,
                                      const std::vector<std::string>& texts, access::Permission permission);
// Of a single one; not_found when it is absent.
Result<telemetry::Place> find_place(const Call& call, const std::optional<std::string>& space, EvalTarget target,
                                    const std::string& text, access::Permission permission);

// Spans as GET /v1/projects/{project}/spans returns them.
Result<std::vector<json::Value>> phoenix_spans_of(const std::string& project,
                                                  const std::vector<telemetry::SpanPayload>& payloads);

// The ids that were sent, of traces and spans of a project that were stored under others.
struct SentIds {
    std::map<std::string, std::string, std::less<>> traces, spans; // by the stored id
    const std::string& trace(const std::string& stored) const;
    const std::string& span(const std::string& stored) const;
};
Result<SentIds> sent_ids(const Call& call, const std::string& project, EvalTarget target,
                         const std::vector<std::string>& ids);

} // namespace hone::api
