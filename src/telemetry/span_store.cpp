#include "telemetry/span_store.h"

#include "base/text.h"
#include "telemetry/binary.h"
#include "telemetry/filter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::telemetry {

namespace {

constexpr std::string_view skeleton_columns = "trace_id, span_id, parent_id, start_ns, duration_ns, name, kind, "
                                              "status, status_message, service, model, provider, input_tokens, "
                                              "cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, "
                                              "cost_nano_usd, cost_source, user_id, chat_session, tool_name, "
                                              "exception_type, documents";
constexpr std::string_view payload_columns =
    "otel_kind, version, finish_reason, exception_message, truncated, input, input_mime, output, output_mime, "
    "attributes, resource, scope, events, links, wire";
constexpr std::string_view all_tokens =
    "(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens)";

SpanRow read_row(BinaryReader& reader) {
    SpanRow row;
    row.trace_id = reader.bytes(32);
    row.span_id = reader.bytes(16);
    row.parent_id = reader.text();
    row.start_ns = reader.number<int64_t>();
    row.duration_ns = reader.number<int64_t>();
    row.name = reader.text();
    row.kind = static_cast<SpanKind>(reader.number<int8_t>());
    row.status = static_cast<otlp::StatusCode>(reader.number<int8_t>());
    row.status_message = reader.text();
    row.service = reader.text();
    row.model = reader.text();
    row.provider = reader.text();
    for (int64_t* tokens : {&row.tokens.input, &row.tokens.cache_read, &row.tokens.cache_write, &row.tokens.output,
                            &row.tokens.reasoning})
        *tokens = reader.number<int64_t>();
    row.cost_nano_usd = reader.number<int64_t>();
    row.cost_source = static_cast<CostSource>(reader.number<int8_t>());
    row.user_id = reader.text();
    row.chat_session = reader.text();
    row.tool_name = reader.text();
    row.exception_type = reader.text();
    row.documents = reader.number<uint32_t>();
    return row;
}

// A row of skeleton_columns and payload_columns.
SpanPayload read_payload(BinaryReader& reader) {
    SpanPayload payload;
    payload.row = read_row(reader);
    payload.otel_kind = reader.number<uint8_t>();
    payload.version = reader.text();
    payload.finish_reason = reader.text();
    payload.exception_message = reader.text();
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left)
        payload.truncated.emplace_back(reader.text());
    for (std::string* text :
         {&payload.input, &payload.input_mime, &payload.output, &payload.output_mime, &payload.attributes,
          &payload.resource, &payload.scope, &payload.events, &payload.links, &payload.wire})
        *text = reader.text();
    return payload;
}

bool is_hex(std::string_view text, size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
           });
}

// A question with project, time and filter bound; the caller adds what it selects.
struct Question {
    ClickHouseQuery query{""};
    std::string where;
};

Result<Question> ask(const Scope& scope) {
    const FilterNode filter = TRY(parse_filter(scope.filter));
    Question question;
    question.query.bind("project", scope.project).bind("from", scope.from_ns).bind("to", scope.to_ns);
    question.query.project = scope.project;
    question.query.deadline = scope.deadline;
    question.query.cancel = scope.cancel;
    const auto seconds = std::max<int64_t>(1, std::chrono::duration_cast<std::chrono::seconds>(scope.deadline).count());
    question.query.set("max_execution_time", std::to_string(seconds));
    question.where = "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64}";
    if (!filter.children.empty() || filter.kind == FilterNode::Kind::comparison)
        question.where += " AND " + compile_filter(filter, question.query);
    if (scope.received_from_ns > 0 || scope.received_to_ns < INT64_MAX) {
        question.query.bind("received_from", scope.received_from_ns).bind("received_to", scope.received_to_ns);
        question.where += " AND received_ns >= {received_from:Int64} AND received_ns < {received_to:Int64}";
    }
    return question;
}

