// What traces and spans are about, in a line: for lists.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"
#include "telemetry/query/trace_texts.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListTraceTexts {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::vector<std::string> trace_id;
    static constexpr Pack fields{
        Field{"space", &ListTraceTexts::space, "Id or name of the space; the caller's first one if not given."},
        Field{"trace_id", &ListTraceTexts::trace_id, "32 hexadecimal digits; repeated for several, at most 200."},
    };
};

struct TraceTextView {
    std::string trace_id;
    std::string title;
    std::string input;
    std::string output;
    bool failed = false;
    std::string error;
    std::string version;
    static constexpr Pack fields{
        Field{"trace_id", &TraceTextView::trace_id, "32 hexadecimal digits."},
        Field{"title", &TraceTextView::title,
              "The application's name of the agent or function that ran; else the root's name."},
        Field{"input", &TraceTextView::input, "Input of the root, else of its first model call; cut."},
        Field{"output", &TraceTextView::output,
              "Output of the root, else of its last model call, else how it failed; cut."},
        Field{"failed", &TraceTextView::failed, "Whether the root failed."},
        Field{"error", &TraceTextView::error, "First line of the failure that ended first; empty: none failed."},
        Field{"version", &TraceTextView::version, "service.version of its spans."},
    };
};

struct ListSpanTexts {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<Time> after;
    std::optional<Time> before;
    std::vector<std::string> span_id;
    static constexpr Pack fields{
        Field{"space", &ListSpanTexts::space, "Id or name of the space; the caller's first one if not given."},
        Field{"after", &ListSpanTexts::after, "Started at or after this time."},
        Field{"before", &ListSpanTexts::before, "Started before this time."},
        Field{"span_id", &ListSpanTexts::span_id, "16 hexadecimal digits; repeated for several, at most 200."},
    };
};

struct SpanTextView {
    std::string trace_id;
    std::string span_id;
    std::string input;
    std::string output;
    static constexpr Pack fields{
        Field{"trace_id", &SpanTextView::trace_id, "Spans of several traces can have the same id."},
        Field{"span_id", &SpanTextView::span_id, ""},
        Field{"input", &SpanTextView::input, "As people read it; cut."},
        Field{"output", &SpanTextView::output, "As people read it; cut."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// A repeated parameter with ids in hexadecimal digits.
Result<> check_ids(const std::string& name, const std::vector<std::string>& ids, size_t bytes, size_t most) {
    if (ids.empty() || ids.size() > most)
        return invalid("query parameter " + name + " must be given, at most " + std::to_string(most) + " times");
    for (const std::string& id : ids)
        if (const auto read = from_hex(id); !read.ok() || read.value().size() != bytes)
            return invalid("query parameter " + name + " must be " + std::to_string(2 * bytes) + " hexadecimal digits");
    return {};
}

} // namespace

Result<List<TraceTextView>> list_trace_texts(const Call& call, const ListTraceTexts& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(check_ids("trace_id", query.trace_id, 16, telemetry::most_trace_texts));
    telemetry::Scope scope;
    scope.project = project.id.text();
    scope.cancel = call.head.gone;
    TRY(call.services.spans.store());
    List<TraceTextView> list;
    for (auto& text : TRY(telemetry::trace_texts(call.services.spans.telemetry.engine(), scope, query.trace_id)))
        list.data.push_back({std::move(text.trace_id), std::move(text.title), std::move(text.input),
                             std::move(text.output), text.has_failed, std::move(text.error), std::move(text.version)});
    return list;
}

Result<List<SpanTextView>> list_span_texts(const Call& call, const ListSpanTexts& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(check_ids("span_id", query.span_id, 8, telemetry::most_span_texts));
    telemetry::Scope scope;
    scope.project = project.id.text();
    scope.cancel = call.head.gone;
    if (query.after) scope.from_ns = to_ns(*query.after);
    if (query.before) scope.to_ns = to_ns(*query.before);
    TRY(call.services.spans.store());
    List<SpanTextView> list;
    for (auto& text : TRY(telemetry::span_texts(call.services.spans.telemetry.engine(), scope, query.span_id)))
        list.data.push_back(
            {std::move(text.trace_id), std::move(text.span_id), std::move(text.input), std::move(text.output)});
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route texts_table[] = {
    route<list_trace_texts>("GET", "/v1/projects/{project}/trace_texts", need(project_read),
                            "What traces are about: a title, an input and an output as people read them.")
        .on(net::Lane::query),
    route<list_span_texts>("GET", "/v1/projects/{project}/span_texts", need(project_read),
                           "Inputs and outputs of spans as people read them, for lists.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> texts_routes() {
    return texts_table;
}

} // namespace hone::api
