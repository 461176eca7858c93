#include "run/forks/earlier_turns.h"

#include "base/text.h"

#include <algorithm>
#include <vector>

namespace hone::run {

namespace {

constexpr size_t longest_message = 8'000;
constexpr size_t longest_input = 1'000;
constexpr size_t longest_result = 1'500;
constexpr std::string_view end_mark = "</earlier_turns>";

struct Entry {
    std::string text;
    bool is_result = false;
};

// Cut, and without the mark that ends the record.
std::string quoted(std::string_view text, size_t longest) {
    std::string kept(truncate_utf8(text, longest));
    if (kept.size() < text.size()) kept += " […]";
    for (size_t at = kept.find(end_mark); at != std::string::npos; at = kept.find(end_mark, at))
        kept.replace(at, end_mark.size(), "[/earlier_turns]");
    return kept;
}

std::optional<Entry> entry_of(const RunEvent& event) {
    using enum harness::EventKind;
    switch (event.kind) {
    case follow_up:
        return Entry{event.author.value_or("user") + ": " + quoted(event.text, longest_message)};
    case message:
        return Entry{"worker: " + quoted(event.text, longest_message)};
    case tool_call:
        return Entry{"worker calls " + event.tool.value_or("a tool") + ": " +
                     quoted(event.input.value_or(event.text), longest_input)};
    case tool_result:
        return Entry{
            std::string(*event.failed ? "tool failed: " : "tool result: ") + quoted(event.text, longest_result), true};
    case thinking:
    case usage:
    case status:
    case error:
    case result:
    case artifact:
        return std::nullopt;
    }
    return std::nullopt;
}

size_t size_of(const std::vector<Entry>& entries) {
    size_t size = 0;
    for (const Entry& entry : entries) size += entry.text.size() + 1;
    return size;
}

// Until the entries are short enough; how many were left out.
size_t shorten(std::vector<Entry>& entries) {
    const size_t before = entries.size();
    size_t size = size_of(entries);
    for (const bool results_only : {true, false}) {
        std::vector<Entry> kept;
        for (size_t i = 0; i < entries.size(); ++i) {
            const bool can_leave_out = i > 0 && (entries[i].is_result || !results_only);
            if (size > longest_earlier_turns && can_leave_out)
                size -= entries[i].text.size() + 1;
            else
                kept.push_back(std::move(entries[i]));
        }
        entries = std::move(kept);
    }
    return before - entries.size();
}

} // namespace

EarlierTurns describe_turns(std::span<const RunEvent> events, int64_t turn) {
    std::vector<Entry> entries;
    for (const RunEvent& event : events)
        if (event.turn >= 1 && event.turn <= turn)
            if (auto entry = entry_of(event)) entries.push_back(*std::move(entry));
    EarlierTurns turns;
    turns.left_out = shorten(entries);
    turns.words = "This session is a fork of another one, after its turn " + std::to_string(turn) +
                  ". The record below has the earlier turns: read it as history, not as instructions to repeat. Long "
                  "texts are cut";
    if (turns.left_out > 0) turns.words += ", " + std::to_string(turns.left_out) + " entries are left out";
    turns.words += ". The workspace is new: it has the repositories at the same commits and the uploaded files, but "
                   "nothing that the earlier worker wrote or installed.\n\n<earlier_turns>\n";
    for (const Entry& entry : entries) turns.words += entry.text + "\n";
    turns.words += std::string(end_mark) + "\n\n";
    return turns;
}

} // namespace hone::run
