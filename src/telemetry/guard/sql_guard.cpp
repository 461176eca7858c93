#include "telemetry/guard/sql_guard.h"

#include "base/text.h"
#include "telemetry/guard/sql_text.h"
#include "telemetry/guard/sql_tree.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// A refusal with the position in the user's own text, when it is known.
Error refusal_error(const Refusal& refusal, std::string_view sql) {
    const std::string text = lowercase_ascii(sql), part = lowercase_ascii(refusal.part);
    const size_t at = part.empty() ? std::string::npos : text.find(part);
    const std::string place = at == std::string::npos ? std::string() : "character " + std::to_string(at + 1) + ": ";
    return invalid(place + refusal.why);
}

// The engine's message about a query, without its text about our own statement.
Error in_peoples_terms(Error error, const std::string& database) {
    std::string& message = error.message;
    for (const std::string_view end :
         {": In scope SELECT", ". In scope SELECT", " Expected one of:", " Maybe you meant"})
        if (const size_t at = message.find(end); at != std::string::npos && at > 0) message.resize(at);
    for (const std::string& own : {"`" + database + "`.", database + "."})
        for (size_t at; (at = message.find(own)) != std::string::npos;) message.erase(at, own.size());
    return error;
}

// Runs as the reader, in the project's database, with the remaining time.
ClickHouseQuery reader_query(const SqlRequest& request, const std::string& database, std::string sql,
                             SteadyTime until) {
    ClickHouseQuery query(std::move(sql));
    query.as_reader = true;
    query.database = database;
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(until - std::chrono::steady_clock::now() +
                                                                       std::chrono::milliseconds(999));
    const auto seconds = std::max<int64_t>(1, left.count());
    query.deadline = std::chrono::seconds(seconds + 2); // the engine's own limit applies first
    query.most_bytes = request.most_bytes + (1 << 20);
    query.cancel = request.cancel.get();
    query.set("max_execution_time", std::to_string(seconds));
    query.set("max_memory_usage", std::to_string(request.most_memory)).set("max_bytes_before_external_group_by", "0");
    // No max_result_rows and max_result_bytes: the engine holds subqueries to them too, and the whole query is one
    // here. The rows are cut by the LIMIT around it, the bytes are counted while they arrive.
    query.set("max_threads", "2").set("max_ast_depth", "200").set("max_ast_elements", "5000");
    query.set("max_expanded_ast_elements", "50000").set("allow_ddl", "0");
    return query;
}

// A sorted subquery over a view, with a LIMIT outside of it, makes 26.7.3 lose a column when it puts off reading the
// others until the rows are known. That saves much where it works, so it is only turned off where it fails.
constexpr const char* lazy_setting = "query_plan_optimize_lazy_materialization";

bool is_lazy_fault(const Error& error) {
    return error.code == Code::invalid && error.message.starts_with("Not found column ") &&
           error.message.find(" in block") != std::string::npos;
}

std::string limited(const std::string& sql, size_t rows) {
    return "SELECT * FROM (" + sql + ") LIMIT " + std::to_string(rows);
}

struct Rendered {
    std::string sql;
    std::string limited; // the same inside the statement that is to run; empty: it cannot stand there
};

// The engine's parser reads the text as a value: one statement, or an error with its position.
Result<Rendered> render(ClickHouse& engine, ClickHouseQuery query, const std::string& sql, size_t rows) {
    query.sql = "SELECT formatQuerySingleLine({sql:String}) AS rendered, ifNull(formatQuerySingleLineOrNull(concat("
                "'SELECT * FROM (', rendered, ') LIMIT ', {rows:String})), '') FORMAT RowBinary";
    query.bind("sql", sql).bind("rows", rows);
    const std::string bytes = TRY(engine.query(query));
    BinaryReader reader(bytes);
    Rendered rendered;
    rendered.sql = reader.text();
    rendered.limited = reader.text();
    return rendered;
}

} // namespace

Result<CheckedSql> SqlGuard::check(const SqlRequest& request) {
    if (request.sql.size() > 64 << 10) return too_large("the query is longer than 64 KB");
    if (!is_valid_utf8(request.sql) || request.sql.find('\0') != std::string::npos)
        return invalid("the query is not text");
    if (request.project.empty() || request.project == "*") return internal("a query needs a project");
    const SteadyTime until = std::chrono::steady_clock::now() + request.deadline;
    const std::string database = TRY(m_views.open(request.project));
    const auto as_reader = [&](std::string sql) { return reader_query(request, database, std::move(sql), until); };
    const auto rendering = [&](const std::string& sql) -> Result<Rendered> {
        auto rendered = render(m_engine, as_reader(""), sql, request.most_rows);
        if (!rendered.ok()) return in_peoples_terms(std::move(rendered).error(), database);
        if (const auto refusal = check_sql_text(rendered.value().sql)) return refusal_error(*refusal, request.sql);
        return rendered;
    };
    Rendered rendered = TRY(rendering(request.sql));
    if (const std::string plain = over_views(rendered.sql); plain != rendered.sql) rendered = TRY(rendering(plain));
    // The checked text has to be what the engine reads when it runs.
    if (rendered.limited != limited(rendered.sql, request.most_rows))
        return invalid("the engine reads this query in two ways; write it in simpler words");

    const auto tree = [&](const char* kind) -> Result<std::string> {
        ClickHouseQuery query =
            as_reader("EXPLAIN QUERY TREE " + std::string(kind) + " " + rendered.limited + " FORMAT TSVRaw");
        query.set("enable_scalar_subquery_optimization", "0"); // else the tree hides subqueries that give an array
        query.set(lazy_setting, "0");
        query.most_bytes = 64 << 20; // values of scalar subqueries are in it
        auto shown = m_engine.query(query);
        if (!shown.ok()) return in_peoples_terms(std::move(shown).error(), database);
        return shown;
    };
    const std::string written = TRY(tree("run_passes = 0"));
    if (const auto refusal = check_written_tree(written)) return refusal_error(*refusal, request.sql);
    const std::string resolved = TRY(tree("passes = 1"));
    if (const auto refusal = check_resolved_tree(resolved, database)) return refusal_error(*refusal, request.sql);
    return CheckedSql{std::move(rendered.limited), database};
}

Result<std::string> SqlGuard::run(const SqlRequest& request) {
    static const std::set<std::string> formats{"JSON",  "JSONCompact", "JSONEachRow", "CSVWithNames",
                                               "Arrow", "ArrowStream", "Parquet",     "TSVWithNames"};
    if (!formats.contains(request.format))
        return invalid("unknown format; use JSON, JSONEachRow, CSVWithNames, Arrow or Parquet");
    const SteadyTime until = std::chrono::steady_clock::now() + request.deadline;
    CheckedSql checked = TRY(check(request));
    ClickHouseQuery query = reader_query(request, checked.database, std::move(checked.text), until);
    query.set("default_format", request.format);
    auto result = m_engine.query(query);
    if (!result.ok() && is_lazy_fault(result.error())) {
        query.set(lazy_setting, "0");
        result = m_engine.query(query);
    }
    if (!result.ok()) return in_peoples_terms(std::move(result).error(), checked.database);
    return result;
}

} // namespace hone::telemetry
