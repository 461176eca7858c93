// Reads JSON text without copying or changing it: model requests and responses pass through byte for byte, only a
// few members are read, and edits are insertions at a place. Bounded depth, no recursion, no allocation but for keys
// with escapes. Pure: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hone::broker {

// Nesting beyond this counts as malformed.
constexpr size_t max_json_depth = 256;

// The end of the value that starts at `at`, or npos when it is malformed or not complete.
size_t end_of_json_value(std::string_view text, size_t at);
size_t skip_json_space(std::string_view text, size_t at);

// Calls back with each member of the object that `text` starts with: the key without escapes and the value's text,
// which lies inside `text`. Stops when it returns false. True when the object was well-formed up to its end or to the
// stop.
bool for_each_member(std::string_view text,
                     const std::function<bool(std::string_view key, std::string_view value)>& call);
// The same for the items of a list. What is complete is reported also when the list ends early.
bool for_each_item(std::string_view text, const std::function<bool(std::string_view value)>& call);

// The value of the last member with this key, as most readers take it; nothing when absent. Works on an object that
// ends early after it.
std::optional<std::string_view> member(std::string_view object, std::string_view key);
// The same along a path: member_at(text, {"response", "usage"}).
std::optional<std::string_view> member_at(std::string_view object, std::initializer_list<std::string_view> path);

// A whole number that is not negative; nothing for other values. Above 10^12 it is cut to that.
std::optional<int64_t> count_of(std::optional<std::string_view> value);
// The text of a string value, without escapes; nothing for other values.
std::optional<std::string> text_of(std::optional<std::string_view> value);
bool is_true(std::optional<std::string_view> value);
bool is_text(std::optional<std::string_view> value);
bool is_list(std::optional<std::string_view> value);
bool is_null(std::string_view value);

} // namespace hone::broker
