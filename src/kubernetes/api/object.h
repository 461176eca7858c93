// Fields of objects that come from a cluster. An absent or mistyped field reads as nothing: objects have more fields in
// each version, and servers leave out what is empty. Pure, any thread.
#pragma once

#include "json/json.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace hone::kubernetes {

// Null when one of the names is absent or not in an object.
const json::Value* value_at(const json::Value& object, std::initializer_list<std::string_view> path);
// Empty when it is absent or not text.
std::string text_at(const json::Value& object, std::initializer_list<std::string_view> path);
std::optional<int64_t> integer_at(const json::Value& object, std::initializer_list<std::string_view> path);
bool is_true_at(const json::Value& object, std::initializer_list<std::string_view> path);
// Empty when it is absent or not a list.
const json::Array& list_at(const json::Value& object, std::initializer_list<std::string_view> path);

} // namespace hone::kubernetes
