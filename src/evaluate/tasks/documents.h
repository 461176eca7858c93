// The document that evaluators get for a span, a trace or a chat session: one JSON object within a byte budget; what is
// left out is named in `truncated`. Spans of evaluators are never in it. Thread-safe; blocks.
#pragma once

#include "access/access.h"
#include "telemetry/spans.h"
#include "json/json.h"

namespace hone::evaluate {

// A target as a request names it.
struct TargetName {
    telemetry::EvalTarget kind = telemetry::EvalTarget::span;
    std::string project;
    std::string id;
    json::Defaulted<std::string> trace_id;
    static constexpr Pack fields{
        Field{"kind", &TargetName::kind, "span, trace or chat_session."},
        Field{"project", &TargetName::project, "Id or name of the project."},
        Field{"id", &TargetName::id, "Span id, trace id, or the name of the chat session."},
        Field{"trace_id", &TargetName::trace_id, "Of a span: its trace."},
    };
};

class Documents {
public:
    static constexpr size_t most_bytes = 512 << 10;
    static constexpr size_t most_field_bytes = 128 << 10;
    static constexpr size_t most_spans = 300;
    static constexpr size_t most_turns = 200;

    // `spans`: null where there are none.
    Documents(access::Access& access, telemetry::Spans* spans) : m_access(access), m_spans(spans) {}

    // not_found: it is gone, or the caller cannot read it. invalid: it is the span of an evaluator.
    Result<json::Value> read(const access::Caller& caller, const access::SpaceId& space,
                             const TargetName& target) const;
    // The same for a task, which was allowed to read the project.
    Result<json::Value> read(const std::string& project_id, telemetry::EvalTarget kind, const std::string& id,
                             const std::string& trace_id) const;

private:
    Result<json::Value> span_document(const std::string& project, const std::string& trace,
                                      const std::string& span) const;
    Result<json::Value> trace_document(const std::string& project, const std::string& trace) const;
    Result<json::Value> session_document(const std::string& project, const std::string& name) const;

    access::Access& m_access;
    telemetry::Spans* const m_spans;
};

} // namespace hone::evaluate
