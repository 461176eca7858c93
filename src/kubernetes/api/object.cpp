#include "kubernetes/api/object.h"

namespace hone::kubernetes {

const json::Value* value_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* found = &object;
    for (const std::string_view name : path) {
        if (!found->is_object()) return nullptr;
        found = found->get_object().if_contains(name);
        if (found == nullptr) return nullptr;
    }
    return found;
}

std::string text_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* found = value_at(object, path);
    return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::optional<int64_t> integer_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* found = value_at(object, path);
    if (found == nullptr || !found->is_int64()) return std::nullopt;
    return found->get_int64();
}

bool is_true_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    const json::Value* found = value_at(object, path);
    return found != nullptr && found->is_bool() && found->get_bool();
}

const json::Array& list_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    static const json::Array none;
    const json::Value* found = value_at(object, path);
    return found != nullptr && found->is_array() ? found->get_array() : none;
}

} // namespace hone::kubernetes
