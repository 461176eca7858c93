#include "broker/gateway/model_response.h"

#include "base/text.h"
#include "broker/spending/model_json.h"

#include <algorithm>
#include <functional>
#include <map>

namespace hone::broker {

namespace {

constexpr size_t most_messages = 400;
constexpr size_t most_tools = 200;
constexpr size_t text_bytes = 256 << 10;

using View = std::optional<std::string_view>;

bool is_object(const View& value) {
    return value && value->starts_with('{');
}

void add_text(std::string& into, const View& value, std::string_view between = "") {
    const auto text = text_of(value);
    if (!text || text->empty() || into.size() >= text_bytes) return;
    if (!into.empty()) into += between;
    into += truncate_utf8(repair_utf8(*text), text_bytes);
}

void add_raw(std::string& into, const View& value) {
    if (value && into.size() < text_bytes) into += truncate_utf8(repair_utf8(*value), text_bytes);
}

std::string plain(const View& value) {
    std::string text;
    add_text(text, value);
    return text;
}

// The text of content that is a string or a list of parts with `text`.
void add_content(std::string& into, const View& content) {
    if (is_text(content)) return add_text(into, content, "\n");
    if (!is_list(content)) return;
    for_each_item(*content, [&](std::string_view part) {
        if (is_text(part))
            add_text(into, part, "\n");
        else if (const auto text = member(part, "text"))
            add_text(into, text, "\n");
        else if (const auto type = text_of(member(part, "type")))
            into += (into.empty() ? "[" : "\n[") + repair_utf8(truncate_utf8(*type, 40)) + "]";
        return true;
    });
}

void read_anthropic_block(std::string_view block, ModelMessage& message, std::vector<ModelMessage>* tool_results) {
    const std::string type = plain(member(block, "type"));
    if (type == "text") return add_text(message.text, member(block, "text"), "\n");
    if (type == "thinking") return add_text(message.thought, member(block, "thinking"), "\n");
    if (type == "tool_use") {
        ModelToolCall& call = message.calls.emplace_back();
        call.id = plain(member(block, "id"));
        call.name = plain(member(block, "name"));
        return add_raw(call.arguments, member(block, "input"));
    }
    if (type == "tool_result" && tool_results) {
        ModelMessage& result = tool_results->emplace_back();
        result.role = "tool";
        result.call_id = plain(member(block, "tool_use_id"));
        return add_content(result.text, member(block, "content"));
    }
    if (!type.empty()) message.text += (message.text.empty() ? "[" : "\n[") + type.substr(0, 40) + "]";
}

void read_anthropic_message(std::string_view item, std::vector<ModelMessage>& messages) {
    ModelMessage message;
    message.role = plain(member(item, "role"));
    std::vector<ModelMessage> tool_results;
    const auto content = member(item, "content");
    if (is_list(content))
        for_each_item(*content, [&](std::string_view block) {
            return read_anthropic_block(block, message, &tool_results), true;
        });
    else
        add_content(message.text, content);
    for (ModelMessage& result : tool_results) messages.push_back(std::move(result));
    if (!message.text.empty() || !message.calls.empty() || !message.thought.empty())
        messages.push_back(std::move(message));
}

void read_chat_message(std::string_view item, ModelMessage& message) {
    message.role = plain(member(item, "role"));
    add_content(message.text, member(item, "content"));
    add_text(message.thought, member(item, "reasoning_content"));
    message.call_id = plain(member(item, "tool_call_id"));
    if (const auto calls = member(item, "tool_calls"); is_list(calls))
        for_each_item(*calls, [&](std::string_view call) {
            ModelToolCall& made = message.calls.emplace_back();
            made.id = plain(member(call, "id"));
            made.name = plain(member_at(call, {"function", "name"}));
            made.arguments = plain(member_at(call, {"function", "arguments"}));
            return true;
        });
}

// An item of OpenAI's input or output list. Items that say nothing give no message.
void read_response_item(std::string_view item, std::vector<ModelMessage>& messages) {
    const std::string type = plain(member(item, "type"));
    ModelMessage message;
    if (type == "message" || type.empty()) {
        message.role = plain(member(item, "role"));
        add_content(message.text, member(item, "content"));
    } else if (type == "reasoning") {
        message.role = "assistant";
        add_content(message.thought, member(item, "summary"));
        if (message.thought.empty()) return;
    } else if (type == "function_call" || type == "custom_tool_call") {
        message.role = "assistant";
        ModelToolCall& call = message.calls.emplace_back();
        call.id = plain(member(item, "call_id"));
        call.name = plain(member(item, "name"));
        call.arguments = plain(member(item, type == "function_call" ? "arguments" : "input"));
    } else if (type.ends_with("_output")) {
        message.role = "tool";
        message.call_id = plain(member(item, "call_id"));
        add_content(message.text, member(item, "output"));
    } else {
        return;
    }
    messages.push_back(std::move(message));
}

void read_gemini_content(std::string_view content, std::vector<ModelMessage>& messages) {
    ModelMessage message;
    const std::string role = plain(member(content, "role"));
    message.role = role == "model" ? "assistant" : role.empty() ? "user" : role;
    const auto parts = member(content, "parts");
    if (!is_list(parts)) return;
    for_each_item(*parts, [&](std::string_view part) {
        if (const auto call = member(part, "functionCall")) {
            ModelToolCall& made = message.calls.emplace_back();
            made.id = plain(member(*call, "id"));
            made.name = plain(member(*call, "name"));
            add_raw(made.arguments, member(*call, "args"));
        } else if (const auto response = member(part, "functionResponse")) {
            ModelMessage& told = messages.emplace_back();
            told.role = "tool";
            told.call_id = plain(member(*response, "name"));
            add_raw(told.text, member(*response, "response"));
        } else {
            add_text(is_true(member(part, "thought")) ? message.thought : message.text, member(part, "text"));
        }
        return true;
    });
    if (!message.text.empty() || !message.calls.empty() || !message.thought.empty())
        messages.push_back(std::move(message));
}

void read_system(const View& value, std::vector<ModelMessage>& messages) {
    ModelMessage message;
    message.role = "system";
    if (is_object(value))
        add_content(message.text, member(*value, "parts"));
    else if (value)
        add_content(message.text, value);
    if (!message.text.empty()) messages.push_back(std::move(message));
}

// The beginning has the task, the end the latest messages; the middle is in the earlier spans.
void cut_middle(ModelInput& request) {
    if (request.messages.size() <= most_messages) return;
    request.left_out = request.messages.size() - most_messages;
    const auto middle = request.messages.begin() + static_cast<std::ptrdiff_t>(most_messages / 4);
    request.messages.erase(middle, middle + static_cast<std::ptrdiff_t>(request.left_out));
}

void merge(ModelMessage& into, ModelMessage part) {
    into.text += part.text;
    into.thought += part.thought;
    for (ModelToolCall& call : part.calls) into.calls.push_back(std::move(call));
}

// Calls back with the data of each event.
void for_each_event(std::string_view body, const std::function<void(std::string_view)>& call) {
    while (!body.empty()) {
        const size_t end = std::min(body.find('\n'), body.size());
        std::string_view line = body.substr(0, end);
        body.remove_prefix(std::min(end + 1, body.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.starts_with("data:")) continue;
        call(trim(line.substr(5)));
    }
}

void read_messages_event(std::string_view data, ModelMessage& message, std::map<int64_t, size_t>& call_at) {
    const std::string type = plain(member(data, "type"));
    const int64_t index = count_of(member(data, "index")).value_or(0);
    if (type == "content_block_start") {
        const auto block = member(data, "content_block");
        if (!block || plain(member(*block, "type")) != "tool_use") return;
        call_at[index] = message.calls.size();
        ModelToolCall& call = message.calls.emplace_back();
        call.id = plain(member(*block, "id"));
        call.name = plain(member(*block, "name"));
    } else if (type == "content_block_delta") {
        const auto delta = member(data, "delta");
        if (!delta) return;
        add_text(message.text, member(*delta, "text"));
        add_text(message.thought, member(*delta, "thinking"));
        if (const auto found = call_at.find(index); found != call_at.end())
            add_text(message.calls[found->second].arguments, member(*delta, "partial_json"));
    }
}

void read_chat_event(std::string_view data, ModelMessage& message, std::map<int64_t, size_t>& call_at) {
    const auto choices = member(data, "choices");
    if (!is_list(choices)) return;
    for_each_item(*choices, [&](std::string_view choice) {
        const auto delta = member(choice, "delta");
        if (!delta) return true;
        add_text(message.text, member(*delta, "content"));
        add_text(message.thought, member(*delta, "reasoning_content"));
        const auto calls = member(*delta, "tool_calls");
        if (!is_list(calls)) return true;
        for_each_item(*calls, [&](std::string_view call) {
            const int64_t index = count_of(member(call, "index")).value_or(0);
            if (!call_at.contains(index)) {
                call_at[index] = message.calls.size();
                message.calls.emplace_back();
            }
            ModelToolCall& made = message.calls[call_at[index]];
            add_text(made.id, member(call, "id"));
            add_text(made.name, member_at(call, {"function", "name"}));
            add_text(made.arguments, member_at(call, {"function", "arguments"}));
            return true;
        });
        return true;
    });
}

void read_response_output(const View& output, ModelMessage& message) {
    if (!is_list(output)) return;
    std::vector<ModelMessage> items;
    for_each_item(*output, [&](std::string_view item) { return read_response_item(item, items), true; });
    for (ModelMessage& item : items) merge(message, std::move(item));
}

void read_response_event(std::string_view data, ModelMessage& message) {
    if (plain(member(data, "type")) != "response.output_item.done") return;
    std::vector<ModelMessage> items;
    if (const auto item = member(data, "item")) read_response_item(*item, items);
    for (ModelMessage& item : items) merge(message, std::move(item));
}

void read_gemini_piece(std::string_view data, ModelMessage& message) {
    const auto candidates = member(data, "candidates");
    if (!is_list(candidates)) return;
    for_each_item(*candidates, [&](std::string_view candidate) {
        std::vector<ModelMessage> pieces;
        if (const auto content = member(candidate, "content")) read_gemini_content(*content, pieces);
        for (ModelMessage& piece : pieces) merge(message, std::move(piece));
        return false; // the first candidate is the response
    });
}

void read_whole_response(ModelApi api, std::string_view body, ModelMessage& message) {
    switch (api) {
    case ModelApi::messages:
        if (const auto content = member(body, "content"); is_list(content))
            for_each_item(*content,
                          [&](std::string_view block) { return read_anthropic_block(block, message, nullptr), true; });
        break;
    case ModelApi::responses:
        read_response_output(member(body, "output"), message);
        break;
    case ModelApi::chat:
        if (const auto choices = member(body, "choices"); is_list(choices))
            for_each_item(*choices, [&](std::string_view choice) {
                if (const auto said = member(choice, "message")) read_chat_message(*said, message);
                return false;
            });
        break;
    case ModelApi::gemini:
        if (body.substr(skip_json_space(body, 0)).starts_with('['))
            for_each_item(body, [&](std::string_view piece) { return read_gemini_piece(piece, message), true; });
        else
            read_gemini_piece(body, message);
        break;
    }
}

} // namespace

std::string read_parameters(std::string_view body) {
    std::string out = "{";
    const auto add = [&](std::string_view key, std::string_view value) {
        const bool is_plain = count_of(value) || value == "true" || value == "false" ||
                              (!value.empty() && (value[0] == '-' || (value[0] >= '0' && value[0] <= '9')));
        if (is_plain && value.size() < 40)
            out += (out.size() > 1 ? "," : "") + quote_json(key) + ":" + std::string(value);
        return out.size() < 4096;
    };
    for_each_member(body, [&](std::string_view key, std::string_view value) {
        if (key == "generationConfig") return for_each_member(value, add);
        return add(key, value);
    });
    return out + "}";
}

ModelInput read_request_messages(ModelApi api, std::string_view body) {
    ModelInput request;
    request.parameters = read_parameters(body);
    std::vector<ModelMessage>& messages = request.messages;
    read_system(member(body, api == ModelApi::messages    ? "system"
                             : api == ModelApi::responses ? "instructions"
                                                          : "systemInstruction"),
                messages);
    const auto list = member(body, api == ModelApi::responses ? "input"
                                   : api == ModelApi::gemini  ? "contents"
                                                              : "messages");
    if (is_text(list)) messages.push_back({"user", plain(list), {}, {}, {}});
    if (is_list(list))
        for_each_item(*list, [&](std::string_view item) {
            switch (api) {
            case ModelApi::messages:
                read_anthropic_message(item, messages);
                break;
            case ModelApi::responses:
                read_response_item(item, messages);
                break;
            case ModelApi::chat:
                read_chat_message(item, messages.emplace_back());
                break;
            case ModelApi::gemini:
                read_gemini_content(item, messages);
                break;
            }
            return true;
        });
    cut_middle(request);
    if (const auto tools = member(body, "tools"); is_list(tools))
        for_each_item(*tools, [&](std::string_view tool) {
            add_raw(request.tools.emplace_back(), tool);
            return request.tools.size() < most_tools;
        });
    return request;
}

ModelMessage read_response_message(ModelApi api, ResponseFormat form, std::string_view body) {
    ModelMessage message;
    message.role = "assistant";
    if (form == ResponseFormat::json) {
        read_whole_response(api, body, message);
        message.role = "assistant";
        return message;
    }
    std::map<int64_t, size_t> call_at;
    for_each_event(body, [&](std::string_view data) {
        switch (api) {
        case ModelApi::messages:
            return read_messages_event(data, message, call_at);
        case ModelApi::responses:
            return read_response_event(data, message);
        case ModelApi::chat:
            return read_chat_event(data, message, call_at);
        case ModelApi::gemini:
            return read_gemini_piece(data, message);
        }
    });
    return message;
}

} // namespace hone::broker
