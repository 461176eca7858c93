#include "managed/event.h"

#include "base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace hone::managed {

namespace {

constexpr size_t longest_id = 200;

struct NamedKind {
    std::string_view type;
    EventKind kind;
};
constexpr std::array named_kinds{
    NamedKind{"user.message", EventKind::user_message},
    NamedKind{"user.custom_tool_result", EventKind::custom_tool_result},
    NamedKind{"agent.message", EventKind::message},
    NamedKind{"agent.thinking", EventKind::thinking},
    NamedKind{"agent.tool_use", EventKind::tool_use},
    NamedKind{"agent.mcp_tool_use", EventKind::tool_use},
    NamedKind{"agent.tool_result", EventKind::tool_result},
    NamedKind{"agent.mcp_tool_result", EventKind::tool_result},
    NamedKind{"agent.custom_tool_use", EventKind::custom_tool_use},
    NamedKind{"session.status_running", EventKind::running},
    NamedKind{"session.status_idle", EventKind::idle},
    NamedKind{"session.status_rescheduled", EventKind::rescheduled},
    NamedKind{"session.status_terminated", EventKind::terminated},
    NamedKind{"session.deleted", EventKind::deleted},
    NamedKind{"session.error", EventKind::error},
    NamedKind{"session.usage", EventKind::usage},
    NamedKind{"span.model_request_end", EventKind::model_request_end},
    NamedKind{"event_start", EventKind::preview},
    NamedKind{"event_delta", EventKind::preview},
};

// In the history, without an effect here.
constexpr std::array<std::string_view, 25> other_types{
    "user.interrupt",
    "user.tool_confirmation",
    "user.tool_result",
    "user.define_outcome",
    "system.message",
    "agent.thread_message_received",
    "agent.thread_message_sent",
    "agent.thread_context_compacted",
    "session.thread_created",
    "session.thread_status_running",
    "session.thread_status_idle",
    "session.thread_status_rescheduled",
    "session.thread_status_terminated",
    "session.updated",
    "span.model_request_start",
    "span.outcome_evaluation_start",
    "span.outcome_evaluation_ongoing",
    "span.outcome_evaluation_end",
    "workflow_run.created",
    "workflow_run.status_running",
    "workflow_run.status_idle",
    "workflow_run.status_ended",
    "workflow_run.error",
    "workflow_run.phase_started",
    "workflow_run.phase_ended",
};

void read_type(Event& event) {
    const auto found = std::ranges::find(named_kinds, event.type, &NamedKind::type);
    event.is_known = found != named_kinds.end() || std::ranges::find(other_types, event.type) != other_types.end();
    if (found != named_kinds.end())
        event.kind = found->kind;
    else
        event.kind = event.type.starts_with("user.") ? EventKind::other_user : EventKind::other;
}

Stop stop_of(std::string_view reason) {
    if (reason == "end_turn") return Stop::end_turn;
    if (reason == "requires_action") return Stop::requires_action;
    if (reason == "retries_exhausted") return Stop::retries_exhausted;
    if (reason == "budget_reached") return Stop::budget_reached;
    if (reason == "refusal") return Stop::refusal;
    return Stop::unknown;
}

Retry retry_of(std::string_view status) {
    if (status == "retrying") return Retry::retrying;
    if (status == "exhausted") return Retry::exhausted;
    if (status == "terminal") return Retry::terminal;
    return Retry::unknown;
}

// A count that is absent, negative or beyond 2^53 is 0: no bill has it, and sums cannot overflow.
int64_t count_at(const json::Value& value, std::initializer_list<std::string_view> keys) {
    constexpr int64_t largest = int64_t{1} << 53;
    const json::Value* found = member(value, keys);
    if (found == nullptr || !found->is_int64()) return 0;
    return found->get_int64() < 0 || found->get_int64() > largest ? 0 : found->get_int64();
}

// The texts of a list of content blocks; what is no text is named by its type.
std::string text_of_blocks(const json::Value* content) {
    std::string text;
    if (content == nullptr || !content->is_array()) return text;
    for (const json::Value& block : content->get_array()) {
        const std::string type = text_at(block, {"type"});
        if (!text.empty()) text += '\n';
        text += type == "text" ? text_at(block, {"text"}) : "[" + type + "]";
    }
    return text;
}

void read_tool(const json::Value& value, Event& event) {
    event.tool = text_at(value, {"name"});
    if (const std::string server = text_at(value, {"mcp_server_name"}); !server.empty())
        event.tool = server + "." + event.tool;
    const json::Value* input = member(value, {"input"});
    event.input = input == nullptr ? "{}" : json::print(*input);
    // Only `allow` and nothing at all need no decision: another value is one that is not known yet.
    const std::string permission = text_at(value, {"evaluated_permission"});
    event.needs_confirmation = !permission.empty() && permission != "allow" && permission != "deny";
}

void read_result(const json::Value& value, Event& event) {
    for (const std::string_view key : {"tool_use_id", "mcp_tool_use_id", "custom_tool_use_id"})
        if (event.call_id.empty()) event.call_id = text_at(value, {key});
    event.failed = true_at(value, {"is_error"});
    event.text = text_of_blocks(member(value, {"content"}));
}

void read_idle(const json::Value& value, Event& event) {
    event.stop_reason = text_at(value, {"stop_reason", "type"});
    event.stop = stop_of(event.stop_reason);
    event.text = text_at(value, {"stop_details", "explanation"});
    const json::Value* ids = member(value, {"stop_reason", "event_ids"});
    if (ids == nullptr || !ids->is_array()) return;
    for (const json::Value& id : ids->get_array())
        if (id.is_string()) event.waits_for.emplace_back(id.get_string());
}

void read_error(const json::Value& value, Event& event) {
    event.error_type = text_at(value, {"error", "type"});
    event.text = text_at(value, {"error", "message"});
    event.retry = retry_of(text_at(value, {"error", "retry_status", "type"}));
}

void read_usage(const json::Value& value, Event& event) {
    if (const auto cents = parse_integer(text_at(value, {"usage", "list_cost", "amount"})); cents.ok())
        event.list_cost_cents = std::max<int64_t>(0, cents.value());
    const json::Value* seconds = member(value, {"usage", "active_seconds"});
    if (seconds == nullptr || !seconds->is_number()) return;
    const double read = seconds->to_number<double>();
    event.active_seconds = std::isfinite(read) && read >= 0 ? read : 0;
}

void read_model_usage(const json::Value& value, Event& event) {
    event.usage = {count_at(value, {"model_usage", "input_tokens"}), count_at(value, {"model_usage", "output_tokens"}),
                   count_at(value, {"model_usage", "cache_read_input_tokens"}),
                   count_at(value, {"model_usage", "cache_creation_input_tokens"})};
    event.failed = true_at(value, {"is_error"});
}

void read_kind(const json::Value& value, Event& event) {
    switch (event.kind) {
    case EventKind::user_message:
    case EventKind::message:
        event.text = text_of_blocks(member(value, {"content"}));
        break;
    case EventKind::tool_use:
    case EventKind::custom_tool_use:
        read_tool(value, event);
        break;
    case EventKind::tool_result:
    case EventKind::custom_tool_result:
        read_result(value, event);
        break;
    case EventKind::idle:
        read_idle(value, event);
        break;
    case EventKind::error:
        read_error(value, event);
        break;
    case EventKind::usage:
        read_usage(value, event);
        break;
    case EventKind::model_request_end:
        read_model_usage(value, event);
        break;
    case EventKind::other_user:
        event.call_id = text_at(value, {"tool_use_id"});
        break;
    case EventKind::thinking:
    case EventKind::running:
    case EventKind::rescheduled:
    case EventKind::terminated:
    case EventKind::deleted:
    case EventKind::preview:
    case EventKind::other:
        break;
    }
}

// The code of an escape \\uXXXX that begins here; none: another text.
std::optional<unsigned> escape_at(std::string_view text, size_t at) {
    if (text.substr(at, 2) != "\\u" || at + 6 > text.size()) return std::nullopt;
    unsigned code = 0;
    const auto [end, error] = std::from_chars(text.data() + at + 2, text.data() + at + 6, code, 16);
    if (error != std::errc() || end != text.data() + at + 6) return std::nullopt;
    return code;
}

// Escapes of half a surrogate pair become U+FFFD.
std::string without_half_pairs(std::string_view text) {
    const auto is_first = [](unsigned code) { return code >= 0xD800 && code < 0xDC00; };
    const auto is_second = [](unsigned code) { return code >= 0xDC00 && code < 0xE000; };
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        size_t length = text[at] == '\\' ? std::min<size_t>(2, text.size() - at) : 1; // with what it escapes
        std::string_view kept = text.substr(at, length);
        if (const auto code = escape_at(text, at)) {
            const auto next = escape_at(text, at + 6);
            const bool is_pair = is_first(*code) && next && is_second(*next);
            length = is_pair ? 12 : 6;
            kept = !is_pair && (is_first(*code) || is_second(*code)) ? "\\ufffd" : text.substr(at, length);
        }
        out += kept;
        at += length;
    }
    return out;
}

} // namespace

Event event_of(const json::Value& value) {
    Event event;
    event.type = text_at(value, {"type"});
    event.id = text_at(value, {"id"});
    if (event.id.size() > longest_id || !is_printable_ascii(event.id)) event.id.clear();
    read_type(event);
    event.processed_at = text_at(value, {"processed_at"});
    event.is_queued = event.processed_at.empty() && event.type.starts_with("user.");
    if (!parse_time(event.processed_at).ok()) event.processed_at.clear();
    read_kind(value, event);
    return event;
}

Result<Event> read_event(std::string_view text) {
    const json::Value value = TRY(parse_response(text));
    return event_of(value);
}

Result<json::Value> parse_response(std::string_view text) {
    auto parsed = json::parse(text);
    if (parsed.ok()) return parsed;
    parsed = json::parse(without_half_pairs(repair_utf8(text)));
    if (!parsed.ok()) return invalid("could not read a response of Managed Agents: " + parsed.error().message);
    return parsed;
}

} // namespace hone::managed
