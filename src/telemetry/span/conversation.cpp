#include "telemetry/span/conversation.h"

#include "base/text.h"
#include "telemetry/messages/message_json.h"
#include "telemetry/messages/message_media.h"
#include "telemetry/messages/names.h"
#include "telemetry/span/attribute_json.h"
#include "telemetry/span/convention.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace hone::telemetry {

namespace {

constexpr size_t most_entries = 4096;

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
    std::map<size_t, MessageMedia> media; // of the parts
    std::map<size_t, ToolCall> calls;
    std::map<size_t, ToolCall> part_calls; // the same calls among the parts, or the only ones
};
using FlatMessages = std::map<size_t, FlatMessage>;

std::string arguments_text(const otlp::Value& value) {
    std::string text = plain_text(value);
    if (auto decoded = decode_json_string(text)) return *std::move(decoded);
    return text;
}

void set_call_field(ToolCall& call, std::string_view field, const otlp::Value& value) {
    take(field, "tool_call.");
    take(field, "function.");
    if (field == "id")
        call.id = plain_text(value);
    else if (field == "name")
        call.name = plain_text(value);
    else if (field == "arguments")
        call.arguments = arguments_text(value);
}

// OpenInference's "message_content.image.image.url", "message_content.audio.audio.mime_type".
void set_part_media(FlatMessage& flat, size_t index, std::string_view kind, std::string_view field,
                    const otlp::Value& value) {
    MessageMedia& media = flat.media[index];
    media.kind = kind;
    if (field.ends_with(".mime_type")) media.mime = plain_text(value);
    if (field.ends_with(".url") || field.ends_with(".data")) media.source = plain_text(value);
    flat.parts[index] = "[" + media.kind + "]";
}

void set_part_field(FlatMessage& flat, size_t index, std::string_view field, const otlp::Value& value) {
    if (field.starts_with("tool_call."))
        set_call_field(flat.part_calls[index], field, value);
    else if (field == "message_content.text" || field == "message_content.reasoning" || field == "text")
        flat.parts[index] = plain_text(value);
    else if (field.starts_with("message_content.image") ||
             (field == "message_content.type" && value.text() && *value.text() == "image"))
        set_part_media(flat, index, "image", field, value);
    else if (field.starts_with("message_content.audio"))
        set_part_media(flat, index, "audio", field, value);
    else if (field.starts_with("message_content.file"))
        set_part_media(flat, index, "file", field, value);
    else if (field == "message_content.tool_call_response" || field == "tool_result.content")
        flat.parts[index] = plain_text(value);
}

// AutoGen's {"name","content","call_id"} in a message of role "function".
void set_function_result(FlatMessage& flat, const otlp::Value& value) {
    const AttributeJson result(plain_text(value));
    flat.message.content = result.text({"/content"});
    flat.message.tool_call_id = result.text({"/call_id"});
}

// OpenInference ("message.content", "message.contents.0.message_content.text", "message.tool_calls.0.tool_call.id")
// and OpenLLMetry ("content", "tool_calls.0.name") after the index.
void set_message_field(FlatMessage& flat, std::string_view field, const otlp::Value& value) {
    if (value.data.index() == 0) return;
    take(field, "message.");
    size_t index = 0;
    if (field == "role")
        flat.message.role = role_name(plain_text(value));
    else if (field == "content" || field == "prompt.text" || field == "completion.text")
        flat.message.content = plain_text(value);
    else if (field == "tool_call_id")
        flat.message.tool_call_id = plain_text(value);
    else if (field == "function_call_name" || field == "function_call.name")
        flat.calls[0].name = plain_text(value);
    else if (field == "function_call_arguments_json" || field == "function_call.arguments")
        flat.calls[0].arguments = arguments_text(value);
    else if (field == "refusal")
        flat.parts[most_entries] = plain_text(value);
    else if (take(field, "tool_calls.") && take_index(field, index))
        set_call_field(flat.calls[index], field, value);
    else if (take(field, "contents.") && take_index(field, index))
        set_part_field(flat, index, field, value);
    else if (take(field, "content.") && take_index(field, index) && field.empty())
        flat.parts[index] = plain_text(value);
    else if (take(field, "function.") && take_index(field, index))
        set_function_result(flat, value);
}

