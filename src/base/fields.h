// Declare once: a struct lists its fields in `static constexpr std::tuple fields{...}`, an enum its names in
// `enum_names(E)`. JSON in and out, JSON schema, OpenAPI, TypeScript types and docs are made from these lists.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace hone {

// One line declares everything about a field: its name, its member, its meaning.
template <class Owner, class Value>
struct Field {
    std::string_view name;
    Value Owner::*member;
    std::string_view doc;
};
template <class Owner, class Value> // clang 14 cannot deduce aggregates by itself
Field(std::string_view, Value Owner::*, std::string_view)->Field<Owner, Value>;

template <class T>
concept HasFields = requires {
    T::fields;
};

// An enum is declared for the API by a function found beside it:
//   constexpr auto enum_names(Role) { return std::array{EnumName{Role::owner, "owner"}, …}; }
template <class Enum>
struct EnumName {
    Enum value;
    std::string_view name;
};
template <class Enum>
EnumName(Enum, std::string_view) -> EnumName<Enum>;

template <class T>
concept HasEnumNames = std::is_enum_v<T> && requires(T value) {
    enum_names(value);
};

template <HasEnumNames Enum>
constexpr std::string_view name_of(Enum value) {
    for (const auto& entry : enum_names(Enum{}))
        if (entry.value == value) return entry.name;
    return "";
}

template <HasEnumNames Enum>
constexpr std::optional<Enum> parse_enum(std::string_view name) {
    for (const auto& entry : enum_names(Enum{}))
        if (entry.name == name) return entry.value;
    return std::nullopt;
}

} // namespace hone
