// The part of the loader that counts each model call once: it gives the counter what the engine holds of the block's
// traces, and corrects rows whose usage counts no more, or counts again.
#include "base/text.h"
#include "telemetry/ingest/loader.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

namespace hone::telemetry {

namespace {

constexpr char name_separator = '\0';

std::string trace_name(const SpanRowHead& head) {
    std::string name(head.project);
    name += name_separator;
    return name.append(head.trace_id);
}

uint64_t number_of_span(std::string_view digits) {
    uint64_t number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
    return number;
}

std::string digits_of_span(uint64_t number) {
    std::string bytes(8, '\0');
    for (size_t i = 0; i < 8; ++i) bytes[7 - i] = static_cast<char>(number >> (8 * i) & 0xff);
    return to_hex(bytes);
}

uint64_t response_hash(std::string_view project, std::string_view response) {
    if (response.empty()) return 0;
    std::string name(project);
    name += name_separator;
    name += "response";
    name += response;
    return std::hash<std::string>{}(name) | 1;
}

std::string quoted_text(std::string_view text) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "'";
}

template <class Texts>
std::string quoted_list(const Texts& texts) {
    std::string list;
    for (const auto& text : texts) list += (list.empty() ? "" : ",") + quoted_text(text);
    return list;
}

ClickHouseQuery long_query(std::string sql, Duration deadline) {
    ClickHouseQuery query(std::move(sql));
    query.deadline = deadline;
    query.set("max_query_size", "100000000").set("max_ast_elements", "10000000");
    return query;
}

// The columns of a row that counts from now on, or counts no more. Qualified, so that no name means a new value.
std::string corrected_columns(bool is_counted) {
    constexpr std::string_view usage[] = {"input_tokens",  "cache_read_tokens", "cache_write_tokens",
                                          "output_tokens", "reasoning_tokens",  "cost_nano_usd",
                                          "cost_source"};
    std::string columns;
    for (const Column& column : span_columns()) {
        const std::string name(column.name);
        columns += columns.empty() ? "" : ", ";
        const auto place = std::find(std::begin(usage), std::end(usage), column.name);
        const size_t number = static_cast<size_t>(place - std::begin(usage)) + 1;
        if (name == "repeated_usage")
            columns += is_counted ? "emptyArrayInt64()"
                                  : "[s.input_tokens, s.cache_read_tokens, s.cache_write_tokens, s.output_tokens, "
                                    "s.reasoning_tokens, s.cost_nano_usd, toInt64(s.cost_source)]";
        else if (place == std::end(usage))
            columns += "s." + name;
        else if (name == "cost_source")
            columns += "CAST(" + (is_counted ? "toInt8(s.repeated_usage[7])" : std::string("toInt8(0)")) + ", " +
                       quoted_text(column.type) + ")";
        else
            columns += is_counted ? "s.repeated_usage[" + std::to_string(number) + "]" : "toInt64(0)";
    }
    return columns;
}

} // namespace

// Traces and responses of the block that the engine may hold, though the counter does not know them.
Result<> Loader::put_stored_calls(const Block& block, std::vector<UsageCounter::Change>& doubled) {
    std::set<std::string> traces, projects, responses;
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
    const int64_t window = m_options.same_span_window.count();
    for (const Row& row : block.rows) {
        if (row.is_left_out) continue;
        const bool is_older = !m_options.is_only_writer || m_stored_until_ns >= row.head.start_ns - window;
        std::string name = trace_name(row.head);
        SpanRowUsage usage;
        if (!read_span_row_usage(row.bytes, usage)) continue;
        const uint64_t response = response_hash(row.head.project, usage.response_id);
        const bool needs_trace =
            m_usage.has_trace(name) ? !m_options.is_only_writer : is_older || m_usage.may_be_forgotten(name);
        const bool needs_response =
            response != 0 && !m_usage.has_response(response) && (is_older || m_usage.may_be_forgotten(response));
        if (!needs_trace && !needs_response) continue;
        first = std::min(first, row.head.start_ns);
        last = std::max(last, row.head.start_ns);
        if (needs_trace) traces.insert(std::move(name));
        if (needs_response) {
            projects.insert(std::string(row.head.project));
            responses.insert(std::string(usage.response_id));
        }
    }
    if (last == 0) return {};
    constexpr int64_t day = 86'400'000'000'000; // a trace seldom lasts longer
    const int64_t from = first - std::min(first, day), to = last + std::min(INT64_MAX - last, day);
    if (!responses.empty()) {
        const std::string found = TRY(m_engine.query(
            long_query("SELECT DISTINCT project, trace_id FROM hone.spans WHERE project IN (" + quoted_list(projects) +
                           ") AND start_ns BETWEEN " + std::to_string(first - std::min(first, window)) + " AND " +
                           std::to_string(last + std::min(INT64_MAX - last, window)) + " AND response_id IN (" +
                           quoted_list(responses) + ") FORMAT RowBinary",
                       m_options.insert_deadline)));
        for (BinaryReader reader(found); !reader.at_end();) {
            std::string name(reader.text());
            name += name_separator;
            traces.insert(name.append(reader.bytes(32)));
        }
    }
    return read_stored_calls(traces, from, to, doubled);
}