// Content that parts repeat is taken once.
std::vector<Message> finish(FlatMessages&& flat, std::string_view default_role) {
    std::vector<Message> messages;
    for (auto& [index, entry] : flat) {
        Message& message = entry.message;
        if (message.role.empty()) message.role = default_role;
        std::string joined;
        for (auto& [part_index, part] : entry.parts) {
            if (!joined.empty() && !part.empty()) joined += '\n';
            joined += part;
        }
        if (!joined.empty()) message.content = std::move(joined);
        for (const auto& [part_index, media] : entry.media)
            message.media.push_back(media_from(media.kind, media.mime, media.source));
        if (message.role == "user" && !message.tool_call_id.empty()) message.role = "tool"; // Anthropic's results
        if (message.role == "tool" && message.content.starts_with("{\"type\""))
            if (auto text = unwrap_tool_result(message.content)) message.content = *std::move(text);
        for (auto& [call_index, call] : entry.calls.empty() ? entry.part_calls : entry.calls)
            if (!call.name.empty() || !call.arguments.empty()) message.tool_calls.push_back(std::move(call));
        messages.push_back(std::move(message));
    }
    return messages;
}

void set_document_field(Document& document, std::string_view field, const otlp::Value& value) {
    take(field, "document.");
    if (field == "id")
        document.id = plain_text(value);
    else if (field == "content")
        document.content = plain_text(value);
    else if (field == "score")
        document.score = to_real(value);
    else if (field == "metadata")
        document.metadata = plain_text(value);
}

// A tool that LiteLLM and OpenLLMetry spread over keys.
struct FlatTool {
    std::string name, description, parameters;

    std::string json() const {
        std::string text = "{\"name\":" + quote_json(name);
        if (!description.empty()) text += ",\"description\":" + quote_json(description);
        if (parameters.starts_with('{')) text += ",\"parameters\":" + parameters;
        return text + "}";
    }
};

// One pass over the attributes that spread lists over numbered keys.
struct Flattened {
    FlatMessages input, output;
    std::map<size_t, Document> documents, reranked_input;
    std::map<size_t, std::string> tools;
    std::map<size_t, FlatTool> functions;
    std::optional<PromptTemplate> prompt_template;

    explicit Flattened(const otlp::Attributes& attributes) {
        for (const auto& [key, value] : attributes) add(key, value);
        if (documents.empty()) documents = std::move(reranked_input);
        for (const auto& [index, function] : functions) tools.try_emplace(index, function.json());
    }

    void add(std::string_view key, const otlp::Value& value) {
        size_t index = 0;
        if (take(key, "llm.input_messages.") || take(key, "gen_ai.prompt.") || take(key, "llm.prompts.")) {
            if (take_index(key, index)) set_message_field(input[index], key, value);
        } else if (take(key, "llm.output_messages.") || take(key, "gen_ai.completion.") ||
                   take(key, "llm.completions.") || take(key, "llm.choices.")) {
            if (take_index(key, index)) set_message_field(output[index], key, value);
        } else if (take(key, "retrieval.documents.") || take(key, "reranker.output_documents.")) {
            if (take_index(key, index)) set_document_field(documents[index], key, value);
        } else if (take(key, "reranker.input_documents.")) {
            if (take_index(key, index)) set_document_field(reranked_input[index], key, value);
        } else if (take(key, "llm.tools.")) {
            if (take_index(key, index)) set_tool_field(index, key, value);
        } else if (take(key, "llm.request.functions.")) {
            if (take_index(key, index)) set_function_field(functions[index], key, value);
        } else if (take(key, "llm.prompt_template.")) {
            set_template_field(key, value);
        }
    }

    // The whole schema, or its parts.
    void set_tool_field(size_t index, std::string_view field, const otlp::Value& value) {
        take(field, "tool.");
        if (field == "name" || field == "description" || field == "parameters")
            set_function_field(functions[index], field, value);
        else
            tools[index] = plain_text(value);
    }

