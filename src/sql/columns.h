// The columns of a table, declared once as a list beside the code that owns the table. The list gives the text of a
// SELECT or INSERT and reads and writes rows in the same order, so no code counts positions:
//
//     constexpr Pack share_columns{Column{"skill_id", &Share::skill}, Column{"created_at", &Share::created_at}};
//     const auto rows = TRY(database.query("SELECT " + names(share_columns) + " FROM skill_shares WHERE …"));
//     const Share share = read<Share>(share_columns, rows.front());
//
// Pure functions; any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "sql/value.h"

#include <functional>
#include <utility>

namespace hone::sql {

struct NoFallback {};

// `place` is one of: a member pointer; in(…), for a field of a field; a function from the record to the field; a
// Converted.
// `fallback` is the value of an enum whose text is unknown; without one the field keeps its default.
template <class Place, class Fallback = NoFallback>
struct Column {
    std::string_view name;
    Place place;
    Fallback fallback{};
};
template <class Place>
Column(std::string_view, Place) -> Column<Place, NoFallback>;
template <class Place, class Fallback>
Column(std::string_view, Place, Fallback) -> Column<Place, Fallback>;

// A field of a field: in(&Run::usage, &Usage::input).
template <class Outer, class Inner>
constexpr auto in(Outer outer, Inner inner) {
    return [=](auto& record) -> auto& {
        return std::invoke(inner, std::invoke(outer, record));
    };
}
template <class Outer, class Middle, class Inner>
constexpr auto in(Outer outer, Middle middle, Inner inner) {
    return in(in(outer, middle), inner);
}

// A column that is stored in another form, such as JSON. `read` takes the record, the row and the position and returns
// nothing or a Result<>; `write` makes a Value of the record.
struct NotWritten {};
template <class Read, class Write = NotWritten>
struct Converted {
    Read read;
    Write write{};
};
template <class Read>
Converted(Read) -> Converted<Read, NotWritten>;
template <class Read, class Write>
Converted(Read, Write) -> Converted<Read, Write>;

// "?, ?, ?"
inline std::string marks(size_t count) {
    std::string list;
    for (size_t i = 0; i < count; ++i) list += i == 0 ? "?" : ", ?";
    return list;
}

// The values of "… IN (" + marks(items.size()) + ")".
template <class Items>
std::vector<Value> to_values(const Items& items) {
    std::vector<Value> values;
    values.reserve(items.size());
    for (const auto& item : items) values.push_back(to_value(item));
    return values;
}

template <class... Columns>
constexpr size_t width(const Pack<Columns...>&) {
    return sizeof...(Columns);
}

// "a.id, a.name" for the table "a."
template <class... Columns>
std::string names(const Pack<Columns...>& columns, std::string_view table = {}) {
    std::string list;
    const auto add = [&](std::string_view name) {
        if (!list.empty()) list += ", ";
        list.append(table).append(name);
    };
    columns.apply([&](const auto&... column) { (add(column.name), ...); });
    return list;
}

namespace columns_detail {

template <class T>
constexpr bool is_converted = false;
template <class Read, class Write>
constexpr bool is_converted<Converted<Read, Write>> = true;

inline void decode(const Row& row, size_t at, std::string& field) {
    field = row.text(at);
}
inline void decode(const Row& row, size_t at, int64_t& field) {
    field = row.integer(at);
}
inline void decode(const Row& row, size_t at, double& field) {
    field = row.real(at);
}
inline void decode(const Row& row, size_t at, bool& field) {
    field = row.flag(at);
}
inline void decode(const Row& row, size_t at, Time& field) {
    field = row.time(at);
}
template <class Tag>
void decode(const Row& row, size_t at, Id<Tag>& field) {
    field = row.id<Tag>(at);
}
template <HasEnumNames Enum>
void decode(const Row& row, size_t at, Enum& field) {
    if (const auto known = parse_enum<Enum>(row.text(at))) field = *known;
}
template <class T>
void decode(const Row& row, size_t at, std::optional<T>& field) {
    field.reset();
    if (row.is_null(at)) return;
    if constexpr (HasEnumNames<T>) {
        field = parse_enum<T>(row.text(at));
    } else {
        field.emplace();
        decode(row, at, *field);
    }
}

template <class T>
Value encode(const T& field) {
    if constexpr (HasEnumNames<T>)
        return to_value(name_of(field));
    else
        return to_value(field);
}
template <class T>
Value encode(const std::optional<T>& field) {
    return field ? encode(*field) : Value(Null{});
}

template <class Record, class Place>
constexpr bool may_fail() {
    if constexpr (is_converted<Place>)
        return std::is_same_v<decltype(std::declval<const Place&>().read(std::declval<Record&>(),
                                                                         std::declval<const Row&>(), size_t{})),
                              Result<>>;
    else
        return false;
}

template <class Record, class Place, class Fallback>
Result<> read_one(const Column<Place, Fallback>& column, const Row& row, size_t at, Record& record) {
    if constexpr (may_fail<Record, Place>()) {
        return column.place.read(record, row, at);
    } else if constexpr (is_converted<Place>) {
        column.place.read(record, row, at);
    } else {
        auto& field = std::invoke(column.place, record);
        if constexpr (!std::is_same_v<Fallback, NoFallback>) field = column.fallback;
        decode(row, at, field);
    }
    return {};
}

template <class Record, class Place, class Fallback>
Value write_one(const Column<Place, Fallback>& column, const Record& record) {
    if constexpr (is_converted<Place>)
        return to_value(column.place.write(record));
    else
        return encode(std::invoke(column.place, record));
}

} // namespace columns_detail

// The record of a row whose columns begin at `first`. Returns a Result<Record> when a Converted column can fail, else
// a Record.
template <class Record, class... Columns>
auto read(const Pack<Columns...>& columns, const Row& row, size_t first = 0) {
    constexpr bool may_fail = (columns_detail::may_fail<Record, decltype(Columns::place)>() || ...);
    Record record;
    size_t at = first;
    Result<> outcome;
    const auto one = [&](const auto& column) {
        if (outcome.ok()) outcome = columns_detail::read_one(column, row, at, record);
        ++at;
    };
    columns.apply([&](const auto&... column) { (one(column), ...); });
    if constexpr (may_fail) {
        if (!outcome.ok()) return Result<Record>(std::move(outcome).error());
        return Result<Record>(std::move(record));
    } else {
        return record;
    }
}

// The values of a record in the order of its columns, for INSERT.
template <class Record, class... Columns>
std::vector<Value> values(const Pack<Columns...>& columns, const Record& record) {
    return columns.apply(
        [&](const auto&... column) { return std::vector<Value>{columns_detail::write_one(column, record)...}; });
}

} // namespace hone::sql
