#include "evaluate/prompts/prompt_request.h"

#include "base/text.h"
#include "evaluate/prompts/prompt_template.h"

#include <algorithm>
#include <functional>
#include <map>

namespace hone::evaluate {

namespace {

constexpr int64_t usual_max_tokens = 4096; // Anthropic needs a limit

struct PromptToolCall {
    std::string id, name, arguments;
};

struct PromptToolResult {
    std::string call_id, text;
};

// One message, whatever the provider calls its parts.
struct PromptMessage {
    std::string role; // system, user, assistant, tool
    std::vector<std::string> texts;
    std::vector<PromptToolCall> calls;
    std::vector<PromptToolResult> results;

    std::string text() const {
        std::string joined;
        for (const std::string& one : texts) joined += (joined.empty() ? "" : "\n") + one;
        return joined;
    }
};

std::string string_in(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

const json::Object* object_in(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_object() ? &found->get_object() : nullptr;
}

const json::Array* array_in(const json::Object& object, std::string_view key) {
    const json::Value* found = object.if_contains(key);
    return found != nullptr && found->is_array() ? &found->get_array() : nullptr;
}

std::string text_or_json(const json::Value& value) {
    return value.is_string() ? std::string(value.get_string()) : json::print(value);
}

std::string plain_role(const std::string& role) {
    if (role == "ai" || role == "model") return "assistant";
    return role == "developer" ? "system" : role;
}

// How a text of the template becomes a text of the request.
using FillText = std::function<Result<std::string>(std::string_view)>;

Result<> add_part(PromptMessage& message, const json::Object& part, const FillText& fill) {
    const std::string type = string_in(part, "type");
    if (type == "text") {
        message.texts.push_back(TRY(fill(string_in(part, "text"))));
    } else if (type == "tool_call") {
        const json::Object* call = object_in(part, "tool_call");
        if (call == nullptr || string_in(*call, "name").empty()) return invalid("a tool_call of a message has no name");
        std::string arguments = string_in(*call, "arguments");
        if (const json::Value* given = call->if_contains("arguments"); given != nullptr && !given->is_string())
            arguments = json::print(*given);
        message.calls.push_back({string_in(part, "tool_call_id"), string_in(*call, "name"), arguments});
    } else if (type == "tool_result") {
        const json::Value* result = part.if_contains("tool_result");
        message.results.push_back(
            {string_in(part, "tool_call_id"), result == nullptr ? std::string() : text_or_json(*result)});
    } else {
        return invalid("a message has a part of type " + std::string(truncate_utf8(type, 60)) +
                       "; text, tool_call and tool_result can be sent");
    }
    return {};
}

Result<std::vector<PromptMessage>> messages_of(const json::Object& version, const FillText& fill) {
    std::vector<PromptMessage> messages;
    const json::Object* prompt_template = object_in(version, "template");
    const json::Array* list = prompt_template == nullptr ? nullptr : array_in(*prompt_template, "messages");
    if (list == nullptr || list->empty()) return invalid("the prompt has no messages");
    for (const json::Value& value : *list) {
        if (!value.is_object()) return invalid("a message of the prompt is not an object");
        const json::Object& given = value.get_object();
        PromptMessage message;
        message.role = plain_role(string_in(given, "role"));
        if (const json::Array* parts = array_in(given, "content")) {
            for (const json::Value& part : *parts) {
                if (!part.is_object()) return invalid("a part of a message is not an object");
                TRY(add_part(message, part.get_object(), fill));
            }
        } else {
            message.texts.push_back(TRY(fill(string_in(given, "content"))));
        }
        if (message.role == "tool" && message.results.empty())
            message.results.push_back({string_in(given, "tool_call_id"), message.text()});
        messages.push_back(std::move(message));
    }
    return messages;
}

Result<json::Value> parsed_arguments(const PromptToolCall& call) {
    if (trim(call.arguments).empty()) return json::Value(json::Object{});
    auto value = json::parse(call.arguments);
    if (!value.ok() || !value.value().is_object())
        return invalid("the arguments of the tool call " + call.name + " are not a JSON object");
    return std::move(value).value();
}

// --- parameters ----------------------------------------------------------------------------------------------------

// The few that every provider has, by the names of each.
struct SharedParameter {
    std::string_view openai, anthropic, gemini;
};
constexpr SharedParameter shared_parameters[] = {
    {"temperature", "temperature", "temperature"},
    {"top_p", "top_p", "topP"},
    {"max_completion_tokens", "max_tokens", "maxOutputTokens"},
    {"max_tokens", "max_tokens", "maxOutputTokens"},
    {"stop", "stop_sequences", "stopSequences"},
};
// Of the stored form of Google's parameters to the form of its API.
constexpr std::pair<std::string_view, std::string_view> gemini_names[] = {
    {"max_output_tokens", "maxOutputTokens"},
    {"stop_sequences", "stopSequences"},
    {"presence_penalty", "presencePenalty"},
    {"frequency_penalty", "frequencyPenalty"},
    {"top_p", "topP"},
    {"top_k", "topK"},
    {"thinking_config", "thinkingConfig"},
    {"response_mime_type", "responseMimeType"},
};

std::string_view name_for(const SharedParameter& shared, std::string_view protocol) {
    return protocol == "openai" ? shared.openai : protocol == "anthropic" ? shared.anthropic : shared.gemini;
}

std::string gemini_name(std::string_view name) {
    for (const auto& [stored, sent] : gemini_names)
        if (stored == name) return std::string(sent);
    return std::string(name);
}

// Another provider gets only what it has too.
json::Object translated_parameters(const json::Object& given, std::string_view from, std::string_view to) {
    json::Object made;
    for (const auto& entry : given) {
        const std::string name =
            from == "gemini" ? gemini_name(entry.key()) : std::string(std::string_view(entry.key()));
        if (from == to) {
            made[name] = entry.value();
            continue;
        }
        for (const SharedParameter& shared : shared_parameters) {
            if (name_for(shared, from) != name) continue;
            json::Value value = entry.value();
            // OpenAI takes one text or a list, the others a list.
            if (shared.openai == "stop" && value.is_string()) value = json::Array{value};
            made[name_for(shared, to)] = std::move(value);
            break;
        }
    }
    return made;
}

Result<json::Object> parameters_of(const json::Object& version, const PromptTarget& target, std::string_view protocol) {
    json::Object made;
    if (const json::Object* stored = object_in(version, "invocation_parameters")) {
        const std::string type = string_in(*stored, "type");
        const json::Object* given = object_in(*stored, type);
        const auto from = protocol_of_provider(type);
        if (given != nullptr) made = translated_parameters(*given, from.ok() ? from.value() : "openai", protocol);
    }
    for (const auto& entry : target.parameters) {
        const std::string name =
            protocol == "gemini" ? gemini_name(entry.key()) : std::string(std::string_view(entry.key()));
        made[name] = entry.value();
    }
    std::vector<std::string> nulls;
    for (const auto& entry : made)
        if (entry.value().is_null()) nulls.emplace_back(entry.key());
    for (const std::string& name : nulls) made.erase(name);
    return made;
}

// --- tools ---------------------------------------------------------------------------------------------------------

struct PromptTool {
    std::string name, description;
    json::Value parameters = json::Object{};
    std::optional<bool> strict;
    std::optional<json::Value> raw; // as the provider has it
};

struct PromptTools {
    std::vector<PromptTool> tools;
    std::string choice; // none, zero_or_more, one_or_more, specific_function; empty: not given
    std::string function;
    bool one_call_at_once = false;
};

Result<PromptTools> tools_of(const json::Object& version) {
    PromptTools made;
    const json::Object* given = object_in(version, "tools");
    if (given == nullptr) return made;
    if (const json::Array* list = array_in(*given, "tools"))
        for (const json::Value& value : *list) {
            if (!value.is_object()) return invalid("a tool of the prompt is not an object");
            const json::Object& tool = value.get_object();
            const json::Object* function = object_in(tool, "function");
            if (const json::Value* raw = tool.if_contains("raw"); function == nullptr && raw != nullptr) {
                made.tools.push_back({{}, {}, {}, {}, *raw});
                continue;
            }
            if (function == nullptr || string_in(*function, "name").empty())
                return invalid("a tool of the prompt has no function with a name");
            PromptTool one{string_in(*function, "name"), string_in(*function, "description"), json::Object{}, {}, {}};
            if (const json::Object* parameters = object_in(*function, "parameters")) one.parameters = *parameters;
            if (const json::Value* strict = function->if_contains("strict"); strict != nullptr && strict->is_bool())
                one.strict = strict->get_bool();
            made.tools.push_back(std::move(one));
        }
    if (const json::Object* choice = object_in(*given, "tool_choice")) {
        made.choice = string_in(*choice, "type");
        made.function = string_in(*choice, "function_name");
    }
    const json::Value* parallel = given->if_contains("disable_parallel_tool_calls");
    made.one_call_at_once = parallel != nullptr && parallel->is_bool() && parallel->get_bool();
    return made;
}

const json::Object* response_schema_of(const json::Object& version) {
    const json::Object* format = object_in(version, "response_format");
    return format == nullptr ? nullptr : object_in(*format, "json_schema");
}

// --- OpenAI --------------------------------------------------------------------------------------------------------

json::Value openai_tool(const PromptTool& tool) {
    if (tool.raw) return *tool.raw;
    json::Object function{{"name", tool.name}};
    if (!tool.description.empty()) function["description"] = tool.description;
    function["parameters"] = tool.parameters;
    if (tool.strict) function["strict"] = *tool.strict;
    return json::Object{{"type", "function"}, {"function", std::move(function)}};
}

void add_openai_tools(json::Object& body, const PromptTools& tools) {
    if (tools.tools.empty()) return;
    json::Array list;
    for (const PromptTool& tool : tools.tools) list.push_back(openai_tool(tool));
    body["tools"] = std::move(list);
    if (tools.choice == "none") body["tool_choice"] = "none";
    if (tools.choice == "zero_or_more") body["tool_choice"] = "auto";
    if (tools.choice == "one_or_more") body["tool_choice"] = "required";
    if (tools.choice == "specific_function")
        body["tool_choice"] = json::Object{{"type", "function"}, {"function", json::Object{{"name", tools.function}}}};
    if (tools.one_call_at_once) body["parallel_tool_calls"] = false;
}

json::Array openai_messages(const std::vector<PromptMessage>& messages) {
    json::Array list;
    for (const PromptMessage& message : messages) {
        for (const PromptToolResult& result : message.results)
            list.push_back(json::Object{{"role", "tool"}, {"tool_call_id", result.call_id}, {"content", result.text}});
        if (message.role == "tool") continue;
        if (message.texts.empty() && message.calls.empty()) continue;
        json::Object made{{"role", message.role}};
        made["content"] = message.texts.empty() ? json::Value(nullptr) : json::Value(message.text());
        json::Array calls;
        for (const PromptToolCall& call : message.calls)
            calls.push_back(
                json::Object{{"id", call.id},
                             {"type", "function"},
                             {"function", json::Object{{"name", call.name}, {"arguments", call.arguments}}}});
        if (!calls.empty()) made["tool_calls"] = std::move(calls);
        list.push_back(std::move(made));
    }
    return list;
}

Result<json::Object> openai_body(const json::Object& version, const std::vector<PromptMessage>& messages,
                                 const PromptRequest& request, json::Object parameters, bool stream) {
    json::Object body = std::move(parameters);
    body["model"] = request.model;
    body["messages"] = openai_messages(messages);
    add_openai_tools(body, TRY(tools_of(version)));
    if (const json::Object* schema = response_schema_of(version))
        body["response_format"] = json::Object{{"type", "json_schema"}, {"json_schema", *schema}};
    if (stream) body["stream"] = true;
    return body;
}

// --- Anthropic -----------------------------------------------------------------------------------------------------

Result<json::Array> anthropic_messages(const std::vector<PromptMessage>& messages, std::string& system) {
    json::Array list;
    for (const PromptMessage& message : messages) {
        if (message.role == "system") {
            system += (system.empty() ? "" : "\n\n") + message.text();
            continue;
        }
        json::Array parts;
        for (const PromptToolResult& result : message.results)
            parts.push_back(
                json::Object{{"type", "tool_result"}, {"tool_use_id", result.call_id}, {"content", result.text}});
        if (message.role != "tool")
            for (const std::string& text : message.texts)
                if (!text.empty()) parts.push_back(json::Object{{"type", "text"}, {"text", text}});
        for (const PromptToolCall& call : message.calls) {
            json::Object use{{"type", "tool_use"}, {"id", call.id}, {"name", call.name}};
            use["input"] = TRY(parsed_arguments(call));
            parts.push_back(std::move(use));
        }
        if (parts.empty()) continue;
        list.push_back(json::Object{{"role", message.role == "assistant" ? "assistant" : "user"}, {"content", parts}});
    }
    return list;
}

void add_anthropic_tools(json::Object& body, const PromptTools& tools) {
    if (tools.tools.empty()) return;
    json::Array list;
    for (const PromptTool& tool : tools.tools) {
        if (tool.raw) {
            list.push_back(*tool.raw);
            continue;
        }
        json::Object made{{"name", tool.name}};
        if (!tool.description.empty()) made["description"] = tool.description;
        made["input_schema"] =
            tool.parameters.get_object().empty() ? json::Value(json::Object{{"type", "object"}}) : tool.parameters;
        list.push_back(std::move(made));
    }
    body["tools"] = std::move(list);
    if (tools.choice.empty() && !tools.one_call_at_once) return;
    json::Object choice{{"type", tools.choice == "none"                ? "none"
                                 : tools.choice == "one_or_more"       ? "any"
                                 : tools.choice == "specific_function" ? "tool"
                                                                       : "auto"}};
    if (tools.choice == "specific_function") choice["name"] = tools.function;
    if (tools.one_call_at_once && tools.choice != "none") choice["disable_parallel_tool_use"] = true;
    body["tool_choice"] = std::move(choice);
}

Result<json::Object> anthropic_body(const json::Object& version, const std::vector<PromptMessage>& messages,
                                    const PromptRequest& request, json::Object parameters, bool stream) {
    json::Object body = std::move(parameters);
    body["model"] = request.model;
    if (!body.contains("max_tokens")) body["max_tokens"] = usual_max_tokens;
    std::string system;
    body["messages"] = TRY(anthropic_messages(messages, system));
    if (!system.empty()) body["system"] = system;
    add_anthropic_tools(body, TRY(tools_of(version)));
    if (const json::Object* schema = response_schema_of(version))
        if (const json::Value* form = schema->if_contains("schema"))
            body["output_config"] = json::Object{{"format", json::Object{{"type", "json_schema"}, {"schema", *form}}}};
    if (stream) body["stream"] = true;
    return body;
}

// --- Gemini --------------------------------------------------------------------------------------------------------

Result<json::Array> gemini_contents(const std::vector<PromptMessage>& messages, std::string& system) {
    json::Array list;
    std::map<std::string, std::string> called; // names of functions by the ids of their calls
    for (const PromptMessage& message : messages) {
        if (message.role == "system") {
            system += (system.empty() ? "" : "\n\n") + message.text();
            continue;
        }
        json::Array parts;
        for (const PromptToolResult& result : message.results) {
            const auto known = called.find(result.call_id);
            parts.push_back(json::Object{
                {"functionResponse", json::Object{{"name", known == called.end() ? result.call_id : known->second},
                                                  {"response", json::Object{{"result", result.text}}}}}});
        }
        if (message.role != "tool")
            for (const std::string& text : message.texts) parts.push_back(json::Object{{"text", text}});
        for (const PromptToolCall& call : message.calls) {
            called[call.id] = call.name;
            json::Object function{{"name", call.name}};
            function["args"] = TRY(parsed_arguments(call));
            parts.push_back(json::Object{{"functionCall", std::move(function)}});
        }
        if (parts.empty()) continue;
        list.push_back(json::Object{{"role", message.role == "assistant" ? "model" : "user"}, {"parts", parts}});
    }
    return list;
}

void add_gemini_tools(json::Object& body, const PromptTools& tools) {
    if (tools.tools.empty()) return;
    json::Array functions, list;
    for (const PromptTool& tool : tools.tools) {
        if (tool.raw) {
            list.push_back(*tool.raw);
            continue;
        }
        json::Object made{{"name", tool.name}};
        if (!tool.description.empty()) made["description"] = tool.description;
        if (!tool.parameters.get_object().empty()) made["parameters"] = tool.parameters;
        functions.push_back(std::move(made));
    }
    if (!functions.empty()) list.push_back(json::Object{{"functionDeclarations", std::move(functions)}});
    body["tools"] = std::move(list);
    if (tools.choice.empty()) return;
    json::Object calling{{"mode", tools.choice == "none" ? "NONE" : tools.choice == "zero_or_more" ? "AUTO" : "ANY"}};
    if (tools.choice == "specific_function") calling["allowedFunctionNames"] = json::Array{json::Value(tools.function)};
    body["toolConfig"] = json::Object{{"functionCallingConfig", std::move(calling)}};
}

Result<json::Object> gemini_body(const json::Object& version, const std::vector<PromptMessage>& messages,
                                 json::Object parameters) {
    json::Object body;
    std::string system;
    body["contents"] = TRY(gemini_contents(messages, system));
    if (!system.empty())
        body["systemInstruction"] = json::Object{{"parts", json::Array{json::Object{{"text", system}}}}};
    add_gemini_tools(body, TRY(tools_of(version)));
    if (const json::Object* schema = response_schema_of(version))
        if (const json::Value* form = schema->if_contains("schema")) {
            parameters["responseMimeType"] = "application/json";
            parameters["responseJsonSchema"] = *form;
        }
    if (!parameters.empty()) body["generationConfig"] = std::move(parameters);
    return body;
}

bool is_model_name(std::string_view name) {
    return !name.empty() && name.size() <= 200 && is_valid_utf8(name) &&
           std::none_of(name.begin(), name.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

Result<PromptRequest> make_request(const json::Value& content, const PromptTarget& target, const FillText& fill) {
    if (!content.is_object()) return invalid("the prompt version is not an object");
    const json::Object& version = content.get_object();
    PromptRequest request;
    request.protocol =
        TRY(protocol_of_provider(target.provider.empty() ? string_in(version, "model_provider") : target.provider));
    request.model = target.model.empty() ? string_in(version, "model_name") : target.model;
    if (!is_model_name(request.model)) return invalid("model must be a name without blanks");
    const auto messages = TRY(messages_of(version, fill));
    json::Object parameters = TRY(parameters_of(version, target, request.protocol));
    if (request.protocol == "openai") {
        request.path = "/openai/v1/chat/completions";
        request.body = json::print(TRY(openai_body(version, messages, request, std::move(parameters), target.stream)));
    } else if (request.protocol == "anthropic") {
        request.path = "/anthropic/v1/messages";
        request.body =
            json::print(TRY(anthropic_body(version, messages, request, std::move(parameters), target.stream)));
    } else {
        if (request.model.find_first_of("/?#:%") != std::string::npos)
            return invalid("model must be the name of a Gemini model");
        request.path = "/gemini/v1beta/models/" + request.model +
                       (target.stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
        request.body = json::print(TRY(gemini_body(version, messages, std::move(parameters))));
    }
    return request;
}

Result<TemplateFormat> format_of(const json::Value& content) {
    const std::string name = content.is_object() ? string_in(content.get_object(), "template_format") : std::string();
    const auto format = parse_enum<TemplateFormat>(name);
    if (!format) return invalid("template_format must be MUSTACHE, F_STRING or NONE");
    return *format;
}

} // namespace

Result<std::string> protocol_of_provider(std::string_view provider) {
    const std::string name = lowercase_ascii(provider);
    if (name == "anthropic") return std::string("anthropic");
    if (name == "google") return std::string("gemini");
    // These have the interface of OpenAI; the address is in the model skill.
    constexpr std::string_view compatible[] = {"openai",   "azure_openai", "deepseek",  "xai",
                                               "ollama",   "cerebras",     "fireworks", "groq",
                                               "moonshot", "perplexity",   "together"};
    for (const std::string_view one : compatible)
        if (one == name) return std::string("openai");
    return invalid("model provider " + std::string(truncate_utf8(provider, 60)) +
                   " cannot be called; give one with the interface of Anthropic, OpenAI or Gemini");
}

Result<PromptRequest> make_prompt_request(const json::Value& content, const PromptTarget& target,
                                          const json::Object& variables) {
    const TemplateFormat format = TRY(format_of(content));
    return make_request(content, target,
                        [&](std::string_view text) { return render_template(format, text, variables); });
}

Result<PromptRequest> check_prompt_request(const json::Value& content, const PromptTarget& target) {
    const TemplateFormat format = TRY(format_of(content));
    return make_request(content, target, [&](std::string_view text) -> Result<std::string> {
        TRY(check_template(format, text));
        return std::string(text);
    });
}

} // namespace hone::evaluate
