#include "signal/text/failure_text.h"

#include "base/text.h"
#include "signal/text/message_template.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hone::signal {

namespace {

constexpr size_t longest_text = 8000;  // bytes of a message that are read
constexpr size_t longest_detail = 300; // bytes of a cause that are kept
constexpr size_t template_length = 10; // words that distinguish causes

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

bool is_name_letter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// The last part of "package.module.SomeError".
std::string_view last_part(std::string_view dotted) {
    const size_t dot = dotted.rfind('.');
    return dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
}

bool ends_like_an_exception(std::string_view name) {
    static constexpr std::array<std::string_view, 6> ends{"Error",     "Exception", "Timeout",
                                                          "Interrupt", "Fault",     "Failure"};
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return name.ends_with(end); });
}

std::string_view line_at(std::string_view text, size_t at) {
    const size_t end = text.find('\n', at);
    return trim(text.substr(at, end == std::string_view::npos ? std::string_view::npos : end - at));
}

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

bool is_hexadecimal(std::string_view word) {
    return std::all_of(word.begin(), word.end(),
                       [](char letter) { return std::isxdigit(static_cast<unsigned char>(letter)) != 0; });
}

// A part of an id: "7f3a91c2".
bool is_made_up(std::string_view word) {
    return word.size() >= 8 && is_hexadecimal(word) && std::count_if(word.begin(), word.end(), is_digit) >= 2;
}

// The value of an error field as one line.
std::string text_of(const json::Value& value) {
    if (value.is_string()) return std::string(value.get_string());
    if (const json::Object* object = value.if_object())
        for (const char* name : {"message", "detail", "error", "reason", "type", "code"})
            if (const json::Value* inner = object->if_contains(name); inner != nullptr && inner->is_string())
                return std::string(inner->get_string());
    return json::print(value);
}

std::optional<Cause> reported_in_json(std::string_view text) {
    const auto parsed = json::parse(text);
    if (!parsed.ok()) return std::nullopt;
    const json::Object* object = parsed.value().if_object();
    if (object == nullptr) return std::nullopt;
    const auto cause_of = [](std::string_view line) {
        Cause cause = innermost_cause(line);
        if (cause.detail.empty()) cause.detail = std::string(truncate_utf8(line, longest_detail));
        return cause;
    };
    for (const char* name : {"error", "errors", "exception", "error_message"}) {
        const json::Value* value = object->if_contains(name);
        if (value == nullptr || value->is_null()) continue;
        if (value->is_bool() && !value->get_bool()) continue;
        if (value->is_string() && value->get_string().empty()) continue;
        if (value->is_array() && value->get_array().empty()) continue;
        if (value->is_object() && value->get_object().empty()) continue;
        if (value->is_bool() || value->is_number()) {
            const json::Value* message = object->if_contains("message");
            return cause_of(message != nullptr ? text_of(*message) : "the result is marked as an error");
        }
        return cause_of(text_of(*value));
    }
    for (const char* name : {"status", "status_code", "statusCode", "code"}) {
        const json::Value* value = object->if_contains(name);
        if (value == nullptr) continue;
        if (value->is_int64() && value->get_int64() >= 400 && value->get_int64() <= 599)
            return Cause{"HTTP status " + std::to_string(value->get_int64()), std::string()};
        if (value->is_string() && std::string_view(name) == "status") {
            const std::string state = lowercase_ascii(std::string_view(value->get_string()));
            if (state != "error" && state != "failed" && state != "failure") continue;
            const json::Value* message = object->if_contains("message");
            return cause_of(message != nullptr ? text_of(*message) : "the result has the status " + state);
        }
    }
    if (const json::Value* flag = object->if_contains("isError"); flag && flag->is_bool() && flag->get_bool())
        return cause_of("the result is marked as an error");
    return std::nullopt;
}

// The text that follows `key` in a payload: JSON, or a dictionary as Python prints it. Empty when there is none.
std::string_view payload_value(std::string_view payload, std::string_view key) {
    for (size_t at = payload.find(key); at != std::string_view::npos; at = payload.find(key, at + 1)) {
        const size_t end = at + key.size();
        if (at == 0 || end >= payload.size()) continue;
        const char mark = payload[at - 1];
        if ((mark != '"' && mark != '\'') || payload[end] != mark) continue;
        size_t begin = end + 1;
        while (begin < payload.size() && (payload[begin] == ' ' || payload[begin] == ':')) ++begin;
        if (begin >= payload.size() || (payload[begin] != '"' && payload[begin] != '\'')) continue;
        size_t stop = begin + 1;
        while (stop < payload.size() && payload[stop] != payload[begin]) stop += payload[stop] == '\\' ? 2 : 1;
        const std::string_view value = trim(payload.substr(begin + 1, std::min(stop, payload.size()) - begin - 1));
        if (!value.empty()) return value;
    }
    return {};
}

