#include "managed/progress.h"

#include "base/text.h"

#include <algorithm>

namespace hone::managed {

namespace {

constexpr size_t longest_reason = 500;
constexpr size_t most_open_calls = 1000; // more in one turn are not kept; the session then waits, and times out

// Text of the provider or of the model, bounded and in one line.
std::string reason_of(std::string_view what, std::string_view detail) {
    std::string reason(what);
    if (!detail.empty()) reason += ": " + std::string(detail);
    reason = truncate_utf8(reason, longest_reason);
    std::ranges::replace_if(
        reason, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    return reason;
}

void enter(Progress& progress, Phase phase, std::string reason = {}) {
    if (is_over(progress.phase)) return; // nothing leaves an end
    progress.phase = phase;
    progress.reason = std::move(reason);
}

void become_idle(Progress& progress, const Event& event) {
    if (event.stop == Stop::requires_action) {
        progress.waits_for = event.waits_for;
        return;
    }
    progress.is_settled = true;
    progress.waits_for.clear();
    progress.open_calls.clear(); // an interrupted call gets no result
    switch (event.stop) {
    case Stop::end_turn:
        return enter(progress, Phase::waiting);
    case Stop::budget_reached:
        return enter(progress, Phase::budget_stopped, "the budget of the session is used up");
    case Stop::refusal:
        return enter(progress, Phase::turn_failed, reason_of("the model refused", event.text));
    case Stop::retries_exhausted: {
        // The error before it states the cause.
        const std::string cause = progress.reason;
        return enter(progress, Phase::turn_failed, cause.empty() ? "the provider stopped after its retries" : cause);
    }
    case Stop::unknown:
        return enter(progress, Phase::turn_failed, reason_of("the turn stopped", event.stop_reason));
    case Stop::requires_action:
        break;
    }
}

void meet_error(Progress& progress, const Event& event) {
    const std::string reason = reason_of(event.error_type, event.text);
    // The session continues without its repository; what it would do then is not what was requested.
    if (event.error_type.starts_with("repository_")) return enter(progress, Phase::preparation_failed, reason);
    if (!is_over(progress.phase)) progress.reason = reason;
}

void close_call(Progress& progress, const std::string& id) {
    std::erase_if(progress.open_calls, [&](const ToolCall& call) { return call.id == id; });
    std::erase(progress.waits_for, id);
}

void open_call(Progress& progress, const Event& event) {
    if (progress.open_calls.size() >= most_open_calls) return;
    const bool is_custom = event.kind == EventKind::custom_tool_use;
    if (is_custom || event.needs_confirmation)
        progress.open_calls.push_back({event.id, event.tool, event.input, is_custom});
}

} // namespace

void apply(Progress& progress, const Event& event) {
    ++progress.sequence;
    // Texts of one form compare as times do.
    if (const auto time = parse_time(event.processed_at); time.ok()) {
        std::string text = to_text(time.value());
        if (text > progress.cursor) progress.cursor = std::move(text);
    }
    switch (event.kind) {
    case EventKind::user_message:
        ++progress.messages;
        progress.is_settled = false;
        break;
    case EventKind::running:
        enter(progress, Phase::working);
        break;
    case EventKind::idle:
        become_idle(progress, event);
        break;
    case EventKind::terminated:
        enter(progress, Phase::failed, progress.reason.empty() ? "the session terminated" : progress.reason);
        break;
    case EventKind::deleted:
        enter(progress, Phase::lost, "the session was deleted at the provider");
        break;
    case EventKind::error:
        meet_error(progress, event);
        break;
    case EventKind::custom_tool_use:
    case EventKind::tool_use:
        open_call(progress, event);
        break;
    case EventKind::custom_tool_result:
    case EventKind::tool_result:
    case EventKind::other_user:
        close_call(progress, event.call_id);
        break;
    case EventKind::model_request_end:
        progress.usage.input += event.usage.input;
        progress.usage.output += event.usage.output;
        progress.usage.cache_read += event.usage.cache_read;
        progress.usage.cache_write += event.usage.cache_write;
        ++progress.model_requests;
        break;
    case EventKind::usage: // totals, so the latest one is right
        progress.list_cost_cents = std::max(progress.list_cost_cents, event.list_cost_cents);
        progress.active_seconds = std::max(progress.active_seconds, event.active_seconds);
        break;
    case EventKind::message:
    case EventKind::thinking:
    case EventKind::rescheduled:
    case EventKind::preview:
    case EventKind::other:
        break;
    }
}

} // namespace hone::managed
