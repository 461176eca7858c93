#include "evaluate/datasets/chat_turns.h"

#include "base/text.h"
#include "evaluate/content/canonical.h"
#include "telemetry/query/borrowed_texts.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

namespace {

// The text of an input or an output: the last message of the role, the only text of an object, or all of it.
std::string turn_words(const std::string& text, std::string_view role) {
    const std::string words = telemetry::words_of(text, role);
    const auto value = json::parse(words);
    if (!value.ok()) return words;
    if (value.value().is_string()) return std::string(value.value().get_string());
    if (!value.value().is_object() || value.value().get_object().size() != 1) return words;
    const json::Value& only = value.value().get_object().begin()->value();
    return only.is_string() ? std::string(only.get_string()) : words;
}

json::Value chat_message(std::string_view role, const std::string& content) {
    return json::Object{{"role", role}, {"content", content}};
}

bool is_message(const json::Value& value) {
    return value.is_object() && value.get_object().contains("role");
}

bool is_system(const json::Value& message) {
    const json::Value* role = is_message(message) ? message.get_object().if_contains("role") : nullptr;
    return role != nullptr && role->is_string() &&
           (role->get_string() == "system" || role->get_string() == "developer");
}

// What a span has as its input, as an object; a bare list of messages is named as such.
json::Object own_input(const std::string& text) {
    auto value = json::parse(text);
    if (value.ok() && value.value().is_array() && !value.value().get_array().empty() &&
        std::all_of(value.value().get_array().begin(), value.value().get_array().end(), is_message))
        return json::Object{{"messages", std::move(value).value()}};
    return std::move(span_part(text, "input").get_object());
}

// The root, or the span that the trace begins with when its root is not here.
const telemetry::SpanRow* root_of_turn(const std::vector<telemetry::SpanRow>& spans) {
    const telemetry::SpanRow* root = nullptr;
    const auto place = [](const telemetry::SpanRow& span) { return std::pair(!span.parent_id.empty(), span.start_ns); };
    for (const auto& span : spans)
        if (span.kind != telemetry::SpanKind::evaluator && (root == nullptr || place(span) < place(*root)))
            root = &span;
    return root;
}

Error no_turn(const std::string& trace, const std::string& session) {
    return not_found(
        "trace " + std::string(truncate_utf8(trace, 60)) +
        (session.empty() ? " of a chat session" : " of the chat session " + std::string(truncate_utf8(session, 100))));
}

// Reads the turns of one session, each root once.
class SessionReader {
public:
    SessionReader(telemetry::Spans& spans, const access::Project& project, std::string session)
        : m_spans(spans),
          m_project(project),
          m_session(std::move(session)) {}

    // All turns, oldest first.
    Result<> list() {
        telemetry::SpanStore& store = *TRY(m_spans.store());
        telemetry::ListTraces request;
        request.scope.project = m_project.id.text();
        request.chat_session = m_session;
        request.limit = 1000;
        do {
            const telemetry::TracePage page = TRY(store.list_traces(request));
            for (const auto& trace : page.traces) m_turns.push_back(trace.trace_id);
            request.cursor = page.next_cursor;
            if (m_turns.size() > most_turns_read)
                return invalid(fmt::format("the chat session has more than {} turns", most_turns_read));
        } while (!request.cursor.empty());
        std::reverse(m_turns.begin(), m_turns.end());
        if (m_turns.empty()) return not_found("chat session " + std::string(truncate_utf8(m_session, 100)));
        return {};
    }

    const std::vector<std::string>& turns() const { return m_turns; }

    Result<NewExample> example(size_t at) {
        const size_t first = at > most_earlier_turns ? at - most_earlier_turns : 0;
        std::vector<TurnTexts> before;
        size_t bytes = 0;
        for (size_t i = first; i < at; ++i) {
            auto texts = m_texts.find(i);
            if (texts == m_texts.end()) {
                const auto root = TRY(read(m_turns[i]));
                texts = m_texts.emplace(i, root ? texts_of_turn(*root) : TurnTexts{}).first;
            }
            bytes += texts->second.user.size() + texts->second.assistant.size();
            if (bytes > largest_conversation)
                return too_large(
                    fmt::format("the conversation before trace {} has more than {} MiB: an example must be "
                                "smaller",
                                m_turns[at], largest_conversation >> 20));
            before.push_back(texts->second);
        }
        const auto root = TRY(read(m_turns[at]));
        if (!root) return no_turn(m_turns[at], m_session);
        m_texts.emplace(at, texts_of_turn(*root));
        NewExample example;
        example.names_files = false;
        example.input = input_of_turn(before, *root);
        example.output = span_part(root->output, "output");
        json::Object metadata{{"span_name", root->row.name},
                              {"span_kind", name_of(root->row.kind)},
                              {"trace_id", root->row.trace_id},
                              {"session_id", m_session},
                              {"turn", static_cast<int64_t>(at + 1)}};
        if (!root->row.model.empty()) metadata["model"] = root->row.model;
        if (first > 0) metadata["left_out_turns"] = static_cast<int64_t>(first);
        example.metadata = std::move(metadata);
        example.source = ExampleSource{m_project.id.text(), root->row.trace_id, root->row.span_id};
        example.example_id = "turn:" + root->row.trace_id; // the turn is imported once
        return example;
    }

private:
    // Nothing: only evaluators have spans in it.
    Result<std::optional<telemetry::SpanPayload>> read(const std::string& trace) {
        telemetry::SpanStore& store = *TRY(m_spans.store());
        const telemetry::TraceSkeleton skeleton = TRY(store.trace_skeleton(m_project.id.text(), trace, 1000));
        const telemetry::SpanRow* const root = root_of_turn(skeleton.spans);
        if (root == nullptr) return std::optional<telemetry::SpanPayload>();
        return std::optional(TRY(m_spans.payload(m_project.id.text(), trace, root->span_id)));
    }

