// Bodies of other products' clients hold fields that we do not know. A struct with
//   static constexpr bool ignores_unknown = true;
// takes them: they are left out before the strict reader sees the body. Pure; any thread.
#pragma once

#include "json/schema.h"

namespace hone::api {

// Removes the unknown fields of every such struct inside the value.
template <class T>
void drop_unknown(json::Value& value) {
    using namespace json::detail;
    if constexpr (IsOptional<T>::value) {
        drop_unknown<typename T::value_type>(value);
    } else if constexpr (IsDefaulted<T>::value) {
        drop_unknown<decltype(T::value)>(value);
    } else if constexpr (IsVector<T>::value) {
        if (value.is_array())
            for (json::Value& item : value.get_array()) drop_unknown<typename T::value_type>(item);
    } else if constexpr (IsMap<T>::value) {
        if (value.is_object())
            for (auto& entry : value.get_object()) drop_unknown<typename T::mapped_type>(entry.value());
    } else if constexpr (HasFields<T>) {
        if (!value.is_object()) return;
        json::Object& object = value.get_object();
        T::fields.apply([&]<class... Fields>(const Fields&... field) {
            if constexpr (json::IgnoresUnknown<T>) {
                std::vector<std::string> unknown;
                for (const auto& entry : object)
                    if (!((std::string_view(entry.key()) == field.name) || ...)) unknown.emplace_back(entry.key());
                for (const std::string& name : unknown) object.erase(name);
            }
            const auto inside = [&]<class Owner, class Member>(const Field<Owner, Member>& each) {
                if (json::Value* found = object.if_contains(each.name)) drop_unknown<Member>(*found);
            };
            (inside(field), ...);
        });
    }
}

template <class T>
Result<T> read_lenient(json::Value value, const std::string& path = "") {
    drop_unknown<T>(value);
    return json::from_value<T>(value, path);
}

} // namespace hone::api
