#include "telemetry/messages/message_json.h"

#include "telemetry/messages/json_parts.h"
#include "telemetry/messages/message_media.h"
#include "telemetry/messages/names.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

// Arguments are JSON text; some instrumentations encode that text once more.
std::string arguments_of(const dom::object& call) {
    for (const char* name : {"arguments", "args", "input", "toolInput", "parameters", "server_tool_call"}) {
        const auto value = member(call, name);
        if (!value) continue;
        std::string text = text_or_json(*value);
        if (text.size() >= 2 && text.front() == '"') {
            dom::parser parser;
            std::string_view inner;
            if (parser.parse(text).get(inner) == simdjson::SUCCESS) return std::string(inner);
        }
        return text;
    }
    return {};
}

ToolCall read_tool_call(const dom::object& call) {
    ToolCall result;
    const auto function = object_member(call, "function");
    const dom::object& body = function ? *function : call;
    result.id = first_text(call, {"call_id", "id", "toolCallId", "tool_call_id", "toolUseId", "ref"});
    result.name = first_text(body, {"name", "toolName", "tool_name"});
    result.arguments = arguments_of(body);
    return result;
}

// One entry of a list of messages may hold several: an assistant's calls, the tools' results, the words that follow.
struct Reading {
    std::vector<Message> before; // steps that are complete: words or calls follow their tools' results
    Message main;
    std::vector<Message> results;
    bool ends_with_calls = false; // by its reason to stop: the words come before the calls
};

// Words or a call after the results of tools begin the next step of the same entry.
void begin_step(Reading& reading) {
    if (reading.results.empty()) return;
    Message& main = reading.main;
    if (!is_blank(main))
        reading.before.push_back(
            {main.role, std::move(main.content), {}, std::move(main.tool_calls), std::move(main.media)});
    for (Message& result : reading.results) reading.before.push_back(std::move(result));
    reading.results.clear();
    main.content.clear();
    main.tool_calls.clear();
    main.media.clear();
}

void add_words(Reading& reading, std::string_view words) {
    if (words.empty()) return;
    begin_step(reading);
    add_line(reading.main.content, words);
}

void add_call(Reading& reading, ToolCall call) {
    begin_step(reading);
    reading.main.tool_calls.push_back(std::move(call));
}

void add_result(Reading& reading, const dom::object& object, std::initializer_list<const char*> names) {
    Message message;
    message.role = "tool";
    message.tool_call_id =
        first_text(object, {"id", "toolCallId", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "ref"});
    if (const auto call = object_member(object, "origin"); call && message.tool_call_id.empty()) // Haystack's
        message.tool_call_id = first_text(*call, {"id"});
    for (const char* name : names)
        if (const auto value = member(object, name)) {
            message.content = result_text(*value, 0);
            break;
        }
    reading.results.push_back(std::move(message));
}

// A placeholder in the words, and the media beside them.
void add_media(Reading& reading, const dom::object& part, std::string_view kind) {
    MessageMedia media = read_media(part, kind);
    add_words(reading, "[" + media.kind + "]");
    reading.main.media.push_back(std::move(media));
}

// Parts of Gemini, Genkit, Bedrock and Haystack name their kind by their only member.
constexpr std::initializer_list<const char*> named_calls = {"function_call", "functionCall", "toolRequest", "toolUse",
                                                            "tool_call"};
constexpr std::initializer_list<const char*> named_results = {"function_response", "functionResponse", "toolResponse",
                                                              "toolResult", "tool_call_result"};

bool read_named_part(const dom::object& object, Reading& reading) {
    for (const char* name : named_calls)
        if (const auto call = object_member(object, name)) {
            add_call(reading, read_tool_call(*call));
            return true;
        }
    for (const char* name : named_results)
        if (const auto response = object_member(object, name)) {
            add_result(reading, *response, {"response", "output", "content", "result"});
            return true;
        }
    for (const char* name : {"inline_data", "inlineData", "file_data", "fileData", "media", "blob"})
        if (const auto media = object_member(object, name)) {
            add_media(reading, *media, {});
            return true;
        }
    return false;
}

