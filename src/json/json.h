// JSON over declared fields: json::read<T>(text), json::write(value), json::schema<T>(). Reading is strict: an unknown,
// missing or mistyped field is an error that names its path ("labels[2] must be a string"). Any thread.
//   optional<T>      may be absent or null; written as null
//   optional<optional<T>>  distinguishes null from absent, for changes
//   Id<Tag>, Time    text; checked for form
//   enum             its declared name (fields.h)
//   json::Value      anything
// A field whose struct has a default that should hold when it is absent is declared Defaulted<T>.
#pragma once

#include "base/fields.h"
#include "base/id.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::json {

using Value = boost::json::value;
using Object = boost::json::object;
using Array = boost::json::array;

// Nesting beyond this is rejected.
constexpr size_t max_depth = 64;

// Parses text to a tree; duplicate keys, bad UTF-8, depth and trailing text are errors.
Result<Value> parse(std::string_view text);
std::string print(const Value& value);
// Indented by two, keys in the order they were inserted; ends with a newline.
std::string print_pretty(const Value& value);

// May be absent from the input: keeps the default given in the struct. Behaves like a T.
template <class T>
struct Defaulted {
    T value{};
    Defaulted() = default;
    Defaulted(T initial) : value(std::move(initial)) {}
    operator const T&() const { return value; }
    const T& operator*() const { return value; }
    friend bool operator==(const Defaulted&, const Defaulted&) = default;
};

namespace detail {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsDefaulted : std::false_type {};
template <class T>
struct IsDefaulted<Defaulted<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};
template <class T>
struct IsId : std::false_type {};
template <class Tag>
struct IsId<Id<Tag>> : std::true_type {};

Error mistyped(const std::string& path, std::string_view expected);
Error out_of_range(const std::string& path);
Result<int64_t> integer(const Value& value, const std::string& path);
Result<double> number(const Value& value, const std::string& path);
Result<std::string> text(const Value& value, const std::string& path);
Result<Time> time(const Value& value, const std::string& path);
Error unknown_field(const std::string& path, std::string_view name);
Error missing_field(const std::string& path);
std::string join(const std::string& path, std::string_view name);

template <class T>
Result<T> read_value(const Value& value, const std::string& path);

template <class T>
Result<> read_field(const Object& object, const std::string& path, std::string_view name, T& into) {
    const std::string here = join(path, name);
    const Value* found = object.if_contains(name);
    if constexpr (IsOptional<T>::value) {
        // optional<optional<T>> distinguishes null (remove it) from absent (keep it).
        if (found == nullptr || (found->is_null() && !IsOptional<typename T::value_type>::value)) return {};
        into = TRY(read_value<typename T::value_type>(*found, here));
    } else if constexpr (IsDefaulted<T>::value) {
        if (found == nullptr) return {};
        into.value = TRY(read_value<decltype(into.value)>(*found, here));
    } else {
        if (found == nullptr) return missing_field(here);
        into = TRY(read_value<T>(*found, here));
    }
    return {};
}

// A field without its type, so that the loops over the fields of a struct are compiled once and not for each struct.
struct FieldReader {
    std::string_view name;
    void* into;
    Result<> (*read)(const Object& object, const std::string& path, std::string_view name, void* into);
};
Result<> read_fields(const Object& object, const std::string& path, std::span<const FieldReader> fields);
struct FieldWriter {
    std::string_view name;
    const void* from;
    Value (*write)(const void* from);
};
Object write_fields(std::span<const FieldWriter> fields);

template <class T>
Result<> read_member(const Object& object, const std::string& path, std::string_view name, void* into) {
    return read_field(object, path, name, *static_cast<T*>(into));
}

template <class T>
Result<T> read_object(const Value& value, const std::string& path) {
    if (!value.is_object()) return mistyped(path, "an object");
    T made{};
    auto outcome = T::fields.apply([&]<class... Owners, class... Members>(const Field<Owners, Members>&... field) {
        const std::array<FieldReader, sizeof...(Members)> fields{
            FieldReader{field.name, &(made.*field.member), &read_member<Members>}...};
        return read_fields(value.get_object(), path, fields);
    });
    if (!outcome.ok()) return std::move(outcome).error();
    return made;
}

template <class Enum>
std::string enum_choices() {
    std::string choices;
    for (const auto& entry : enum_names(Enum{})) choices += (choices.empty() ? "" : ", ") + std::string(entry.name);
    return choices;
}

