// The ClickHouse engine as a library (libchdb.so), loaded at run time into the engine process. Thin and typed: errors
// are values, results are freed. One library per process; connections from any thread, each used by one at a time.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

struct ChdbFunctions; // the library's symbols

// ClickHouse's error: "Code: 159. DB::Exception: Timeout exceeded…".
struct EngineFailure {
    int code = 0;
    std::string message;
};
EngineFailure parse_engine_failure(std::string_view message);

// Where the library is: the given path, HONE_CHDB_LIBRARY, beside the program, or build/deps of a checkout.
Result<std::string> find_chdb_library(const std::string& given);

class ChdbConnection {
public:
    ChdbConnection(const ChdbFunctions& functions, void* handle) : m_functions(&functions), m_handle(handle) {}
    ChdbConnection(ChdbConnection&& other) noexcept
        : m_functions(other.m_functions),
          m_handle(std::exchange(other.m_handle, nullptr)) {}
    ChdbConnection& operator=(ChdbConnection&&) = delete;
    ~ChdbConnection();

    // The whole result. The Error's trail is the engine's own message (parse_engine_failure reads it).
    Result<std::string> query(std::string_view sql, const std::string& format);
    // One statement that only reads: no list of statements, no INTO OUTFILE, no SET.
    bool is_one_read_query(std::string_view sql);
    // Piece by piece; for formats whose rows stand alone. `take` ends the query by returning false.
    Result<> stream(std::string_view sql, const std::string& format, const std::function<bool(std::string_view)>& take);
    // Rows in `format` from `next`, which returns an empty piece at the end. Never through query(): that loses rows.
    Result<> insert(const std::string& sql, const std::string& format,
                    const std::function<Result<std::string_view>()>& next);

private:
    const ChdbFunctions* m_functions;
    void* m_handle;
};

class Chdb {
public:
    static Result<std::unique_ptr<Chdb>> load(const std::string& library_path);
    ~Chdb();

    // The first one opens the directory and takes 0.2 to 0.5 s; later ones less than a millisecond.
    Result<ChdbConnection> connect(const std::vector<std::string>& arguments);
    std::string version() const;

private:
    explicit Chdb(std::unique_ptr<ChdbFunctions> functions);
    std::unique_ptr<ChdbFunctions> m_functions;
};

} // namespace hone::telemetry
