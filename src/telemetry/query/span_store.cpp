#include "telemetry/query/span_store.h"

#include "base/text.h"
#include "telemetry/engine/page_cursor.h"
#include "telemetry/query/borrowed_texts.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/query/sorted_rows.h"
#include "telemetry/span/binary_columns.h"
#include "telemetry/span/text_slices.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace hone::telemetry {

namespace {

constexpr Pack skeleton_columns{
    BinaryColumn{"trace_id", [](SpanRow& row, BinaryReader& reader) { row.trace_id = reader.bytes(32); }},
    BinaryColumn{"span_id", [](SpanRow& row, BinaryReader& reader) { row.span_id = reader.bytes(16); }},
    BinaryColumn{"parent_id", &SpanRow::parent_id},
    BinaryColumn{"start_ns", &SpanRow::start_ns},
    BinaryColumn{"duration_ns", &SpanRow::duration_ns},
    BinaryColumn{"name", &SpanRow::name},
    BinaryColumn{"kind", &SpanRow::kind},
    BinaryColumn{"status", &SpanRow::status},
    BinaryColumn{"status_message", &SpanRow::status_message},
    BinaryColumn{"service", &SpanRow::service},
    BinaryColumn{"model", &SpanRow::model},
    BinaryColumn{"provider", &SpanRow::provider},
    BinaryColumn{"input_tokens", [](SpanRow& row, BinaryReader& reader) { read_field(reader, row.tokens.input); }},
    BinaryColumn{"cache_read_tokens",
                 [](SpanRow& row, BinaryReader& reader) { read_field(reader, row.tokens.cache_read); }},
    BinaryColumn{"cache_write_tokens",
                 [](SpanRow& row, BinaryReader& reader) { read_field(reader, row.tokens.cache_write); }},
    BinaryColumn{"output_tokens", [](SpanRow& row, BinaryReader& reader) { read_field(reader, row.tokens.output); }},
    BinaryColumn{"reasoning_tokens",
                 [](SpanRow& row, BinaryReader& reader) { read_field(reader, row.tokens.reasoning); }},
    BinaryColumn{"cost_nano_usd", &SpanRow::cost_nano_usd},
    BinaryColumn{"cost_source", &SpanRow::cost_source},
    BinaryColumn{"user_id", &SpanRow::user_id},
    BinaryColumn{"chat_session", &SpanRow::chat_session},
    BinaryColumn{"tool_name", &SpanRow::tool_name},
    BinaryColumn{"exception_type", &SpanRow::exception_type},
    BinaryColumn{"documents", &SpanRow::documents},
    BinaryColumn{"otel_kind", &SpanRow::otel_kind},
};
constexpr Pack payload_columns{
    BinaryColumn{"version", &SpanPayload::version},
    BinaryColumn{"finish_reason", &SpanPayload::finish_reason},
    BinaryColumn{"exception_message", &SpanPayload::exception_message},
    BinaryColumn{"first_token_ns", &SpanPayload::first_token_ns},
    BinaryColumn{"truncated",
                 [](SpanPayload& payload, BinaryReader& reader) {
                     for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left)
                         payload.truncated.emplace_back(reader.text());
                 }},
    BinaryColumn{"input", &SpanPayload::input},
    BinaryColumn{"input_mime", &SpanPayload::input_mime},
    BinaryColumn{"output", &SpanPayload::output},
    BinaryColumn{"output_mime", &SpanPayload::output_mime},
    BinaryColumn{"attributes", &SpanPayload::attributes},
    BinaryColumn{"resource", &SpanPayload::resource},
    BinaryColumn{"scope", &SpanPayload::scope},
    BinaryColumn{"events", &SpanPayload::events},
    BinaryColumn{"links", &SpanPayload::links},
    BinaryColumn{"wire", &SpanPayload::wire},
};
// The time range of the trace is part of the same query: one request instead of two.
constexpr std::string_view with_times_of_trace =
    "WITH (SELECT (min(first_ns), max(last_ns)) FROM hone.trace_times WHERE project = {project:String} AND trace_id = "
    "{trace:String}) AS times ";
constexpr std::string_view in_times_of_trace =
    "project = {project:String} AND start_ns >= times.1 AND start_ns <= times.2 AND trace_id = {trace:String}";

SpanRow read_row(BinaryReader& reader) {
    SpanRow row;
    read_columns(skeleton_columns, reader, row);
    return row;
}

// A row of skeleton_columns and payload_columns.
SpanPayload read_payload(BinaryReader& reader) {
    SpanPayload payload;
    payload.row = read_row(reader);
    read_columns(payload_columns, reader, payload);
    payload.attributes = restore_slices(std::move(payload.attributes), payload.input, payload.output);
    return payload;
}

bool is_hex(std::string_view text, size_t digits) {
    return text.size() == digits && std::all_of(text.begin(), text.end(), [](char letter) {
               return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
           });
}

