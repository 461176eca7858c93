// Values that go into and come out of a database, and the rows of a result. Plain data: any thread, no connection
// held.
#pragma once

#include "base/id.h"
#include "base/time.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace hone::sql {

// Bytes, distinct from text: text is always valid UTF-8 without NUL, bytes are anything.
struct Blob {
    std::string bytes;
    friend bool operator==(const Blob&, const Blob&) = default;
};

using Null = std::monostate;
using Value = std::variant<Null, int64_t, double, std::string, Blob>;

// What may stand for a `?`.
inline Value to_value(std::nullptr_t) {
    return Null{};
}
inline Value to_value(std::nullopt_t) {
    return Null{};
}
inline Value to_value(double number) {
    return number;
}
inline Value to_value(std::string_view text) {
    return std::string(text);
}
inline Value to_value(const std::string& text) {
    return text;
}
inline Value to_value(const char* text) {
    return std::string(text);
}
inline Value to_value(const Blob& blob) {
    return blob;
}
inline Value to_value(const Value& value) {
    return value;
}
inline Value to_value(Time time) {
    return to_ns(time);
}
template <class Integer>
requires std::is_integral_v<Integer> // bool too: 0 or 1
    Value to_value(Integer number) {
    static_assert(sizeof(Integer) < 8 || std::is_signed_v<Integer>, "unsigned 64-bit numbers do not fit a column");
    return static_cast<int64_t>(number);
}
template <class Tag>
Value to_value(const Id<Tag>& id) {
    return id.text();
}
template <class T>
Value to_value(const std::optional<T>& value) {
    return value ? to_value(*value) : Value(Null{});
}

// A view of one row; lives as long as its Rows. Columns are read by position. Reading a type that the column does
// not have, or for a column that is not there, is a bug in the statement beside it and aborts.
class Row {
public:
    Row(const Value* values, size_t columns) : m_values(values), m_columns(columns) {}

    size_t size() const { return m_columns; }
    const Value& value(size_t column) const {
        CHECK_OR_ABORT(column < m_columns);
        return m_values[column];
    }
    bool is_null(size_t column) const { return std::holds_alternative<Null>(value(column)); }
    const std::string& text(size_t column) const { return get<std::string>(column); }
    int64_t integer(size_t column) const { return get<int64_t>(column); }
    // A whole number is a real number too: SUM of a DOUBLE column may come back as either.
    double real(size_t column) const {
        if (const auto* whole = std::get_if<int64_t>(&value(column))) return static_cast<double>(*whole);
        return get<double>(column);
    }
    const std::string& blob(size_t column) const { return get<Blob>(column).bytes; }
    bool flag(size_t column) const { return get<int64_t>(column) != 0; }
    Time time(size_t column) const { return from_ns(get<int64_t>(column)); }
    template <class Tag>
    Id<Tag> id(size_t column) const {
        return Id<Tag>(get<std::string>(column));
    }

    std::optional<std::string> optional_text(size_t column) const { return optional<std::string>(column); }
    std::optional<int64_t> optional_integer(size_t column) const { return optional<int64_t>(column); }
    std::optional<double> optional_real(size_t column) const {
        return is_null(column) ? std::nullopt : std::optional(real(column));
    }
    std::optional<Time> optional_time(size_t column) const {
        return is_null(column) ? std::nullopt : std::optional(time(column));
    }
    template <class Tag>
    std::optional<Id<Tag>> optional_id(size_t column) const {
        return is_null(column) ? std::nullopt : std::optional(id<Tag>(column));
    }

private:
    template <class T>
    const T& get(size_t column) const {
        const T* found = std::get_if<T>(&value(column));
        CHECK_OR_ABORT(found != nullptr && "the column has another type");
        return *found;
    }
    template <class T>
    std::optional<T> optional(size_t column) const {
        return is_null(column) ? std::nullopt : std::optional<T>(get<T>(column));
    }

    const Value* m_values;
    size_t m_columns;
};

// A whole result in memory: control-plane results are small (LIMIT your lists), and the connection is free immediately.
class Rows {
public:
    Rows() = default;
    Rows(size_t columns, std::vector<Value> values) : m_columns(columns), m_values(std::move(values)) {}

    size_t size() const { return m_columns == 0 ? 0 : m_values.size() / m_columns; }
    bool empty() const { return m_values.empty(); }
    Row operator[](size_t index) const& {
        CHECK_OR_ABORT(index < size());
        return Row(m_values.data() + index * m_columns, m_columns);
    }
    Row front() const& { return (*this)[0]; }
    // A Row must not outlive its Rows: keep the Rows in a variable.
    Row operator[](size_t index) const&& = delete;
    Row front() const&& = delete;

    class Iterator {
    public:
        Iterator(const Value* position, size_t columns) : m_position(position), m_columns(columns) {}
        Row operator*() const { return Row(m_position, m_columns); }
        Iterator& operator++() {
            m_position += m_columns;
            return *this;
        }
        bool operator!=(const Iterator& other) const { return m_position != other.m_position; }

    private:
        const Value* m_position;
        size_t m_columns;
    };
    Iterator begin() const { return {m_values.data(), m_columns}; }
    Iterator end() const { return {m_values.data() + size() * m_columns, m_columns}; }

private:
    size_t m_columns = 0;
    std::vector<Value> m_values;
};

} // namespace hone::sql
