#include "evaluate/runner/replay_task.h"

#include "evaluate/content/canonical.h"
#include "evaluate/datasets/dataset_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

namespace {

constexpr size_t most_tool_calls = 1000;
constexpr size_t largest_tool_results = 4 << 20;

// JSON as it is, anything else as a text.
json::Value recorded_value(const std::string& text) {
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(text);
}

bool is_tool(const telemetry::SpanRow& span) {
    return span.kind == telemetry::SpanKind::tool;
}

std::string tool_name(const telemetry::SpanRow& span) {
    return span.tool_name.empty() ? span.name : span.tool_name;
}

std::string recorded_failure(const telemetry::SpanPayload& span) {
    if (!span.row.status_message.empty()) return span.row.status_message;
    return span.exception_message.empty() ? "it failed without a message" : span.exception_message;
}

} // namespace

std::vector<telemetry::SpanRow> tool_calls_below(const std::vector<telemetry::SpanRow>& trace,
                                                 const std::string& span_id) {
    std::map<std::string, const telemetry::SpanRow*> by_id;
    for (const auto& span : trace) by_id.emplace(span.span_id, &span);
    std::vector<telemetry::SpanRow> calls;
    for (const auto& span : trace) {
        if (!is_tool(span) || span.span_id == span_id) continue;
        std::set<std::string> visited; // a trace may claim that a span is below itself
        const telemetry::SpanRow* above = &span;
        while (above->span_id != span_id && visited.insert(above->span_id).second) {
            const auto parent = by_id.find(above->parent_id);
            if (parent == by_id.end() || (is_tool(*parent->second) && parent->first != span_id)) break;
            above = parent->second;
        }
        if (above->span_id == span_id) calls.push_back(span);
    }
    return calls;
}

Result<> Recordings::prepare() const {
    if (m_spans == nullptr) return unavailable("this server stores no spans, so nothing can be replayed");
    return m_spans->wait_until_loaded();
}

Result<Recording> Recordings::find(const ExperimentTask& task, const Example& example) const {
    if (m_spans == nullptr) return unavailable("this server stores no spans, so nothing can be replayed");
    Recording recording;
    Replay& replay = recording.replay;
    replay.example_id = example.id;
    replay.source_project = example.source_project;
    replay.source_trace = example.source_trace;
    replay.source_span = example.source_span;
    if (!example.source_project || !example.source_trace || !example.source_span) {
        replay.reason = "the example has no recorded trace: it was not made from a span";
        return recording;
    }
    if (std::ranges::find(task.source_projects, *example.source_project) == task.source_projects.end()) {
        replay.reason = "its project is gone, or the person who started the experiment cannot read it";
        return recording;
    }
    const auto read = read_trace(task, example, recording);
    if (read.ok()) return recording;
    switch (read.error().code) {
    case Code::not_found:
        replay.reason = "the trace is gone: " + read.error().message;
        return recording;
    case Code::invalid:
    case Code::too_large:
        replay.reason = "the trace cannot be read: " + read.error().message;
        return recording;
    default:
        return read.error();
    }
}