// Where a page ended: the start and the id of its last row. Rows that come later never shift the next page.
struct Cursor {
    int64_t start_ns = 0;
    std::string id;
};

std::string encode_cursor(int64_t start_ns, const std::string& id) {
    return to_base64url(std::to_string(start_ns) + ":" + id);
}

Result<Cursor> decode_cursor(const std::string& text) {
    const Error wrong = invalid("the cursor is not one of ours");
    auto plain = from_base64url(text);
    if (!plain.ok()) return wrong;
    const size_t colon = plain.value().find(':');
    if (colon == std::string::npos) return wrong;
    auto start = parse_integer(std::string_view(plain.value()).substr(0, colon));
    if (!start.ok()) return wrong;
    return Cursor{start.value(), plain.value().substr(colon + 1)};
}

size_t page_limit(size_t limit) {
    return std::clamp<size_t>(limit, 1, 1000);
}

// One row more than a page: it tells whether there is a next one.
Result<ClickHouseQuery> list_query(const ListSpans& request, std::string_view columns, size_t rows) {
    Question question = TRY(ask(request.scope));
    ClickHouseQuery& query = question.query;
    if (request.trace_id) {
        if (!is_hex(*request.trace_id, 32)) return invalid("a trace id is 32 hexadecimal digits");
        query.bind("trace", *request.trace_id);
        question.where += " AND trace_id = {trace:String}";
    }
    if (!request.span_ids.empty()) {
        query.bind("span_ids", request.span_ids);
        question.where += " AND span_id IN {span_ids:Array(String)}";
    }
    question.where += compile_conditions(request.conditions, query);
    if (!request.cursor.empty()) {
        const Cursor cursor = TRY(decode_cursor(request.cursor));
        query.bind("cursor_ns", cursor.start_ns).bind("cursor_id", cursor.id);
        const std::string sign = request.oldest_first ? ">" : "<";
        // The first condition is for the primary key.
        question.where += " AND start_ns " + sign + "= {cursor_ns:Int64} AND (start_ns " + sign +
                          " {cursor_ns:Int64} OR concat(span_id, trace_id) " + sign + " {cursor_id:String})";
    }
    const std::string order = request.oldest_first ? "ASC" : "DESC";
    query.sql = "SELECT " + std::string(columns) + " FROM hone.spans WHERE " + question.where + " ORDER BY start_ns " +
                order + ", concat(span_id, trace_id) " + order + " LIMIT " + std::to_string(rows) + " FORMAT RowBinary";
    return std::move(query);
}

struct Window {
    int64_t from, to;
};

// The newest rows are asked for hour, day and week back, until there are enough: days that are not needed are not
// opened. Rows of one window are all newer than those of the next, so that windows follow each other like pages.
std::vector<Window> windows_of(const ListSpans& request) {
    const Scope& scope = request.scope;
    if (request.oldest_first || request.trace_id || !request.span_ids.empty()) return {{scope.from_ns, scope.to_ns}};
    constexpr int64_t hour = 3'600'000'000'000;
    int64_t newest = std::min(scope.to_ns, to_ns(SystemClock().now()));
    if (auto cursor = decode_cursor(request.cursor); !request.cursor.empty() && cursor.ok())
        newest = std::min(newest, cursor.value().start_ns);
    std::vector<Window> windows;
    int64_t to = scope.to_ns;
    for (const int64_t back : {hour, 24 * hour, 7 * 24 * hour}) {
        const int64_t from = newest - back;
        if (from <= scope.from_ns || from >= to) continue;
        windows.push_back({from, to});
        to = from;
    }
    windows.push_back({scope.from_ns, to});
    return windows;
}

// Takes the row that is too many away; the cursor of the next page, or nothing.
template <class Row, class RowOf>
std::string cut_page(std::vector<Row>& rows, size_t wanted, RowOf row_of) {
    const size_t limit = page_limit(wanted);
    if (rows.size() <= limit) return {};
    rows.resize(limit);
    const SpanRow& last = row_of(rows.back());
    return encode_cursor(last.start_ns, last.span_id + last.trace_id);
}

