// Keys that belong to no convention for models: OpenTelemetry's general ones, and plain words that several frameworks
// use. Read last.
#include "telemetry/span/convention.h"

namespace hone::telemetry {

namespace {

constexpr ConventionKey general_keys[] = {
    {"enduser.id", Fact::user},
    {"model", Fact::own},
    {"langfuse.trace.input", Fact::input},
    {"langfuse.trace.output", Fact::output},
    {"tool.parameters", Fact::input},
    {"exception.type", Fact::error_type},
    {"exception.message", Fact::error_message},
    {"error.type", Fact::error_type},
    {"error.message", Fact::error_message},
    {"error", Fact::error_message},
    {"http.response.status_code", Fact::own},
    {"http.status_code", Fact::own}, // before 2024
    {"mcp.method.name", Fact::own},
    {"messaging.operation", Fact::own},
    {"messaging.operation.name", Fact::own},
    {"messaging.message.type", Fact::own},
    {"messaging.destination.name", Fact::own},
    {"messaging.destination", Fact::own},
    {"message", Fact::own},
    {"db.operation.name", Fact::own},
    {"tags", Fact::tags},
};

void complete_general(const KnownAttributes& known, Draft& draft) {
    Span& span = draft.span;
    if (span.kind == SpanKind::llm || span.kind == SpanKind::embedding) fill(span.model, known.text_of("model"));
    const bool is_message = known.get("messaging.operation") || known.get("messaging.operation.name");
    if (is_message) {
        fill(span.input, known.text_of("message"));
        fill(span.input, known.text_of("messaging.message.type"));
        for (const std::string_view key : {"messaging.destination.name", "messaging.destination"})
            fill(span.input, known.text_of(key)); // without its content: where it goes
    }
    if (span.kind != SpanKind::unknown) return;
    if (known.text_of("mcp.method.name") == "tools/call")
        span.kind = SpanKind::tool;
    else if (is_message || known.get("mcp.method.name"))
        span.kind = SpanKind::chain; // messages between parts of the application
}

} // namespace

const Convention general_convention{"general", general_keys, complete_general};

} // namespace hone::telemetry
