#include "sql/migrate.h"

#include "base/log.h"
#include "base/text.h"
#include "sql/statement.h"

#include <algorithm>

namespace hone::sql {

namespace {

// The kinds of a migration in schema_version.
constexpr std::string_view expand = "expand", contract = "contract";

// Recognises an edited file; it guards against accidents, not against people.
std::string checksum(std::string_view text) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(hash >> shift);
    return to_hex(bytes);
}

Result<> run_definition(Transaction& transaction, std::string_view sql, Engine engine) {
    const std::string translated = TRY(translate_definition(sql, engine));
    TRY(transaction.run(translated, {}));
    return {};
}

Result<> create_version_table(Database& database) {
    constexpr std::string_view definition =
        "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, name TEXT NOT NULL, "
        "applied_ns BIGINT NOT NULL, checksum TEXT NOT NULL, kind TEXT)";
    auto create = [&](Transaction& transaction) { return run_definition(transaction, definition, database.engine()); };
    // Two servers that start on an empty PostgreSQL at the same moment: one of them gets an error that the table
    // exists.
    const auto first = database.write(create);
    if (first.ok() || first.error().code != Code::conflict) return first;
    return database.write(create);
}

// PostgreSQL: servers that migrate at the same time wait here for each other. SQLite: the transaction is the lock.
Result<> lock_versions(Transaction& transaction, Engine engine) {
    if (engine == Engine::postgres) TRY(transaction.execute("LOCK TABLE schema_version IN EXCLUSIVE MODE"));
    return {};
}

// The first versions did not store the kind of a migration.
Result<bool> has_kinds(Transaction& transaction, Engine engine) {
    const Rows rows =
        TRY(engine == Engine::sqlite
                ? transaction.query("SELECT COUNT(*) FROM pragma_table_info('schema_version') "
                                    "WHERE name = 'kind'")
                : transaction.query("SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = "
                                    "current_schema() AND table_name = 'schema_version' AND column_name "
                                    "= 'kind'"));
    return rows.front().integer(0) > 0;
}

// The newest migration of ours that is applied. Newer ones are accepted when all of them only add.
Result<int64_t> check_applied(Transaction& transaction, Engine engine, std::span<const Migration> migrations) {
    const auto known = static_cast<int64_t>(migrations.size());
    const std::string kind = TRY(has_kinds(transaction, engine)) ? "COALESCE(kind, '')" : "''";
    const Rows rows =
        TRY(transaction.query("SELECT version, name, checksum, " + kind + " FROM schema_version ORDER BY version"));
    if (rows.empty()) return int64_t{0};
    const int64_t newest = rows[rows.size() - 1].integer(0);
    int64_t expected = 1;
    for (const Row row : rows) {
        if (row.integer(0) > known && row.text(3) != expand)
            return conflict("this data directory was written by a newer Hone (schema " + std::to_string(newest) +
                            ", this build knows " + std::to_string(known) + "): upgrade hone or restore a backup");
        if (row.integer(0) != expected)
            return corrupt("migration " + std::to_string(expected) + " is missing in the database");
        if (expected++ > known) continue;
        const Migration& migration = migrations[static_cast<size_t>(row.integer(0) - 1)];
        if (row.text(1) != migration.name || row.text(2) != checksum(migration.sql))
            return conflict("migration " + std::to_string(row.integer(0)) + " (" + row.text(1) +
                            ") was applied with another text than this build has: use the build that wrote this data");
    }
    return std::min(newest, known);
}

// Applies the next migration; zero when nothing is left.
Result<int64_t> step(Transaction& transaction, Engine engine, const Clock& clock,
                     std::span<const Migration> migrations) {
    TRY(lock_versions(transaction, engine));
    const int64_t version = TRY(check_applied(transaction, engine, migrations));
    if (version == static_cast<int64_t>(migrations.size())) return int64_t{0};
    const Migration& migration = migrations[static_cast<size_t>(version)];
    const auto statements = TRY(split_script(migration.sql));
    for (const std::string& statement : statements) TRY(run_definition(transaction, statement, engine));
    if (!TRY(has_kinds(transaction, engine)))
        TRY(run_definition(transaction, "ALTER TABLE schema_version ADD COLUMN kind TEXT", engine));
    TRY(transaction.execute(
        "INSERT INTO schema_version (version, name, applied_ns, checksum, kind) VALUES (?, ?, ?, ?, ?)",
        migration.version, migration.name, clock.now(), checksum(migration.sql),
        migration.is_contract() ? contract : expand));
    // Visible to `file` and other tools without reading tables.
    if (engine == Engine::sqlite)
        TRY(transaction.execute("PRAGMA user_version = " + std::to_string(migration.version)));
    return migration.version;
}

} // namespace

Result<int64_t> migrate(Database& database, const Clock& clock, std::span<const Migration> migrations) {
    for (size_t i = 0; i < migrations.size(); ++i)
        if (migrations[i].version != static_cast<int64_t>(i + 1))
            return internal("migrations must be numbered 1, 2, 3 …", migrations[i].name);
    TRY(create_version_table(database));
    bool is_new = false; // one line for a new database, one for each change of an old one
    for (;;) {
        const int64_t applied = TRY(database.write([&](Transaction& transaction) -> Result<int64_t> {
            return step(transaction, database.engine(), clock, migrations);
        }));
        if (applied == 0) {
            if (is_new) log(Level::info, "created database", {{"version", static_cast<int64_t>(migrations.size())}});
            return static_cast<int64_t>(migrations.size());
        }
        is_new = is_new || applied == 1;
        if (is_new) continue;
        log(Level::info, "migrated database",
            {{"version", applied}, {"name", migrations[static_cast<size_t>(applied - 1)].name}});
    }
}

Result<std::vector<Migration>> pending_migrations(Database& database, std::span<const Migration> migrations) {
    TRY(create_version_table(database));
    const int64_t version = TRY(database.read([&](Transaction& transaction) -> Result<int64_t> {
        return check_applied(transaction, database.engine(), migrations);
    }));
    return std::vector<Migration>(migrations.begin() + version, migrations.end());
}

Result<std::vector<Migration>> pending_migrations(Database& database) {
    const auto migrations = embedded_migrations();
    return pending_migrations(database, migrations);
}

Result<int64_t> migrate(Database& database, const Clock& clock) {
    const auto migrations = embedded_migrations();
    return migrate(database, clock, migrations);
}

} // namespace hone::sql