void read_part(const dom::element& part, Reading& reading) {
    dom::object object;
    if (part.get(object) != simdjson::SUCCESS) return add_words(reading, text_or_json(part));
    const std::string_view type = text_member(object, "type");
    if (is_one_of(type, {"tool_call", "tool-call", "tool_use", "function_call", "server_tool_call"})) {
        add_call(reading, read_tool_call(object));
    } else if (is_one_of(type, {"tool_call_response", "tool-result", "tool_result", "tool-error",
                                "server_tool_call_response"})) {
        add_result(reading, object, {"response", "result", "output", "error", "content", "server_tool_call_response"});
    } else if (type.starts_with("image") || type.starts_with("audio") || type == "input_image" ||
               type == "input_audio" || type == "file" || type == "input_file" || type == "blob" || type == "uri" ||
               type == "document") {
        add_media(reading, object,
                  type.starts_with("image") || type == "input_image" ? "image"
                  : type.find("audio") != std::string_view::npos     ? "audio"
                                                                     : "file");
    } else if (const std::string text = first_text(object, {"text", "content", "refusal", "thinking", "reasoning"});
               !text.empty()) {
        add_words(reading, text);
    } else if (!read_named_part(object, reading) && !type.empty() &&
               !is_one_of(type, {"text", "output_text", "input_text", "refusal", "reasoning", "thinking"})) {
        add_words(reading, "[" + std::string(type) + "]");
    }
}

void read_content(const dom::element& content, Reading& reading) {
    dom::array parts;
    if (content.get(parts) == simdjson::SUCCESS) {
        for (const dom::element& part : parts) read_part(part, reading);
        return;
    }
    dom::object object; // Gemini's {"parts":[…],"role":"model"}
    if (content.get(object) == simdjson::SUCCESS && object.at_key("parts").get(parts) == simdjson::SUCCESS) {
        if (const auto role = text_member(object, "role"); !role.empty()) reading.main.role = role;
        for (const dom::element& part : parts) read_part(part, reading);
        return;
    }
    if (content.get(object) == simdjson::SUCCESS) return read_part(content, reading);
    add_line(reading.main.content, text_or_json(content));
}

void add_calls(const dom::object& object, Reading& reading) {
    dom::array calls;
    for (const char* name : {"tool_calls", "toolCalls"})
        if (object.at_key(name).get(calls) == simdjson::SUCCESS)
            for (const dom::element& entry : calls)
                if (dom::object call; entry.get(call) == simdjson::SUCCESS) {
                    ToolCall made = read_tool_call(call);
                    const auto has_it = [&](const Message& message) {
                        const auto& known = message.tool_calls;
                        return std::any_of(known.begin(), known.end(), [&](const ToolCall& other) {
                            return !made.id.empty() && other.id == made.id;
                        });
                    };
                    if (!has_it(reading.main) && std::none_of(reading.before.begin(), reading.before.end(), has_it))
                        reading.main.tool_calls.push_back(std::move(made));
                }
    if (const auto call = object_member(object, "function_call"); call && reading.main.tool_calls.empty())
        if (!text_member(*call, "name").empty()) reading.main.tool_calls.push_back(read_tool_call(*call));
}

void push(std::vector<Message>& messages, Message message) {
    if (!is_blank(message) && messages.size() < most_messages) messages.push_back(std::move(message));
}

void finish_message(Reading&& reading, std::vector<Message>& messages) {
    Message& main = reading.main;
    const bool is_one_step = reading.before.empty();
    for (Message& message : reading.before) {
        if (message.role != "tool") message.role = main.role; // which was named after its parts were read
        push(messages, std::move(message));
    }
    if (reading.results.empty()) {
        if (main.role == "tool" || main.tool_call_id.empty()) return push(messages, std::move(main));
        main.role = "tool";
        return push(messages, std::move(main));
    }
    if (reading.results.size() == 1 && reading.results[0].tool_call_id.empty())
        reading.results[0].tool_call_id = main.tool_call_id;
    // Frameworks that put a whole run into one message list its result first, though it was written last.
    Message words{main.role, {}, {}, {}};
    if (is_one_step && !reading.ends_with_calls) {
        std::swap(words.content, main.content);
        std::swap(words.media, main.media);
    }
    push(messages, Message{main.role, std::move(main.content), {}, std::move(main.tool_calls), std::move(main.media)});
    for (Message& result : reading.results) push(messages, std::move(result));
    if (main.role != "tool") push(messages, std::move(words));
}