    telemetry::Spans& m_spans;
    const access::Project& m_project;
    const std::string m_session;
    std::vector<std::string> m_turns;
    std::map<size_t, TurnTexts> m_texts;
};

Result<std::string> session_of_trace(telemetry::Spans& spans, const access::Project& project,
                                     const std::string& trace) {
    telemetry::SpanStore& store = *TRY(spans.store());
    const auto skeleton = TRY(store.trace_skeleton(project.id.text(), trace, 1000));
    for (const auto& span : skeleton.spans)
        if (!span.chat_session.empty()) return span.chat_session;
    return no_turn(trace, "");
}

Result<> add_turns(telemetry::Spans& spans, const access::Project& project, const std::string& session,
                   const std::set<std::string>& wanted, std::vector<NewExample>& examples) {
    SessionReader reader(spans, project, session);
    TRY(reader.list());
    const auto& turns = reader.turns();
    for (const std::string& trace : wanted)
        if (std::find(turns.begin(), turns.end(), trace) == turns.end()) return no_turn(trace, session);
    if (wanted.empty() && turns.size() > most_turns_at_once)
        return invalid(fmt::format("the chat session has {} turns; name up to {} of their traces", turns.size(),
                                   most_turns_at_once));
    for (size_t i = 0; i < turns.size(); ++i)
        if (wanted.empty() || wanted.contains(turns[i])) examples.push_back(TRY(reader.example(i)));
    return {};
}

} // namespace

TurnTexts texts_of_turn(const telemetry::SpanPayload& root) {
    return {turn_words(root.input, "user"), turn_words(root.output, "assistant")};
}

json::Value input_of_turn(const std::vector<TurnTexts>& before, const telemetry::SpanPayload& root) {
    json::Object input = own_input(root.input);
    if (holds_conversation(input)) return input;
    const json::Value* own = input.if_contains("messages");
    const bool has_messages = own != nullptr && own->is_array();
    json::Array later;
    json::Array messages; // instructions of the application come first
    if (has_messages)
        for (const json::Value& message : own->get_array()) (is_system(message) ? messages : later).push_back(message);
    else
        later.push_back(chat_message("user", turn_words(root.input, "user")));
    for (const TurnTexts& turn : before) {
        if (!turn.user.empty()) messages.push_back(chat_message("user", turn.user));
        if (!turn.assistant.empty()) messages.push_back(chat_message("assistant", turn.assistant));
    }
    for (json::Value& message : later) messages.push_back(std::move(message));
    // A value of another kind that the application named `messages` stays.
    input[own != nullptr && !has_messages ? "conversation" : "messages"] = std::move(messages);
    return input;
}

Result<std::vector<NewExample>> examples_of_turns(telemetry::Spans& spans, const access::Project& project,
                                                  const std::string& session,
                                                  const std::vector<std::string>& trace_ids) {
    if (session.empty() && trace_ids.empty()) return invalid("give session, trace_ids, or both");
    if (trace_ids.size() > most_turns_at_once)
        return invalid(fmt::format("trace_ids has at most {} traces", most_turns_at_once));
    std::map<std::string, std::set<std::string>> wanted;
    if (!session.empty()) wanted[session];
    for (const std::string& given : trace_ids) {
        const std::string trace = lowercase_ascii(given);
        const std::string of = session.empty() ? TRY(session_of_trace(spans, project, trace)) : session;
        wanted[of].insert(trace);
    }
    std::vector<NewExample> examples;
    for (const auto& [of, traces] : wanted) TRY(add_turns(spans, project, of, traces, examples));
    return examples;
}

} // namespace hone::evaluate
