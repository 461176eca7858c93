#include "telemetry/span/conversation.h"

#include "otlp/attribute_text.h"
#include "telemetry/span/attribute_keys.h"
#include "telemetry/span/message_json.h"

#include <charconv>
#include <map>

namespace hone::telemetry {

namespace {

constexpr size_t most_entries = 4096;

std::string plain(const otlp::Value& value) {
    if (const auto* text = value.text()) return std::string(*text);
    std::string out;
    if (value.data.index() != 0) otlp::append_value_text(out, value);
    return out;
}

// "3.message.content" -> 3 and "message.content". False when it does not start with a small number.
bool take_index(std::string_view& rest, size_t& index) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    if (error != std::errc() || index >= most_entries) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()));
    if (rest.starts_with('.')) rest.remove_prefix(1);
    return true;
}

bool take(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

// Entries arrive in any order and with gaps; a map puts them right.
struct FlatMessage {
    Message message;
    std::map<size_t, std::string> parts;
    std::map<size_t, ToolCall> calls;
};
using FlatMessages = std::map<size_t, FlatMessage>;

void set_call_field(ToolCall& call, std::string_view field, const otlp::Value& value) {
    take(field, "tool_call.");
    take(field, "function.");
    if (field == "id")
        call.id = plain(value);
    else if (field == "name")
        call.name = plain(value);
    else if (field == "arguments")
        call.arguments = plain(value);
}

// OpenInference ("message.content", "message.contents.0.message_content.text", "message.tool_calls.0.tool_call.id")
// and OpenLLMetry ("content", "tool_calls.0.name") after the index.
void set_message_field(FlatMessage& flat, std::string_view field, const otlp::Value& value) {
    take(field, "message.");
    size_t index = 0;
    if (field == "role")
        flat.message.role = plain(value);
    else if (field == "content")
        flat.message.content = plain(value);
    else if (field == "tool_call_id")
        flat.message.tool_call_id = plain(value);
    else if (field == "function_call_name")
        flat.calls[0].name = plain(value);
    else if (field == "function_call_arguments_json")
        flat.calls[0].arguments = plain(value);
    else if (take(field, "tool_calls.") && take_index(field, index))
        set_call_field(flat.calls[index], field, value);
    else if (take(field, "contents.") && take_index(field, index)) {
        if (field == "message_content.text")
            flat.parts[index] = plain(value);
        else if (field.starts_with("message_content.image"))
            flat.parts[index] = "[image]";
        else if (field.starts_with("message_content.audio"))
            flat.parts[index] = "[audio]";
    }
}

std::vector<Message> finish(FlatMessages&& flat, std::string_view default_role) {
    std::vector<Message> messages;
    for (auto& [index, entry] : flat) {
        Message& message = entry.message;
        if (message.role.empty()) message.role = default_role;
        for (auto& [part_index, part] : entry.parts) {
            if (!message.content.empty()) message.content += '\n';
            message.content += part;
        }
        for (auto& [call_index, call] : entry.calls) message.tool_calls.push_back(std::move(call));
        messages.push_back(std::move(message));
    }
    return messages;
}

void set_document_field(Document& document, std::string_view field, const otlp::Value& value) {
    take(field, "document.");
    if (field == "id")
        document.id = plain(value);
    else if (field == "content")
        document.content = plain(value);
    else if (field == "score")
        document.score = to_real(value);
    else if (field == "metadata")
        document.metadata = plain(value);
}

// One pass over the attributes that spread lists over numbered keys.
struct Flattened {
    FlatMessages input, output;
    std::map<size_t, Document> documents, reranked_input;
    std::map<size_t, std::string> tools;
    std::optional<PromptTemplate> prompt_template;

    explicit Flattened(const otlp::Attributes& attributes) {
        for (const auto& [key, value] : attributes) add(key, value);
        if (documents.empty()) documents = std::move(reranked_input);
    }

    void add(std::string_view key, const otlp::Value& value) {
        size_t index = 0;
        if (take(key, "llm.input_messages.") || take(key, "gen_ai.prompt.") || take(key, "llm.prompts.")) {
            if (take_index(key, index)) set_message_field(input[index], key, value);
        } else if (take(key, "llm.output_messages.") || take(key, "gen_ai.completion.") ||
                   take(key, "llm.completions.")) {
            if (take_index(key, index)) set_message_field(output[index], key, value);
        } else if (take(key, "retrieval.documents.") || take(key, "reranker.output_documents.")) {
            if (take_index(key, index)) set_document_field(documents[index], key, value);
        } else if (take(key, "reranker.input_documents.")) {
            if (take_index(key, index)) set_document_field(reranked_input[index], key, value);
        } else if (take(key, "llm.tools.")) {
            if (take_index(key, index)) tools[index] = plain(value);
        } else if (take(key, "llm.prompt_template.")) {
            if (!prompt_template) prompt_template.emplace();
            if (key == "template")
                prompt_template->text = plain(value);
            else if (key == "variables")
                prompt_template->variables = plain(value);
            else if (key == "version")
                prompt_template->version = plain(value);
        }
    }
};

std::vector<Message> from_value(const otlp::Value* value, std::string_view default_role) {
    return value ? read_messages(plain(*value), default_role) : std::vector<Message>();
}

std::vector<Message> first_readable(const KnownAttributes& known, std::initializer_list<Key> keys,
                                    std::string_view role) {
    for (const Key key : keys)
        if (auto messages = from_value(known.get(key), role); !messages.empty()) return messages;
    return {};
}

// GenAI's span events of 2024: one event per message, its fields as attributes or as JSON in gen_ai.event.content.
void add_event_message(const otlp::Event& event, Conversation& result) {
    std::string_view role = event.name;
    const bool choice = event.name == "gen_ai.choice";
    if (!choice && !(take(role, "gen_ai.") && role.ends_with(".message"))) return;
    role = choice ? "assistant" : role.substr(0, role.size() - 8);
    auto& target = choice ? result.output : result.input;
    if (auto messages = from_value(otlp::find(event.attributes, "gen_ai.event.content"), role); !messages.empty()) {
        for (Message& message : messages) target.push_back(std::move(message));
        return;
    }
    if (auto messages = from_value(otlp::find(event.attributes, "message"), role); !messages.empty()) {
        for (Message& message : messages) target.push_back(std::move(message));
        return;
    }
    Message message;
    message.role = role;
    if (const auto* content = otlp::find(event.attributes, "content")) message.content = plain(*content);
    if (const auto* id = otlp::find(event.attributes, "id")) message.tool_call_id = plain(*id);
    if (const auto* calls = otlp::find(event.attributes, "tool_calls"))
        message.tool_calls = read_tool_calls(plain(*calls));
    if (target.size() < most_entries) target.push_back(std::move(message));
}

void add_events(const otlp::Span& span, Conversation& result) {
    for (const otlp::Event& event : span.events) {
        add_event_message(event, result);
        const KnownAttributes known(event.attributes);
        if (result.input.empty())
            result.input = first_readable(known, {Key::input_messages, Key::gen_ai_prompt}, "user");
        if (result.output.empty())
            result.output = first_readable(known, {Key::output_messages, Key::gen_ai_completion}, "assistant");
    }
}

Message vercel_response(const KnownAttributes& known) {
    Message message{"assistant", std::string(known.text({Key::ai_response_text, Key::ai_response_object})), {}, {}};
    message.tool_calls = read_tool_calls(known.text({Key::ai_response_tools}));
    return message;
}

} // namespace

