// Messages of errors as templates: what differs from case to case (numbers, ids, quoted texts, addresses) is left out,
// so that equal problems have equal templates. Also makes text from outside safe to show in a title. Pure, bounded,
// fuzzed; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::signal {

// "order ORD-4711 not found within 5000 ms" → {"order", "#", "not", "found", "within", "#", "ms"}. At most 30 words.
std::vector<std::string> template_words(std::string_view message);
std::string join_words(const std::vector<std::string>& words);

// The longest run of words of the message that every message of its template has, as it stands there: for a filter that
// finds the others. Empty when no word is fixed.
std::string fixed_part(std::string_view message);

// One line without control, direction and markup characters and without addresses to click on, at most `bytes` long.
std::string plain_line(std::string_view text, size_t bytes);

// The text as the filter language quotes it.
std::string quote_filter(std::string_view text);

} // namespace hone::signal
