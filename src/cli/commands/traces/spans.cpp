// Lists of traces, spans and chat sessions; fields for filters; cost of a project's spans.
#include "cli/remote/view.h"
#include "cli/toolkit/scope.h"

namespace hone::cli {

namespace {

Columns trace_columns() {
    return {
        {.title = "trace", .field = "trace_id", .kind = Kind::id},
        {.title = "name", .field = "root_name"},
        {.title = "start", .field = "start_time", .kind = Kind::time},
        {.title = "duration", .field = "duration_ns", .kind = Kind::duration},
        {.title = "spans", .field = "spans", .kind = Kind::number},
        {.title = "errors", .field = "errors", .kind = Kind::number},
        {.title = "tokens", .field = "tokens", .kind = Kind::count},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
        {.title = "session", .field = "session_id"},
        {.title = "user", .field = "user_id"},
    };
}

Columns span_columns() {
    return {
        {.title = "trace", .field = "trace_id", .kind = Kind::id},
        {.title = "span", .field = "span_id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "kind", .field = "kind"},
        {.title = "status", .field = "status"},
        {.title = "start", .field = "start_time", .kind = Kind::time},
        {.title = "duration", .field = "duration_ns", .kind = Kind::duration},
        {.title = "model", .field = "model"},
        {.title = "tokens", .field = "tokens.total", .kind = Kind::count},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
    };
}

Columns chat_session_columns() {
    return {
        {.title = "session", .field = "session_id", .kind = Kind::id},
        {.title = "user", .field = "user_id"},
        {.title = "start", .field = "start_time", .kind = Kind::time},
        {.title = "duration", .field = "duration_ns", .kind = Kind::duration},
        {.title = "traces", .field = "traces", .kind = Kind::number},
        {.title = "spans", .field = "spans", .kind = Kind::number},
        {.title = "errors", .field = "errors", .kind = Kind::number},
        {.title = "tokens", .field = "tokens", .kind = Kind::count},
        {.title = "cost", .field = "cost_micro_usd", .kind = Kind::money},
    };
}

constexpr std::string_view no_spans = "No spans match. Without --filter, --after and --before all are shown; "
                                      "docs/send-traces.md describes how an\n"
                                      "application sends traces.";

Result<> list_traces(Context& context) {
    Query query = TRY(span_query(context));
    query.emplace_back("session", context.value_or_empty("--session"));
    return show_list(context, TRY(span_path(context, {"trace_rows"})), std::move(query), trace_columns(), no_spans);
}

Result<> list_spans(Context& context) {
    Query query = TRY(span_query(context));
    query.emplace_back("trace_id", context.value_or_empty("--trace"));
    return show_list(context, TRY(span_path(context, {"span_rows"})), std::move(query), span_columns(), no_spans);
}

Result<> list_chat_sessions(Context& context) {
    return show_list(context, TRY(span_path(context, {"session_rows"})), TRY(span_query(context)),
                     chat_session_columns(),
                     "No chat sessions. They are the traces that share the attribute session.id.");
}

Result<> list_fields(Context& context) {
    return show_list(context, "/v1/filter_fields", {},
                     {{.title = "field", .field = "name", .kind = Kind::id},
                      {.title = "type", .field = "type", .kind = Kind::id},
                      {.title = "meaning", .field = "doc"}},
                     "This server has no filter fields.");
}

Result<> list_evals(Context& context) {
    Query query = space_query(context);
    query.emplace_back("target", context.value_or_empty("--target"));
    for (const auto& id : context.parsed.all("--of")) query.emplace_back("target_id", id);
    for (const auto& name : context.parsed.all("--name")) query.emplace_back("name", name);
    return show_list(context, TRY(span_path(context, {"evals"})), std::move(query),
                     {{.title = "target id", .field = "target_id", .kind = Kind::id},
                      {.title = "name", .field = "name"},
                      {.title = "label", .field = "label"},
                      {.title = "score", .field = "score", .kind = Kind::number},
                      {.title = "kind", .field = "kind", .kind = Kind::id},
                      {.title = "by", .field = "annotator"},
                      {.title = "updated", .field = "updated_at", .kind = Kind::time},
                      {.title = "explanation", .field = "explanation"}},
                     "No evals. hone annotate writes them.");
}

} // namespace

std::vector<Command> span_commands() {
    return {
        {.path = "traces",
         .summary = "List traces, newest first.",
         .options =
             with(span_options(), {{.name = "--session", .value = "NAME", .doc = "Only traces of this chat session."}}),
         .details = "hone traces -p shop -q 'status = error and latency > 2s' --after 24h",
         .lists = true,
         .topic = trace_topic,
         .run = list_traces},
        {.path = "spans",
         .summary = "List spans, newest first.",
         .options = with(span_options(), {{.name = "--trace", .value = "TRACE", .doc = "Only spans of this trace."}}),
         .lists = true,
         .topic = trace_topic,
         .run = list_spans},
        {.path = "chat-sessions",
         .summary = "List the chat sessions of an application, newest first.",
         .options = span_options(),
         .lists = true,
         .topic = trace_topic,
         .run = list_chat_sessions},
        {.path = "fields",
         .summary = "List the fields of filters.",
         .details = "A filter joins comparisons by and, or, not and parentheses:\n"
                    "  status = error and latency > 2s and attributes[\"user.tier\"] = \"gold\"\n"
                    "  output ~ \"refund\" and eval[\"correct\"].label = \"no\"\n"
                    "eval is the span's, trace_eval the trace's, session_eval the chat session's.",
         .topic = trace_topic,
         .run = list_fields},
        {.path = "evals",
         .summary = "List evals: labels and scores.",
         .options = {project_option(),
                     {.name = "--target",
                      .value = "TARGET",
                      .doc = "Target of the evals. Default: span.",
                      .choices = {"span", "trace", "chat_session"}},
                     {.name = "--of", .value = "ID", .doc = "Only evals of this target.", .repeated = true},
                     {.name = "--name", .value = "NAME", .doc = "Only evals with this name.", .repeated = true}},
         .lists = true,
         .topic = trace_topic,
         .run = list_evals},
    };
}

} // namespace hone::cli
