#include "telemetry/transfer/span_snapshot.h"

#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "telemetry/span/binary.h"
#include "telemetry/telemetry.h"
#include "telemetry/upgrade/store_upgrade.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace hone::telemetry {

namespace {

namespace fs = std::filesystem;

// In this order: an entry of the history is written before the eval it belongs to.
constexpr const char* snapshot_tables[] = {"trace_times", "spans", "evals", "eval_history", "logs", "metric_points"};

// Where a table's parts lie, with a slash at the end.
Result<std::string> table_directory(ClickHouse& engine, const std::string& table) {
    ClickHouseQuery query("SELECT data_paths[1] FROM system.tables WHERE database = 'hone' AND name = {table:String} "
                          "FORMAT RowBinary");
    query.bind("table", table);
    const std::string bytes = TRY(engine.query(query));
    const std::string path(BinaryReader(bytes).text());
    if (path.empty()) return internal("the engine has no table " + table);
    return path;
}

Result<bool> has_parts(ClickHouse& engine, const std::string& table) {
    ClickHouseQuery query(
        "SELECT count() FROM system.parts WHERE database = 'hone' AND table = {table:String} AND active "
        "FORMAT RowBinary");
    query.bind("table", table);
    return BinaryReader(TRY(engine.query(query))).number<uint64_t>() > 0;
}

Result<std::vector<std::string>> detached_parts(ClickHouse& engine, const std::string& table) {
    ClickHouseQuery query("SELECT name FROM system.detached_parts WHERE database = 'hone' AND table = {table:String} "
                          "AND reason = '' FORMAT RowBinary");
    query.bind("table", table);
    const std::string bytes = TRY(engine.query(query));
    std::vector<std::string> names;
    for (BinaryReader reader(bytes); !reader.at_end();) names.emplace_back(reader.text());
    return names;
}

bool is_plain(std::string_view text) {
    return !text.empty() && text.size() <= 100 && text.front() != '.' &&
           std::all_of(text.begin(), text.end(), [](char letter) {
               return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
                      (letter >= '0' && letter <= '9') ||
                      std::string_view("._-%+=@").find(letter) != std::string_view::npos;
           });
}

Result<> move_parts(const std::string& from, const std::string& to) {
    std::error_code failed;
    for (fs::directory_iterator at(from, failed), end; !failed && at != end; at.increment(failed)) {
        const std::string part = at->path().filename();
        if (!is_plain(part)) return corrupt("a restored part has an unusual name");
        fs::rename(at->path(), to + part, failed);
        if (failed) break;
    }
    if (failed) return internal("move restored parts to " + to, failed.message());
    return {};
}

} // namespace

bool is_snapshot_file_name(std::string_view name) {
    const auto parts = split(name, '/');
    if (!std::all_of(parts.begin(), parts.end(), is_plain)) return false;
    if (parts.size() == 1) return name == "loader.state";
    if (parts.size() == 2) return parts[0] == "wal" && parts[1].ends_with(".wal");
    return parts.size() >= 5 && parts.size() <= 7 && parts[0] == "engine" && parts[1] == "restore" &&
           std::any_of(std::begin(snapshot_tables), std::end(snapshot_tables),
                       [&](const char* table) { return parts[2] == table; });
}

SpanSnapshot::~SpanSnapshot() {
    std::error_code ignored;
    for (const std::string& directory : m_directories) fs::remove_all(directory, ignored);
}

Result<> SpanSnapshot::add_parts(const std::string& table, const std::string& directory) {
    std::error_code failed;
    for (fs::recursive_directory_iterator at(directory, failed), end; !failed && at != end; at.increment(failed)) {
        if (!at->is_regular_file(failed) || failed) continue;
        const std::string below = at->path().string().substr(directory.size());
        File file{"engine/restore/" + table + "/" + below, at->path(), static_cast<int64_t>(at->file_size(failed))};
        if (!is_snapshot_file_name(file.name)) return internal("a part has a file with an unusual name: " + below);
        m_files.push_back(std::move(file));
    }
    if (failed) return internal("list " + directory, failed.message());
    return {};
}

Result<> SpanSnapshot::freeze_tables(Telemetry& telemetry, const std::string& name) {
    const std::string data = telemetry.engine_process()->directory() + "/data";
    m_directories.push_back(data + "/shadow/" + name);
    for (const char* table : snapshot_tables) {
        ClickHouseQuery freeze("ALTER TABLE hone." + std::string(table) + " FREEZE WITH NAME '" + name + "'");
        freeze.deadline = std::chrono::minutes(2);
        TRY(telemetry.engine().query(freeze));
        if (!TRY(has_parts(telemetry.engine(), table))) continue; // then there are no links either
        const std::string path = TRY(table_directory(telemetry.engine(), table));
        if (!path.starts_with(data + "/")) return internal("the engine keeps its tables elsewhere", path);
        TRY(add_parts(table, data + "/shadow/" + name + path.substr(data.size())));
    }
    return {};
}

Result<std::unique_ptr<SpanSnapshot>> SpanSnapshot::take(Telemetry& telemetry) {
    std::unique_ptr<SpanSnapshot> snapshot(new SpanSnapshot);
    const std::string name = make_ulid(SystemClock().now()); // letters and digits: the engine escapes others
    const std::string links = telemetry.directory() + "/backup-" + name;
    TRY(make_directories(links));
    snapshot->m_directories.push_back(links);
    // Log records and metrics have a log of their own: what is in it now goes into the tables first.
    if (!telemetry.record_log().is_empty() && !telemetry.record_log().wait_loaded(std::chrono::seconds(30)))
        return busy("accepted log records and metrics are not stored yet");
    // While the loader stands still, the mark, the log behind it and the tables belong together.
    const auto held = telemetry.loader().hold();
    for (const auto& [path, bytes] : TRY(telemetry.log().link_to(links)))
        snapshot->m_files.push_back({"wal/" + path.substr(path.rfind('/') + 1), path, static_cast<int64_t>(bytes)});
    TRY(write_file(links + "/loader.state", telemetry.loader().encoded_state()));
    const std::string state = links + "/loader.state";
    snapshot->m_files.push_back({"loader.state", state, static_cast<int64_t>(fs::file_size(state))});
    const EngineProcess* engine = telemetry.engine_process();
    if (engine == nullptr || !file_exists(engine->directory())) return snapshot; // elsewhere, or nothing was ever sent
    TRY(telemetry.store());
    TRY(snapshot->freeze_tables(telemetry, name));
    return snapshot;
}

Result<> attach_restored_parts(ClickHouse& engine, const std::string& engine_directory) {
    const std::string restore = engine_directory + "/restore";
    if (!file_exists(restore)) return {};
    size_t attached = 0;
    for (const std::string table : snapshot_tables) {
        const std::string detached = TRY(table_directory(engine, table)) + "detached/";
        if (file_exists(restore + "/" + table)) TRY(move_parts(restore + "/" + table, detached));
        for (const std::string& part : TRY(detached_parts(engine, table))) {
            if (!is_plain(part)) return corrupt("a restored part has an unusual name");
            ClickHouseQuery attach("ALTER TABLE hone." + table + " ATTACH PART '" + part + "'");
            attach.deadline = std::chrono::minutes(5);
            TRY(engine.query(attach));
            ++attached;
        }
    }
    if (attached > 0) TRY(index_texts_of_stored(engine));
    std::error_code failed;
    fs::remove_all(restore, failed);
    if (failed) return internal("remove " + restore, failed.message());
    log(Level::info, "restored spans are in place", {{"parts", attached}});
    return {};
}

} // namespace hone::telemetry
