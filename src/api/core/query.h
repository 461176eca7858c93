// Query strings over declared fields, as strict as JSON bodies: unknown and mistyped parameters are errors, and so
// are repeated ones, except those declared as a vector. Routes with Phoenix' shapes ignore unknown ones, as Phoenix
// does.
#pragma once

#include "net/http/url.h"
#include "json/json.h"

namespace hone::api {

template <class T>
concept QueryType = requires {
    T::is_query;
};

// Whose parameters other servers choose: unknown ones are ignored.
template <class T>
concept IgnoresOthers = requires {
    T::ignores_others;
};

namespace detail {

template <class T>
Result<T> read_parameter(std::string_view name, const std::string& text) {
    const auto wrong = [&](std::string_view expected) {
        return invalid("query parameter " + std::string(name) + " must be " + std::string(expected));
    };
    if constexpr (std::same_as<T, std::string>) {
        return text;
    } else if constexpr (std::same_as<T, bool>) {
        if (text == "true" || text == "1") return true;
        if (text == "false" || text == "0") return false;
        return wrong("true or false");
    } else if constexpr (std::same_as<T, int64_t>) {
        auto number = parse_integer(text);
        if (!number.ok()) return wrong("a whole number");
        return number;
    } else if constexpr (std::same_as<T, double>) {
        const auto number = json::parse(text);
        if (!number.ok() || !number.value().is_number()) return wrong("a number");
        return number.value().to_number<double>();
    } else if constexpr (std::same_as<T, Time>) {
        auto time = parse_time(text);
        if (!time.ok()) return wrong("a time like 2026-01-31T12:00:00Z");
        return time;
    } else {
        const auto found = parse_enum<T>(text);
        if (!found) return wrong("one of " + json::detail::enum_choices<T>());
        return *found;
    }
}

template <class T>
Result<> read_parameter_into(const net::QueryPairs& pairs, std::string_view name, std::optional<T>& into) {
    for (const auto& [key, text] : pairs) {
        if (key != name) continue;
        if (into) return invalid("query parameter " + std::string(name) + " is given twice");
        into = TRY(read_parameter<T>(name, text));
    }
    return {};
}

// May be repeated.
template <class T>
Result<> read_parameter_into(const net::QueryPairs& pairs, std::string_view name, std::vector<T>& into) {
    for (const auto& [key, text] : pairs)
        if (key == name) into.push_back(TRY(read_parameter<T>(name, text)));
    return {};
}

} // namespace detail

template <QueryType T>
Result<T> read_query(const net::QueryPairs& pairs, bool ignores_unknown = false) {
    T made{};
    Result<> outcome;
    T::fields.apply([&](const auto&... field) {
        for (const auto& pair : pairs)
            if (outcome.ok() && !ignores_unknown && !IgnoresOthers<T> && !((pair.first == field.name) || ...))
                outcome = invalid("unknown query parameter " + std::string(truncate_utf8(pair.first, 100)));
        ((outcome.ok() ? void(outcome = detail::read_parameter_into(pairs, field.name, made.*field.member)) : void()),
         ...);
    });
    if (!outcome.ok()) return std::move(outcome).error();
    return made;
}

} // namespace hone::api