std::string group_expression(const std::string& field, ClickHouseQuery& query, bool& ok) {
    static constexpr std::pair<std::string_view, std::string_view> known[] = {{"name", "name"},
                                                                              {"kind", "kind"},
                                                                              {"status", "status"},
                                                                              {"service", "service"},
                                                                              {"version", "version"},
                                                                              {"model", "model"},
                                                                              {"provider", "provider"},
                                                                              {"user", "user_id"},
                                                                              {"session", "chat_session"},
                                                                              {"tool", "tool_name"},
                                                                              {"finish_reason", "finish_reason"},
                                                                              {"exception", "exception_type"},
                                                                              {"status_message", "status_message"}};
    ok = true;
    for (const auto& [name, column] : known)
        if (field == name) return "toString(" + std::string(column) + ")";
    if (field.starts_with("attributes[\"") && field.ends_with("\"]")) {
        query.bind("group_key", std::string_view(field).substr(12, field.size() - 14));
        return "attribute_index[{group_key:String}]";
    }
    ok = false;
    return {};
}

std::string metric_expression(Metric metric) {
    switch (metric) {
    case Metric::count:
        return "toFloat64(count())";
    case Metric::errors:
        return "toFloat64(countIf(status = 'error'))";
    case Metric::error_rate:
        return "countIf(status = 'error') / count()";
    case Metric::latency_p50:
        return "toFloat64(quantile(0.5)(duration_ns))";
    case Metric::latency_p95:
        return "toFloat64(quantile(0.95)(duration_ns))";
    case Metric::latency_p99:
        return "toFloat64(quantile(0.99)(duration_ns))";
    case Metric::latency_mean:
        return "avg(duration_ns)";
    case Metric::tokens:
        return "toFloat64(sum" + std::string(all_tokens) + ")";
    case Metric::cost:
        return "sum(cost_nano_usd) / 1e9";
    case Metric::traces:
        return "toFloat64(uniqExact(trace_id))";
    case Metric::eval_rate:
        return "countIf(eval_label = {eval_label:String}) / countIf(has_eval)";
    case Metric::eval_score:
        return "avgOrNullIf(eval_score, has_eval)";
    }
    return "0.";
}

} // namespace

Result<ClickHouseQuery> SpanStore::select(const Scope& scope, std::string_view columns) {
    Question question = TRY(ask(scope));
    question.query.sql = "SELECT " + std::string(columns) + " FROM hone.spans WHERE " + question.where;
    return std::move(question.query);
}

Result<SpanPage> SpanStore::list_spans(const ListSpans& request) {
    const size_t wanted = page_limit(request.limit) + 1;
    const auto begin = std::chrono::steady_clock::now();
    ListSpans part = request;
    SpanPage page;
    for (const Window& window : windows_of(request)) {
        part.scope.from_ns = window.from;
        part.scope.to_ns = window.to;
        const Duration left = request.scope.deadline - (std::chrono::steady_clock::now() - begin);
        part.scope.deadline = std::max<Duration>(left, std::chrono::seconds(1));
        const std::string bytes =
            TRY(m_engine.query(TRY(list_query(part, skeleton_columns, wanted - page.spans.size()))));
        for (BinaryReader reader(bytes); !reader.at_end();) page.spans.push_back(read_row(reader));
        if (page.spans.size() >= wanted) break;
    }
    page.next_cursor = cut_page(page.spans, request.limit, [](const SpanRow& row) -> const SpanRow& { return row; });
    return page;
}