size_t page_limit(size_t limit) {
    return std::clamp<size_t>(limit, 1, 1000);
}

// What spans are sorted by, as SQL.
std::string span_number(RowOrder order) {
    switch (order) {
    case RowOrder::start:
        return "start_ns";
    case RowOrder::duration:
        return "duration_ns";
    case RowOrder::tokens:
        return "toInt64" + std::string(all_tokens);
    case RowOrder::cost:
        return "cost_nano_usd";
    case RowOrder::errors:
        return "toInt64(status = 'error')";
    }
    return {};
}

int64_t span_number(const SpanRow& row, RowOrder order) {
    switch (order) {
    case RowOrder::start:
        return row.start_ns;
    case RowOrder::duration:
        return row.duration_ns;
    case RowOrder::tokens:
        return row.tokens.total();
    case RowOrder::cost:
        return row.cost_nano_usd;
    case RowOrder::errors:
        return row.status == otlp::StatusCode::error ? 1 : 0;
    }
    return 0;
}

RowSort newest_or_oldest(const ListSpans& request) {
    return {RowOrder::start, request.oldest_first};
}

// One row more than a page: it shows whether there is a next one.
Result<ClickHouseQuery> list_query(const ListSpans& request, RowSort sort, std::string_view columns, size_t rows) {
    ScopedQuery scoped = TRY(scope_query(request.scope));
    ClickHouseQuery& query = scoped.query;
    if (request.trace_id) {
        if (!is_hex(*request.trace_id, 32)) return invalid("a trace id is 32 hexadecimal digits");
        query.bind("trace", *request.trace_id);
        scoped.where += " AND trace_id = {trace:String}";
    }
    if (!request.span_ids.empty()) {
        query.bind("span_ids", request.span_ids);
        scoped.where += " AND span_id IN {span_ids:Array(String)}";
    }
    scoped.where += compile_conditions(request.conditions, query);
    const std::string number = span_number(sort.by);
    if (!request.cursor.empty()) {
        const Cursor cursor = TRY(decode_cursor(request.cursor));
        query.bind("cursor_number", cursor.number).bind("cursor_id", cursor.id);
        const std::string sign = sort.ascending ? ">" : "<";
        // The first condition is for the primary key.
        scoped.where += " AND " + number + " " + sign + "= {cursor_number:Int64} AND (" + number + " " + sign +
                        " {cursor_number:Int64} OR concat(span_id, trace_id) " + sign + " {cursor_id:String})";
    }
    const std::string order = sort.ascending ? "ASC" : "DESC";
    query.sql = "SELECT " + std::string(columns) + " FROM hone.spans WHERE " + scoped.where + " ORDER BY " + number +
                " " + order + ", concat(span_id, trace_id) " + order + " LIMIT " + std::to_string(rows) +
                " FORMAT RowBinary";
    return std::move(query);
}

struct TimeWindow {
    int64_t from, to;
};

