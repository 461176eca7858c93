// The one client of ClickHouse's HTTP interface: for the embedded engine (over its unix socket) and for a cluster
// (over a URL). Values go as bound parameters, never into the SQL text. Thread-safe, blocking.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "net/client/client.h"
#include "telemetry/engine/engine_process.h"

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::telemetry {

struct ClickHouseOptions {
    std::string url;  // "http://host:8123" or "https://…", several separated by commas; unused with an engine
    std::string user; // for a URL
    std::string password;
    EngineProcess* engine = nullptr; // the embedded one
    std::string ca_file{};           // PEM; CA certificates for the URL; empty: the system's store
    std::string reader_user{};       // for a URL: the user that runs SQL written by people; empty: such SQL is rejected
    std::string reader_password{};
    std::string cluster{}; // for a URL: its servers all have the tables, replicated; empty: one server has them
    Duration connect_timeout{5'000'000'000}; // for a URL: then its next address is tried
};

// One statement with its values. `{name:Type}` in the SQL stands for a bound value.
class ClickHouseQuery {
public:
    explicit ClickHouseQuery(std::string text) : sql(std::move(text)) {}

    ClickHouseQuery& bind(std::string name, std::string_view text);
    ClickHouseQuery& bind(std::string name, std::integral auto number) {
        parameters.emplace_back(std::move(name), std::to_string(number));
        return *this;
    }
    ClickHouseQuery& bind(std::string name, double number);
    ClickHouseQuery& bind(std::string name, const std::vector<std::string>& texts); // for Array(String)
    ClickHouseQuery& set(std::string name, std::string value) {
        settings.emplace_back(std::move(name), std::move(value));
        return *this;
    }

    std::string sql;
    std::vector<std::pair<std::string, std::string>> parameters; // already escaped
    std::vector<std::pair<std::string, std::string>> settings;
    std::string project = "*";     // rows of other projects are invisible to it; "*": our own, all rows
    std::string database = "hone"; // where it stands; "": nowhere
    bool as_reader = false;        // run by the user that may read the views of project databases and nothing else
    Duration deadline{10'000'000'000};
    size_t most_bytes = 256 << 20; // of the result
    net::Cancel* cancel = nullptr;
};

class ClickHouse {
public:
    explicit ClickHouse(ClickHouseOptions options);

    bool is_embedded() const { return m_options.engine != nullptr; }
    // Definitions are for its servers (cluster_sql.h); empty: for one.
    const std::string& cluster() const { return m_options.cluster; }
    // Creates, alters or drops a database, table, view or row policy, on all servers of the cluster.
    Result<> define(const std::string& statement);
    // The result in the format that the SQL names.
    Result<std::string> query(const ClickHouseQuery& query);
    // Piece by piece as it comes; only for formats whose rows stand alone.
    Result<> stream(const ClickHouseQuery& query, const std::function<Result<>(std::string_view)>& take);
    // INSERT … SELECT: sent once, whatever is replaced meanwhile. Returns when the rows are on disk.
    Result<> insert_selected(const ClickHouseQuery& query);
    // Rows in RowBinary. Returns when they are on disk.
    Result<> insert(const std::string& table, std::string rows, Duration deadline);
    // The same without a copy; `rows` is unchanged when it returns. `indexes_texts_later`: merges build the indexes of
    // texts; until then a search scans the part. `until_s`: of a table that has the constraint of schema.cpp, refused
    // when the rows arrive later than this, by the clock of the store.
    Result<> insert_from(const std::string& table, std::string& rows, Duration deadline,
                         bool indexes_texts_later = false, std::optional<int64_t> until_s = std::nullopt);

    // While one lives, queries of a project wait before they start, for two seconds at most: rows are being replaced,
    // and a query would see both of them, or none.
    class Replacement {
    public:
        explicit Replacement(ClickHouse& engine);
        ~Replacement();
        Replacement(const Replacement&) = delete;
        Replacement& operator=(const Replacement&) = delete;

    private:
        ClickHouse& m_engine;
    };

private:
    // Returns the number of replacements that have begun.
    uint64_t await_replacements();
    bool has_replaced_since(uint64_t begun);
    std::vector<std::string> all_addresses();
    void begin_with(const std::string& address);
    void end_with(const std::string& address);
    Result<net::ClientResponse> send(const ClickHouseQuery& query, std::string* insert_rows,
                                     const std::function<Result<>(std::string_view)>& take);

    ClickHouseOptions m_options;
    net::HttpClient m_client;
    Mutex m_mutex;
    Condition m_replaced;
    int m_replacements GUARDED_BY(m_mutex) = 0;
    uint64_t m_replacements_begun GUARDED_BY(m_mutex) = 0;
};

// What an engine's exception means to the caller; fuzzed names and numbers are harmless.
Error engine_error(int exception_code, std::string_view message);

} // namespace hone::telemetry