Conversation derive_conversation(const otlp::Span& span) {
    Conversation result;
    const KnownAttributes known(span.attributes);
    Flattened flat(span.attributes);
    result.input = finish(std::move(flat.input), "user");
    result.output = finish(std::move(flat.output), "assistant");
    for (auto& [index, document] : flat.documents) result.documents.push_back(std::move(document));
    for (auto& [index, tool] : flat.tools) result.tools.push_back(std::move(tool));
    result.prompt_template = std::move(flat.prompt_template);

    if (result.input.empty())
        result.input = first_readable(known,
                                      {Key::input_messages, Key::ai_prompt_messages, Key::ai_prompt, Key::gen_ai_prompt,
                                       Key::langfuse_input, Key::traceloop_input, Key::input_value},
                                      "user");
    if (result.output.empty() && (known.get(Key::ai_response_text) || known.get(Key::ai_response_tools)))
        result.output.push_back(vercel_response(known));
    if (result.output.empty())
        result.output = first_readable(known,
                                       {Key::output_messages, Key::gen_ai_completion, Key::langfuse_output,
                                        Key::traceloop_output, Key::output_value},
                                       "assistant");
    if (result.input.empty() || result.output.empty()) add_events(span, result);
    if (const auto* system = otlp::find(span.attributes, "gen_ai.system_instructions")) {
        auto messages = read_messages("{\"role\":\"system\",\"parts\":" + plain(*system) + "}", "system");
        result.input.insert(result.input.begin(), messages.begin(), messages.end());
    }
    return result;
}

std::string render(const std::vector<Message>& messages) {
    std::string text;
    for (const Message& message : messages) {
        if (!text.empty()) text += '\n';
        text += message.role + ": " + message.content;
        for (const ToolCall& call : message.tool_calls) text += "\n" + call.name + "(" + call.arguments + ")";
    }
    return text;
}

} // namespace hone::telemetry