// The newest rows are queried in the time of the newest spans, and for six hours, two days and two weeks back, until
// there are enough: what is not needed is not opened. Rows of one window are all newer than those of the next, so that
// windows follow each other like pages.
std::vector<TimeWindow> windows_of(const ListSpans& request, const SpanStore& store) {
    const Scope& scope = request.scope;
    if (request.oldest_first || request.trace_id || !request.span_ids.empty()) return {{scope.from_ns, scope.to_ns}};
    constexpr int64_t hour = 3'600'000'000'000;
    int64_t newest = std::min(scope.to_ns, to_ns(SystemClock().now()));
    if (auto cursor = decode_cursor(request.cursor); !request.cursor.empty() && cursor.ok())
        newest = std::min(newest, cursor.value().number);
    std::vector<TimeWindow> windows;
    int64_t to = scope.to_ns;
    const bool is_filtered = !request.conditions.is_empty();
    for (const int64_t from : store.recent_starts(scope, request.cursor.empty() ? to : newest + 1,
                                                  page_limit(request.limit) + 1, is_filtered)) {
        windows.push_back({from, to});
        to = from;
    }
    for (const int64_t back : {6 * hour, 48 * hour, 14 * 24 * hour}) {
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
std::string cut_page(std::vector<Row>& rows, size_t wanted, RowOrder order, RowOf row_of) {
    const size_t limit = page_limit(wanted);
    if (rows.size() <= limit) return {};
    rows.resize(limit);
    const SpanRow& last = row_of(rows.back());
    return encode_cursor(span_number(last, order), last.span_id + last.trace_id);
}

} // namespace

Result<ClickHouseQuery> SpanStore::select(const Scope& scope, std::string_view columns) {
    ScopedQuery scoped = TRY(scope_query(scope));
    scoped.query.sql = "SELECT " + std::string(columns) + " FROM hone.spans WHERE " + scoped.where;
    return std::move(scoped.query);
}

std::vector<int64_t> SpanStore::recent_starts(const Scope& scope, int64_t to_ns, size_t spans, bool is_filtered) const {
    std::vector<int64_t> starts;
    const bool is_of_all_arrivals = scope.received_from_ns <= 0 && scope.received_to_ns == INT64_MAX;
    if (!m_recent || !is_of_all_arrivals) return starts;
    const bool is_plain = !is_filtered && scope.filter.empty();
    const auto least = static_cast<int64_t>(spans);
    int64_t last = to_ns;
    std::vector<int64_t> counts{std::max<int64_t>(least, 16'384), 131'072, 1'048'576, 8'388'608};
    if (is_plain) counts.insert(counts.begin(), least);
    for (const int64_t count : counts) {
        const auto start = m_recent->start_of_newest(scope.project, to_ns, count);
        if (!start || *start <= scope.from_ns || *start >= last) continue;
        starts.push_back(last = *start);
    }
    return starts;
}

Result<SpanPage> SpanStore::list_spans(const ListSpans& request) {
    const size_t wanted = page_limit(request.limit) + 1;
    const auto begin = std::chrono::steady_clock::now();
    ListSpans part = request;
    SpanPage page;
    for (const TimeWindow& window : windows_of(request, *this)) {
        part.scope.from_ns = window.from;
        part.scope.to_ns = window.to;
        const Duration left = request.scope.deadline - (std::chrono::steady_clock::now() - begin);
        part.scope.deadline = std::max<Duration>(left, std::chrono::seconds(1));
        const std::string bytes = TRY(m_engine.query(
            TRY(list_query(part, newest_or_oldest(part), column_names(skeleton_columns), wanted - page.spans.size()))));
        for (BinaryReader reader(bytes); !reader.at_end();) page.spans.push_back(read_row(reader));
        if (page.spans.size() >= wanted) break;
    }
    page.next_cursor =
        cut_page(page.spans, request.limit, RowOrder::start, [](const SpanRow& row) -> const SpanRow& { return row; });
    return page;
}

Result<SpanPage> sorted_spans(ClickHouse& engine, const ListSpans& request, RowSort sort) {
    const std::string bytes = TRY(
        engine.query(TRY(list_query(request, sort, column_names(skeleton_columns), page_limit(request.limit) + 1))));
    SpanPage page;
    for (BinaryReader reader(bytes); !reader.at_end();) page.spans.push_back(read_row(reader));
    page.next_cursor =
        cut_page(page.spans, request.limit, sort.by, [](const SpanRow& row) -> const SpanRow& { return row; });
    return page;
}

Result<PayloadPage> SpanStore::list_payloads(const ListSpans& request, size_t most_bytes) {
    const std::string columns = column_names(skeleton_columns) + ", " + column_names(payload_columns);
    ClickHouseQuery query = TRY(list_query(request, newest_or_oldest(request), columns, page_limit(request.limit) + 1));
    query.most_bytes = most_bytes;
    const std::string bytes = TRY(m_engine.query(query));
    PayloadPage page;
    BinaryReader reader(bytes);
    while (!reader.at_end()) page.spans.push_back(read_payload(reader));
    if (reader.failed()) return corrupt("the span store's response ends in the middle of a span");
    page.next_cursor = cut_page(page.spans, request.limit, RowOrder::start,
                                [](const SpanPayload& payload) -> const SpanRow& { return payload.row; });
    return page;
}

Result<TraceSkeleton> SpanStore::trace_skeleton(const std::string& project, const std::string& trace_id, size_t limit) {
    if (!is_hex(trace_id, 32)) return invalid("a trace id is 32 hexadecimal digits");
    ClickHouseQuery query(std::string(with_times_of_trace) + "SELECT " + column_names(skeleton_columns) +
                          " FROM hone.spans WHERE " + std::string(in_times_of_trace) +
                          " ORDER BY start_ns, span_id LIMIT " + std::to_string(limit + 1) + " FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("trace", trace_id);
    query.set("enable_analyzer", "0"); // the other planner takes 2 ms longer for such a simple query
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
    ClickHouseQuery query(std::string(with_times_of_trace) + "SELECT " + column_names(skeleton_columns) + ", " +
                          column_names(payload_columns) + " FROM hone.spans WHERE " + std::string(in_times_of_trace) +
                          " AND span_id = {span:String} LIMIT 1 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("trace", trace_id).bind("span", span_id);
    const std::string bytes = TRY(m_engine.query(query));
    if (bytes.empty()) return not_found("span " + span_id);
    BinaryReader reader(bytes);
    SpanPayload payload = read_payload(reader);
    TRY(borrow_texts(m_engine, project, payload));
    return payload;
}

} // namespace hone::telemetry
