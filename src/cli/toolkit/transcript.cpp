#include "cli/toolkit/transcript.h"

#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

#include <algorithm>
#include <array>

namespace hone::cli {

namespace {

constexpr size_t width_without_terminal = 120;

bool flag_of(const json::Value& object, std::string_view field) {
    const json::Value* found = object.is_object() ? object.get_object().if_contains(field) : nullptr;
    return found != nullptr && found->is_bool() && found->get_bool();
}

std::string indented(std::string text, std::string_view by) {
    for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) text.insert(at + 1, by);
    return std::string(by) + text;
}

} // namespace

bool is_over(std::string_view state) {
    constexpr std::array<std::string_view, 6> ends{"succeeded", "failed",         "cancelled",
                                                   "timed_out", "budget_stopped", "lost"};
    return std::find(ends.begin(), ends.end(), state) != ends.end();
}

// The first line, and how many more there are.
std::string Transcript::folded(std::string_view text, size_t taken) const {
    const std::string_view trimmed = trim(text);
    const auto more = std::count(trimmed.begin(), trimmed.end(), '\n');
    const std::string rest = more == 0 ? "" : " (+" + std::to_string(more) + (more == 1 ? " line)" : " lines)");
    const size_t columns = m_console.width() == 0 ? width_without_terminal : m_console.width();
    const size_t room = std::max<size_t>(20, columns - std::min(columns, taken + rest.size()));
    return cut_to_width(safe_line(trimmed.substr(0, trimmed.find('\n'))), room) + rest;
}

std::string Transcript::draw_status(const json::Value& event) const {
    const std::string text = safe_line(text_of(event, "text"));
    const std::string state = text_of(event, "state"), step = text_of(event, "step");
    if (flag_of(event, "failed")) return m_console.paint(Style::red, "✗ " + text) + "\n";
    if (state == "waiting") return m_console.paint(Style::green, "● " + text) + "\n";
    if (!state.empty()) return m_console.paint(Style::bold, "● " + text) + "\n";
    return m_console.paint(Style::dim, "· " + (step.empty() ? "" : safe_line(step) + ": ") + text) + "\n";
}

std::string Transcript::draw_call(const json::Value& event) const {
    const std::string tool = safe_line(text_of(event, "tool"));
    const std::string input = text_of(event, "input");
    const std::string head = "▸ " + m_console.paint(Style::bold, tool);
    if (m_whole) return head + (input.empty() ? "" : "\n" + indented(safe_block(input), "    ")) + "\n";
    return head + " " + m_console.paint(Style::dim, folded(input, display_width(tool) + 3)) + "\n";
}

std::string Transcript::draw_output(const json::Value& event) const {
    const std::string text = text_of(event, "text");
    const std::string shown = m_whole ? indented(safe_block(trim(text)), "    ") : "  └ " + folded(text, 4);
    return m_console.paint(flag_of(event, "failed") ? Style::red : Style::dim, shown) + "\n";
}

std::string Transcript::draw_result(const json::Value& event) const {
    const std::string text = text_of(event, "text");
    if (flag_of(event, "failed"))
        return m_console.paint(Style::red, "✗ " + (trim(text).empty() ? "The turn failed." : safe_block(trim(text)))) +
               "\n";
    const bool said = trim(text).empty() || trim(text) == trim(m_last_words);
    return (said ? "" : (m_spoke ? "" : "\n") + safe_block(trim(text)) + "\n\n") +
           m_console.paint(Style::green, "✓ Done.") + "\n";
}

// Lines that follow one another are what one program prints: they stay together, as far in as they were.
std::string Transcript::draw_words(const std::string& text) {
    m_last_words = text;
    if (trim(text).empty()) return "";
    std::string_view words = text;
    words.remove_prefix(std::min(words.find_first_not_of("\r\n"), words.size()));
    words = words.substr(0, words.find_last_not_of(" \t\r\n") + 1);
    const bool is_line = words.find('\n') == std::string_view::npos;
    const std::string gap = m_spoke_line && is_line ? "" : "\n";
    m_spoke = true;
    m_spoke_line = is_line;
    return gap + safe_block(words) + "\n";
}

std::string Transcript::draw(const json::Value& event) {
    if (text_of(event, "kind") == "message") return draw_words(text_of(event, "text"));
    const std::string drawn = draw_deed(event);
    if (drawn.empty() || !m_spoke) return drawn;
    m_spoke = m_spoke_line = false;
    return "\n" + drawn;
}

std::string Transcript::draw_deed(const json::Value& event) {
    const std::string kind = text_of(event, "kind"), text = text_of(event, "text");
    if (kind == "thinking")
        return m_console.paint(Style::dim, "… " + (m_whole ? safe_block(trim(text)) : folded(text, 2))) + "\n";
    if (kind == "tool_call") return draw_call(event);
    if (kind == "tool_result") return draw_output(event);
    if (kind == "status") return draw_status(event);
    if (kind == "error") return m_console.paint(Style::red, "✗ " + safe_block(trim(text))) + "\n";
    if (kind == "result") return draw_result(event);
    if (kind == "artifact")
        return "◆ " + m_console.paint(Style::bold, safe_line(text)) + "  " + safe_line(text_of(event, "artifact")) +
               "\n";
    if (kind == "follow_up") {
        m_last_words.clear();
        return m_console.paint(Style::bold, "› " + safe_line(text_of(event, "author")) + ":") + " " +
               safe_block(trim(text)) + "\n";
    }
    return "";
}

} // namespace hone::cli
