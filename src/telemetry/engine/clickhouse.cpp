#include "telemetry/engine/clickhouse.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "net/client/no_connection.h"
#include "otlp/attribute_text.h"
#include "telemetry/cluster/cluster_sql.h"
#include "telemetry/engine/engine_config.h"

#include <algorithm>
#include <charconv>

namespace hone::telemetry {

namespace {

constexpr Duration grace = std::chrono::seconds(2);

// Values travel in ClickHouse's escaped form.
std::string escape(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\0':
            out += "\\0";
            break;
        default:
            out += letter;
        }
    }
    return out;
}

// An element of a list: the list itself is not escaped once more.
std::string quote(std::string_view text) {
    std::string out = "'";
    for (const char letter : escape(text)) {
        if (letter == '\'') out += '\\';
        out += letter;
    }
    return out + "'";
}

// "Code: 62. DB::Exception: Syntax error: … (SYNTAX_ERROR)" -> "Syntax error: …"
std::string plain_message(std::string_view message) {
    if (const size_t at = message.rfind("DB::Exception: "); at != std::string_view::npos)
        message.remove_prefix(at + 15);
    if (const size_t at = message.find(" (version"); at != std::string_view::npos) message = message.substr(0, at);
    message = trim(message);
    if (const size_t at = message.rfind(" ("); at != std::string_view::npos && message.ends_with(')')) {
        const std::string_view name = message.substr(at + 2, message.size() - at - 3);
        if (name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == std::string_view::npos)
            message = message.substr(0, at);
    }
    return std::string(truncate_utf8(trim(message), 1000));
}

} // namespace

ClickHouseQuery& ClickHouseQuery::bind(std::string name, std::string_view text) {
    parameters.emplace_back(std::move(name), escape(text));
    return *this;
}

ClickHouseQuery& ClickHouseQuery::bind(std::string name, double number) {
    char digits[40];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
    parameters.emplace_back(std::move(name), std::string(digits, end));
    return *this;
}

ClickHouseQuery& ClickHouseQuery::bind(std::string name, const std::vector<std::string>& texts) {
    std::string list = "[";
    for (const std::string& text : texts) list += (list.size() > 1 ? "," : "") + quote(text);
    parameters.emplace_back(std::move(name), list + "]");
    return *this;
}

Error engine_error(int exception_code, std::string_view message) {
    const std::string plain = plain_message(message);
    switch (exception_code) {
    case 159: // TIMEOUT_EXCEEDED
    case 160:
        return {Code::busy, "the query takes too long: narrow its time range or its filter", std::string(message)};
    case 241: // MEMORY_LIMIT_EXCEEDED
        return {Code::too_large, "the query needs too much memory: narrow its time range or its filter",
                std::string(message)};
    case 158: // TOO_MANY_ROWS
    case 307: // TOO_MANY_BYTES
    case 396:
        return {Code::too_large, "the query reads or returns too much: " + plain, std::string(message)};
    case 394:
        return conflict("the query was cancelled");
    case 164: // READONLY
    case 291:
    case 497:
        return forbidden("this is not allowed in a query: " + plain);
    case 192: // UNKNOWN_USER and other ways of not letting us in
    case 193:
    case 194:
    case 516:
        return {Code::unavailable, "the span store refuses our user or password", std::string(message)};
    case 439: // CANNOT_SCHEDULE_TASK
    case 202: // TOO_MANY_SIMULTANEOUS_QUERIES
        return {Code::busy, "the span store is busy", std::string(message)};
    case 469: // VIOLATED_CONSTRAINT: of spans there is this one (schema.cpp)
        return {Code::conflict, "the rows arrived after the time that their server had: they are sent again",
                std::string(message)};
    case 209: // SOCKET_TIMEOUT
    case 210: // NETWORK_ERROR
    case 279: // ALL_CONNECTION_TRIES_FAILED
        return {Code::unavailable, "the span store cannot be reached: " + plain, std::string(message)};
    case 225: // NO_ZOOKEEPER
    case 285: // TOO_FEW_LIVE_REPLICAS
    case 286: // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
    case 319: // UNKNOWN_STATUS_OF_INSERT: it is repeated with the same token
    case 999: // KEEPER_EXCEPTION
    case 242: // TABLE_IS_READ_ONLY
    case 243: // NOT_ENOUGH_SPACE
    case 252: // TOO_MANY_PARTS
        return {Code::unavailable, "the span engine cannot take rows now: " + plain, std::string(message)};
    case 33:  // CANNOT_READ_ALL_DATA
    case 40:  // CHECKSUM_DOESNT_MATCH
    case 74:  // CANNOT_READ_FROM_FILE_DESCRIPTOR
    case 75:  // CANNOT_WRITE_TO_FILE_DESCRIPTOR
    case 76:  // CANNOT_OPEN_FILE
    case 107: // FILE_DOESNT_EXIST
    case 246: // CORRUPTED_DATA
        return {Code::unavailable, "the span store cannot read or write its files: " + plain, std::string(message)};
    default:
        return invalid(plain.empty() ? "the span engine refused the query" : plain);
    }
}

