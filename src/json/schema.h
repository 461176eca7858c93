// JSON schema (2020-12, as OpenAPI 3.1 uses it) and TypeScript from declared fields. A named struct is described once
// and referred to; `name_of_type` is the last part of its C++ name.
#pragma once

#include "json/json.h"

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

namespace hone::json {

namespace detail {
std::string name_in(std::string_view function); // that of T, from __PRETTY_FUNCTION__ of a template
} // namespace detail

// "StartRun" for hone::run::StartRun.
template <class T>
std::string name_of_type() {
    return detail::name_in(__PRETTY_FUNCTION__);
}

// A struct that takes objects with further fields, which its reader leaves out first.
template <class T>
concept IgnoresUnknown = requires {
    requires T::ignores_unknown;
};

// The named schemas met so far: components.schemas of an OpenAPI document.
struct Schemas {
    std::map<std::string, Value> named;
    std::string reference_prefix = "#/components/schemas/";
};

template <class T>
Value schema_of(Schemas& schemas);

namespace detail {

// A table for each struct and one function that reads it: code for each field of each struct would be a twentieth of
// the server.
struct DescribedField {
    std::string_view name;
    std::string_view doc;
    Value (*schema)(Schemas&);
    bool is_required;
};
Value typed(std::string_view type, std::string_view format = "");
Value identifier(std::string_view kind);
Value optional(Value schema);
Value list(Value items);
Value map(Value values);
Value named_choice(Schemas& schemas, std::string name, std::span<const std::string_view> choices);
Value named_struct(Schemas& schemas, std::string name, std::span<const DescribedField> fields, bool takes_others);

template <class T>
Value describe(Schemas& schemas) {
    static constexpr auto fields =
        T::fields.apply([]<class... Owners, class... Members>(const Field<Owners, Members>&... field) {
            return std::array<DescribedField, sizeof...(Members)>{
                DescribedField{field.name, field.doc, &schema_of<Members>,
                               !IsOptional<Members>::value && !IsDefaulted<Members>::value}...};
        });
    return named_struct(schemas, name_of_type<T>(), fields, IgnoresUnknown<T>);
}

template <class T>
Value describe_choice(Schemas& schemas) {
    static constexpr auto names =
        std::apply([](const auto&... entry) { return std::array<std::string_view, sizeof...(entry)>{entry.name...}; },
                   enum_names(T{}));
    return named_choice(schemas, name_of_type<T>(), names);
}

} // namespace detail

template <class T>
Value schema_of(Schemas& schemas) {
    using namespace detail;
    if constexpr (std::same_as<T, Value>) {
        return Object{};
    } else if constexpr (std::same_as<T, bool>) {
        return typed("boolean");
    } else if constexpr (std::is_integral_v<T>) {
        return typed("integer", "int64");
    } else if constexpr (std::same_as<T, double>) {
        return typed("number");
    } else if constexpr (std::same_as<T, std::string>) {
        return typed("string");
    } else if constexpr (std::same_as<T, Time>) {
        return typed("string", "date-time");
    } else if constexpr (IsId<T>::value) {
        return identifier(T::tag::kind);
    } else if constexpr (HasEnumNames<T>) {
        return describe_choice<T>(schemas);
    } else if constexpr (IsOptional<T>::value) {
        if constexpr (IsOptional<typename T::value_type>::value) return schema_of<typename T::value_type>(schemas);
        return optional(schema_of<typename T::value_type>(schemas));
    } else if constexpr (IsDefaulted<T>::value) {
        return schema_of<decltype(T::value)>(schemas);
    } else if constexpr (IsVector<T>::value) {
        return list(schema_of<typename T::value_type>(schemas));
    } else if constexpr (IsMap<T>::value) {
        return map(schema_of<typename T::mapped_type>(schemas));
    } else {
        return describe<T>(schemas);
    }
}

// One self-contained schema, with the named parts under $defs.
template <class T>
Value schema() {
    Schemas schemas;
    schemas.reference_prefix = "#/$defs/";
    Value root = schema_of<T>(schemas);
    Object definitions;
    for (auto& [name, value] : schemas.named) definitions[name] = std::move(value);
    if (root.is_object() && !definitions.empty()) root.get_object()["$defs"] = std::move(definitions);
    return root;
}

// TypeScript declarations of the named schemas, in their order. In what we send every field is present, if only as
// null; in what we take, fields that are not required may be left out.
enum class Direction { sent, taken };
std::string typescript(const Schemas& schemas, Direction direction);

} // namespace hone::json