// What a wrapper such as "Error in agent run: {'error': '…'}" wraps. Empty when the message has no payload.
std::string_view wrapped_message(std::string_view message) {
    const size_t brace = message.find('{');
    if (brace == std::string_view::npos) return {};
    for (const std::string_view key : {"message", "error", "detail", "error_message", "reason"})
        if (const std::string_view value = payload_value(message.substr(brace), key); !value.empty()) return value;
    return {};
}

// "Call id: call_3", "Tool: search": what frameworks put above a result.
bool is_label(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon > 24 || line.size() > 120) return false;
    const std::string head = lowercase_ascii(line.substr(0, colon));
    return contains_any(head, {"call id", "call_id", "tool", "observation", "result", "output", "function", "name"});
}

// Whether a line, in lower case, begins as a report of a failure does.
bool begins_as_report(std::string_view line) {
    static constexpr std::array<std::string_view, 20> begins{"error:",
                                                             "error -",
                                                             "error occurred",
                                                             "an error occurred",
                                                             "exception:",
                                                             "traceback (most",
                                                             "fatal:",
                                                             "failed:",
                                                             "failed to ",
                                                             "failure:",
                                                             "error executing",
                                                             "error calling",
                                                             "error in tool",
                                                             "error running",
                                                             "error while",
                                                             "request timed out",
                                                             "permission denied",
                                                             "rate limit exceeded",
                                                             "invalid tool",
                                                             "unknown tool"};
    return std::any_of(begins.begin(), begins.end(), [&](std::string_view begin) { return line.starts_with(begin); });
}

// "ValueError: …", "requests.exceptions.ConnectionError: …".
bool begins_with_exception(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon < 6) return false;
    const std::string_view word = line.substr(0, colon), name = last_part(word);
    return !name.empty() && std::isupper(static_cast<unsigned char>(name.front())) && ends_like_an_exception(name) &&
           std::all_of(word.begin(), word.end(), [](char letter) { return is_name_letter(letter) || letter == '.'; });
}

// "HTTP 503 …", "status code: 429", "404 Client Error".
bool has_status_code(std::string_view line) {
    for (const std::string_view before : {"http ", "http error ", "status code ", "status code: ", "status: ", ""}) {
        if (!line.starts_with(before)) continue;
        const std::string_view rest = line.substr(before.size());
        if (rest.size() < 3 || (rest[0] != '4' && rest[0] != '5') || !is_digit(rest[1]) || !is_digit(rest[2])) continue;
        if (rest.size() > 3 && is_digit(rest[3])) continue;
        if (!before.empty()) return true;
        if (contains_any(rest.substr(0, 40), {"error", "not found", "too many", "unauthorized", "forbidden"}))
            return true;
    }
    return false;
}

// "no errors", "0 failures": the opposite of a report.
bool is_negated(std::string_view line) {
    return contains_any(line, {"no error", "no errors", "without error", "0 errors", "0 failed", "no failure",
                               "error: none", "error: null", "errors: 0", "error: 0", "error: false"});
}

} // namespace

std::string normalised_name(std::string_view name) {
    name = truncate_utf8(name, 300);
    std::string made;
    for (size_t at = 0; at < name.size();) {
        if (!is_name_letter(name[at])) {
            made += name[at++];
            continue;
        }
        size_t end = at;
        while (end < name.size() && is_name_letter(name[end])) ++end;
        const std::string_view word = name.substr(at, end - at);
        at = end;
        if (made.ends_with("#-") && is_hexadecimal(word)) {
            made.pop_back(); // the next part of an id
        } else if (is_made_up(word)) {
            made += '#';
        } else {
            for (size_t i = 0; i < word.size(); ++i) {
                if (!is_digit(word[i]))
                    made += word[i];
                else if (i == 0 || !is_digit(word[i - 1]))
                    made += '#';
            }
        }
    }
    return made;
}

