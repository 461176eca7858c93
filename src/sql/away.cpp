#include "sql/away.h"

#include <algorithm>

namespace hone::sql {

bool is_away(const Error& error) {
    // As postgres_error.cpp and postgres_connection.cpp write them; a refused user or a replica does not come back.
    constexpr std::string_view starts[] = {"cannot reach PostgreSQL",
                                           "the connection to PostgreSQL was lost; try again",
                                           "the disk of PostgreSQL is full", "PostgreSQL is out of resources"};
    return error.code == Code::unavailable && std::ranges::any_of(starts, [&](std::string_view start) {
               return std::string_view(error.message).starts_with(start);
           });
}

bool is_outcome_unknown(const Error& error) {
    return error.code == Code::unavailable &&
           std::string_view(error.message).starts_with("the connection to PostgreSQL was lost while saving");
}

} // namespace hone::sql