Result<> Recordings::read_trace(const ExperimentTask& task, const Example& example, Recording& recording) const {
    const std::string& project = *example.source_project;
    const telemetry::SpanPayload span = TRY(m_spans->payload(project, *example.source_trace, *example.source_span));
    recording.trace_id = span.row.trace_id;
    recording.span_id = span.row.span_id;
    recording.input = span_part(span.input, "input");
    recording.output = span_part(span.output, "output");
    recording.started_at = from_ns(span.row.start_ns);
    recording.ended_at = from_ns(span.row.start_ns + span.row.duration_ns);
    if (span.row.status == otlp::StatusCode::error)
        recording.error = "the recorded run failed: " + recorded_failure(span);
    else if (span.output.empty())
        recording.error = "the span has no recorded output";
    remove_credentials(recording.input);
    remove_credentials(recording.output);
    const TaskDefinition& definition = task.task;
    const bool runs_again = !definition.command.value.empty() || !definition.url.value.empty();
    if (!runs_again) return {};
    std::string& reason = recording.replay.reason;
    if (span.input.empty()) {
        reason = "the span has no recorded input";
        return {};
    }
    if (TRY(continues_a_chat(project, span)) && !holds_conversation(recording.input)) {
        // An example of a turn has the conversation that the span lacks.
        json::Value own = stored_json(example.input);
        if (!holds_conversation(own)) {
            reason = "it continues the chat session " + std::string(truncate_utf8(span.row.chat_session, 100)) +
                     ", and the conversation before it is not in its input";
            return {};
        }
        recording.input = std::move(own);
    }
    telemetry::SpanStore& store = *TRY(m_spans->store());
    const auto calls = tool_calls_below(TRY(store.trace_skeleton(project, span.row.trace_id)).spans, span.row.span_id);
    if (calls.empty()) return {};
    if (!definition.replay_tools && !definition.url.value.empty()) {
        reason = fmt::format("it called tools ({}), which could have effects again: set replay_tools to recorded, or "
                             "to live to call them",
                             truncate_utf8(tool_name(calls.front()), 100));
        return {};
    }
    recording.replay.tools = definition.replay_tools.value_or(ReplayTools::live);
    if (recording.replay.tools == ReplayTools::live) return {};
    return read_tools(project, calls, recording);
}

Result<bool> Recordings::continues_a_chat(const std::string& project, const telemetry::SpanPayload& span) const {
    // The input of a model call is the whole conversation.
    if (span.row.chat_session.empty() || span.row.kind == telemetry::SpanKind::llm) return false;
    telemetry::ListTraces earlier;
    earlier.scope.project = project;
    earlier.scope.to_ns = span.row.start_ns;
    earlier.chat_session = span.row.chat_session;
    earlier.limit = 2;
    telemetry::SpanStore& store = *TRY(m_spans->store());
    for (const auto& trace : TRY(store.list_traces(earlier)).traces)
        if (trace.trace_id != span.row.trace_id) return true;
    return false;
}

Result<> Recordings::read_tools(const std::string& project, std::span<const telemetry::SpanRow> calls,
                                Recording& recording) const {
    if (calls.size() > most_tool_calls) {
        recording.replay.reason =
            fmt::format("it called tools {} times; at most {} results are replayed", calls.size(), most_tool_calls);
        return {};
    }
    telemetry::ListSpans request;
    request.scope.project = project;
    request.trace_id = recording.trace_id;
    request.limit = most_tool_calls;
    for (const auto& call : calls) request.span_ids.push_back(call.span_id);
    telemetry::SpanStore& store = *TRY(m_spans->store());
    std::map<std::string, telemetry::SpanPayload> found;
    for (auto& span : TRY(store.list_payloads(request)).spans) found.emplace(span.row.span_id, std::move(span));
    size_t bytes = 0;
    for (const auto& call : calls) {
        const auto span = found.find(call.span_id);
        const std::string name = tool_name(call);
        const bool failed = call.status == otlp::StatusCode::error;
        if (span == found.end() || (span->second.output.empty() && !failed)) {
            recording.replay.reason = fmt::format("no result of the tool {} is recorded", truncate_utf8(name, 100));
            return {};
        }
        bytes += span->second.input.size() + span->second.output.size();
        json::Object stub{{"name", name}};
        stub["arguments"] = recorded_value(span->second.input);
        if (failed)
            stub["error"] = recorded_failure(span->second);
        else
            stub["result"] = recorded_value(span->second.output);
        recording.tools.push_back(std::move(stub));
    }
    if (bytes > largest_tool_results) {
        recording.replay.reason = "the recorded results of its tools have more than 4 MiB";
        return {};
    }
    json::Value cleaned = std::move(recording.tools);
    remove_credentials(cleaned);
    recording.tools = std::move(cleaned.get_array());
    recording.replay.tool_results = static_cast<int64_t>(recording.tools.size());
    return {};
}

} // namespace hone::evaluate
