// A run's events as a person reads them: messages in full, tool calls folded to a line. One per transcript that
// is shown, since a result that repeats the last words is left out. One thread.
#pragma once

#include "cli/terminal/console.h"
#include "json/json.h"

#include <string>

namespace hone::cli {

class Transcript {
public:
    // `whole`: thinking, arguments and outputs are shown in full.
    Transcript(const Console& console, bool whole) : m_console(console), m_whole(whole) {}

    // Lines that are safe for a terminal; empty when there is nothing to say about the event.
    std::string draw(const json::Value& event);

private:
    std::string draw_words(const std::string& text);
    std::string draw_deed(const json::Value& event);
    std::string draw_status(const json::Value& event) const;
    std::string draw_call(const json::Value& event) const;
    std::string draw_output(const json::Value& event) const;
    std::string draw_result(const json::Value& event) const;
    std::string folded(std::string_view text, size_t taken) const;

    const Console& m_console;
    const bool m_whole;
    std::string m_last_words;
    bool m_spoke = false;      // the last thing drawn were words
    bool m_spoke_line = false; // of one line
};

// Of a run: succeeded, failed and the like. States that this program does not know count as active.
bool is_over(std::string_view state);

} // namespace hone::cli
