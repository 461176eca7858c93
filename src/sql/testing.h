// For tests of stores: real engines, a fresh database per case. Not part of the product.
//   TEST_CASE("…") { sql::testing::for_each_engine([](sql::Database& database) { … CHECK(…); }); }
// Link with TEST_LIBRARIES hone_sql_testing. Starts one PostgreSQL per test process, on a unix socket in a temporary
// directory; aborts with a message when PostgreSQL is not installed. Call from the main thread of the test.
#pragma once

#include "sql/migrate.h"

#include <doctest/doctest.h>
#include <memory>

namespace hone::sql::testing {

enum class Schema { empty, migrated };

// A directory that is removed with everything in it.
class TemporaryDirectory {
public:
    TemporaryDirectory();
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string& path() const { return m_path; }

private:
    std::string m_path;
};

// A new database on one engine: a file of its own, or a database of its own on the PostgreSQL of this process.
class FreshDatabase {
public:
    // `options.url` is filled in.
    FreshDatabase(Engine engine, Schema schema, Options options = {});
    ~FreshDatabase();
    FreshDatabase(const FreshDatabase&) = delete;
    FreshDatabase& operator=(const FreshDatabase&) = delete;

    Database& database() { return *m_database; }
    const std::string& url() const { return m_options.url; }
    // Closes and opens again, as a restarted server would.
    void reopen();

private:
    TemporaryDirectory m_directory;
    Options m_options;
    std::string m_name; // on PostgreSQL
    std::unique_ptr<Database> m_database;
};

constexpr Engine all_engines[] = {Engine::sqlite, Engine::postgres};
inline std::string engine_name(Engine engine) {
    return engine == Engine::sqlite ? "SQLite" : "PostgreSQL";
}

// Runs `test` once per engine, each with a database that has all migrations of this build.
template <class Test>
void for_each_engine(Test&& test) {
    for (const Engine engine : all_engines) {
        INFO("on ", engine_name(engine));
        FreshDatabase fresh(engine, Schema::migrated);
        test(fresh.database());
    }
}

// A PostgreSQL server of the test's own, to stop and start at will. Ends with this object, or with the process.
class PostgresServer {
public:
    PostgresServer();
    ~PostgresServer();
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;

    void start();
    // Breaks all connections, as a restart of the machine would.
    void stop();
    std::string url(const std::string& database) const;
    // One statement as administrator, outside any transaction: CREATE DATABASE.
    void administrate(const std::string& sql) const;

private:
    TemporaryDirectory m_directory;
    int m_process = -1;
};

// The one that FreshDatabase uses.
PostgresServer& shared_postgres();

} // namespace hone::sql::testing
