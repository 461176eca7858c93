// Small text and byte helpers used everywhere. Pure functions, any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

bool is_valid_utf8(std::string_view text);
bool is_printable_ascii(std::string_view text);
// Replaces each malformed sequence by U+FFFD.
std::string repair_utf8(std::string_view text);
// Cuts to at most `bytes` bytes without splitting a character.
std::string_view truncate_utf8(std::string_view text, size_t bytes);

// The text as a JSON string with its quotes; bad UTF-8 is repaired, control characters are escaped.
std::string quote_json(std::string_view text);

std::vector<std::string_view> split(std::string_view text, char separator);
std::string_view trim(std::string_view text);
std::string lowercase_ascii(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b);

std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view text);
std::string to_base64(std::string_view bytes);
// Letters that are safe in URLs and file names, no padding.
std::string to_base64url(std::string_view bytes);
Result<std::string> from_base64url(std::string_view text);

// %41 -> A; `plus_is_space` for form and query text. Errors on a broken escape.
Result<std::string> percent_decode(std::string_view text, bool plus_is_space = false);
std::string percent_encode(std::string_view text);

// "512m", "4GiB", "100" -> bytes. Suffixes k, m, g, t (powers of 1024), optional "b"/"ib", any case.
Result<int64_t> parse_bytes(std::string_view text);
// "30s", "10m", "2h", "7d", "250ms", "1h30m" -> nanoseconds.
Result<int64_t> parse_duration_ns(std::string_view text);
Result<int64_t> parse_integer(std::string_view text);

} // namespace hone
