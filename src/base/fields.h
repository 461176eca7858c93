// Declare once: a struct lists its fields in `static constexpr Pack fields{...}`, an enum its names in
// `enum_names(E)`. JSON in and out, JSON schema, OpenAPI, TypeScript types and docs are made from these lists.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hone {

namespace detail {

template <size_t Index, class Value>
struct PackItem {
    Value value;
};
template <class Indexes, class... Values>
struct PackItems;
template <size_t... Index, class... Values>
struct PackItems<std::index_sequence<Index...>, Values...> : PackItem<Index, Values>... {
    // Calls `take` with all values.
    template <class Take>
    constexpr decltype(auto) apply(Take&& take) const {
        return take(static_cast<const PackItem<Index, Values>&>(*this).value...);
    }
};

} // namespace detail

// Values of different types, such as the fields of a struct. Unlike std::tuple it has one constructor, so that the
// hundreds of lists of this program compile in a fraction of the time.
template <class... Values>
struct Pack : detail::PackItems<std::index_sequence_for<Values...>, Values...> {
    using Items = detail::PackItems<std::index_sequence_for<Values...>, Values...>;
    constexpr explicit Pack(Values... values) : Items{{values}...} {}
};
template <class... Values>
Pack(Values...) -> Pack<Values...>;

template <class... Left, class... Right>
constexpr Pack<Left..., Right...> joined(const Pack<Left...>& left, const Pack<Right...>& right) {
    return left.apply([&](const auto&... first) {
        return right.apply([&](const auto&... second) { return Pack<Left..., Right...>(first..., second...); });
    });
}

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
