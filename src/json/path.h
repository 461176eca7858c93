// Values of documents that others wrote, by a path of keys: what is absent or of another type reads as nothing. Any
// thread.
#pragma once

#include "json/json.h"

#include <initializer_list>

namespace hone::json {

// Null when a key is absent or its parent is not an object.
const Value* member(const Value& value, std::initializer_list<std::string_view> keys);
std::string text_at(const Value& value, std::initializer_list<std::string_view> keys);
int64_t number_at(const Value& value, std::initializer_list<std::string_view> keys);
bool true_at(const Value& value, std::initializer_list<std::string_view> keys);

} // namespace hone::json
