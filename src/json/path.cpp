#include "json/path.h"

namespace hone::json {

const Value* member(const Value& value, std::initializer_list<std::string_view> keys) {
    const Value* at = &value;
    for (const std::string_view key : keys) {
        at = at->is_object() ? at->get_object().if_contains(key) : nullptr;
        if (at == nullptr) return nullptr;
    }
    return at;
}

std::string text_at(const Value& value, std::initializer_list<std::string_view> keys) {
    const Value* found = member(value, keys);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

int64_t number_at(const Value& value, std::initializer_list<std::string_view> keys) {
    const Value* found = member(value, keys);
    return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

bool true_at(const Value& value, std::initializer_list<std::string_view> keys) {
    const Value* found = member(value, keys);
    return found != nullptr && found->is_bool() && found->get_bool();
}

} // namespace hone::json