void read_message(const dom::object& object, std::string_view role, std::vector<Message>& messages) {
    Reading reading;
    reading.main.role = role;
    reading.main.tool_call_id = first_text(object, {"tool_call_id", "toolCallId"});
    for (const char* name : {"finish_reason", "finishReason", "stop_reason"})
        if (finish_reason_name(text_member(object, name)) == "tool_calls") reading.ends_with_calls = true;
    for (const char* name : {"content", "parts", "text"}) {
        const auto content = member(object, name);
        if (!content) continue;
        const bool had_text = !reading.main.content.empty() || !reading.before.empty();
        if (had_text && std::string_view(name) == "text") continue;
        read_content(*content, reading);
    }
    // OpenAI's reply as sound: with its words, beside an empty content.
    if (const auto audio = object_member(object, "audio")) {
        if (const std::string words = first_text(*audio, {"transcript"}); !words.empty()) add_words(reading, words);
        add_media(reading, *audio, "audio");
    }
    add_calls(object, reading);
    if (reading.main.content.empty()) {
        reading.main.content = first_text(object, {"refusal"});
        if (const auto more = object_member(object, "additional_kwargs"); more && reading.main.content.empty()) {
            reading.main.content = first_text(*more, {"refusal"});
            add_calls(*more, reading);
        }
    }
    reading.main.role = role_name(reading.main.role);
    finish_message(std::move(reading), messages);
}

bool has_any(const dom::object& object, std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return object.at_key(name).error() == simdjson::SUCCESS; });
}

bool is_message_type(std::string_view type) {
    const std::string role = role_name(type);
    return is_one_of(role, {"system", "user", "assistant", "tool"});
}

class ChatReader {
public:
    ChatReader(Chat& chat, std::string_view default_role) : m_chat(chat), m_default_role(default_role) {}

    void read(const dom::element& value, int depth) {
        if (depth > deepest_value || m_chat.messages.size() >= most_messages) return;
        dom::array list;
        if (value.get(list) == simdjson::SUCCESS) return read_list(list, depth);
        dom::object object;
        if (value.get(object) == simdjson::SUCCESS) read_object(object, depth);
    }

    void read_tools(const dom::element& value, int depth) {
        dom::array list;
        if (depth > 4 || value.get(list) != simdjson::SUCCESS) return;
        for (const dom::element& entry : list) {
            dom::object tool;
            std::string_view text;
            if (m_chat.tools.size() >= 1024) return;
            if (entry.get(text) == simdjson::SUCCESS)
                m_chat.tools.emplace_back(text.starts_with('{') ? std::string(text)
                                                                : "{\"name\":" + simdjson::minify(entry) + "}");
            else if (entry.get(tool) == simdjson::SUCCESS) {
                const auto declared = member(tool, "function_declarations");
                const auto declared_js = member(tool, "functionDeclarations");
                const auto inside = object_member(tool, "data"); // Haystack's
                if (inside && !text_member(*inside, "name").empty())
                    m_chat.tools.push_back(simdjson::minify(*inside));
                else if (declared || declared_js)
                    read_tools(declared ? *declared : *declared_js, depth + 1);
                else
                    m_chat.tools.push_back(simdjson::minify(entry));
            }
        }
    }

private:
    // A list is one of messages, of pieces that hold them, or the parts of one message.
    void read_list(const dom::array& list, int depth) {
        Reading parts;
        parts.main.role = m_default_role;
        bool has_parts = false;
        for (const dom::element& entry : list) {
            dom::object object;
            if (entry.get(object) == simdjson::SUCCESS && is_part(object)) {
                read_part(entry, parts);
                has_parts = true;
            } else
                read(entry, depth + 1);
        }
        if (has_parts) finish_message(std::move(parts), m_chat.messages);
    }

