#include "telemetry/telemetry.h"

#include "base/log.h"
#include "otlp/simdjson_library.h"
#include "telemetry/engine/schema.h"
#include "telemetry/records/record_tables.h"
#include "telemetry/transfer/span_snapshot.h"

#include <algorithm>
#include <filesystem>

namespace hone::telemetry {

namespace {

// Files of imports, exports and backups that a killed server left.
void remove_leftovers(const std::string& directory) {
    std::error_code failed;
    std::vector<std::filesystem::path> old{directory + "/engine/exports", directory + "/engine/data/shadow"};
    for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed))
        if (const std::string name = at->path().filename(); name.starts_with("import-") || name.starts_with("backup-"))
            old.push_back(at->path());
    for (const auto& path : old) std::filesystem::remove_all(path, failed);
}

} // namespace

Result<std::unique_ptr<Telemetry>> Telemetry::open(TelemetryOptions options, ProjectDirectory& projects,
                                                   const Clock& clock) {
    TRY(otlp::load_simdjson());
    TRY(make_directories(options.directory));
    remove_leftovers(options.directory);
    std::unique_ptr<Telemetry> telemetry(new Telemetry);
    telemetry->m_directory = options.directory;
    telemetry->m_limits = options.limits;
    telemetry->m_engine_options = options.engine;
    ClickHouseOptions connection{options.clickhouse_url,
                                 options.clickhouse_user,
                                 options.clickhouse_password,
                                 nullptr,
                                 options.clickhouse_ca_file,
                                 options.clickhouse_reader_user,
                                 options.clickhouse_reader_password,
                                 options.clickhouse_cluster};
    if (options.clickhouse_url.empty()) {
        options.engine.directory = options.directory + "/engine";
        options.engine.socket = options.directory + "/engine.sock";
        telemetry->m_engine.emplace(options.engine);
        connection.engine = &*telemetry->m_engine;
    }
    telemetry->m_clickhouse.emplace(std::move(connection));
    telemetry->m_upgrade.emplace(*telemetry->m_clickhouse, telemetry->m_recent, clock);
    telemetry->m_store.emplace(*telemetry->m_clickhouse, &telemetry->m_recent, &*telemetry->m_upgrade);

    options.loader.state_file = options.directory + "/loader.state";
    options.wal.directory = options.directory + "/wal";
    auto read = Loader::read_state(options.loader.state_file); // not by TRY: g++ 12 at -O2 warns wrongly about its map
    if (!read.ok()) return std::move(read).error();
    LoaderState state = std::move(read).value();
    telemetry->m_wal = TRY(Wal::open(options.wal, state.next_sequence));
    options.loader.is_only_writer = options.clickhouse_url.empty();
    if (!options.loader.is_only_writer && options.shared_database) {
        telemetry->m_claims.emplace(*options.shared_database, clock, options.server, options.claims);
        options.loader.claims = &*telemetry->m_claims;
        telemetry->m_arrivals.emplace(*options.shared_database, clock, options.server);
    }
    options.loader.prepare = [raw = telemetry.get()]() -> Result<> {
        TRY(raw->store());
        return {};
    };
    telemetry->m_tail.emplace([raw = telemetry.get()] { return raw->store(); },
                              telemetry->m_arrivals ? &*telemetry->m_arrivals : nullptr);
    options.loader.loaded = [raw = telemetry.get()](std::span<const SpanRowHead> rows) {
        raw->m_recent.add(rows);
        raw->m_tail->loaded(rows);
        if (!raw->m_arrivals) return;
        if (const auto published = raw->m_arrivals->publish(rows); !published.ok())
            hone::log(Level::warning, "live tails of other servers miss spans", {{"why", published.error().message}});
    };
    telemetry->m_loader.emplace(options.loader, *telemetry->m_wal, *telemetry->m_clickhouse, std::move(state), clock);
    Prices prices = Prices::built_in();
    TRY(prices.add(options.price_lines));
    telemetry->m_quotas.emplace(options.directory + "/quotas.state", clock);
    telemetry->m_ingest.emplace(*telemetry->m_wal, *telemetry->m_loader, *telemetry->m_quotas, projects, clock,
                                std::move(prices), options.limits);
    TRY(telemetry->open_parts(options, projects, clock));
    telemetry->m_loader->start();
    if (options.wal.archive) telemetry->m_archiver.start();
    return telemetry;
}

// Log records and runs in parts, in a log of their own.
Result<> Telemetry::open_parts(const TelemetryOptions& options, ProjectDirectory& projects, const Clock& clock) {
    SpanPartsOptions parts;
    parts.wal = options.wal;
    parts.wal.archive = nullptr;
    parts.wal.directory = options.directory + "/parts";
    parts.wal.segment_bytes = 4 << 20;
    m_parts = TRY(SpanParts::open(std::move(parts), clock));
    m_ingest->use_parts(*m_parts);
    RecordLogOptions records;
    records.wal = options.wal;
    records.wal.archive = nullptr;
    records.wal.directory = options.directory + "/records";
    records.wal.segment_bytes = 8 << 20;
    records.wal.cap_bytes = std::min<size_t>(options.wal.cap_bytes, 512 << 20);
    records.state_file = options.directory + "/records.state";
    records.gather = options.record_gather;
    records.wait_limit = options.loader.wait_limit;
    records.prepare = [this]() -> Result<> {
        TRY(store());
        return {};
    };
    m_record_log = TRY(RecordLog::open(std::move(records), *m_clickhouse, clock));
    m_records.emplace(*m_ingest, *m_parts, *m_record_log, *m_wal, *m_loader, *m_quotas, projects, clock,
                      options.limits);
    m_joiner.emplace(
        *m_parts, *m_ingest, *m_loader, *m_clickhouse, [this] { return store(); }, options.limits);
    // The last end may have come before spans of these were joined.
    m_parts->request_join(m_parts->recent_logs(std::chrono::minutes(10)), m_wal->stats().next_sequence);
    m_joiner->start();
    m_record_log->start();
    return {};
}

Telemetry::Telemetry()
    : m_archiver({.name = "span log"}, [this]() -> Result<Duration> {
          return TRY(m_wal->archive_step()) ? Duration(0) : Duration(std::chrono::seconds(1));
      }) {}

// Then members in reverse: ingest, loader, log, engine.
Telemetry::~Telemetry() {
    if (m_wal) m_wal->end_archiving();
}

Result<SpanStore*> Telemetry::store() {
    Lock lock(m_schema_mutex);
    if (!m_has_schema) {
        TRY(create_schema(*m_clickhouse));
        TRY(create_record_tables(*m_clickhouse));
        if (m_engine) TRY(attach_restored_parts(*m_clickhouse, m_engine->directory()));
    }
    m_has_schema = true;
    return &*m_store;
}

} // namespace hone::telemetry
