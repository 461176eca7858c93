#include "telemetry/query/borrowed_texts.h"

#include "telemetry/messages/message_json.h"
#include "telemetry/span/binary.h"
#include "json/json.h"

#include <cstdlib>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace hone::telemetry {

namespace {

constexpr size_t most_lenders = 10'000;

struct Lender {
    std::string span_id, parent_id, response_id;
    int64_t start_ns = 0, end_ns = 0;
    SpanKind kind = SpanKind::unknown;
    bool has_input = false, has_output = false;
    bool has_failed = false; // with a message
};

constexpr std::string_view trace_of_lender =
    "WITH (SELECT (min(first_ns), max(last_ns)) FROM hone.trace_times WHERE project = {project:String} AND trace_id = "
    "{trace:String}) AS times SELECT ";
constexpr std::string_view in_trace_of_lender =
    " FROM hone.spans WHERE project = {project:String} AND start_ns >= times.1 AND start_ns <= times.2 AND trace_id = "
    "{trace:String}";

ClickHouseQuery lender_query(const std::string& project, const std::string& trace, std::string sql) {
    ClickHouseQuery query(std::move(sql));
    query.project = project;
    query.bind("project", project).bind("trace", trace);
    return query;
}

// Those below the span, in the order of their start.
std::vector<Lender> below(std::vector<Lender> lenders, const std::string& span_id) {
    std::unordered_map<std::string_view, std::vector<const Lender*>> children;
    for (const Lender& lender : lenders) children[lender.parent_id].push_back(&lender);
    std::unordered_set<std::string_view> found{span_id};
    std::vector<std::string_view> open{span_id};
    while (!open.empty()) {
        const std::string_view parent = open.back();
        open.pop_back();
        for (const Lender* child : children[parent])
            if (found.insert(child->span_id).second) open.push_back(child->span_id);
    }
    std::vector<Lender> chosen;
    for (Lender& lender : lenders)
        if (lender.span_id != span_id && found.contains(lender.span_id)) chosen.push_back(lender);
    return chosen;
}

Result<std::string> text_of_lender(ClickHouse& engine, const std::string& project, const std::string& trace,
                                   const std::string& span, const std::string& column) {
    ClickHouseQuery query = lender_query(project, trace,
                                         std::string(trace_of_lender) + column + std::string(in_trace_of_lender) +
                                             " AND span_id = {span:String} LIMIT 1 FORMAT RowBinary");
    query.bind("span", span);
    const std::string bytes = TRY(engine.query(query));
    return std::string(BinaryReader(bytes).text());
}

// The texts of the same model call: the call around it, one inside it, or one with the same response in this trace.
const Lender* same_call(const std::vector<Lender>& lenders, const SpanRow& row) {
    std::string response;
    for (const Lender& lender : lenders)
        if (lender.span_id == row.span_id) response = lender.response_id;
    for (const Lender& lender : lenders) {
        if (lender.kind != SpanKind::llm || lender.span_id == row.span_id || !(lender.has_input || lender.has_output))
            continue;
        if (lender.span_id == row.parent_id || lender.parent_id == row.span_id ||
            (!response.empty() && lender.response_id == response))
            return &lender;
    }
    return nullptr;
}

// The step around a model call, where frameworks put the request: its only call, and texts that are messages.
const Lender* step_around(const std::vector<Lender>& lenders, const SpanRow& row) {
    const Lender* step = nullptr;
    for (const Lender& lender : lenders) {
        if (lender.span_id == row.parent_id && lender.kind == SpanKind::chain && lender.has_input) step = &lender;
        if (lender.parent_id == row.parent_id && lender.kind == SpanKind::llm && lender.span_id != row.span_id)
            return nullptr;
    }
    return step;
}

Result<bool> borrow_from_step(ClickHouse& engine, const std::string& project, const std::vector<Lender>& lenders,
                              SpanPayload& payload) {
    const Lender* step = step_around(lenders, payload.row);
    if (!step) return false;
    std::string input = TRY(text_of_lender(engine, project, payload.row.trace_id, step->span_id, "input"));
    if (read_messages(input, "user").empty()) return false;
    payload.input = std::move(input);
    payload.input_mime = "application/json";
    if (!payload.output.empty()) return true;
    payload.output = TRY(text_of_lender(engine, project, payload.row.trace_id, step->span_id, "output"));
    payload.output_mime = payload.output.starts_with('{') ? "application/json" : "text/plain";
    return true;
}

// The same call in another trace, by its response.
Result<> borrow_elsewhere(ClickHouse& engine, const std::string& project, SpanPayload& payload) {
    constexpr int64_t hour = 3'600'000'000'000;
    ClickHouseQuery query("SELECT input, output FROM hone.spans WHERE project = {project:String} AND start_ns >= "
                          "{from:Int64} AND start_ns < "
                          "{to:Int64} AND kind = 'llm' AND response_id != '' AND response_id IN (SELECT response_id "
                          "FROM hone.spans WHERE "
                          "project = {project:String} AND start_ns = {start:Int64} AND span_id = {span:String}) AND "
                          "(input != '' OR output != "
                          "'') ORDER BY start_ns LIMIT 1 FORMAT RowBinary");
    query.project = project;
    query.bind("project", project).bind("span", payload.row.span_id).bind("start", payload.row.start_ns);
    query.bind("from", payload.row.start_ns - hour).bind("to", payload.row.start_ns + hour);
    const std::string bytes = TRY(engine.query(query));
    if (bytes.empty()) return {};
    BinaryReader reader(bytes);
    payload.input = reader.text();
    payload.output = reader.text();
    return {};
}

// Claude Code logs prompts and responses on the span around its model calls: a call's response is the one logged when
// it ended.
Result<bool> borrow_from_claude_code(ClickHouse& engine, const std::string& project, SpanPayload& payload) {
    constexpr int64_t longest_delay = 1'000'000'000;
    if (payload.scope.find("com.anthropic.claude_code") == std::string::npos || payload.row.parent_id.empty())
        return false;
    const auto around = [&](const std::string& column) {
        return text_of_lender(engine, project, payload.row.trace_id, payload.row.parent_id, column);
    };
    const auto events = json::parse(TRY(around("events")));
    if (!events.ok() || !events.value().is_array()) return false;
    const int64_t end_ns = payload.row.start_ns + payload.row.duration_ns;
    int64_t nearest = longest_delay;
    for (const json::Value& event : events.value().get_array()) {
        const json::Value* name = event.is_object() ? event.get_object().if_contains("name") : nullptr;
        const json::Value* time = event.is_object() ? event.get_object().if_contains("time_ns") : nullptr;
        if (!name || *name != "claude_code.assistant_response" || !time || !time->is_int64()) continue;
        const json::Value* attributes = event.get_object().if_contains("attributes");
        const json::Value* response =
            attributes && attributes->is_object() ? attributes->get_object().if_contains("response") : nullptr;
        const int64_t distance = std::abs(time->get_int64() - end_ns);
        if (!response || !response->is_string() || distance >= nearest) continue;
        nearest = distance;
        payload.output = response->get_string();
    }
    if (payload.output.empty()) return false;
    payload.input = TRY(around("input"));
    payload.input_mime = payload.output_mime = "text/plain";
    return true;
}

// A span without texts, with none below it, shows how it failed: its own message, or that of the last failure below.
Result<> borrow_failure(ClickHouse& engine, const std::string& project, const std::vector<Lender>& lenders,
                        SpanPayload& payload) {
    payload.output = payload.row.status == otlp::StatusCode::error ? payload.row.status_message : "";
    const Lender* last = nullptr;
    for (const Lender& lender : lenders)
        if (lender.has_failed && (!last || lender.end_ns > last->end_ns)) last = &lender;
    if (payload.output.empty() && last)
        payload.output = TRY(text_of_lender(engine, project, payload.row.trace_id, last->span_id, "status_message"));
    if (!payload.output.empty()) payload.output_mime = "text/plain";
    return {};
}

// A failed call of which nothing else was sent.
void show_failure(SpanPayload& payload) {
    const SpanRow& row = payload.row;
    if (row.status != otlp::StatusCode::error) return;
    payload.output = row.status_message.empty() ? row.exception_type : row.status_message;
    payload.output_mime = "text/plain";
}

Result<std::vector<Lender>> lenders_of(ClickHouse& engine, const std::string& project, const std::string& trace) {
    const std::string bytes = TRY(engine.query(lender_query(
        project, trace,
        std::string(trace_of_lender) +
            "span_id, parent_id, start_ns, start_ns + duration_ns, kind, "
            "notEmpty(input), notEmpty(output), status = 'error' AND notEmpty(status_message), response_id" +
            std::string(in_trace_of_lender) + " ORDER BY start_ns, span_id LIMIT " + std::to_string(most_lenders) +
            " FORMAT RowBinary")));
    std::vector<Lender> lenders;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        Lender lender;
        lender.span_id = reader.bytes(16);
        lender.parent_id = reader.text();
        lender.start_ns = reader.number<int64_t>();
        lender.end_ns = reader.number<int64_t>();
        lender.kind = static_cast<SpanKind>(reader.number<int8_t>());
        lender.has_input = reader.number<uint8_t>() != 0;
        lender.has_output = reader.number<uint8_t>() != 0;
        lender.has_failed = reader.number<uint8_t>() != 0;
        lender.response_id = reader.text();
        lenders.push_back(std::move(lender));
    }
    return lenders;
}

} // namespace