    static bool is_part(const dom::object& object) {
        if (has_any(object, {"role", "data", "kwargs"})) return false;
        const std::string_view type = text_member(object, "type");
        if (type.empty() && object.size() == 1)
            return has_any(object, named_calls) || has_any(object, named_results) ||
                   !text_member(object, "text").empty();
        return is_one_of(type, {"text", "output_text", "tool_use", "tool_call", "tool-call", "tool-result", "thinking",
                                "tool_result", "tool_call_response", "image", "image_url", "reasoning"}) &&
               has_any(object, {"text", "content", "name", "toolName", "thinking", "result", "output", "response",
                                "image_url", "source"});
    }

    void read_object(const dom::object& object, int depth) {
        const std::string_view type = text_member(object, "type");
        if (type == "constructor" || has_any(object, {"lc"})) return read_constructor(object, depth);
        if (const auto data = object_member(object, "data"); data && is_message_type(type))
            return read_message(*data, type, m_chat.messages);
        if (type == "function_call" || type == "custom_tool_call") { // items of OpenAI's responses
            Reading reading;
            reading.main.role = "assistant";
            reading.main.tool_calls.push_back(read_tool_call(object));
            return finish_message(std::move(reading), m_chat.messages);
        }
        if (type == "function_call_output" || type == "custom_tool_call_output") {
            Reading reading;
            add_result(reading, object, {"output"});
            return finish_message(std::move(reading), m_chat.messages);
        }
        if (type == "reasoning") return;
        const std::string_view role = text_member(object, "role");
        if (is_tool_definition(object, role)) return;
        if (!role.empty() && has_any(object, {"content", "parts", "tool_calls", "toolCalls", "text", "function_call"}))
            return read_message(object, role, m_chat.messages);
        if (is_message_type(type) && has_any(object, {"content"})) return read_message(object, type, m_chat.messages);
        if (read_request(object, depth) || read_wrapper(object, depth)) return;
        const bool has_words = text_member(object, "text").size() > 0 && type.empty() && m_default_role == "assistant";
        if (has_words || has_any(object, {"tool_calls", "toolCalls", "parts"}) ||
            (has_any(object, {"content"}) && !has_any(object, {"id"})) || type == "message" || is_part(object))
            read_message(object, m_default_role, m_chat.messages);
        else if (const auto content = member(object, "content")) { // the response of Anthropic or Gemini, without role
            dom::array parts;
            dom::object inner;
            if (content->get(parts) == simdjson::SUCCESS || content->get(inner) == simdjson::SUCCESS)
                read_message(object, m_default_role, m_chat.messages);
        }
    }

    // LangChain's callback appends the tools as messages: {"role":"tool","content":{"type":"function",…}}.
    bool is_tool_definition(const dom::object& object, std::string_view role) {
        const auto content = object_member(object, "content");
        if (role != "tool" || !content || text_member(*content, "type") != "function") return false;
        if (!has_any(*content, {"function", "parameters"})) return false;
        m_chat.tools.push_back(simdjson::minify(*content));
        return true;
    }

    // {"lc":1,"type":"constructor","id":["langchain","schema","HumanMessage"],"kwargs":{…}}
    void read_constructor(const dom::object& object, int depth) {
        std::string_view name;
        if (dom::array id; object.at_key("id").get(id) == simdjson::SUCCESS)
            for (const dom::element& entry : id)
                if (entry.get(name) != simdjson::SUCCESS) name = {};
        const auto arguments = object_member(object, "kwargs");
        if (!arguments) return;
        if (is_message_type(name)) return read_message(*arguments, name, m_chat.messages);
        if (name == "ChatMessage" || name == "ChatMessageChunk")
            return read_message(*arguments, text_member(*arguments, "role"), m_chat.messages);
        read_object(*arguments, depth + 1);
    }

    void add_system(const dom::object& object) {
        for (const char* name : {"system", "instructions", "system_instruction", "systemInstruction"})
            if (const auto system = member(object, name)) {
                Reading reading;
                reading.main.role = "system";
                read_content(*system, reading);
                reading.main.role = "system";
                return finish_message(std::move(reading), m_chat.messages);
            }
    }

