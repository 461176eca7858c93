#include "broker/gateway/model_request.h"

#include "base/text.h"
#include "broker/spending/model_json.h"

#include <algorithm>

namespace hone::broker {

namespace {

// A text to put in at an offset of the body.
struct Insertion {
    size_t at = 0;
    std::string text;
};

std::string insert(std::string_view body, const Insertion& insertion) {
    std::string out;
    out.reserve(body.size() + insertion.text.size());
    out += body.substr(0, insertion.at);
    out += insertion.text;
    out += body.substr(insertion.at);
    return out;
}

size_t offset_of(std::string_view body, std::string_view part) {
    return static_cast<size_t>(part.data() - body.data());
}

// Before the bracket or quote that closes `value`.
size_t inner_end(std::string_view body, std::string_view value) {
    return offset_of(body, value) + value.size() - 1;
}

bool is_empty_list(std::string_view list) {
    return skip_json_space(list, 1) == list.size() - 1;
}

Insertion append_item(std::string_view body, std::string_view list, const std::string& item) {
    return {inner_end(body, list), (is_empty_list(list) ? "" : ",") + item};
}

Insertion append_text(std::string_view body, std::string_view text, std::string_view notice) {
    const std::string quoted = quote_json("\n\n" + std::string(notice));
    return {inner_end(body, text), quoted.substr(1, quoted.size() - 2)};
}

Insertion first_member(std::string_view body, const std::string& member_text) {
    const size_t open = skip_json_space(body, 0);
    const size_t next = skip_json_space(body, open + 1);
    const bool is_empty = next < body.size() && body[next] == '}';
    return {open + 1, member_text + (is_empty ? "" : ",")};
}

std::optional<std::string_view> last_item(std::string_view list) {
    std::optional<std::string_view> last;
    const bool is_list = for_each_item(list, [&](std::string_view item) { return last = item, true; });
    return is_list ? last : std::nullopt;
}

std::optional<Insertion> notice_in_messages(ModelApi api, std::string_view body, std::string_view notice) {
    const auto messages = member(body, "messages");
    if (!is_list(messages)) return std::nullopt;
    const auto last = last_item(*messages);
    if (!last) return std::nullopt;
    const auto role = text_of(member(*last, "role"));
    const auto content = member(*last, "content");
    const std::string quoted = quote_json(notice);
    if (role == "assistant") { // a prefilled response of the model: Anthropic must end with it
        if (api == ModelApi::messages) return std::nullopt;
        return append_item(body, *messages, R"({"role":"user","content":)" + quoted + "}");
    }
    if (is_text(content)) return append_text(body, *content, notice);
    if (is_list(content)) return append_item(body, *content, R"({"type":"text","text":)" + quoted + "}");
    return std::nullopt;
}

std::optional<Insertion> notice_in_input(std::string_view body, std::string_view notice) {
    const auto input = member(body, "input");
    if (is_text(input)) return append_text(body, *input, notice);
    if (!is_list(input)) return std::nullopt;
    return append_item(body, *input,
                       R"({"type":"message","role":"developer","content":[{"type":"input_text","text":)" +
                           quote_json(notice) + "}]}");
}

std::optional<Insertion> notice_in_instruction(std::string_view body, std::string_view notice) {
    auto instruction = member(body, "systemInstruction");
    if (!instruction) instruction = member(body, "system_instruction");
    const std::string part = R"({"text":)" + quote_json(notice) + "}";
    if (!instruction) return first_member(body, R"("systemInstruction":{"parts":[)" + part + "]}");
    const auto parts = member(*instruction, "parts");
    if (!is_list(parts)) return std::nullopt;
    return append_item(body, *parts, part);
}

// Of a member that is there twice the larger one counts: a budget must hold whichever the provider takes.
void take_limit(ModelRequest& request, std::string_view value) {
    if (const auto limit = count_of(value))
        request.max_output_tokens = std::max(request.max_output_tokens.value_or(0), *limit);
}

void take_completions(ModelRequest& request, std::string_view value) {
    constexpr int64_t most = 10'000;
    request.completions = std::max(request.completions, std::min(count_of(value).value_or(1), most));
}

} // namespace

Result<ModelRequest> read_model_request(ModelApi api, std::string_view body) {
    ModelRequest request;
    std::vector<std::string> seen;
    std::string_view twice;
    const bool is_object = for_each_member(body, [&](std::string_view key, std::string_view value) {
        static constexpr std::string_view decisive[] = {"model",    "stream", "stream_options",
                                                        "messages", "input",  "contents"};
        for (const std::string_view name : decisive) {
            if (!equals_ignoring_case(key, name)) continue;
            if (key != name || std::find(seen.begin(), seen.end(), name) != seen.end()) return twice = name, false;
            seen.emplace_back(name);
        }
        if (key == "model") request.model = text_of(value).value_or("");
        if (key == "stream") request.stream = is_true(value);
        if (key == "stream_options") request.asks_for_usage = is_true(member(value, "include_usage"));
        if (key == "max_tokens" || key == "max_completion_tokens" || key == "max_output_tokens")
            take_limit(request, value);
        if (key == "n") take_completions(request, value);
        if (key == "generationConfig" || key == "generation_config")
            for_each_member(value, [&](std::string_view name, std::string_view inner) {
                if (name == "maxOutputTokens" || name == "max_output_tokens") take_limit(request, inner);
                if (name == "candidateCount" || name == "candidate_count") take_completions(request, inner);
                return true;
            });
        return true;
    });
    if (!twice.empty()) return invalid("the request has \"" + std::string(twice) + "\" in more than one way");
    if (!is_object) return invalid("the request is not a JSON object");
    const size_t end = end_of_json_value(body, skip_json_space(body, 0));
    if (skip_json_space(body, end) != body.size()) return invalid("something follows the request's JSON object");
    if (api != ModelApi::gemini && request.model.empty()) return invalid("the request names no model");
    if (request.model.size() > 200 || !is_valid_utf8(request.model)) return invalid("not the name of a model");
    return request;
}

std::string with_no_storage(std::string_view body) {
    return insert(body, first_member(body, R"("store":false)"));
}

std::string with_usage_in_stream(std::string_view body) {
    const auto options = member(body, "stream_options");
    if (!options) return insert(body, first_member(body, R"("stream_options":{"include_usage":true})"));
    std::string made = R"({"include_usage":true)";
    for_each_member(*options, [&](std::string_view key, std::string_view value) {
        if (key != "include_usage") made += "," + quote_json(key) + ":" + std::string(value);
        return true;
    });
    made += "}";
    const size_t at = offset_of(body, *options);
    return std::string(body.substr(0, at)) + made + std::string(body.substr(at + options->size()));
}

std::optional<std::string> with_notice(ModelApi api, std::string_view body, std::string_view notice) {
    std::optional<Insertion> insertion;
    switch (api) {
    case ModelApi::messages:
    case ModelApi::chat:
        insertion = notice_in_messages(api, body, notice);
        break;
    case ModelApi::responses:
        insertion = notice_in_input(body, notice);
        break;
    case ModelApi::gemini:
        insertion = notice_in_instruction(body, notice);
        break;
    }
    if (!insertion) return std::nullopt;
    return insert(body, *insertion);
}

} // namespace hone::broker