Result<PayloadPage> SpanStore::list_payloads(const ListSpans& request, size_t most_bytes) {
    const std::string columns = std::string(skeleton_columns) + ", " + std::string(payload_columns);
    ClickHouseQuery query = TRY(list_query(request, columns, page_limit(request.limit) + 1));
    query.most_bytes = most_bytes;
    const std::string bytes = TRY(m_engine.query(query));
    PayloadPage page;
    for (BinaryReader reader(bytes); !reader.at_end();) page.spans.push_back(read_payload(reader));
    page.next_cursor =
        cut_page(page.spans, request.limit, [](const SpanPayload& payload) -> const SpanRow& { return payload.row; });
    return page;
}

Result<TraceSkeleton> SpanStore::trace_skeleton(const std::string& project, const std::string& trace_id, size_t limit) {
    if (!is_hex(trace_id, 32)) return invalid("a trace id is 32 hexadecimal digits");
    ClickHouseQuery where(
        "SELECT min(first_ns), max(last_ns), count() FROM hone.trace_times WHERE project = {project:String} AND "
        "trace_id = {trace:String} FORMAT RowBinary");
    where.project = project;
    where.bind("project", project).bind("trace", trace_id);
    const std::string found = TRY(m_engine.query(where));
    BinaryReader range(found);
    const auto first = range.number<int64_t>(), last = range.number<int64_t>();
    if (range.number<uint64_t>() == 0) return not_found("trace " + trace_id);
    ClickHouseQuery query(
        "SELECT " + std::string(skeleton_columns) +
        " FROM hone.spans WHERE project = {project:String} AND start_ns >= " +
        "{first:Int64} AND start_ns <= {last:Int64} AND trace_id = {trace:String} ORDER BY start_ns, span_id LIMIT " +
        std::to_string(limit + 1) + " FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("trace", trace_id).bind("first", first).bind("last", last);
    const std::string bytes = TRY(m_engine.query(query));
    TraceSkeleton skeleton;
    for (BinaryReader reader(bytes); !reader.at_end();) skeleton.spans.push_back(read_row(reader));
    skeleton.is_cut = skeleton.spans.size() > limit;
    if (skeleton.is_cut) skeleton.spans.resize(limit);
    if (skeleton.spans.empty()) return not_found("trace " + trace_id);
    return skeleton;
}

Result<SpanPayload> SpanStore::span_payload(const std::string& project, const std::string& trace_id,
                                            const std::string& span_id) {
    if (!is_hex(trace_id, 32) || !is_hex(span_id, 16))
        return invalid("a span is named by 32 and 16 hexadecimal digits");
    ClickHouseQuery query(
        "SELECT " + std::string(skeleton_columns) + ", " + std::string(payload_columns) +
        " FROM hone.spans WHERE project = {project:String} AND start_ns >= (SELECT min(first_ns) FROM "
        "hone.trace_times WHERE project = {project:String} AND trace_id = {trace:String}) AND start_ns <= (SELECT "
        "max(last_ns) FROM hone.trace_times WHERE project = {project:String} AND trace_id = {trace:String}) AND "
        "trace_id = {trace:String} AND span_id = {span:String} LIMIT 1 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("trace", trace_id).bind("span", span_id);
    const std::string bytes = TRY(m_engine.query(query));
    if (bytes.empty()) return not_found("span " + span_id);
    BinaryReader reader(bytes);
    return read_payload(reader);
}

Result<TracePage> SpanStore::list_traces(const ListTraces& request) {
    Question question = TRY(ask(request.scope));
    ClickHouseQuery& query = question.query;
    const size_t limit = std::clamp<size_t>(request.limit, 1, 1000);
    if (request.chat_session) {
        query.bind("session", *request.chat_session);
        question.where += " AND chat_session = {session:String}";
    }
    std::string having;
    if (!request.cursor.empty()) {
        const Cursor cursor = TRY(decode_cursor(request.cursor));
        query.bind("cursor_ns", cursor.start_ns).bind("cursor_id", cursor.id);
        having = " HAVING (first < {cursor_ns:Int64} OR (first = {cursor_ns:Int64} AND trace_id < {cursor_id:String}))";
    }
    // First which traces, from few columns; then their sums.
    query.sql = "SELECT trace_id, argMin(name, (parent_id != '', start_ns)), anyIf(chat_session, chat_session != ''), "
                "anyIf(user_id, user_id != ''), "
                "min(start_ns), max(start_ns + duration_ns), count(), countIf(status = 'error'), sum" +
                std::string(all_tokens) +
                ", sum(cost_nano_usd) FROM hone.spans WHERE project = {project:String} AND start_ns >= {from:Int64} "
                "AND start_ns < {to:Int64} AND "
                "trace_id IN (SELECT trace_id FROM (SELECT trace_id, min(start_ns) AS first FROM hone.spans WHERE " +
                question.where + " GROUP BY trace_id" + having + " ORDER BY first DESC, trace_id DESC LIMIT " +
                std::to_string(limit + 1) +
                ")) GROUP BY trace_id ORDER BY min(start_ns) DESC, trace_id DESC FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    TracePage page;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        TraceRow row;
        row.trace_id = reader.bytes(32);
        row.root_name = reader.text();
        row.chat_session = reader.text();
        row.user_id = reader.text();
        row.start_ns = reader.number<int64_t>();
        row.end_ns = reader.number<int64_t>();
        row.spans = static_cast<int64_t>(reader.number<uint64_t>());
        row.errors = static_cast<int64_t>(reader.number<uint64_t>());
        row.tokens = reader.number<int64_t>();
        row.cost_nano_usd = reader.number<int64_t>();
        page.traces.push_back(std::move(row));
    }
    if (page.traces.size() > limit) {
        page.traces.resize(limit);
        page.next_cursor = encode_cursor(page.traces.back().start_ns, page.traces.back().trace_id);
    }
    return page;
}

Result<SessionPage> SpanStore::list_sessions(const Scope& scope, size_t limit, const std::string& cursor_text) {
    Question question = TRY(ask(scope));
    ClickHouseQuery& query = question.query;
    limit = std::clamp<size_t>(limit, 1, 1000);
    std::string having;
    if (!cursor_text.empty()) {
        const Cursor cursor = TRY(decode_cursor(cursor_text));
        query.bind("cursor_ns", cursor.start_ns).bind("cursor_id", cursor.id);
        having =
            " HAVING (first < {cursor_ns:Int64} OR (first = {cursor_ns:Int64} AND chat_session < {cursor_id:String}))";
    }
    query.sql = "SELECT chat_session, anyIf(user_id, user_id != ''), min(start_ns) AS first, max(start_ns + "
                "duration_ns), uniqExact(trace_id), count(), "
                "countIf(status = 'error'), sum" +
                std::string(all_tokens) + ", sum(cost_nano_usd) FROM hone.spans WHERE " + question.where +
                " AND chat_session != '' GROUP BY chat_session" + having +
                " ORDER BY first DESC, chat_session DESC LIMIT " + std::to_string(limit + 1) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    SessionPage page;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SessionRow row;
        row.chat_session = reader.text();
        row.user_id = reader.text();
        row.start_ns = reader.number<int64_t>();
        row.end_ns = reader.number<int64_t>();
        row.traces = static_cast<int64_t>(reader.number<uint64_t>());
        row.spans = static_cast<int64_t>(reader.number<uint64_t>());
        row.errors = static_cast<int64_t>(reader.number<uint64_t>());
        row.tokens = reader.number<int64_t>();
        row.cost_nano_usd = reader.number<int64_t>();
        page.sessions.push_back(std::move(row));
    }
    if (page.sessions.size() > limit) {
        page.sessions.resize(limit);
        page.next_cursor = encode_cursor(page.sessions.back().start_ns, page.sessions.back().chat_session);
    }
    return page;
}

