// Columns of a SELECT in RowBinary, declared once: the list gives the text of the SELECT and reads the rows in the same
// order. Internal to telemetry/.
#pragma once

#include "base/fields.h"
#include "telemetry/span/binary.h"

#include <string>
#include <type_traits>

namespace hone::telemetry {

// `place` is a member pointer, or a function from the record and the reader.
template <class Place>
struct BinaryColumn {
    std::string_view name;
    Place place;
};
template <class Place>
BinaryColumn(std::string_view, Place) -> BinaryColumn<Place>;

inline void read_field(BinaryReader& reader, std::string& field) {
    field = reader.text();
}
template <class Number>
void read_field(BinaryReader& reader, Number& field) {
    if constexpr (std::is_enum_v<Number>) // Enum8
        field = static_cast<Number>(reader.number<int8_t>());
    else
        field = reader.number<Number>();
}

template <class... Columns>
std::string column_names(const Pack<Columns...>& columns) {
    std::string names;
    const auto add = [&](std::string_view name) { names.append(names.empty() ? "" : ", ").append(name); };
    columns.apply([&](const auto&... column) { (add(column.name), ...); });
    return names;
}

template <class Record, class... Columns>
void read_columns(const Pack<Columns...>& columns, BinaryReader& reader, Record& record) {
    const auto read = [&](const auto& column) {
        if constexpr (std::is_member_object_pointer_v<std::decay_t<decltype(column.place)>>)
            read_field(reader, record.*column.place);
        else
            column.place(record, reader);
    };
    columns.apply([&](const auto&... column) { (read(column), ...); });
}

} // namespace hone::telemetry
