// The control-plane database: one interface, two engines (embedded SQLite, PostgreSQL), the same statements.
// Stores hold a Database& and write portable SQL with `?` placeholders; README.md lists what is portable.
// Thread-safe: any thread may call any function of Database. A Transaction belongs to the thread that runs its work.
#pragma once

#include "sql/value.h"

#include <functional>
#include <memory>
#include <span>

namespace hone::sql {

enum class Engine { sqlite, postgres };

struct Options {
    // "sqlite:PATH" or "postgres://user@host/database" (everything libpq understands).
    std::string url{};
    // Connections for query() and read(), opened when first needed.
    size_t readers = 4;
    // Connections for write() and execute(). SQLite always has one.
    size_t writers = 4;
    // How long a call waits for a free connection, or for a lock of another process, before it is `busy`.
    Duration wait = std::chrono::seconds(5);
    // A statement that takes longer is stopped and is `busy`.
    Duration statement_timeout = std::chrono::seconds(30);
    // A write transaction that collides with others is run again at most so many times.
    int attempts = 64;
    // Opening an SQLite file checks its pages when it is not larger than this, so that starting stays quick;
    // check_integrity() checks any.
    int64_t check_up_to_bytes = 32 << 20;
};

struct StatementResult {
    Rows rows;
    int64_t affected = 0;
};

class Connection; // one engine's connection; connection.h
class Pool;

// The inside of write() and read(). The first statement that fails ends it: later statements give the same error and
// nothing is committed, on both engines. Where a clash is expected, say ON CONFLICT instead of catching the error.
class Transaction {
public:
    explicit Transaction(Connection& connection) : m_connection(connection) {}
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    template <class... Args>
    Result<Rows> query(std::string_view sql, const Args&... args) {
        const std::vector<Value> values{to_value(args)...};
        return TRY(run(sql, values)).rows;
    }
    // Returns how many rows were inserted, updated or deleted.
    template <class... Args>
    Result<int64_t> execute(std::string_view sql, const Args&... args) {
        const std::vector<Value> values{to_value(args)...};
        return TRY(run(sql, values)).affected;
    }
    // For statements whose number of values is not known when compiling.
    Result<StatementResult> run(std::string_view sql, std::span<const Value> values);
    const std::optional<Error>& failure() const { return m_failure; }

private:
    Connection& m_connection;
    std::optional<Error> m_failure;
};

class Database {
public:
    // Connects, checks that the file is ours and sound. Creates an SQLite file that is absent. Does not migrate:
    // migrate.h.
    static Result<std::unique_ptr<Database>> open(Options options);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    Engine engine() const;

    // One read statement; sees everything committed before the call.
    template <class... Args>
    Result<Rows> query(std::string_view sql, const Args&... args) {
        const std::vector<Value> values{to_value(args)...};
        return run_query(sql, values);
    }
    // One writing statement in its own transaction. Returns how many rows it touched. For RETURNING use write().
    template <class... Args>
    Result<int64_t> execute(std::string_view sql, const Args&... args) {
        const std::vector<Value> values{to_value(args)...};
        return run_execute(sql, values);
    }
    // For statements whose number of values is not known when compiling.
    Result<Rows> run_query(std::string_view sql, std::span<const Value> values);
    Result<int64_t> run_execute(std::string_view sql, std::span<const Value> values);

    // Runs `work`, a function from Transaction& to some Result, in a serializable write transaction: commits when it
    // returns a value, rolls back on an Error. After a collision with another transaction it is run again (bounded),
    // so `work` touches only the transaction and its own locals; calling this Database inside is an error.
    //   TRY(database.write([&](Transaction& transaction) -> Result<int64_t> { … }));
    template <class Work>
    auto write(Work&& work) -> std::invoke_result_t<Work&, Transaction&> {
        return in_transaction<Work>(work, true);
    }
    // The same for several reads that must see one moment.
    template <class Work>
    auto read(Work&& work) -> std::invoke_result_t<Work&, Transaction&> {
        return in_transaction<Work>(work, false);
    }

    // Reads everything and compares it with itself: pages, indexes, foreign keys. SQLite only; PostgreSQL has its own
    // tools, there it only checks whether the server responds.
    Result<> check_integrity();
    // A consistent copy in one file while others read and write; `path` appears only when it is complete. SQLite only.
    Result<> backup_to(const std::string& path);

private:
    Database(Options options, Engine engine);
    Result<> run_transaction(const std::function<Result<>(Transaction&)>& work, bool writes);

    template <class Work>
    auto in_transaction(Work& work, bool writes) -> std::invoke_result_t<Work&, Transaction&> {
        std::optional<std::invoke_result_t<Work&, Transaction&>> outcome;
        auto erased = [&](Transaction& transaction) -> Result<> {
            outcome.emplace(work(transaction));
            if (!outcome->ok()) return outcome->error();
            return {};
        };
        TRY(run_transaction(std::ref(erased), writes));
        return std::move(*outcome);
    }

    const Options m_options;
    const Engine m_engine;
    std::unique_ptr<Pool> m_readers;
    std::unique_ptr<Pool> m_writers;
};

} // namespace hone::sql
