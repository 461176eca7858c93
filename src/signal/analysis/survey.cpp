#include "signal/analysis/survey.h"

#include <cmath>

namespace hone::signal {

namespace {

// One query must not starve ingest and users.
constexpr std::string_view most_memory = "1000000000";
constexpr auto deadline = std::chrono::seconds(60);

} // namespace

const json::Value* ResultRow::at(size_t column) const {
    const json::Array* row = m_row.if_array();
    return row != nullptr && column < row->size() ? &(*row)[column] : nullptr;
}

std::string ResultRow::to_text(const json::Value& value) {
    return value.is_string() ? std::string(value.get_string()) : std::string();
}

// The engine writes wide numbers as text or as numbers, by its settings.
int64_t ResultRow::to_integer(const json::Value& value) {
    if (value.is_int64()) return value.get_int64();
    if (value.is_uint64()) return static_cast<int64_t>(value.get_uint64());
    if (value.is_double() && std::isfinite(value.get_double())) return static_cast<int64_t>(value.get_double());
    if (value.is_string()) {
        const auto number = parse_integer(std::string_view(value.get_string()));
        return number.ok() ? number.value() : 0;
    }
    return 0;
}

std::string ResultRow::text(size_t column) const {
    const json::Value* found = at(column);
    return found == nullptr ? std::string() : to_text(*found);
}

int64_t ResultRow::integer(size_t column) const {
    const json::Value* found = at(column);
    return found == nullptr ? 0 : to_integer(*found);
}

double ResultRow::real(size_t column) const {
    const json::Value* found = at(column);
    if (found == nullptr) return 0;
    return found->is_double() ? found->get_double() : static_cast<double>(to_integer(*found));
}

const json::Array& ResultRow::list(size_t column) const {
    static const json::Array empty;
    const json::Value* found = at(column);
    return found != nullptr && found->is_array() ? found->get_array() : empty;
}

Result<> Survey::query(const std::string& sql, const std::function<void(const ResultRow&)>& take, const Bind& bind) {
    telemetry::ClickHouseQuery query(sql + " LIMIT " + std::to_string(most_rows) + " FORMAT JSONCompact");
    query.bind("project", m_window.project)
        .bind("base", m_window.baseline_from_ns)
        .bind("from", m_window.from_ns)
        .bind("to", m_window.to_ns);
    query.set("max_memory_usage", std::string(most_memory)).set("output_format_json_quote_64bit_integers", "0");
    query.project = m_window.project;
    query.deadline = deadline;
    query.most_bytes = 64 << 20;
    query.cancel = m_cancel;
    if (bind) bind(query);
    const json::Value answer = TRY(json::parse(TRY(m_engine->query(query))));
    const json::Object* object = answer.if_object();
    if (object == nullptr) return internal("the engine's result is not an object");
    ++m_cost.questions;
    if (const json::Value* statistics = object->if_contains("statistics"); statistics && statistics->is_object()) {
        const auto add = [&](const char* name, int64_t& sum) {
            if (const json::Value* value = statistics->get_object().if_contains(name))
                sum += ResultRow::to_integer(*value);
        };
        add("rows_read", m_cost.rows_read);
        add("bytes_read", m_cost.bytes_read);
    }
    const json::Value* data = object->if_contains("data");
    if (data == nullptr || !data->is_array()) return internal("the engine's result has no rows");
    for (const json::Value& row : data->get_array()) take(ResultRow(row));
    return {};
}

Result<Survey> Survey::open(telemetry::ClickHouse& engine, const Window& window, net::Cancel* cancel) {
    if (!(window.baseline_from_ns < window.from_ns && window.from_ns < window.to_ns))
        return invalid("a window must begin before it ends, and its baseline before it");
    Survey survey(engine, window, cancel);
    TRY(survey.query("SELECT uniqIf(trace_id, start_ns >= {from:Int64}), uniqIf(trace_id, start_ns < {from:Int64}), "
                     "countIf(start_ns >= {from:Int64}), countIf(start_ns < {from:Int64}) FROM hone.spans WHERE " +
                         std::string(in_both),
                     [&](const ResultRow& row) {
                         survey.m_traces = row.integer(0);
                         survey.m_traces_before = row.integer(1);
                         survey.m_spans = row.integer(2);
                         survey.m_spans_before = row.integer(3);
                     }));
    // What a finding is compared with; a project that makes up names has many that do not matter.
    TRY(survey.query(
        "SELECT * FROM (SELECT name, uniqIf(trace_id, start_ns >= {from:Int64}) AS traces, uniqIf(trace_id, "
        "start_ns < {from:Int64}) FROM hone.spans WHERE " +
            std::string(in_both) + " GROUP BY name ORDER BY traces DESC, name LIMIT 2000)",
        [&](const ResultRow& row) {
            survey.m_names[row.text(0)] = {row.integer(1), row.integer(2)};
        }));
    TRY(survey.query(
        "SELECT * FROM (SELECT tool_name, uniqIf(trace_id, start_ns >= {from:Int64}) AS traces, uniqIf(trace_id, "
        "start_ns < {from:Int64}) FROM hone.spans WHERE " +
            std::string(in_both) +
            " AND kind = 'tool' AND tool_name != '' AND tool_name != name GROUP BY tool_name ORDER BY traces DESC, "
            "tool_name LIMIT 2000)",
        [&](const ResultRow& row) {
            survey.m_tools[row.text(0)] = {row.integer(1), row.integer(2)};
        }));
    return survey;
}

} // namespace hone::signal