    static void set_function_field(FlatTool& tool, std::string_view field, const otlp::Value& value) {
        if (field == "name")
            tool.name = plain_text(value);
        else if (field == "description")
            tool.description = plain_text(value);
        else if (field == "parameters")
            tool.parameters = plain_text(value);
    }

    void set_template_field(std::string_view field, const otlp::Value& value) {
        if (!prompt_template) prompt_template.emplace();
        if (field == "template")
            prompt_template->text = plain_text(value);
        else if (field == "variables")
            prompt_template->variables = plain_text(value);
        else if (field == "version")
            prompt_template->version = plain_text(value);
    }
};

// A list of JSON texts is read like the list of their values.
std::string json_list_of(const otlp::Value& value) {
    const auto* list = value.list();
    if (!list) return plain_text(value);
    std::string json = "[";
    for (const otlp::Value& entry : *list) {
        if (json.size() > 1) json += ',';
        const auto* text = entry.text();
        json += text && text->starts_with('{') ? std::string(*text) : text ? quote_json(*text) : plain_text(entry);
    }
    return json + "]";
}

// The first attribute of the field that holds messages; tools that stand beside them are kept too.
std::vector<Message> first_readable(const KnownAttributes& known, Fact fact, std::string_view role,
                                    std::vector<std::string>* tools) {
    std::vector<Message> messages;
    known.any(fact, [&](std::string_view, const otlp::Value& value) {
        Chat chat = read_chat(plain_text(value), role);
        if (tools && tools->empty()) *tools = std::move(chat.tools);
        messages = std::move(chat.messages);
        return !messages.empty();
    });
    return messages;
}

size_t count_silent(const std::vector<Message>& messages) {
    return static_cast<size_t>(std::count_if(messages.begin(), messages.end(), is_blank));
}

// Messages spread over keys win, unless some of them show nothing and another attribute shows them whole.
void complete_messages(std::vector<Message>& messages, std::vector<Message> others) {
    const size_t silent = count_silent(messages);
    const bool is_frame_only = std::all_of(messages.begin(), messages.end(), [](const Message& message) {
        return message.role == "system" || is_blank(message);
    });
    if (is_frame_only || (silent > 0 && others.size() >= messages.size() - silent))
        messages = others.empty() ? std::move(messages) : std::move(others);
    messages.erase(std::remove_if(messages.begin(), messages.end(), is_blank), messages.end());
}

std::vector<Message> from_value(const otlp::Value* value, std::string_view default_role) {
    return value ? read_messages(plain_text(*value), default_role) : std::vector<Message>();
}

bool is_json_text(std::string_view text) {
    return text.starts_with('{') || text.starts_with('[');
}

// GenAI's span events of 2024: one event per message, its fields as attributes or as JSON in gen_ai.event.content.
void add_event_message(const otlp::Event& event, Conversation& result) {
    std::string_view role = event.name;
    const bool choice = event.name == "gen_ai.choice";
    if (!choice && !(take(role, "gen_ai.") && role.ends_with(".message"))) return;
    role = choice ? "assistant" : role.substr(0, role.size() - 8);
    auto& target = choice ? result.output : result.input;
    for (const std::string_view key : {"gen_ai.event.content", "message", "content"})
        if (auto messages = from_value(otlp::find(event.attributes, key), role); !messages.empty()) {
            for (Message& message : messages) target.push_back(std::move(message));
            return;
        }
    Message message;
    message.role = role_name(role);
    for (const std::string_view key : {"content", "message"})
        if (const auto* content = otlp::find(event.attributes, key); content && message.content.empty())
            if (std::string text = plain_text(*content); key == "content" || !is_json_text(text))
                message.content = std::move(text);
    if (const auto* id = otlp::find(event.attributes, "id")) message.tool_call_id = plain_text(*id);
    if (const auto* calls = otlp::find(event.attributes, "tool_calls"))
        message.tool_calls = read_tool_calls(plain_text(*calls));
    if (target.size() < most_entries && !is_blank(message)) target.push_back(std::move(message));
}

