// The whole of telemetry as one object that the server builds: engine, log, loader, ingest and queries, started and
// stopped in order. Thread-safe after start.
#pragma once

#include "base/duty.h"
#include "base/result.h"
#include "base/time.h"
#include "telemetry/cluster/span_arrivals.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/engine_process.h"
#include "telemetry/ingest/ingest.h"
#include "telemetry/ingest/loader.h"
#include "telemetry/ingest/record_ingest.h"
#include "telemetry/ingest/span_parts.h"
#include "telemetry/log/wal.h"
#include "telemetry/query/span_store.h"
#include "telemetry/query/tail.h"
#include "telemetry/records/record_log.h"
#include "telemetry/span_joiner.h"
#include "telemetry/upgrade/store_upgrade.h"

#include <memory>
#include <optional>
#include <string>

namespace hone::telemetry {

struct TelemetryOptions {
    std::string directory;      // telemetry's own: DIR/engine, DIR/wal, DIR/parts, DIR/records, DIR/loader.state
    std::string clickhouse_url; // empty: the embedded engine
    std::string clickhouse_user;
    std::string clickhouse_password;
    std::string clickhouse_ca_file;
    std::string clickhouse_reader_user; // the user that runs SQL written by people; empty: such SQL is rejected
    std::string clickhouse_reader_password;
    std::string clickhouse_cluster; // empty: the tables are on one server
    EngineProcessOptions engine;    // directory and socket are filled in
    WalOptions wal;                 // directory is filled in
    LoaderOptions loader;           // state_file is filled in
    // With a ClickHouse elsewhere: the database of the servers that share it, and the name of this one. None: it is
    // alone.
    sql::Database* shared_database = nullptr;
    std::string server;
    BlockClaimsOptions claims{};
    otlp::Limits limits;
    Duration record_gather{500'000'000}; // of log records and metrics, before they are loaded
    std::string price_lines;             // prices.h; added to the built-in ones
};

class Telemetry {
public:
    // Recovers the log; the engine starts with the first span or query, so that this is quick.
    static Result<std::unique_ptr<Telemetry>> open(TelemetryOptions options, ProjectDirectory& projects,
                                                   const Clock& clock);
    ~Telemetry();

    IngestResponse ingest(const IngestRequest& request) { return m_ingest->respond(request); }
    Ingest& ingester() { return *m_ingest; }
    // Log records, metrics and runs in parts.
    RecordIngest& records() { return *m_records; }
    SpanParts& parts() { return *m_parts; }
    RecordLog& record_log() { return *m_record_log; }
    // Starts the engine and makes the tables if that has not happened yet; then queries are possible.
    Result<SpanStore*> store();
    Ledger ledger() const { return m_loader->ledger(); }
    WalStats log_stats() const { return m_wal->stats(); }
    Backlog backlog() const { return m_loader->backlog(); }
    Loader& loader() { return *m_loader; }
    Wal& log() { return *m_wal; }
    const BlockClaims* claims() const { return m_claims ? &*m_claims : nullptr; }
    const Quotas& quotas() const { return *m_quotas; }
    Tail& tail() { return *m_tail; }
    ClickHouse& engine() { return *m_clickhouse; }
    const std::string& directory() const { return m_directory; }
    const otlp::Limits& limits() const { return m_limits; }
    // What another engine process of this installation is started with.
    const EngineProcessOptions& engine_options() const { return m_engine_options; }
    // What a store of an earlier version lacks is made by its steps.
    StoreUpgrade& upgrade() { return *m_upgrade; }
    EngineProcess* engine_process() { return m_engine ? &*m_engine : nullptr; }

private:
    Telemetry();
    Result<> open_parts(const TelemetryOptions& options, ProjectDirectory& projects, const Clock& clock);

    std::string m_directory;
    otlp::Limits m_limits;
    EngineProcessOptions m_engine_options;
    std::optional<EngineProcess> m_engine;
    std::optional<ClickHouse> m_clickhouse;
    RecentSpans m_recent;
    std::optional<StoreUpgrade> m_upgrade;
    std::optional<SpanStore> m_store;
    Mutex m_schema_mutex;
    bool m_has_schema GUARDED_BY(m_schema_mutex) = false;
    std::unique_ptr<Wal> m_wal;
    std::optional<SpanArrivals> m_arrivals;
    std::optional<Tail> m_tail;
    std::optional<BlockClaims> m_claims;
    std::optional<Loader> m_loader;
    std::optional<Quotas> m_quotas;
    std::unique_ptr<SpanParts> m_parts;
    std::unique_ptr<RecordLog> m_record_log;
    std::optional<Ingest> m_ingest;
    std::optional<RecordIngest> m_records;
    std::optional<SpanJoiner> m_joiner;
    Duty m_archiver; // last: like the joiner's, its thread calls the others
};

} // namespace hone::telemetry