Result<std::vector<SeriesPoint>> SpanStore::series(const Series& request) {
    if (request.metrics.empty() || request.metrics.size() > 12) return invalid("a series needs one to twelve metrics");
    if (request.bucket.count() < 0) return invalid("a bucket is not negative");
    Question question = TRY(ask(request.scope));
    ClickHouseQuery& query = question.query;
    std::string group = "''";
    if (!request.group_by.empty()) {
        bool ok = false;
        group = group_expression(request.group_by, query, ok);
        if (!ok) return invalid("spans cannot be grouped by \"" + request.group_by + "\"");
    }
    std::string from = "hone.spans", metrics;
    bool needs_evals = false;
    for (const Metric metric : request.metrics) {
        metrics += ", ifNull(" + metric_expression(metric) + ", nan)";
        needs_evals = needs_evals || metric == Metric::eval_rate || metric == Metric::eval_score;
    }
    if (needs_evals) {
        query.bind("eval_name", request.eval_name).bind("eval_label", request.eval_label);
        from += " LEFT JOIN (SELECT toFixedString(target_id, 16) AS eval_span, any(label) AS eval_label, any(score) AS "
                "eval_score, 1 AS has_eval FROM "
                "hone.evals FINAL WHERE project = {project:String} AND target = 'span' AND name = {eval_name:String} "
                "GROUP BY target_id) AS labels ON span_id = eval_span";
    }
    const std::string bucket =
        request.bucket.count() == 0 ? "{from:Int64}" : "intDiv(start_ns, {bucket:Int64}) * {bucket:Int64}";
    if (request.bucket.count() > 0) query.bind("bucket", request.bucket.count());
    std::string groups;
    if (!request.group_by.empty())
        groups = " AND " + group + " IN (SELECT " + group + " AS g FROM hone.spans WHERE " + question.where +
                 " GROUP BY g ORDER BY count() DESC LIMIT " +
                 std::to_string(std::clamp<size_t>(request.groups, 1, 200)) + ")";
    query.sql = "SELECT toInt64(" + bucket + ") AS bucket_ns, " + group + " AS group_name" + metrics + " FROM " + from +
                " WHERE " + question.where + groups +
                " GROUP BY bucket_ns, group_name ORDER BY bucket_ns, group_name LIMIT 100000 FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(query));
    std::vector<SeriesPoint> points;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SeriesPoint point;
        point.bucket_ns = reader.number<int64_t>();
        point.group = reader.text();
        for (size_t i = 0; i < request.metrics.size(); ++i) point.values.push_back(reader.number<double>());
        points.push_back(std::move(point));
    }
    return points;
}

