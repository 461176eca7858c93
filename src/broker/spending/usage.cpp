#include "broker/spending/usage.h"

#include "base/text.h"
#include "broker/spending/model_json.h"
#include "telemetry/span/usage.h"

#include <algorithm>
#include <cstring>

namespace hone::broker {

namespace {

// Texts from responses go into rows and spans.
constexpr size_t name_bytes = 200;
// English prose and code are near this; only used for interrupted responses.
constexpr int64_t bytes_per_token = 4;

int64_t length_of(std::optional<std::string_view> text) {
    return text && text->size() >= 2 && text->front() == '"' ? static_cast<int64_t>(text->size() - 2) : 0;
}

// By memmem: string_view::find stops at each quote, of which JSON is full.
const char* place_of(std::string_view data, std::string_view part) {
    return static_cast<const char*>(::memmem(data.data(), data.size(), part.data(), part.size()));
}

bool has(std::string_view data, std::string_view part) {
    return place_of(data, part) != nullptr;
}

// The inside of the string that is the value of `key` in an event of known shape, without reading all of it.
std::string_view string_after(std::string_view data, std::string_view quoted_key) {
    const char* const key = place_of(data, quoted_key);
    if (key == nullptr) return {};
    size_t at = skip_json_space(data, static_cast<size_t>(key - data.data()) + quoted_key.size());
    if (at >= data.size() || data[at] != ':') return {};
    at = skip_json_space(data, at + 1);
    const size_t end = at < data.size() && data[at] == '"' ? end_of_json_value(data, at) : std::string_view::npos;
    return end == std::string_view::npos ? std::string_view() : data.substr(at + 1, end - at - 2);
}

// Nearly all events of a stream are small pieces of text. They are recognised by their beginning, or by what they lack;
// in a text each quote has a backslash, so that no text can look like a key.
std::optional<std::string_view> text_of_plain_delta(ModelApi api, std::string_view data) {
    const std::string_view start = data.substr(0, 64);
    if (api == ModelApi::messages && has(start, "\"content_block_delta\"")) {
        for (const std::string_view key : {"\"text\"", "\"partial_json\""})
            if (const std::string_view text = string_after(data, key); !text.empty()) return text;
        return string_after(data, "\"thinking\"");
    }
    if (api == ModelApi::responses && has(start, "\"type\"") && has(start, ".delta\""))
        return string_after(data, "\"delta\"");
    if (api == ModelApi::chat && has(data, "\"delta\"") && !has(data, "\"error\"") && !has(data, "\"tool_calls\"") &&
        !has(data, "\"reasoning_content\"") &&
        (has(data, "\"finish_reason\":null") || has(data, "\"finish_reason\": null")) &&
        (!has(data, "\"usage\"") || has(data, "\"usage\":null") || has(data, "\"usage\": null")))
        return string_after(data, "\"content\"");
    return std::nullopt;
}

} // namespace

ResponseFormat response_format(std::string_view content_type) {
    const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
    return equals_ignoring_case(type, "text/event-stream") ? ResponseFormat::events : ResponseFormat::json;
}

void UsageMeter::observe(std::string_view bytes) {
    if (m_form == ResponseFormat::events) return take_event_bytes(bytes);
    if (m_overflow || m_pending.size() + bytes.size() > event_limit) {
        m_overflow = true;
        m_text_bytes += static_cast<int64_t>(bytes.size());
        return;
    }
    m_pending += bytes;
}

// Lines end with a line feed, a carriage return, or both. A line that is whole in `bytes` is not copied.
void UsageMeter::take_event_bytes(std::string_view bytes) {
    const bool has_returns = bytes.find('\r') != std::string_view::npos; // nearly never
    while (!bytes.empty()) {
        if (m_after_return && bytes.front() == '\n') bytes.remove_prefix(1);
        m_after_return = false;
        if (bytes.empty()) return;
        size_t end = 0;
        const void* feed = std::memchr(bytes.data(), '\n', bytes.size());
        end = feed ? static_cast<size_t>(static_cast<const char*>(feed) - bytes.data()) : bytes.size();
        if (const void* back = has_returns ? std::memchr(bytes.data(), '\r', end) : nullptr)
            end = static_cast<size_t>(static_cast<const char*>(back) - bytes.data());
        if (end == bytes.size()) {
            if (m_pending.size() + bytes.size() > event_limit) m_overflow = true;
            if (!m_overflow) m_pending += bytes;
            return;
        }
        m_after_return = bytes[end] == '\r';
        const std::string_view piece = bytes.substr(0, end);
        bytes.remove_prefix(end + 1);
        if (m_overflow) { // this line is lost; the next is read again
            m_overflow = false;
            m_pending.clear();
        } else if (m_pending.empty() && m_data.empty() && !m_after_return && piece.starts_with("data: ") &&
                   bytes.starts_with('\n')) {
            take_data(piece.substr(6)); // a whole event of one line: nearly all are
            bytes.remove_prefix(1);
        } else if (m_pending.empty()) {
            take_line(piece);
        } else {
            m_pending += piece;
            take_line(m_pending);
            m_pending.clear();
        }
    }
}

void UsageMeter::take_line(std::string_view line) {
    if (line.empty()) {
        if (!m_data.empty()) take_data(m_data);
        m_data.clear();
        return;
    }
    if (!line.starts_with("data:")) return; // names of events repeat the data; comments are ignored
    line.remove_prefix(5);
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    if (m_data.size() + line.size() > event_limit) return m_data.clear();
    if (!m_data.empty()) m_data += '\n';
    m_data += line;
}

// The pieces of one text differ in nothing but the text. A text without quotes that does not end with a backslash ends
// where the frame continues, so nothing in it need be read.
bool UsageMeter::fits_frame(std::string_view data) const {
    const size_t frame = m_frame_start.size() + m_frame_end.size();
    if (frame == 0 || data.size() < frame || !data.starts_with(m_frame_start) || !data.ends_with(m_frame_end))
        return false;
    const std::string_view text = data.substr(m_frame_start.size(), data.size() - frame);
    return text.empty() || (text.back() != '\\' && std::memchr(text.data(), '"', text.size()) == nullptr);
}

void UsageMeter::keep_frame(std::string_view data, std::string_view text) {
    constexpr size_t most = 2048;
    m_frame_start.clear();
    m_frame_end.clear();
    if (text.empty() || data.size() - text.size() > most) return;
    const auto start = static_cast<size_t>(text.data() - data.data());
    m_frame_start = data.substr(0, start);
    m_frame_end = data.substr(start + text.size());
}

void UsageMeter::take_data(std::string_view data) {
    if (fits_frame(data)) {
        m_text_bytes += static_cast<int64_t>(data.size() - m_frame_start.size() - m_frame_end.size());
        return;
    }
    const bool repeats_itself = m_api == ModelApi::chat; // each event names the model; the first is read
    if (!repeats_itself || !m_usage.response_id.empty())
        if (const auto text = text_of_plain_delta(m_api, data)) {
            m_text_bytes += static_cast<int64_t>(text->size());
            return keep_frame(data, *text);
        }
    switch (m_api) {
    case ModelApi::messages:
        return take_message(data);
    case ModelApi::responses:
        return take_response(data);
    case ModelApi::chat:
        return take_chat(data);
    case ModelApi::gemini:
        return take_gemini(data);
    }
}

void UsageMeter::keep_text(std::string& into, std::optional<std::string_view> value) {
    if (!value || value->size() > 8 * name_bytes) return;
    if (const auto text = text_of(value)) into = repair_utf8(truncate_utf8(*text, name_bytes));
}

// Each field stands for itself: a later event repeats some and leaves out others. Thinking is part of output_tokens.
void UsageMeter::take_anthropic_usage(std::string_view usage) {
    for_each_member(usage, [&](std::string_view key, std::string_view value) {
        if (key == "cache_creation")
            if (const auto written = count_of(member(value, "ephemeral_1h_input_tokens")))
                m_usage.hour_cache_write = *written;
        const auto count = count_of(value);
        if (!count) return true;
        if (key == "input_tokens") m_usage.tokens.input = *count;
        if (key == "cache_read_input_tokens") m_usage.tokens.cache_read = *count;
        if (key == "cache_creation_input_tokens") m_usage.tokens.cache_write = *count;
        if (key == "output_tokens") m_usage.tokens.output = *count;
        m_usage.reported = true;
        return true;
    });
}

// Both of OpenAI's formats: the same meaning under two sets of names. Cached tokens lie inside the input, reasoning
// inside the output, unless the total of a compatible server differs.
void UsageMeter::take_openai_usage(std::string_view usage) {
    telemetry::ReportedUsage told;
    for_each_member(usage, [&](std::string_view key, std::string_view value) {
        if (key == "input_tokens" || key == "prompt_tokens") told.input = count_of(value);
        if (key == "output_tokens" || key == "completion_tokens") told.output = count_of(value);
        if (key == "total_tokens") told.total = count_of(value);
        if (key == "input_tokens_details" || key == "prompt_tokens_details") {
            told.cache_read = count_of(member(value, "cached_tokens"));
            told.cache_write = count_of(member(value, "cache_write_tokens"));
        }
        if (key == "output_tokens_details" || key == "completion_tokens_details")
            told.reasoning = count_of(member(value, "reasoning_tokens"));
        return true;
    });
    if (!told.input && !told.output && !told.total) return;
    m_usage.tokens = telemetry::to_buckets(told);
    m_usage.reported = true;
}

void UsageMeter::take_message(std::string_view data) {
    const auto type = member(data, "type");
    if (!type) return;
    if (*type == "\"message_start\"") {
        const auto message = member(data, "message");
        if (!message) return;
        keep_text(m_usage.model, member(*message, "model"));
        keep_text(m_usage.response_id, member(*message, "id"));
        if (const auto usage = member(*message, "usage")) take_anthropic_usage(*usage);
    } else if (*type == "\"content_block_delta\"") {
        if (const auto delta = member(data, "delta"))
            m_text_bytes += std::max({length_of(member(*delta, "text")), length_of(member(*delta, "partial_json")),
                                      length_of(member(*delta, "thinking"))});
    } else if (*type == "\"message_delta\"") {
        keep_text(m_usage.finish_reason, member_at(data, {"delta", "stop_reason"}));
        if (const auto usage = member(data, "usage")) take_anthropic_usage(*usage);
    } else if (*type == "\"message_stop\"") {
        m_ended = true;
    } else if (*type == "\"error\"") {
        keep_text(m_usage.error, member_at(data, {"error", "message"}));
    }
}

void UsageMeter::take_response(std::string_view data) {
    const auto type = text_of(member(data, "type"));
    if (!type) return;
    if (type->ends_with(".delta")) {
        m_text_bytes += length_of(member(data, "delta"));
        return;
    }
    if (*type == "error") return keep_text(m_usage.error, member(data, "message"));
    const bool is_end = *type == "response.completed" || *type == "response.incomplete" || *type == "response.failed";
    if (!is_end && *type != "response.created") return;
    const auto response = member(data, "response");
    if (!response) return;
    keep_text(m_usage.model, member(*response, "model"));
    keep_text(m_usage.response_id, member(*response, "id"));
    if (!is_end) return;
    m_ended = true;
    keep_text(m_usage.finish_reason, member(*response, "status"));
    keep_text(m_usage.error, member_at(*response, {"error", "message"}));
    if (const auto usage = member(*response, "usage")) take_openai_usage(*usage);
}

void UsageMeter::take_chat(std::string_view data) {
    if (data == "[DONE]") {
        m_ended = true;
        return;
    }
    for_each_member(data, [&](std::string_view key, std::string_view value) {
        if (key == "model") keep_text(m_usage.model, value);
        if (key == "id") keep_text(m_usage.response_id, value);
        if (key == "usage" && !is_null(value)) take_openai_usage(value);
        if (key == "error") keep_text(m_usage.error, member(value, "message"));
        if (key != "choices") return true;
        for_each_item(value, [&](std::string_view choice) {
            keep_text(m_usage.finish_reason, member(choice, "finish_reason"));
            const auto delta = member(choice, "delta");
            if (!delta) return true;
            m_text_bytes += length_of(member(*delta, "content")) + length_of(member(*delta, "reasoning_content"));
            if (const auto calls = member(*delta, "tool_calls"))
                for_each_item(*calls, [&](std::string_view call) {
                    m_text_bytes += length_of(member_at(call, {"function", "arguments"}));
                    return true;
                });
            return true;
        });
        return true;
    });
}

// Each piece repeats the counts so far. Thoughts are beside the candidates, cached content is inside the prompt.
void UsageMeter::take_gemini(std::string_view data) {
    for_each_member(data, [&](std::string_view key, std::string_view value) {
        if (key == "modelVersion") keep_text(m_usage.model, value);
        if (key == "responseId") keep_text(m_usage.response_id, value);
        if (key == "error") keep_text(m_usage.error, member(value, "message"));
        if (key == "usageMetadata") {
            const int64_t prompt = count_of(member(value, "promptTokenCount")).value_or(0);
            const int64_t tools = count_of(member(value, "toolUsePromptTokenCount")).value_or(0);
            const int64_t cached = count_of(member(value, "cachedContentTokenCount")).value_or(0);
            telemetry::Tokens& tokens = m_usage.tokens;
            tokens.input = std::max<int64_t>(0, prompt - cached) + tools;
            tokens.cache_read = cached;
            tokens.output = count_of(member(value, "candidatesTokenCount")).value_or(0);
            tokens.reasoning = count_of(member(value, "thoughtsTokenCount")).value_or(0);
            m_usage.reported = true;
        }
        if (key == "candidates")
            for_each_item(value, [&](std::string_view candidate) {
                keep_text(m_usage.finish_reason, member(candidate, "finishReason"));
                if (const auto parts = member_at(candidate, {"content", "parts"}))
                    for_each_item(*parts, [&](std::string_view part) {
                        m_text_bytes += length_of(member(part, "text"));
                        return true;
                    });
                return true;
            });
        return true;
    });
    if (!m_usage.finish_reason.empty()) m_ended = true;
}

void UsageMeter::take_whole() {
    const std::string_view body = m_pending;
    const size_t start = skip_json_space(body, 0);
    if (m_api == ModelApi::gemini && start < body.size() && body[start] == '[') {
        for_each_item(body, [&](std::string_view item) { return take_gemini(item), true; });
        return;
    }
    if (m_api == ModelApi::gemini) return take_gemini(body);
    for_each_member(body, [&](std::string_view key, std::string_view value) {
        if (key == "model") keep_text(m_usage.model, value);
        if (key == "id") keep_text(m_usage.response_id, value);
        if (key == "stop_reason" || key == "status") keep_text(m_usage.finish_reason, value);
        if (key == "choices")
            for_each_item(value, [&](std::string_view choice) {
                return keep_text(m_usage.finish_reason, member(choice, "finish_reason")), true;
            });
        if (key == "usage" && !is_null(value))
            m_api == ModelApi::messages ? take_anthropic_usage(value) : take_openai_usage(value);
        return true;
    });
}

void UsageMeter::finish(bool is_whole) {
    if (m_form == ResponseFormat::json) {
        if (!m_overflow) take_whole();
        m_ended = is_whole && !m_overflow;
        if (!m_ended) m_text_bytes += static_cast<int64_t>(m_pending.size());
    } else if (!m_data.empty() && is_whole) { // the last event may come without its empty line
        take_data(m_data);
    }
    m_usage.complete = is_whole && m_ended && m_usage.reported;
    if (!m_usage.complete) {
        const int64_t seen = (m_text_bytes + bytes_per_token - 1) / bytes_per_token;
        m_usage.estimated_output = std::max<int64_t>(0, seen - m_usage.tokens.output - m_usage.tokens.reasoning);
    }
    m_pending = {};
    m_data = {};
}

bool UsageMeter::has_final_numbers() const {
    if (!m_usage.reported) return false;
    // Anthropic reports the final numbers together with the reason of the end, and so does each item of Gemini's list.
    const bool has_reason = !m_usage.finish_reason.empty();
    if (m_form == ResponseFormat::json) return m_api != ModelApi::gemini || has_reason;
    return m_ended || (m_api == ModelApi::messages && has_reason);
}

} // namespace hone::broker