void add_system_text(const KnownAttributes& known, Conversation& result) {
    std::string text;
    known.any(Fact::system_text, [&](std::string_view, const otlp::Value& value) {
        const std::string raw = plain_text(value);
        const auto messages = read_messages("{\"role\":\"system\",\"parts\":" + raw + "}", "system");
        text = messages.empty() ? (raw.starts_with('[') || raw.starts_with('{') ? std::string() : raw)
                                : messages.front().content;
        if (auto decoded = decode_json_string(text)) text = *std::move(decoded);
        return !text.empty();
    });
    const auto is_system = [](const Message& message) { return message.role == "system"; };
    const auto first = std::find_if(result.input.begin(), result.input.end(), is_system);
    if (text.empty() && first == result.input.end() && !result.input.empty())
        for (const Fact fact : {Fact::parameters, Fact::input})
            if (text.empty())
                if (const auto json = known.text(fact); json.starts_with('{')) text = read_system_text(json);
    if (text.empty()) return;
    if (first != result.input.end() && trim(first->content) == trim(text)) return;
    result.input.insert(result.input.begin(), Message{"system", std::move(text), {}, {}});
}

void add_events(const otlp::Span& span, Conversation& result) {
    for (const otlp::Event& event : span.events) {
        if (event.name == "exception") continue;
        add_event_message(event, result);
        const KnownAttributes known(event.attributes);
        if (result.input.empty()) result.input = first_readable(known, Fact::input_messages, "user", &result.tools);
        if (result.output.empty()) result.output = first_readable(known, Fact::output_messages, "assistant", nullptr);
    }
    for (const otlp::Event& event : span.events)
        if (otlp::find(event.attributes, "gen_ai.system_instructions"))
            add_system_text(KnownAttributes(event.attributes), result);
}

// Vercel's response is in several attributes.
void add_vercel_response(const KnownAttributes& known, Conversation& result) {
    if (!result.output.empty()) return;
    Message message{"assistant", std::string(known.text_of("ai.response.text")), {}, {}};
    if (message.content.empty()) message.content = known.text_of("ai.response.object");
    message.tool_calls = read_tool_calls(known.text_of("ai.response.toolCalls"));
    if (!is_blank(message)) result.output.push_back(std::move(message));
}

// The whole conversation of an agent: what follows the last message of another is the response.
void add_whole_conversation(const KnownAttributes& known, Conversation& result) {
    if (!result.input.empty()) return;
    for (const std::string_view key : {"pydantic_ai.all_messages", "all_messages_events"}) {
        auto messages = from_value(known.get(key), "user");
        if (messages.empty()) continue;
        if (messages.back().role == "assistant" && messages.size() > 1) {
            if (result.output.empty()) result.output.push_back(messages.back());
            messages.pop_back();
        }
        result.input = std::move(messages);
        return;
    }
}

// A message under the name of a tool that was called is that tool's result.
void name_tool_roles(Conversation& result) {
    std::set<std::string, std::less<>> called;
    for (const auto* messages : {&result.input, &result.output})
        for (const Message& message : *messages)
            for (const ToolCall& call : message.tool_calls) called.insert(call.name);
    if (called.empty()) return;
    for (auto* messages : {&result.input, &result.output})
        for (Message& message : *messages)
            if (called.contains(message.role)) message.role = "tool";
}

// Where only one side has messages, plain text on the other side is one.
void add_plain_side(const KnownAttributes& known, Conversation& result) {
    const auto plain_side = [&](Fact fact) -> std::string {
        const std::string_view text = known.text(fact);
        if (text.empty() || text.front() == '{' || text.front() == '[') return {};
        if (auto decoded = decode_json_string(text)) return *std::move(decoded);
        return std::string(text);
    };
    if (!result.input.empty() && result.output.empty())
        if (std::string text = plain_side(Fact::output); !text.empty())
            result.output.push_back(Message{"assistant", std::move(text), {}, {}});
    if (!result.output.empty() && result.input.empty())
        if (std::string text = plain_side(Fact::input); !text.empty())
            result.input.push_back(Message{"user", std::move(text), {}, {}});
}