ClickHouse::ClickHouse(ClickHouseOptions options)
    : m_options(std::move(options)),
      m_client([&] {
          net::ClientOptions client;
          client.ca_file = m_options.ca_file;
          client.connect_timeout = m_options.connect_timeout;
          return client;
      }()) {}

namespace {

// What every attempt sends: the part of the address after the host.
std::string arguments_of(const ClickHouseQuery& query, const std::string* insert_rows, bool is_embedded,
                         const std::string& query_id) {
    std::string arguments = query.as_reader ? "readonly=1" : "log_comment=" + percent_encode(query.project);
    if (!query.database.empty()) arguments += "&database=" + percent_encode(query.database);
    if (insert_rows) arguments += "&query=" + percent_encode(query.sql) + "&default_format=RowBinary";
    for (const auto& [name, value] : query.parameters) arguments += "&param_" + name + "=" + percent_encode(value);
    bool has_limit = false;
    for (const auto& [name, value] : query.settings) {
        arguments += "&" + name + "=" + percent_encode(value);
        has_limit = has_limit || name == "max_execution_time";
    }
    // The engine's own timeout comes first and is reported; if none comes, the engine hangs.
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(query.deadline).count();
    if (!has_limit) arguments += "&max_execution_time=" + std::to_string(std::max<int64_t>(1, seconds));
    if (is_embedded) return arguments;
    // A server that streams its response has sent 200 long before it fails; one that buffers reports the error.
    arguments += "&wait_end_of_query=1&query_id=" + query_id;
    // Whatever its profiles have, as in the engine's own configuration: that cache has no policies of rows in its keys,
    // and a queue of inserts has neither their tokens nor their time.
    arguments += insert_rows ? "&async_insert=0" : "&use_query_condition_cache=0";
    // Rows that were stored by an attempt whose response was lost are not stored again by the next.
    if (insert_rows) arguments += "&insert_deduplication_token=" + to_hex(crypto::hash(*insert_rows));
    return arguments;
}

void add_user(net::ClientRequest& request, const ClickHouseOptions& options, bool as_reader) {
    if (options.engine) {
        request.headers.push_back({"X-ClickHouse-User", std::string(as_reader ? reader_user : owner_user)});
    } else if (as_reader || !options.user.empty()) {
        request.headers.push_back({"X-ClickHouse-User", as_reader ? options.reader_user : options.user});
        request.headers.push_back({"X-ClickHouse-Key", as_reader ? options.reader_password : options.password});
    }
}

// A query whose reader is gone costs the server nothing any more. The embedded engine sees the closed connection
// itself.
void kill_query(net::HttpClient& client, const ClickHouseOptions& options, const std::string& address,
                const std::string& query_id) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = address + "/?log_comment=%2A&wait_end_of_query=1";
    add_user(request, options, false);
    request.body = "KILL QUERY WHERE query_id = '" + query_id + "' ASYNC";
    request.total_timeout = grace;
    if (const auto sent = client.send(request); !sent.ok() || sent.value().status != 200)
        log(Level::debug, "an abandoned query was not ended", {{"query_id", query_id}});
}

