// A connection to a PostgreSQL server through libpq. One thread at a time.
#include "base/log.h"
#include "base/text.h"
#include "sql/connection.h"
#include "sql/libpq.h"
#include "sql/postgres_error.h"
#include "sql/statement.h"
#include "sql/statement_cache.h"

#include <charconv>
#include <libpq-fe.h>

namespace hone::sql {

namespace {

struct Finish {
    void operator()(PGconn* handle) const { PQfinish(handle); }
};
struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
};
using Handle = std::unique_ptr<PGconn, Finish>;
using PgResult = std::unique_ptr<PGresult, Clear>;

// Type numbers of PostgreSQL's catalogue; they never change.
namespace type {
constexpr Oid boolean = 16, bytes = 17, int8 = 20, int2 = 21, int4 = 23, text = 25, oid = 26, float4 = 700,
              float8 = 701, numeric = 1700;
} // namespace type

// The values of one call in the form libpq wants. Each has an explicit type, so that a statement means the same as on
// SQLite; only NULL takes the type of its place.
class Parameters {
public:
    explicit Parameters(std::span<const Value> values) {
        m_texts.reserve(values.size()); // pointers go into it
        for (const Value& value : values) add(value);
    }
    int count() const { return static_cast<int>(m_types.size()); }
    const Oid* types() const { return m_types.data(); }
    const char* const* values() const { return m_values.data(); }
    const int* lengths() const { return m_lengths.data(); }
    const int* formats() const { return m_formats.data(); }
    // One letter per value: statements are prepared per combination of types.
    const std::string& signature() const { return m_signature; }

private:
    void add(const Value& value) {
        if (const auto* number = std::get_if<int64_t>(&value)) {
            push(type::int8, 'i', m_texts.emplace_back(std::to_string(*number)), 0);
        } else if (const auto* real = std::get_if<double>(&value)) {
            push(type::float8, 'd', m_texts.emplace_back(to_text_exactly(*real)), 0);
        } else if (const auto* text = std::get_if<std::string>(&value)) {
            push(type::text, 't', *text, 0);
        } else if (const auto* blob = std::get_if<Blob>(&value)) {
            push(type::bytes, 'b', blob->bytes, 1);
        } else {
            m_types.push_back(0);
            m_values.push_back(nullptr);
            m_lengths.push_back(0);
            m_formats.push_back(0);
            m_signature += 'n';
        }
    }
    void push(Oid oid, char letter, const std::string& bytes, int format) {
        m_types.push_back(oid);
        m_values.push_back(bytes.c_str());
        m_lengths.push_back(static_cast<int>(bytes.size()));
        m_formats.push_back(format);
        m_signature += letter;
    }
    static std::string to_text_exactly(double number) {
        if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
        char buffer[64];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
        return std::string(buffer, end);
    }

