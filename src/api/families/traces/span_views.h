// What several families show of spans and how they name a range of them. Times are RFC 3339 with nanoseconds, durations
// whole nanoseconds, money whole micro-dollars, ids hexadecimal text.
#pragma once

#include "api/core/in_path.h"
#include "api/core/shapes.h"
#include "telemetry/spans.h"

namespace hone::api {

// Which spans of a project; of every route about many spans.
struct SpanRange {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
};

constexpr auto
span_range_fields(std::string_view filter = "Only spans that match; GET /v1/filter_fields lists fields.") {
    return Pack{
        Field{"space", &SpanRange::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &SpanRange::filter, filter},
        Field{"after", &SpanRange::after, "Started at or after this time."},
        Field{"before", &SpanRange::before, "Started before this time."},
    };
}

struct TokenCounts {
    int64_t input = 0;
    int64_t cache_read = 0;
    int64_t cache_write = 0;
    int64_t output = 0;
    int64_t reasoning = 0;
    int64_t total = 0;
    static constexpr Pack fields{
        Field{"input", &TokenCounts::input, "Input tokens neither read from nor written to a cache."},
        Field{"cache_read", &TokenCounts::cache_read, ""},
        Field{"cache_write", &TokenCounts::cache_write, ""},
        Field{"output", &TokenCounts::output, "Output tokens without reasoning."},
        Field{"reasoning", &TokenCounts::reasoning, ""},
        Field{"total", &TokenCounts::total, "The sum of the others."},
    };
};

struct SpanRow {
    std::string trace_id;
    std::string span_id;
    std::string parent_id;
    std::string name;
    telemetry::SpanKind kind = telemetry::SpanKind::unknown;
    otlp::StatusCode status = otlp::StatusCode::unset;
    std::string status_message;
    Time start_time{};
    int64_t duration_ns = 0;
    std::string service;
    std::string model;
    std::string provider;
    TokenCounts tokens;
    int64_t cost_micro_usd = 0;
    int64_t cost_nano_usd = 0;
    std::string user_id;
    std::string session_id;
    std::string tool_name;
    std::string exception_type;
    bool is_message = false;
    static constexpr Pack fields{
        Field{"trace_id", &SpanRow::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &SpanRow::span_id, "16 hexadecimal digits."},
        Field{"parent_id", &SpanRow::parent_id, "Empty for a root; the parent may be missing."},
        Field{"name", &SpanRow::name, ""},
        Field{"kind", &SpanRow::kind, ""},
        Field{"status", &SpanRow::status, ""},
        Field{"status_message", &SpanRow::status_message, ""},
        Field{"start_time", &SpanRow::start_time, ""},
        Field{"duration_ns", &SpanRow::duration_ns, ""},
        Field{"service", &SpanRow::service, ""},
        Field{"model", &SpanRow::model, ""},
        Field{"provider", &SpanRow::provider, ""},
        Field{"tokens", &SpanRow::tokens, ""},
        Field{"cost_micro_usd", &SpanRow::cost_micro_usd, ""},
        Field{"cost_nano_usd", &SpanRow::cost_nano_usd, "The same, exactly."},
        Field{"user_id", &SpanRow::user_id, ""},
        Field{"session_id", &SpanRow::session_id, "The chat session."},
        Field{"tool_name", &SpanRow::tool_name, ""},
        Field{"exception_type", &SpanRow::exception_type, ""},
        Field{"is_message", &SpanRow::is_message,
              "It sends or receives a message between parts of the application (OpenTelemetry's kinds producer and "
              "consumer) and is no step of an agent."},
    };
};

// Project, time and filter of a query; access checks that the caller may read the project.
template <class Query>
Result<telemetry::Scope> scope_of(const Call& call, const Query& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    telemetry::Scope scope;
    scope.project = project.id.text();
    if (query.after) scope.from_ns = to_ns(*query.after);
    if (query.before) scope.to_ns = to_ns(*query.before);
    scope.filter = query.filter.value_or("");
    scope.cancel = call.head.gone;
    return scope;
}

int64_t to_micro(int64_t nano_usd);
// A JSON text of the store as JSON; the text itself where a repeated key has no place in a tree.
json::Value tree_of(const std::string& text);
// Of frameworks whose agents are actors: such spans record messages, what agents do is in the others.
bool is_message(const telemetry::SpanRow& row);
SpanRow view_of(const telemetry::SpanRow& row);

} // namespace hone::api