Result<> Loader::read_stored_calls(const std::set<std::string>& traces, int64_t from_ns, int64_t to_ns,
                                   std::vector<UsageCounter::Change>& doubled) {
    if (traces.empty()) return {};
    std::set<std::string> projects, ids;
    for (const std::string& name : traces) {
        const size_t separator = name.find(name_separator);
        projects.insert(name.substr(0, separator));
        ids.insert(name.substr(separator + 1));
    }
    const std::string found = TRY(m_engine.query(long_query(
        "SELECT project, trace_id, span_id, parent_id, kind, start_ns, response_id, if(empty(repeated_usage), "
        "[input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_nano_usd], "
        "repeated_usage) AS usage, empty(repeated_usage) FROM hone.spans WHERE project IN (" +
            quoted_list(projects) + ") AND start_ns BETWEEN " + std::to_string(from_ns) + " AND " +
            std::to_string(to_ns) + " AND trace_id IN (" + quoted_list(ids) + ") FORMAT RowBinary",
        m_options.insert_deadline)));
    std::set<std::string> seen;
    for (BinaryReader reader(found); !reader.at_end();) {
        SpanRowHead head;
        head.project = reader.text();
        head.trace_id = reader.bytes(32);
        UsageCounter::Call call;
        call.span = number_of_span(reader.bytes(16));
        call.parent = number_of_span(reader.text());
        call.kind = static_cast<SpanKind>(reader.number<int8_t>());
        call.start_ns = reader.number<int64_t>();
        call.response = response_hash(head.project, reader.text());
        int64_t numbers[8] = {};
        const uint64_t count = reader.varint();
        for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
            const int64_t number = reader.number<int64_t>();
            if (i < std::size(numbers)) numbers[i] = number;
        }
        call.tokens = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
        call.cost_nano_usd = numbers[5];
        call.is_counted = reader.number<uint8_t>() != 0;
        if (reader.failed()) break;
        std::string name = trace_name(head);
        // Both rows of a correction that was interrupted: it is done again, whatever the decision is.
        if (!seen.insert(name + digits_of_span(call.span)).second) doubled.push_back({name, call.span, true});
        m_usage.put(name, call);
    }
    return {};
}

Result<> Loader::count_usage(Block& block) {
    std::vector<UsageCounter::Change> doubled, stored;
    TRY(put_stored_calls(block, doubled));
    std::unordered_map<std::string, size_t> rows; // of the block, by trace and span
    for (size_t i = 0; i < block.rows.size(); ++i) {
        const Row& row = block.rows[i];
        SpanRowUsage usage;
        if (row.is_left_out || !read_span_row_usage(row.bytes, usage)) continue;
        UsageCounter::Call call;
        call.span = number_of_span(row.head.span_id);
        call.parent = number_of_span(usage.parent_id);
        call.kind = usage.kind;
        call.tokens = usage.tokens;
        call.cost_nano_usd = usage.cost_nano_usd;
        call.response = response_hash(row.head.project, usage.response_id);
        call.start_ns = row.head.start_ns;
        const std::string name = trace_name(row.head);
        m_usage.put(name, call);
        if (call.has_usage()) rows.emplace(name + std::string(row.head.span_id), i);
    }
    for (UsageCounter::Change& change : m_usage.settle()) {
        const auto place = rows.find(change.trace + digits_of_span(change.span));
        if (place == rows.end()) {
            stored.push_back(std::move(change));
            continue;
        }
        Row& row = block.rows[place->second];
        SpanRowUsage usage;
        if (!change.is_counted && read_span_row_usage(row.bytes, usage))
            row.bytes = block.made.emplace_back(repeated_span_row(row.bytes, usage));
    }
    for (UsageCounter::Change& span : doubled) {
        span.is_counted = m_usage.is_counted(span.trace, span.span);
        if (!rows.contains(span.trace + digits_of_span(span.span))) stored.push_back(std::move(span));
    }
    auto corrected = correct_stored(stored);
    if (!corrected.ok()) { // the same block comes again: the counter must read what is stored by then
        m_usage.forget();
        m_known.forget();
        return corrected;
    }
    m_usage.trim();
    return {};
}

// First the new rows, then the old ones go: a crash between leaves both, and the next correction removes the old one.
Result<> Loader::correct_stored(const std::vector<UsageCounter::Change>& changes) {
    for (const bool is_counted : {false, true}) {
        std::string condition;
        for (const UsageCounter::Change& change : changes) {
            if (change.is_counted != is_counted) continue;
            const size_t separator = change.trace.find(name_separator);
            condition += (condition.empty() ? "(" : " OR (") +
                         ("project = " + quoted_text(change.trace.substr(0, separator))) +
                         " AND trace_id = " + quoted_text(change.trace.substr(separator + 1)) +
                         " AND span_id = " + quoted_text(digits_of_span(change.span)) + ")";
        }
        if (condition.empty()) continue;
        const ClickHouse::Replacement replacement(m_engine);
        const std::string old = is_counted ? "notEmpty(repeated_usage)" : "empty(repeated_usage)";
        const std::string made = is_counted ? "empty(repeated_usage)" : "notEmpty(repeated_usage)";
        TRY(renew_claim());
        const std::string in_time = m_options.claims ? " AND throwIf(toUnixTimestamp(nowInBlock()) > " +
                                                           std::to_string(m_store_until_s) + ", 'late') = 0"
                                                     : std::string();
        ClickHouseQuery correction =
            long_query("INSERT INTO hone.spans SELECT " + corrected_columns(is_counted) +
                           " FROM hone.spans AS s WHERE (" + condition + ") AND " + old +
                           " AND (s.project, s.trace_id, s.span_id) NOT IN (SELECT project, trace_id, "
                           "span_id FROM hone.spans WHERE (" +
                           condition + ") AND " + made + ")" + in_time,
                       m_options.insert_deadline);
        correction.set("insert_deduplicate", "0"); // a usage that changes back makes the same rows again
        TRY(m_engine.query(correction));
        ClickHouseQuery removal =
            long_query("DELETE FROM hone.spans WHERE (" + condition + ") AND " + old, m_options.insert_deadline);
        removal.set("lightweight_deletes_sync", "1");
        TRY(m_engine.query(removal));
    }
    return {};
}

} // namespace hone::telemetry
