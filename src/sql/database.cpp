#include "sql/sql.h"

#include "sql/pool.h"

#include <random>
#include <thread>

namespace hone::sql {

namespace {

// Grows to 64 ms; random, so that those who collided do not meet again.
void pause_before_attempt(int attempt) {
    std::minstd_rand random(static_cast<unsigned>(std::hash<std::thread::id>{}(std::this_thread::get_id())) +
                            static_cast<unsigned>(attempt));
    random.discard(3);
    const auto most = std::chrono::microseconds(1000LL << std::min(attempt, 6));
    std::this_thread::sleep_for(most * static_cast<int>(random() % 1000) / 1000);
}

Result<> run_once(Connection& connection, const std::function<Result<>(Transaction&)>& work) {
    TRY(connection.begin());
    Transaction transaction(connection);
    Result<> outcome = work(transaction);
    if (outcome.ok() && transaction.failure()) outcome = *transaction.failure();
    if (outcome.ok()) outcome = connection.commit();
    if (!outcome.ok()) connection.rollback();
    return outcome;
}

} // namespace

Result<StatementResult> Transaction::run(std::string_view sql, std::span<const Value> values) {
    if (m_failure) return *m_failure;
    auto result = m_connection.run(sql, values);
    if (!result.ok()) m_failure = result.error();
    return result;
}

Result<std::unique_ptr<Database>> Database::open(Options options) {
    const std::string_view url = options.url;
    const bool is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    if (!is_postgres && !url.starts_with("sqlite:"))
        return invalid("the database must be \"sqlite:PATH\" or \"postgres://…\"");
    if (!is_postgres) TRY(prepare_sqlite_file(options));
    std::unique_ptr<Database> database(
        new Database(std::move(options), is_postgres ? Engine::postgres : Engine::sqlite));
    TRY(database->m_writers->take()); // sees now, not at the first request, that it can be reached
    return database;
}

Database::Database(Options options, Engine engine) : m_options(std::move(options)), m_engine(engine) {
    auto connect = [this](Role role) {
        return m_engine == Engine::sqlite ? connect_sqlite(m_options, role) : connect_postgres(m_options, role);
    };
    const size_t writers = m_engine == Engine::sqlite ? 1 : m_options.writers;
    m_readers = std::make_unique<Pool>(m_options.readers, m_options.wait, [=] { return connect(Role::reader); });
    m_writers = std::make_unique<Pool>(writers, m_options.wait, [=] { return connect(Role::writer); });
}

Database::~Database() {
    m_readers.reset(); // the writer closes last: SQLite then moves the write-ahead log into the file
}

Engine Database::engine() const {
    return m_engine;
}

Result<Rows> Database::run_query(std::string_view sql, std::span<const Value> values) {
    if (m_writers->is_held_by_this_thread()) return internal("a database call inside a transaction", std::string(sql));
    for (int attempt = 1;; ++attempt) {
        auto lease = TRY(m_readers->take());
        auto result = lease.connection().run(sql, values);
        if (result.ok()) return std::move(result).value().rows;
        if (!lease.connection().may_run_again() || attempt >= m_options.attempts) return std::move(result).error();
    }
}

Result<int64_t> Database::run_execute(std::string_view sql, std::span<const Value> values) {
    int64_t affected = 0;
    auto work = [&](Transaction& transaction) -> Result<> {
        affected = TRY(transaction.run(sql, values)).affected;
        return {};
    };
    TRY(run_transaction(std::ref(work), true));
    return affected;
}

Result<> Database::run_transaction(const std::function<Result<>(Transaction&)>& work, bool writes) {
    if (!writes && m_writers->is_held_by_this_thread()) return internal("a database call inside a transaction");
    Pool& pool = writes ? *m_writers : *m_readers;
    for (int attempt = 1;; ++attempt) {
        {
            auto lease = TRY(pool.take());
            auto outcome = run_once(lease.connection(), work);
            if (outcome.ok() || !lease.connection().may_run_again()) return outcome;
            if (attempt >= m_options.attempts)
                return Error{Code::busy, "too many changes at the same time; try again", outcome.error().trail};
        }
        pause_before_attempt(attempt);
    }
}

Result<> Database::check_integrity() {
    if (m_engine == Engine::sqlite) return check_sqlite(m_options);
    TRY(query("SELECT 1"));
    return {};
}

Result<> Database::backup_to(const std::string& path) {
    if (m_engine != Engine::sqlite) return invalid("this database is a PostgreSQL server: back it up with pg_dump");
    return backup_sqlite(m_options, path);
}

} // namespace hone::sql
