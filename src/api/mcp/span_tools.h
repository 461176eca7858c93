// MCP tools that read spans: search, a trace, a span in parts, SQL.
#pragma once

#include "api/core/call.h"
#include "telemetry/engine/eval_row.h"
#include "json/json.h"

namespace hone::api {

struct SearchSpans {
    std::optional<std::string> project;
    std::optional<std::string> filter;
    std::optional<Time> after;
    std::optional<Time> before;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"project", &SearchSpans::project, "Id or name; the run's own if not given."},
        Field{"filter", &SearchSpans::filter, "status = error and latency > 2s and output ~ \"text\""},
        Field{"after", &SearchSpans::after, "Started at or after this time (RFC 3339)."},
        Field{"before", &SearchSpans::before, "Started before this time."},
        Field{"limit", &SearchSpans::limit, "At most 200; 20 if not given."},
        Field{"cursor", &SearchSpans::cursor, "next_cursor of the previous reply."},
    };
};
Result<json::Value> search_spans_tool(const Call& call, const SearchSpans& arguments);

struct GetTrace {
    std::optional<std::string> project;
    std::string trace_id;
    std::optional<int64_t> max_bytes;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"project", &GetTrace::project, "Id or name; the run's own if not given."},
        Field{"trace_id", &GetTrace::trace_id, "32 hexadecimal digits."},
        Field{"max_bytes", &GetTrace::max_bytes, "Size of the reply, up to 262144; 32768 if not given."},
        Field{"cursor", &GetTrace::cursor, "next_cursor of the previous reply: the spans after those."},
    };
};
Result<json::Value> get_trace_tool(const Call& call, const GetTrace& arguments);

struct GetSpan {
    std::optional<std::string> project;
    std::string trace_id;
    std::string span_id;
    std::optional<int64_t> max_bytes;
    std::optional<std::string> path;
    std::optional<int64_t> offset;
    std::optional<int64_t> length;
    static constexpr Pack fields{
        Field{"project", &GetSpan::project, "Id or name; the run's own if not given."},
        Field{"trace_id", &GetSpan::trace_id, "32 hexadecimal digits."},
        Field{"span_id", &GetSpan::span_id, "16 hexadecimal digits."},
        Field{"max_bytes", &GetSpan::max_bytes,
              "Size of the reply, up to 262144; 32768 if not given. Long texts are cut first."},
        Field{"path", &GetSpan::path,
              "Reads one value uncut, in parts: a JSON pointer into the span, such as /output or /attributes/key; "
              "empty: the whole span as JSON."},
        Field{"offset", &GetSpan::offset, "With path: first byte of the part; next_offset of the previous reply."},
        Field{"length", &GetSpan::length, "With path: bytes of the part, up to 131072; 32768 if not given."},
    };
};
Result<json::Value> get_span_tool(const Call& call, const GetSpan& arguments);

struct QuerySql {
    std::optional<std::string> project;
    std::string sql;
    std::optional<int64_t> limit;
    std::optional<int64_t> max_bytes;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"project", &QuerySql::project, "Id or name; the run's own if not given."},
        Field{"sql", &QuerySql::sql,
              "One SELECT (ClickHouse's dialect) over the tables spans, evals, traces, chat_sessions, logs and "
              "metric_points."},
        Field{"limit", &QuerySql::limit, "Rows, at most 10000; 200 if not given."},
        Field{"max_bytes", &QuerySql::max_bytes, "Size of the reply, up to 262144; 32768 if not given."},
        Field{"cursor", &QuerySql::cursor,
              "next_cursor of the previous reply: the rows after those. The query runs again and needs ORDER BY."},
    };
};
Result<json::Value> query_sql_tool(const Call& call, const QuerySql& arguments);

struct AddedEval {
    std::optional<telemetry::EvalTarget> target;
    std::string target_id;
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr Pack fields{
        Field{"target", &AddedEval::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &AddedEval::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &AddedEval::name, "Name of the eval, such as correct."},
        Field{"label", &AddedEval::label, "Label, such as yes."},
        Field{"score", &AddedEval::score, "A number."},
        Field{"explanation", &AddedEval::explanation, "Why."},
    };
};
struct AddEvals {
    std::optional<std::string> project;
    std::vector<AddedEval> evals;
    static constexpr Pack fields{
        Field{"project", &AddEvals::project, "Id or name of the project."},
        Field{"evals", &AddEvals::evals, "1 to 1000. Each needs a label, a score or an explanation."},
    };
};
Result<json::Value> add_evals_tool(const Call& call, const AddEvals& arguments);

} // namespace hone::api