    std::vector<std::string> m_texts;
    std::vector<Oid> m_types;
    std::vector<const char*> m_values;
    std::vector<int> m_lengths;
    std::vector<int> m_formats;
    std::string m_signature;
};

double to_double(std::string_view text) {
    if (text == "Infinity") return HUGE_VAL;
    if (text == "-Infinity") return -HUGE_VAL;
    double number = NAN;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Appends one column's text as the value it means.
Result<> append_value(std::vector<Value>& values, std::string_view text, Oid oid) {
    switch (oid) {
    case type::boolean:
        values.emplace_back(int64_t{text == "t"});
        break;
    case type::int2:
    case type::int4:
    case type::oid:
    case type::int8:
        values.emplace_back(TRY(parse_integer(text)));
        break;
    case type::float4:
    case type::float8:
        values.emplace_back(to_double(text));
        break;
    case type::numeric: // SUM of BIGINT; on SQLite an integer
        if (const auto whole = parse_integer(text); whole.ok())
            values.emplace_back(whole.value());
        else
            values.emplace_back(to_double(text));
        break;
    case type::bytes: // \x and hexadecimal digits: bytea_output is set to that
        values.emplace_back(Blob{TRY(from_hex(text.substr(std::min<size_t>(2, text.size()))))});
        break;
    default:
        values.emplace_back(std::string(text));
    }
    return {};
}

Result<Rows> to_rows(PGresult* result, std::string_view sql) {
    const int columns = PQnfields(result);
    const int count = PQntuples(result);
    if (PQresultMemorySize(result) > largest_result) return result_too_large(sql);
    std::vector<Value> values;
    values.reserve(static_cast<size_t>(columns) * static_cast<size_t>(count));
    for (int row = 0; row < count; ++row) {
        for (int column = 0; column < columns; ++column) {
            if (PQgetisnull(result, row, column) != 0) {
                values.emplace_back(Null{});
                continue;
            }
            const std::string_view text(PQgetvalue(result, row, column),
                                        static_cast<size_t>(PQgetlength(result, row, column)));
            TRY(append_value(values, text, PQftype(result, column)));
        }
    }
    return Rows(static_cast<size_t>(columns), std::move(values));
}

// What every session needs to mean the same as SQLite, and to end what hangs.
std::string session_settings(const Options& options, Role role) {
    const auto milliseconds = [](Duration duration) {
        return std::to_string(std::max<int64_t>(1, duration.count() / 1'000'000));
    };
    return "SET client_min_messages = warning; SET standard_conforming_strings = on; SET bytea_output = hex;"
           "SET extra_float_digits = 1; SET idle_in_transaction_session_timeout = '10min';"
           "SET statement_timeout = " +
           milliseconds(options.statement_timeout) + "; SET lock_timeout = " + milliseconds(options.wait) +
           (role == Role::reader ? "; SET default_transaction_read_only = on" : "");
}

class PostgresConnection final : public Connection {
public:
    PostgresConnection(Handle handle, Role role) : m_role(role), m_handle(std::move(handle)) {}

    Result<> begin() override {
        return command(m_role == Role::writer ? "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE"
                                              : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    }

    Result<> commit() override {
        m_may_run_again = false;
        const PgResult result(PQexec(m_handle.get(), "COMMIT"));
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
            Error error = fail(result.get(), "COMMIT");
            // The server may have committed before the line broke: running it again could do it twice.
            if (!m_usable) {
                m_may_run_again = false;
                error.message = "the connection to PostgreSQL was lost while saving; look whether it was done";
            }
            return error;
        }
        if (std::string_view(PQcmdStatus(result.get())) != "COMMIT")
            return internal("PostgreSQL rolled a transaction back", PQcmdStatus(result.get()));
        return {};
    }

    void rollback() override {
        const PGTransactionStatusType status = PQtransactionStatus(m_handle.get());
        if (status == PQTRANS_IDLE) return;
        const PgResult result(PQexec(m_handle.get(), "ROLLBACK"));
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) m_usable = false;
    }

    Result<> command(const std::string& sql) {
        m_may_run_again = false;
        const PgResult result(PQexec(m_handle.get(), sql.c_str()));
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) return fail(result.get(), sql);
        return {};
    }

private:
    Result<StatementResult> run_checked(std::string_view sql, std::span<const Value> values) override {
        const Parameters parameters(values);
        const std::string name = TRY(prepare(sql, parameters));
        const PgResult result(PQexecPrepared(m_handle.get(), name.c_str(), parameters.count(), parameters.values(),
                                             parameters.lengths(), parameters.formats(), 0));
        const ExecStatusType status = PQresultStatus(result.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return fail(result.get(), sql);
        StatementResult outcome{TRY(to_rows(result.get(), sql)), 0};
        const std::string_view tag = PQcmdStatus(result.get()); // "SELECT 5" also counts, but changes nothing
        if (tag.starts_with("INSERT") || tag.starts_with("UPDATE") || tag.starts_with("DELETE"))
            outcome.affected = TRY(parse_integer(PQcmdTuples(result.get())));
        return outcome;
    }

    Result<std::string> prepare(std::string_view sql, const Parameters& parameters) {
        const std::string key = parameters.signature() + " " + std::string(sql);
        if (const std::string* name = m_cache.find(key)) return *name;
        const Statement statement = TRY(translate(sql, Engine::postgres));
        if (statement.parameters != static_cast<size_t>(parameters.count()))
            return internal("a database statement has another number of placeholders than values", std::string(sql));
        const std::string name = "s" + std::to_string(++m_last_name);
        const PgResult result(
            PQprepare(m_handle.get(), name.c_str(), statement.text.c_str(), parameters.count(), parameters.types()));
        if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) return fail(result.get(), sql);
        if (const auto evicted = m_cache.insert(key, name)) TRY(command("DEALLOCATE " + *evicted));
        return name;
    }

    Error fail(PGresult* result, std::string_view sql) {
        const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        std::string trail(trim(result != nullptr ? PQresultErrorMessage(result) : PQerrorMessage(m_handle.get())));
        trail += " (" + std::string(state != nullptr ? state : "") + ") in: " + std::string(sql.substr(0, 500));
        if (m_role == Role::reader && state != nullptr && std::string_view(state) == "25006")
            return write_in_query(sql);
        PostgresFailure failure = postgres_failure(state != nullptr ? state : "", std::move(trail));
        // A definition changed under a prepared statement: a new connection prepares it again.
        const bool outdated = state != nullptr && std::string_view(state) == "0A000";
        if (failure.connection_lost || outdated || PQstatus(m_handle.get()) != CONNECTION_OK) m_usable = false;
        m_may_run_again = failure.may_run_again || outdated;
        return std::move(failure.error);
    }

    const Role m_role;
    Handle m_handle;
    StatementCache<std::string> m_cache{128}; // names of statements prepared on the server
    int64_t m_last_name = 0;
};

} // namespace

Result<std::unique_ptr<Connection>> connect_postgres(const Options& options, Role role) {
    TRY(load_libpq());
    // A malformed URL is not repeated in the message: it may hold a password.
    char* complaint = nullptr;
    const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed(
        PQconninfoParse(options.url.c_str(), &complaint), PQconninfoFree);
    PQfreemem(complaint);
    if (!parsed)
        return invalid("the PostgreSQL URL is malformed: it looks like postgres://user:password@host:5432/database");
    // What stands before "dbname" may be changed by the URL, what stands after it may not.
    const char* keywords[] = {"connect_timeout",
                              "application_name",
                              "tcp_user_timeout",
                              "keepalives_idle",
                              "dbname",
                              "client_encoding",
                              nullptr};
    const char* values[] = {"5", "hone", "15000", "30", options.url.c_str(), "UTF8", nullptr};
    Handle handle(PQconnectdbParams(keywords, values, 1));
    CHECK_OR_ABORT(handle != nullptr);
    if (PQstatus(handle.get()) != CONNECTION_OK)
        // libpq's words name host and user, never the password.
        return Error{
            Code::unavailable, "cannot reach PostgreSQL: " + std::string(trim(PQerrorMessage(handle.get()))), {}};
    PQsetNoticeProcessor(
        handle.get(),
        [](void*, const char* text) {
            log(Level::warning, "PostgreSQL notice", {{"text", trim(text)}});
        },
        nullptr);
    auto connection = std::make_unique<PostgresConnection>(std::move(handle), role);
    TRY(connection->command(session_settings(options, role)));
    return std::unique_ptr<Connection>(std::move(connection));
}

} // namespace hone::sql
