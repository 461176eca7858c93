// Query strings and bodies of the routes about spans, declared once.
#pragma once

#include "api/requests.h"
#include "telemetry/query/evals.h"
#include "telemetry/transfer/span_export.h"
#include "telemetry/transfer/span_import.h"

namespace hone::api {

// Which spans of a project; every route about many of them asks so.
struct SpanRange {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
};
constexpr auto
span_range_fields(std::string_view filter = "Only spans that match; GET /v1/filter_fields lists fields.") {
    return std::tuple{
        Field{"space", &SpanRange::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &SpanRange::filter, filter},
        Field{"after", &SpanRange::after, "Started at or after this time."},
        Field{"before", &SpanRange::before, "Started before this time."},
    };
}

// A page of them.
struct SpanRangePage : SpanRange {
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
};
constexpr auto span_range_page_fields(std::string_view filter) {
    return std::tuple_cat(span_range_fields(filter),
                          std::tuple{
                              Field{"limit", &SpanRangePage::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
                              Field{"cursor", &SpanRangePage::cursor, "next_cursor of the answer before."},
                          });
}

struct ListSpanRows : SpanRangePage {
    std::optional<std::string> trace_id;
    static constexpr auto fields =
        std::tuple_cat(span_range_page_fields("status = error and latency > 2s; GET /v1/filter_fields lists fields."),
                       std::tuple{
                           Field{"trace_id", &ListSpanRows::trace_id, "Only spans of this trace."},
                       });
};

struct ListTraceRows : SpanRangePage {
    std::optional<std::string> session;
    static constexpr auto fields =
        std::tuple_cat(span_range_page_fields("A span of the trace must match; GET /v1/filter_fields lists fields."),
                       std::tuple{
                           Field{"session", &ListTraceRows::session, "Only traces of this chat session."},
                       });
};

struct ListSessionRows : SpanRangePage {
    static constexpr auto fields =
        span_range_page_fields("A span of the session must match; GET /v1/filter_fields lists fields.");
};

struct AskSeries : SpanRange {
    std::optional<std::string> metrics;
    std::optional<std::string> bucket;
    std::optional<std::string> group_by;
    std::optional<int64_t> groups;
    std::optional<std::string> eval_name;
    std::optional<std::string> eval_label;
    std::optional<telemetry::EvalTarget> eval_target;
    static constexpr auto fields = std::tuple_cat(
        span_range_fields(),
        std::tuple{
            Field{
                "metrics", &AskSeries::metrics,
                "count, errors, error_rate, latency_p50, latency_p95, latency_p99, latency_mean, tokens, cost, traces, "
                "eval_rate, eval_score; several with commas; count if not given."},
            Field{"bucket", &AskSeries::bucket, "Length of a bucket: 5m (if not given), 1h; 0s: one for all."},
            Field{"group_by", &AskSeries::group_by, "A filter field like model, or attributes[\"key\"]."},
            Field{"groups", &AskSeries::groups, "The largest groups, 1 to 200; 20 if not given."},
            Field{"eval_name", &AskSeries::eval_name, "For eval_rate and eval_score."},
            Field{"eval_label", &AskSeries::eval_label, "eval_rate: the share of this label."},
            Field{"eval_target", &AskSeries::eval_target,
                  "What the eval was given to: span (if not given), trace or chat_session; each counts once in a "
                  "bucket."},
        });
};

struct AskFacets : SpanRange {
    std::optional<std::string> field;
    std::optional<int64_t> limit;
    static constexpr auto fields = std::tuple_cat(
        span_range_fields(),
        std::tuple{
            Field{"field", &AskFacets::field, "A filter field like model, or attributes[\"key\"]; name if not given."},
            Field{"limit", &AskFacets::limit, "Values, 1 to 1000; 100 if not given."},
        });
};

struct AskAttributeKeys : SpanRange {
    std::optional<int64_t> limit;
    static constexpr auto fields = std::tuple_cat(
        span_range_fields(), std::tuple{
                                 Field{"limit", &AskAttributeKeys::limit, "Keys, 1 to 1000; 100 if not given."},
                             });
};

enum class SqlFormat { json, json_lines, csv, arrow, parquet };
constexpr auto enum_names(SqlFormat) {
    return std::array{EnumName{SqlFormat::json, "json"}, EnumName{SqlFormat::json_lines, "json_lines"},
                      EnumName{SqlFormat::csv, "csv"}, EnumName{SqlFormat::arrow, "arrow"},
                      EnumName{SqlFormat::parquet, "parquet"}};
}

struct RunSql {
    std::string project;
    std::string sql;
    json::Defaulted<SqlFormat> format = SqlFormat::json;
    std::optional<int64_t> limit;
    static constexpr std::tuple fields{
        Field{"project", &RunSql::project, "Id or name; the query sees nothing else."},
        Field{"sql", &RunSql::sql, "One SELECT over spans, evals, traces and chat_sessions."},
        Field{"format", &RunSql::format, "json (default), json_lines, csv, arrow or parquet."},
        Field{"limit", &RunSql::limit, "Rows, at most 100000; 10000 if not given."},
    };
};

struct ExportSpans : SpanRange {
    std::optional<telemetry::ExportFormat> format;
    static constexpr auto fields = std::tuple_cat(
        span_range_fields(),
        std::tuple{
            Field{"format", &ExportSpans::format,
                  "jsonl (if not given), parquet, otlp (OTLP/JSON, a request on each line) or otlp_proto."},
        });
};

struct ImportSpans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::ImportFormat> format;
    static constexpr std::tuple fields{
        Field{"space", &ImportSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"format", &ImportSpans::format,
              "What the body is: jsonl (if not given), parquet (of Hone or Phoenix), phoenix (its spans as JSON), otlp "
              "(OTLP/JSON, a request on each line) or otlp_proto."},
    };
};

struct NewEval {
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::optional<std::string> identifier;
    json::Defaulted<telemetry::EvalKind> kind = telemetry::EvalKind::human;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    std::optional<json::Value> metadata;
    static constexpr std::tuple fields{
        Field{"target", &NewEval::target, "span (default), trace or chat_session."},
        Field{"target_id", &NewEval::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &NewEval::name, ""},
        Field{"identifier", &NewEval::identifier, "Tells several with one name apart; the same one is replaced."},
        Field{"kind", &NewEval::kind, "human (default), llm, code or agent."},
        Field{"label", &NewEval::label, "A label, a score or an explanation is needed."},
        Field{"score", &NewEval::score, ""},
        Field{"explanation", &NewEval::explanation, ""},
        Field{"metadata", &NewEval::metadata, "Anything."},
    };
};

struct WriteEvals {
    std::vector<NewEval> data;
    static constexpr std::tuple fields{Field{"data", &WriteEvals::data, "At most 100000."}};
};

struct ListEvalViews {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::EvalTarget> target;
    std::vector<std::string> target_id;
    std::optional<std::string> trace_id;
    std::vector<std::string> name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListEvalViews::space, "Id or name of the space; the caller's first one if not given."},
        Field{"target", &ListEvalViews::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &ListEvalViews::target_id, "Only of these; may be repeated."},
        Field{"trace_id", &ListEvalViews::trace_id, "Only of spans of this trace."},
        Field{"name", &ListEvalViews::name, "Only with these names; may be repeated."},
        Field{"limit", &ListEvalViews::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvalViews::cursor, "next_cursor of the answer before."},
    };
};