Result<std::vector<Facet>> SpanStore::facet(const Scope& scope, const std::string& field, size_t limit) {
    Question question = TRY(ask(scope));
    bool ok = false;
    const std::string group = group_expression(field, question.query, ok);
    if (!ok) return invalid("there is no facet \"" + field + "\"");
    question.query.sql = "SELECT " + group + " AS value, count() FROM hone.spans WHERE " + question.where +
                         " GROUP BY value ORDER BY count() DESC, value LIMIT " +
                         std::to_string(std::clamp<size_t>(limit, 1, 1000)) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(question.query));
    std::vector<Facet> facets;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string value(reader.text());
        facets.push_back({std::move(value), static_cast<int64_t>(reader.number<uint64_t>())});
    }
    return facets;
}

Result<std::vector<AttributeKey>> SpanStore::attribute_keys(const Scope& scope, size_t limit) {
    Question question = TRY(ask(scope));
    question.query.sql =
        "SELECT toString(key) AS name, count() FROM hone.spans ARRAY JOIN mapKeys(attribute_index) AS key WHERE " +
        question.where + " GROUP BY name ORDER BY count() DESC, name LIMIT " +
        std::to_string(std::clamp<size_t>(limit, 1, 10'000)) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_engine.query(question.query));
    std::vector<AttributeKey> keys;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        std::string key(reader.text());
        keys.push_back({std::move(key), static_cast<int64_t>(reader.number<uint64_t>())});
    }
    return keys;
}

} // namespace hone::telemetry