Cause innermost_cause(std::string_view message) {
    // A message of any length ends with what matters.
    if (message.size() > longest_text) message.remove_prefix(message.size() - longest_text);
    Cause cause;
    for (size_t at = 0; at < message.size();) {
        if (!is_name_letter(message[at])) {
            ++at;
            continue;
        }
        size_t end = at;
        while (end < message.size() &&
               (is_name_letter(message[end]) ||
                (message[end] == '.' && end + 1 < message.size() && is_name_letter(message[end + 1]))))
            ++end;
        const std::string_view word = last_part(message.substr(at, end - at));
        size_t after = end;
        while (after < message.size() && message[after] == ' ') ++after;
        const bool is_stated = after >= message.size() || message[after] == ':' || message[after] == '\n';
        if (is_stated && ends_like_an_exception(word) && std::isupper(static_cast<unsigned char>(word.front()))) {
            const bool has_detail = after < message.size() && message[after] == ':';
            const std::string_view detail = has_detail ? line_at(message, after + 1) : std::string_view();
            if (word == "Error" || word == "Exception") {
                // Adds the words to a type that came without any.
                if (cause.detail.empty() && !detail.empty())
                    cause.detail = std::string(truncate_utf8(detail, longest_detail));
            } else {
                cause = {std::string(truncate_utf8(word, 80)), std::string(truncate_utf8(detail, longest_detail))};
            }
        }
        at = end;
    }
    if (!cause.type.empty()) return cause;
    // The value is shorter than the message, so this ends.
    if (const std::string_view wrapped = wrapped_message(message); !wrapped.empty()) return innermost_cause(wrapped);
    if (!cause.detail.empty()) return cause;
    for (const std::string_view line : split(message, '\n'))
        if (const std::string_view text = trim(line); !text.empty()) {
            cause.detail = std::string(truncate_utf8(text, longest_detail));
            break;
        }
    return cause;
}

std::string cause_template(const Cause& cause) {
    std::vector<std::string> words = template_words(cause.detail);
    if (words.size() > template_length) words.resize(template_length);
    const std::string joined = join_words(words);
    if (cause.type.empty()) return joined;
    return joined.empty() ? cause.type : cause.type + ": " + joined;
}

bool is_provider_limit(std::string_view type, std::string_view message) {
    const std::string kind = lowercase_ascii(last_part(type));
    if (contains_any(kind, {"ratelimit", "toomanyrequests", "overloaded", "quotaexceeded", "resourceexhausted"}))
        return true;
    const std::string text = lowercase_ascii(truncate_utf8(message, longest_text));
    return contains_any(text, {"ratelimiterror", "rate_limit_error", "rate limit exceeded", "rate limit reached",
                               "rate limited", "too many requests", "overloaded_error", "\"overloaded\"",
                               "model is overloaded", "insufficient_quota", "exceeded your current quota",
                               "resource_exhausted", "resource has been exhausted"});
}

bool is_context_limit(std::string_view message) {
    const std::string text = lowercase_ascii(truncate_utf8(message, longest_text));
    return contains_any(text, {"context_length_exceeded", "maximum context length", "context window",
                               "prompt is too long", "too many tokens", "input is too long"});
}

std::optional<Cause> reported_failure(std::string_view text) {
    text = trim(text);
    if (text.empty()) return std::nullopt;
    if (text.front() == '{') return text.size() <= 64 << 10 ? reported_in_json(text) : std::nullopt;
    // A report stands at the head of a result; further down it is a part of a document.
    size_t at = 0;
    for (int lines = 0; lines < 3 && at < text.size(); ++lines) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = trim(text.substr(at, end - at));
        const std::string lowered = lowercase_ascii(truncate_utf8(line, 300));
        if ((begins_as_report(lowered) || lowered == "error" || has_status_code(lowered) ||
             begins_with_exception(line)) &&
            !is_negated(lowered)) {
            const std::string_view report = truncate_utf8(text.substr(at), longest_text);
            Cause cause = innermost_cause(report);
            if (cause.detail.empty() && cause.type.empty())
                cause.detail = std::string(truncate_utf8(line, longest_detail));
            return cause;
        }
        if (!line.empty() && !is_label(line)) return std::nullopt;
        at = end + 1;
    }
    return std::nullopt;
}

} // namespace hone::signal