    // A request to a model: system text, messages, tools.
    bool read_request(const dom::object& object, int depth) {
        const auto config = object_member(object, "config");
        if (const auto tools = member(object, "tools")) read_tools(*tools, 0);
        if (config)
            if (const auto tools = member(*config, "tools")) read_tools(*tools, 0);
        for (const char* name : {"messages", "contents", "prompt", "input"}) {
            const auto found = member(object, name);
            if (!found) continue;
            const bool is_input = std::string_view(name) == "input";
            std::string_view text;
            if (is_input && !has_any(object, {"instructions", "model", "system"})) {
                if (found->get(text) == simdjson::SUCCESS) continue; // some argument of some function
            }
            if (is_input && has_any(object, {"output"})) continue;
            add_system(object);
            if (config) add_system(*config);
            if (found->get(text) == simdjson::SUCCESS)
                push(m_chat.messages, Message{"user", std::string(text), {}, {}});
            else
                read(*found, depth + 1);
            return true;
        }
        return false;
    }

    // Replies of a model as plain texts.
    void read_texts(const dom::element& value) {
        dom::array list;
        if (value.get(list) != simdjson::SUCCESS) return;
        for (const dom::element& entry : list)
            if (std::string_view text; entry.get(text) == simdjson::SUCCESS)
                push(m_chat.messages, Message{"assistant", std::string(text), {}, {}});
    }

    // What surrounds messages: responses, steps of graphs, arguments of a wrapped function.
    bool read_wrapper(const dom::object& object, int depth) {
        for (const char* name : {"generations", "choices", "candidates", "message", "update", "output", "args",
                                 "kwargs", "response", "result", "return_values", "replies"}) {
            const auto inner = member(object, name);
            if (!inner) continue;
            const size_t before = m_chat.messages.size();
            if (std::string_view(name) == "replies") read_texts(*inner);
            read(*inner, depth + 1);
            if (m_chat.messages.size() > before) return true;
        }
        return false;
    }

    Chat& m_chat;
    std::string_view m_default_role;
};

} // namespace

std::string words_of_content(const dom::element& content) {
    Reading reading;
    read_content(content, reading);
    return std::move(reading.main.content);
}

Chat read_chat(std::string_view json, std::string_view default_role) {
    Chat chat;
    ParsedText parsed;
    if (!parsed.parse(json)) return chat;
    std::string_view inner; // a JSON text inside a JSON string
    if (parsed.root.get(inner) == simdjson::SUCCESS) {
        ParsedText again;
        if ((inner.starts_with('{') || inner.starts_with('[')) && again.parse(inner))
            ChatReader(chat, default_role).read(again.root, 0);
        return chat;
    }
    ChatReader(chat, default_role).read(parsed.root, 0);
    return chat;
}

std::vector<Message> read_messages(std::string_view json, std::string_view default_role) {
    return read_chat(json, default_role).messages;
}

std::vector<ToolCall> read_tool_calls(std::string_view json) {
    std::vector<ToolCall> calls;
    ParsedText parsed;
    dom::array list;
    if (!parsed.parse(json) || parsed.root.get(list) != simdjson::SUCCESS) return calls;
    for (const dom::element& entry : list)
        if (dom::object call; entry.get(call) == simdjson::SUCCESS && calls.size() < most_messages)
            calls.push_back(read_tool_call(call));
    return calls;
}

std::vector<std::string> read_tool_definitions(std::string_view json) {
    Chat chat;
    ParsedText parsed;
    if (!parsed.parse(json)) return {};
    ChatReader reader(chat, "user");
    dom::object object;
    if (parsed.root.get(object) == simdjson::SUCCESS) {
        for (const char* name : {"function_tools", "output_tools", "tools"})
            if (const auto list = member(object, name)) reader.read_tools(*list, 0);
    } else
        reader.read_tools(parsed.root, 0);
    return std::move(chat.tools);
}

std::string read_system_text(std::string_view json) {
    ParsedText parsed;
    dom::object object;
    if (!parsed.parse(json) || parsed.root.get(object) != simdjson::SUCCESS) return {};
    const auto config = object_member(object, "config");
    for (const dom::object& place : {object, config ? *config : object})
        for (const char* name : {"system", "instructions", "system_instruction", "systemInstruction"})
            if (const auto system = member(place, name)) {
                std::string words = words_of_content(*system);
                if (!words.empty()) return words;
            }
    return {};
}

} // namespace hone::telemetry
