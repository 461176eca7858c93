// JSON schema (2020-12, as OpenAPI 3.1 uses it) and TypeScript from declared fields. A named struct is described once
// and referred to; `name_of_type` is the last part of its C++ name.
#pragma once

#include "json/json.h"

#include <map>
#include <string>
#include <string_view>

namespace hone::json {

// "StartRun" for hone::run::StartRun.
template <class T>
std::string name_of_type() {
    std::string_view name = __PRETTY_FUNCTION__; // "… [with T = hone::run::StartRun; …]" or "[T = hone::run::StartRun]"
    name.remove_prefix(name.find("T = ") + 4);
    name = name.substr(0, name.find_first_of(";]"));
    const size_t colons = name.rfind("::");
    return std::string(colons == std::string_view::npos ? name : name.substr(colons + 2));
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

template <class T>
void describe(Schemas& schemas) {
    const std::string name = name_of_type<T>();
    if (schemas.named.contains(name)) return;
    schemas.named[name] = nullptr; // a struct may contain itself
    Object properties;
    Array required;
    std::apply(
        [&]<class... Fields>(const Fields&... field) {
            [[maybe_unused]] const auto add = [&]<class Owner, class Member>(const Field<Owner, Member>& each) {
                Value type = schema_of<Member>(schemas);
                if (!each.doc.empty() && type.is_object() && !type.get_object().contains("$ref"))
                    type.get_object()["description"] = each.doc;
                if constexpr (!IsOptional<Member>::value && !IsDefaulted<Member>::value)
                    required.push_back(Value(each.name));
                properties[each.name] = std::move(type);
            };
            (add(field), ...);
        },
        T::fields);
    Object made{{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", IgnoresUnknown<T>}};
    if (!required.empty()) made["required"] = std::move(required);
    schemas.named[name] = std::move(made);
}

} // namespace detail

template <class T>
Value schema_of(Schemas& schemas) {
    using namespace detail;
    if constexpr (std::same_as<T, Value>) {
        return Object{};
    } else if constexpr (std::same_as<T, bool>) {
        return Object{{"type", "boolean"}};
    } else if constexpr (std::is_integral_v<T>) {
        return Object{{"type", "integer"}, {"format", "int64"}};
    } else if constexpr (std::same_as<T, double>) {
        return Object{{"type", "number"}};
    } else if constexpr (std::same_as<T, std::string>) {
        return Object{{"type", "string"}};
    } else if constexpr (std::same_as<T, Time>) {
        return Object{{"type", "string"}, {"format", "date-time"}};
    } else if constexpr (IsId<T>::value) {
        return Object{{"type", "string"}, {"pattern", "^" + std::string(T::tag::kind) + "_[0-9A-HJKMNP-TV-Z]{26}$"}};
    } else if constexpr (HasEnumNames<T>) {
        const std::string name = name_of_type<T>();
        if (!schemas.named.contains(name)) {
            Array names;
            for (const auto& entry : enum_names(T{})) names.push_back(Value(entry.name));
            schemas.named[name] = Object{{"type", "string"}, {"enum", std::move(names)}};
        }
        return Object{{"$ref", schemas.reference_prefix + name}};
    } else if constexpr (IsOptional<T>::value) {
        if constexpr (IsOptional<typename T::value_type>::value) return schema_of<typename T::value_type>(schemas);
        Array choices;
        choices.push_back(schema_of<typename T::value_type>(schemas));
        choices.push_back(Object{{"type", "null"}});
        return Object{{"anyOf", std::move(choices)}};
    } else if constexpr (IsDefaulted<T>::value) {
        return schema_of<decltype(T::value)>(schemas);
    } else if constexpr (IsVector<T>::value) {
        return Object{{"type", "array"}, {"items", schema_of<typename T::value_type>(schemas)}};
    } else if constexpr (IsMap<T>::value) {
        return Object{{"type", "object"}, {"additionalProperties", schema_of<typename T::mapped_type>(schemas)}};
    } else {
        describe<T>(schemas);
        return Object{{"$ref", schemas.reference_prefix + name_of_type<T>()}};
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
