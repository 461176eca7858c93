// Reads the provider's own token counts from a model's response while it passes: whole JSON or a stream of events,
// four wire formats. It never changes a byte and never holds one back. One meter per response, one thread at a time.
//   observe* finish
#pragma once

#include "base/fields.h"
#include "telemetry/span/span.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::broker {

enum class ModelApi { messages, responses, chat, gemini };
constexpr auto enum_names(ModelApi) {
    return std::array{EnumName{ModelApi::messages, "messages"}, EnumName{ModelApi::responses, "responses"},
                      EnumName{ModelApi::chat, "chat"}, EnumName{ModelApi::gemini, "gemini"}};
}

// Format of the response's body, by its Content-Type.
enum class ResponseFormat { json, events };
ResponseFormat response_format(std::string_view content_type);

struct ModelUsage {
    telemetry::Tokens tokens;     // last counts of the provider
    bool reported = false;        // the provider sent counts
    bool complete = false;        // the response ended regularly with its final numbers
    int64_t hour_cache_write = 0; // of tokens.cache_write: written into a cache of one hour, which costs more
    int64_t estimated_output = 0; // only when not complete: output that was seen and is not in `tokens`, a guess
    std::string model;            // as the response names it
    std::string finish_reason;
    std::string response_id;
    std::string error; // an error that came inside a stream
};

class UsageMeter {
public:
    UsageMeter(ModelApi api, ResponseFormat form) : m_api(api), m_form(form) {}

    // Pieces of the body as they come, without the framing of the transfer.
    void observe(std::string_view bytes);
    // `is_whole`: the body ended as its framing declared. Call once.
    void finish(bool is_whole);
    const ModelUsage& usage() const { return m_usage; }
    // After finish: the last numbers are those of the whole call, although the rest of the body is missing.
    bool has_final_numbers() const;

    // Events and whole responses above this are not read; the call is then incomplete.
    static constexpr size_t event_limit = 16 << 20;

private:
    void take_event_bytes(std::string_view bytes);
    void take_line(std::string_view line);
    void take_data(std::string_view data);
    bool fits_frame(std::string_view data) const;
    void keep_frame(std::string_view data, std::string_view text);
    void take_message(std::string_view data);
    void take_response(std::string_view data);
    void take_chat(std::string_view data);
    void take_gemini(std::string_view data);
    void take_whole();
    void keep_text(std::string& into, std::optional<std::string_view> value);
    void take_anthropic_usage(std::string_view usage);
    void take_openai_usage(std::string_view usage);

    const ModelApi m_api;
    const ResponseFormat m_form;
    ModelUsage m_usage;
    std::string m_pending;                  // an unfinished line, or the whole JSON body
    std::string m_data;                     // data lines of the event so far
    std::string m_frame_start, m_frame_end; // what stood around the text of the last plain piece of text
    bool m_after_return = false;
    bool m_overflow = false;
    bool m_ended = false;     // the format's own sign of the end was seen
    int64_t m_text_bytes = 0; // of the output so far
};

} // namespace hone::broker