Error failure_of(const net::ClientResponse& response, const std::string& body) {
    int code = 0;
    const std::string_view text = response.header("X-ClickHouse-Exception-Code");
    std::from_chars(text.data(), text.data() + text.size(), code);
    if (code == 0) // not ClickHouse's own words: something in between
        return unavailable("the span store cannot be reached: status " + std::to_string(response.status));
    return engine_error(code, body);
}

std::vector<std::string> addresses_in(const std::string& list) {
    std::vector<std::string> addresses;
    for (const std::string_view part : split(list, ','))
        if (!trim(part).empty()) addresses.emplace_back(trim(part));
    return addresses;
}

std::string list_of(const std::vector<std::string>& addresses) {
    std::string list;
    for (const std::string& address : addresses) list += (list.empty() ? "" : ",") + address;
    return list;
}

} // namespace

std::vector<std::string> ClickHouse::all_addresses() {
    if (m_options.engine) return {"unix:" + m_options.engine->socket() + ":"};
    const Lock lock(m_mutex);
    return addresses_in(m_options.url);
}

// Later requests begin with the address that responded.
void ClickHouse::begin_with(const std::string& address) {
    const Lock lock(m_mutex);
    std::vector<std::string> all = addresses_in(m_options.url);
    std::ranges::rotate(all, std::ranges::find(all, address));
    m_options.url = list_of(all);
}

// Later requests begin with another address, unless they already do: several can fail at the same moment.
void ClickHouse::end_with(const std::string& address) {
    const Lock lock(m_mutex);
    std::vector<std::string> all = addresses_in(m_options.url);
    if (all.front() != address) return;
    std::ranges::rotate(all, all.begin() + 1);
    m_options.url = list_of(all);
}

Result<net::ClientResponse> ClickHouse::send(const ClickHouseQuery& query, std::string* insert_rows,
                                             const std::function<Result<>(std::string_view)>& take) {
    if (query.as_reader && !m_options.engine && m_options.reader_user.empty())
        return unavailable("SQL needs a user of its own at the outside ClickHouse: set clickhouse_reader_user");
    std::optional<EngineProcess::Use> use;
    if (m_options.engine) use.emplace(TRY(m_options.engine->use()));
    const std::string query_id = m_options.engine ? "" : "hone-" + to_hex(crypto::random_bytes(12));
    net::ClientRequest request;
    request.method = "POST";
    add_user(request, m_options, query.as_reader);
    request.total_timeout = query.deadline + grace;
    request.idle_timeout = query.deadline + grace;
    request.max_response_bytes = query.most_bytes;
    request.cancel = query.cancel;
    int status = 0;
    bool has_taken = false;
    std::string failure;
    if (take) {
        request.headers.push_back({"X-Hone-Stream", "1"});
        request.on_head = [&](const net::ClientResponse& head) -> Result<> {
            status = head.status;
            return {};
        };
        request.on_body = [&](std::string_view piece) -> Result<> {
            has_taken = has_taken || status == 200;
            if (status == 200) return take(piece);
            if (failure.size() < 64 << 10) failure += piece;
            return {};
        };
    }
    const std::string target = "/?" + arguments_of(query, insert_rows, m_options.engine != nullptr, query_id);
    const std::vector<std::string> addresses = all_addresses();
    for (size_t i = 0; i < addresses.size(); ++i) {
        request.url = addresses[i] + target;
        failure.clear();
        if (insert_rows)
            request.body.swap(*insert_rows); // and back: they are large
        else
            request.body = query.sql;
        auto sent = m_client.send(request);
        if (insert_rows) request.body.swap(*insert_rows);
        if (sent.ok() && sent.value().status == 200) {
            if (i > 0) begin_with(addresses[i]);
            return sent;
        }
        const Error error = sent.ok() ? failure_of(sent.value(), take ? failure : sent.value().body) : sent.error();
        const bool is_unsent = !sent.ok() && error.trail == net::no_connection;
        const bool has_timed_out = !sent.ok() && !is_unsent && error.code == Code::busy;
        const bool is_cancelled = query.cancel != nullptr && query.cancel->is_cancelled();
        // The deadline of the caller is over: another address gets its next request, for an insert with the same token.
        if (!m_options.engine && has_timed_out) end_with(addresses[i]);
        if (!m_options.engine && !is_unsent && (has_timed_out || is_cancelled))
            kill_query(m_client, m_options, addresses[i], query_id);
        if (has_timed_out) return unavailable("the span engine does not respond: " + error.message);
        if (has_taken || is_cancelled || (error.code != Code::unavailable && !is_unsent)) return error;
        if (i + 1 == addresses.size())
            return error.code == Code::busy ? unavailable("the span store cannot be reached: " + error.message) : error;
        log(Level::warning, "the next address of the span store is used", {{"why", error.message}});
    }
    return unavailable("clickhouse_url names no address");
}