template <class T>
Result<T> read_value(const Value& value, const std::string& path) {
    if constexpr (std::same_as<T, Value>) {
        return value;
    } else if constexpr (IsOptional<T>::value) {
        if (value.is_null()) return T();
        return T(TRY(read_value<typename T::value_type>(value, path)));
    } else if constexpr (std::same_as<T, bool>) {
        if (!value.is_bool()) return mistyped(path, "true or false");
        return value.get_bool();
    } else if constexpr (std::is_integral_v<T>) {
        const int64_t wide = TRY(integer(value, path));
        if (!std::in_range<T>(wide)) return out_of_range(path);
        return static_cast<T>(wide);
    } else if constexpr (std::same_as<T, double>) {
        return number(value, path);
    } else if constexpr (std::same_as<T, std::string>) {
        return text(value, path);
    } else if constexpr (std::same_as<T, Time>) {
        return time(value, path);
    } else if constexpr (IsId<T>::value) {
        const std::string form = TRY(text(value, path));
        auto id = parse_id<typename T::tag>(form);
        if (!id.ok()) return invalid(path + ": " + id.error().message);
        return std::move(id).value();
    } else if constexpr (HasEnumNames<T>) {
        const std::string name = TRY(text(value, path));
        const auto found = parse_enum<T>(name);
        if (!found) return mistyped(path, "one of " + enum_choices<T>());
        return *found;
    } else if constexpr (IsVector<T>::value) {
        if (!value.is_array()) return mistyped(path, "a list");
        T list;
        for (const Value& item : value.get_array())
            list.push_back(
                TRY(read_value<typename T::value_type>(item, path + "[" + std::to_string(list.size()) + "]")));
        return list;
    } else if constexpr (IsMap<T>::value) {
        if (!value.is_object()) return mistyped(path, "an object");
        T map;
        for (const auto& entry : value.get_object()) {
            std::string key(entry.key());
            auto item = TRY(read_value<typename T::mapped_type>(entry.value(), join(path, key)));
            map.emplace(std::move(key), std::move(item));
        }
        return map;
    } else {
        static_assert(HasFields<T>, "declare `static constexpr Pack fields` for this type");
        return read_object<T>(value, path);
    }
}

template <class T>
Value write_member(const void* from);

} // namespace detail

template <class T>
Value to_value(const T& from) {
    if constexpr (std::same_as<T, Value>) {
        return from;
    } else if constexpr (std::same_as<T, bool> || std::same_as<T, double>) {
        return Value(from);
    } else if constexpr (std::is_integral_v<T>) {
        return Value(static_cast<int64_t>(from));
    } else if constexpr (std::convertible_to<T, std::string_view>) {
        return Value(std::string_view(from));
    } else if constexpr (std::same_as<T, Time>) {
        return Value(to_text(from));
    } else if constexpr (detail::IsId<T>::value) {
        return Value(from.text());
    } else if constexpr (HasEnumNames<T>) {
        return Value(name_of(from));
    } else if constexpr (detail::IsOptional<T>::value) {
        return from ? to_value(*from) : Value(nullptr);
    } else if constexpr (detail::IsDefaulted<T>::value) {
        return to_value(from.value);
    } else if constexpr (detail::IsVector<T>::value) {
        Array list;
        list.reserve(from.size());
        for (const auto& item : from) list.push_back(to_value(item));
        return list;
    } else if constexpr (detail::IsMap<T>::value) {
        Object object;
        for (const auto& [key, item] : from) object[key] = to_value(item);
        return object;
    } else {
        static_assert(HasFields<T>, "declare `static constexpr Pack fields` for this type");
        return T::fields.apply([&]<class... Owners, class... Members>(const Field<Owners, Members>&... field) {
            const std::array<detail::FieldWriter, sizeof...(Members)> fields{
                detail::FieldWriter{field.name, &(from.*field.member), &detail::write_member<Members>}...};
            return detail::write_fields(fields);
        });
    }
}

template <class T>
Value detail::write_member(const void* from) {
    return to_value(*static_cast<const T*>(from));
}

template <class T>
Result<T> from_value(const Value& value, const std::string& path = "") {
    return detail::read_value<T>(value, path);
}

template <class T>
Result<T> read(std::string_view text) {
    const Value value = TRY(parse(text));
    return from_value<T>(value);
}

template <class T>
std::string write(const T& from) {
    return print(to_value(from));
}

} // namespace hone::json