struct AskEvalHistory {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<telemetry::EvalTarget> target;
    std::optional<std::string> target_id;
    static constexpr std::tuple fields{
        Field{"space", &AskEvalHistory::space, "Id or name of the space; the caller's first one if not given."},
        Field{"target", &AskEvalHistory::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &AskEvalHistory::target_id, "Of what."},
    };
};

struct AskComparison {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<Time> baseline_after;
    std::optional<Time> baseline_before;
    std::optional<std::string> group_by;
    std::optional<int64_t> groups;
    static constexpr std::tuple fields{
        Field{"space", &AskComparison::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &AskComparison::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"after", &AskComparison::after, "Begin of the window; a day before its end if not given."},
        Field{"before", &AskComparison::before, "End of the window; now if not given."},
        Field{"baseline_after", &AskComparison::baseline_after,
              "Begin of the window to compare with; as long as the other if not given."},
        Field{"baseline_before", &AskComparison::baseline_before,
              "Its end; the begin of the other window if not given."},
        Field{"group_by", &AskComparison::group_by, "A filter field like model or name, or attributes[\"key\"]."},
        Field{"groups", &AskComparison::groups, "The largest groups, 1 to 200; 20 if not given."},
    };
};

struct AskSearch {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> text;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &AskSearch::space, "Id or name of the space; the caller's first one if not given."},
        Field{"text", &AskSearch::text, "Words of the input or the output; * at an end looks inside words."},
        Field{"filter", &AskSearch::filter, "Only spans that match this too; GET /v1/filter_fields lists fields."},
        Field{"after", &AskSearch::after, "Started at or after this time."},
        Field{"before", &AskSearch::before, "Started before this time."},
        Field{"limit", &AskSearch::limit, "1 to 1000; 100 if not given. Large spans may make a page shorter."},
        Field{"cursor", &AskSearch::cursor, "next_cursor of the answer before."},
    };
};

struct HowToWriteEvals {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> brief;
    static constexpr std::tuple fields{
        Field{"space", &HowToWriteEvals::space, "Id or name of the space; the caller's first one if not given."},
        Field{"brief", &HowToWriteEvals::brief, "Answer with no more than the ids; always so above 1000 evals."},
    };
};

} // namespace hone::api