ClickHouse::Replacement::Replacement(ClickHouse& engine) : m_engine(engine) {
    const Lock lock(m_engine.m_mutex);
    ++m_engine.m_replacements;
    ++m_engine.m_replacements_begun;
}

ClickHouse::Replacement::~Replacement() {
    const Lock lock(m_engine.m_mutex);
    --m_engine.m_replacements;
    m_engine.m_replaced.notify_all();
}

uint64_t ClickHouse::await_replacements() {
    constexpr auto most = std::chrono::seconds(2);
    const Lock lock(m_mutex);
    m_replaced.wait_for(m_mutex, most, [this]() REQUIRES_LOCK(m_mutex) { return m_replacements == 0; });
    return m_replacements_begun;
}

bool ClickHouse::has_replaced_since(uint64_t begun) {
    const Lock lock(m_mutex);
    return m_replacements_begun != begun;
}

Result<std::string> ClickHouse::query(const ClickHouseQuery& query) {
    constexpr int most_tries = 10;
    if (query.project == "*") return std::move(TRY(send(query, nullptr, {})).body);
    for (int i = 1;; ++i) {
        const uint64_t begun = await_replacements();
        auto response = TRY(send(query, nullptr, {}));
        // Queries of people can be expensive: they run once.
        if (i == most_tries || query.as_reader || !has_replaced_since(begun)) return std::move(response.body);
    }
}

Result<> ClickHouse::stream(const ClickHouseQuery& query, const std::function<Result<>(std::string_view)>& take) {
    if (query.project != "*") await_replacements();
    TRY(send(query, nullptr, take));
    return {};
}

Result<> ClickHouse::define(const std::string& statement) {
    ClickHouseQuery query(on_cluster(statement, m_options.cluster));
    if (statement.starts_with("CREATE DATABASE")) query.database.clear(); // it may not be there yet
    query.deadline = std::chrono::seconds(30);
    // A server that does not respond executes it when it is back.
    if (!m_options.cluster.empty())
        query.set("distributed_ddl_output_mode", "null_status_on_timeout_only_active")
            .set("distributed_ddl_task_timeout", "20");
    TRY(send(query, nullptr, {}));
    return {};
}

Result<> ClickHouse::insert_selected(const ClickHouseQuery& query) {
    await_replacements();
    TRY(send(query, nullptr, {}));
    return {};
}

Result<> ClickHouse::insert(const std::string& table, std::string rows, Duration deadline) {
    return insert_from(table, rows, deadline);
}

Result<> ClickHouse::insert_from(const std::string& table, std::string& rows, Duration deadline,
                                 bool indexes_texts_later, std::optional<int64_t> until_s) {
    ClickHouseQuery query("INSERT INTO " + table + (m_options.engine ? "" : " FORMAT RowBinary"));
    query.deadline = deadline;
    if (until_s) query.project = "until " + std::to_string(*until_s); // the table's constraint reads it
    query.set("max_partitions_per_insert_block", "0");
    query.set("max_insert_block_size", "200000");
    query.set("min_insert_block_size_bytes", "0");
    // The log forgets the rows afterwards: most of the replicas have them then.
    if (!m_options.cluster.empty()) query.set("insert_quorum", "auto");
    if (indexes_texts_later && m_options.engine)
        query.set("exclude_materialize_skip_indexes_on_insert", "input_words,output_words,input_index,output_index");
    TRY(send(query, &rows, {}));
    return {};
}

} // namespace hone::telemetry