void add_tools(const KnownAttributes& known, Conversation& result) {
    known.any(Fact::tools, [&](std::string_view, const otlp::Value& value) {
        if (auto tools = read_tool_definitions(json_list_of(value)); !tools.empty()) result.tools = std::move(tools);
        return !result.tools.empty();
    });
}

// By the first attribute that states one.
SpanKind kind_of(const KnownAttributes& known) {
    SpanKind kind = SpanKind::unknown;
    known.any(Fact::kind, [&](std::string_view, const otlp::Value& value) {
        if (const auto* text = value.text()) kind = kind_of_name(without_quotes(*text));
        return kind != SpanKind::unknown;
    });
    return kind == SpanKind::unknown && known.get("ai.toolCall.name") ? SpanKind::tool : kind;
}

} // namespace

namespace {

// A graph returns its whole state: what was there before is no part of the response.
void leave_out_repeated_input(Conversation& conversation) {
    const auto is_same = [](const Message& a, const Message& b) {
        return a.role == b.role && a.content == b.content && a.tool_call_id == b.tool_call_id &&
               a.tool_calls.size() == b.tool_calls.size();
    };
    const auto is_system = [](const Message& message) { return message.role == "system"; };
    const std::vector<Message>& input = conversation.input;
    std::vector<Message>& output = conversation.output;
    // The system text may be in the state only.
    const auto start = input.empty() || is_system(input.front())
                           ? output.begin()
                           : std::find_if_not(output.begin(), output.end(), is_system);
    if (!input.empty() && output.end() - start > static_cast<ptrdiff_t>(input.size()) &&
        std::equal(input.begin(), input.end(), start, is_same))
        output.erase(output.begin(), start + static_cast<ptrdiff_t>(input.size()));
}

} // namespace

Conversation derive_conversation(const otlp::Span& span) {
    Conversation result;
    otlp::Batch texts;
    const KnownAttributes known(span.attributes, texts);
    Flattened flat(span.attributes);
    for (auto& [index, document] : flat.documents) result.documents.push_back(std::move(document));
    for (auto& [index, tool] : flat.tools) result.tools.push_back(std::move(tool));
    result.prompt_template = std::move(flat.prompt_template);
    if (result.tools.empty()) add_tools(known, result);
    result.input = finish(std::move(flat.input), "user");
    result.output = finish(std::move(flat.output), "assistant");
    const SpanKind kind = kind_of(known);
    if (kind == SpanKind::retriever || kind == SpanKind::reranker) { // its texts are a query and documents
        if (result.documents.empty()) result.documents = read_documents(known.text(Fact::output));
        return result;
    }
    if (kind == SpanKind::tool) { // arguments and a result; a tool may well return messages, which are no conversation
        complete_messages(result.input, {});
        complete_messages(result.output, {});
        return result;
    }

    const auto is_system = [](const Message& message) { return message.role == "system"; };
    if (count_silent(result.input) > 0 || std::all_of(result.input.begin(), result.input.end(), is_system)) {
        auto others =
            first_readable(known, Fact::input_messages, "user", result.tools.empty() ? &result.tools : nullptr);
        if (others.empty())
            others = first_readable(known, Fact::input, "user", result.tools.empty() ? &result.tools : nullptr);
        complete_messages(result.input, std::move(others));
    }
    add_vercel_response(known, result);
    if (result.output.empty() || count_silent(result.output) > 0) {
        auto others = first_readable(known, Fact::output_messages, "assistant", nullptr);
        if (others.empty()) others = first_readable(known, Fact::output, "assistant", nullptr);
        complete_messages(result.output, std::move(others));
    }
    if (result.input.empty() || result.output.empty()) add_events(span, result);
    add_whole_conversation(known, result);
    add_plain_side(known, result);
    add_system_text(known, result);
    name_tool_roles(result);
    leave_out_repeated_input(result);
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
