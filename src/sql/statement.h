// Reads our own SQL just far enough to run one text on both engines: finds the placeholders, splits scripts, translates
// column types of definitions. Refuses what the engines would read differently. Pure functions, any thread.
#pragma once

#include "sql/sql.h"

namespace hone::sql {

struct Statement {
    std::string text; // as the engine wants it
    size_t parameters = 0;
};

// One statement with `?` placeholders; PostgreSQL gets $1, $2, … Strings, comments and "names" are left alone.
Result<Statement> translate(std::string_view sql, Engine engine);

// The statements of a script, split at `;`, without comments and without empty ones.
Result<std::vector<std::string>> split_script(std::string_view script);

// Column types of CREATE and ALTER; other statements pass unchanged.
//   written    SQLite     PostgreSQL
//   TEXT       TEXT       TEXT COLLATE "C"   (orders by bytes, as SQLite does)
//   BIGINT     INTEGER    BIGINT
//   DOUBLE     REAL       DOUBLE PRECISION
//   BLOB       BLOB       BYTEA
// A CREATE TABLE gets STRICT at its end on SQLite.
Result<std::string> translate_definition(std::string_view sql, Engine engine);

} // namespace hone::sql