std::string words_of(std::string_view text, std::string_view role) {
    if (!text.starts_with('{') && !text.starts_with('[')) return std::string(text);
    const auto messages = read_messages(text, role);
    for (auto message = messages.rbegin(); message != messages.rend(); ++message)
        if (message->role == role && !message->content.empty()) return message->content;
    return std::string(text);
}

void add_borrowed_messages(const SpanPayload& payload, Conversation& conversation) {
    if (payload.row.kind != SpanKind::llm) return;
    if (conversation.input.empty()) conversation.input = read_messages(payload.input, "user");
    if (conversation.output.empty()) conversation.output = read_messages(payload.output, "assistant");
}

Result<> borrow_texts(ClickHouse& engine, const std::string& project, SpanPayload& payload) {
    const SpanKind kind = payload.row.kind;
    const bool is_frame = kind == SpanKind::agent || kind == SpanKind::chain || kind == SpanKind::unknown;
    if ((!is_frame && kind != SpanKind::llm) || !payload.input.empty()) return {};
    if (!payload.output.empty() && (kind != SpanKind::llm || payload.row.parent_id.empty())) return {};
    const std::string& trace = payload.row.trace_id;
    std::vector<Lender> lenders = TRY(lenders_of(engine, project, trace));
    if (kind == SpanKind::llm) {
        const Lender* lender = payload.output.empty() ? same_call(lenders, payload.row) : nullptr;
        if (!lender) {
            if (TRY(borrow_from_step(engine, project, lenders, payload)) || !payload.output.empty()) return {};
            if (TRY(borrow_from_claude_code(engine, project, payload))) return {};
            TRY(borrow_elsewhere(engine, project, payload));
            if (payload.input.empty() && payload.output.empty()) show_failure(payload);
            return {};
        }
        payload.input = TRY(text_of_lender(engine, project, trace, lender->span_id, "input"));
        payload.output = TRY(text_of_lender(engine, project, trace, lender->span_id, "output"));
        return {};
    }
    lenders = below(std::move(lenders), payload.row.span_id);
    const Lender* first = nullptr;
    const Lender* last = nullptr;
    const auto is_call = [](const Lender& lender) { return lender.kind == SpanKind::llm; };
    for (const Lender& lender : lenders) {
        if (lender.has_input && (!first || (is_call(lender) && !is_call(*first)))) first = &lender;
        if (lender.has_output &&
            (!last || std::tuple(is_call(lender), lender.end_ns) > std::tuple(is_call(*last), last->end_ns)))
            last = &lender;
    }
    if (!first && !last) return borrow_failure(engine, project, lenders, payload);
    if (first) payload.input = words_of(TRY(text_of_lender(engine, project, trace, first->span_id, "input")), "user");
    if (last)
        payload.output = words_of(TRY(text_of_lender(engine, project, trace, last->span_id, "output")), "assistant");
    if (first) payload.input_mime = "text/plain";
    if (last) payload.output_mime = "text/plain";
    return {};
}

} // namespace hone::telemetry
