#include "telemetry/transfer/span_move.h"

#include "base/log.h"
#include "base/text.h"
#include "telemetry/engine/schema.h"
#include "telemetry/records/record_tables.h"
#include "telemetry/span/binary.h"
#include "telemetry/transfer/span_snapshot.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <thread>

namespace hone::telemetry {

namespace {

constexpr Duration move_patience = std::chrono::minutes(20);

struct MoveTable {
    std::string name;
    std::vector<std::string> keys; // in the order of the table, and further until rows rarely share them
    // What a row of the target is known by; empty: the table keeps one of rows with equal keys by itself.
    std::string identity;
    bool is_read_merged; // as a query sees it; otherwise also what newer rows replace, and deletions
};

const MoveTable move_tables[] = {
    {"trace_times", {"project", "trace_id"}, "", true},
    {"spans", {"project", "start_ns", "trace_id", "span_id"}, "project, trace_id, span_id", false},
    {"eval_history",
     {"project", "target", "name", "target_id", "version", "identifier", "id"},
     "project, target, name, target_id, version, identifier, id",
     false},
    {"evals", {"project", "target", "name", "target_id", "identifier"}, "", false},
    {"logs", {"project", "time_ns", "id"}, "", true},
    {"metric_points", {"project", "metric", "series", "start_ns", "time_ns"}, "", true},
};

struct MoveColumn {
    std::string name, type;
};

using KeyValues = std::vector<std::string>;

Result<std::vector<MoveColumn>> columns_of(ClickHouse& engine, const std::string& table) {
    ClickHouseQuery query("SELECT name, type FROM system.columns WHERE database = 'hone' AND table = {table:String} "
                          "ORDER BY position FORMAT RowBinary");
    query.bind("table", table);
    const std::string bytes = TRY(engine.query(query));
    std::vector<MoveColumn> columns;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        MoveColumn column;
        column.name = reader.text();
        column.type = reader.text();
        columns.push_back(std::move(column));
    }
    return columns;
}

// Of one row. As texts where servers of other versions may hash a type differently.
std::string row_hash_of(const std::vector<MoveColumn>& columns) {
    std::string hashed;
    for (const MoveColumn& column : columns) {
        hashed += hashed.empty() ? "" : ", ";
        if (column.type == "String" || column.type == "LowCardinality(String)")
            hashed += "toString(" + column.name + ")";
        else if (column.type.starts_with("Nullable("))
            hashed += "ifNull(toString(" + column.name + "), '')";
        else
            hashed += column.type == "Int64" || column.type == "UInt64" ? column.name : "toString(" + column.name + ")";
    }
    return "sipHash64(" + hashed + ")";
}

bool is_enum(const MoveColumn& column) {
    return column.type.starts_with("Enum8");
}

class TableMove {
public:
    TableMove(ClickHouse& source, ClickHouse& target, const MoveTable& table, std::vector<MoveColumn> columns,
              const MoveOptions& options)
        : m_source(source),
          m_target(target),
          m_table(table),
          m_columns(std::move(columns)),
          m_hash(row_hash_of(m_columns)),
          m_options(options) {}

    Result<std::vector<MovedPartition>> partitions();
    Result<RowSum> sum(ClickHouse& engine, const std::string& partition) {
        if (!engine.cluster().empty()) { // another replica may have got the last insert
            ClickHouseQuery wait("SYSTEM SYNC REPLICA hone." + m_table.name);
            wait.deadline = std::chrono::minutes(2);
            TRY(engine.query(wait));
        }
        return sum_between(engine, partition, {}, {});
    }
    // `after_block` gets the rows of a block, and how many of them were copied.
    Result<> copy(MovedPartition& partition, const std::function<void(uint64_t rows, uint64_t copied)>& after_block);
    // Seconds for one byte.
    Result<double> time_reading(const MovedPartition& partition);

private:
    const MoveColumn& column(const std::string& name) const {
        return *std::ranges::find(m_columns, name, &MoveColumn::name);
    }
    std::string key(const std::string& name) const { return is_enum(column(name)) ? "toInt8(" + name + ")" : name; }
    std::string key_order() const;
    std::string place(ClickHouseQuery& query, const std::string& partition, const KeyValues& after,
                      const KeyValues& up_to) const;
    std::string beyond(ClickHouseQuery& query, const std::string& prefix, const KeyValues& values, bool is_after) const;
    size_t rows_in_block(const MovedPartition& partition) const;
    Result<RowSum> sum_between(ClickHouse& engine, const std::string& partition, const KeyValues& after,
                               const KeyValues& up_to);
    // The last key of the next block; empty: what is left is one block.
    Result<KeyValues> find_border(const std::string& partition, const KeyValues& after, size_t rows);
    Result<std::string> present(const std::string& partition, const KeyValues& after, const KeyValues& up_to);
    Result<std::string> read(const std::string& partition, const KeyValues& after, const KeyValues& up_to,
                             const std::string& but);
    Result<> insert(std::string rows);
    Result<uint64_t> copy_block(const std::string& partition, const KeyValues& after, const KeyValues& up_to,
                                const RowSum& in_source);

    ClickHouse& m_source;
    ClickHouse& m_target;
    const MoveTable& m_table;
    std::vector<MoveColumn> m_columns;
    std::string m_hash;
    const MoveOptions& m_options;
};

Result<std::vector<MovedPartition>> TableMove::partitions() {
    ClickHouseQuery query("SELECT partition_id, sum(data_uncompressed_bytes) FROM system.parts WHERE database = 'hone' "
                          "AND table = {table:String} AND active GROUP BY partition_id ORDER BY partition_id "
                          "FORMAT RowBinary");
    query.bind("table", m_table.name);
    const std::string bytes = TRY(m_source.query(query));
    std::vector<MovedPartition> partitions;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        MovedPartition partition;
        partition.table = m_table.name;
        partition.partition = reader.text();
        partition.bytes = reader.number<uint64_t>();
        partitions.push_back(std::move(partition));
    }
    return partitions;
}

std::string TableMove::key_order() const {
    std::string order;
    for (const std::string& name : m_table.keys) order += (order.empty() ? "" : ", ") + key(name);
    return order;
}

// Rows after these keys, or up to them, spelled so that the index of the table is used.
std::string TableMove::beyond(ClickHouseQuery& query, const std::string& prefix, const KeyValues& values,
                              bool is_after) const {
    std::string any, equal;
    for (size_t i = 0; i < values.size(); ++i) {
        const MoveColumn& of = column(m_table.keys[i]);
        const std::string type = is_enum(of) ? "Int8" : of.type == "Int64" || of.type == "UInt64" ? of.type : "String";
        const std::string name = prefix + std::to_string(i), value = "{" + name + ":" + type + "}";
        query.bind(name, std::string_view(values[i]));
        const std::string own = key(m_table.keys[i]);
        any += (any.empty() ? "" : " OR ") + std::string("(") + equal + own + (is_after ? " > " : " < ") + value + ")";
        equal += own + " = " + value + " AND ";
    }
    if (!is_after) any += " OR (" + equal + "1)";
    return "(" + any + ")";
}

std::string TableMove::place(ClickHouseQuery& query, const std::string& partition, const KeyValues& after,
                             const KeyValues& up_to) const {
    query.bind("partition", partition);
    query.deadline = move_patience;
    std::string where = "_partition_id = {partition:String}";
    if (!after.empty()) where += " AND " + beyond(query, "after", after, true);
    if (!up_to.empty()) where += " AND " + beyond(query, "upto", up_to, false);
    return where;
}

Result<RowSum> TableMove::sum_between(ClickHouse& engine, const std::string& partition, const KeyValues& after,
                                      const KeyValues& up_to) {
    ClickHouseQuery query("");
    const std::string where = place(query, partition, after, up_to);
    const bool is_merged = m_table.identity.empty();
    query.sql = "SELECT count(), sumWithOverflow(" + m_hash + ") FROM hone." + m_table.name +
                (is_merged ? " FINAL" : "") + " WHERE " + where + " FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(query));
    BinaryReader reader(bytes);
    RowSum found;
    found.rows = reader.number<uint64_t>();
    found.checksum = reader.number<uint64_t>();
    if (reader.failed()) return corrupt("the span store gave a sum that cannot be read");
    return found;
}

Result<KeyValues> TableMove::find_border(const std::string& partition, const KeyValues& after, size_t rows) {
    ClickHouseQuery query("");
    const std::string where = place(query, partition, after, {});
    std::string texts;
    for (const std::string& name : m_table.keys) texts += (texts.empty() ? "" : ", ") + ("toString(" + key(name) + ")");
    query.sql = "SELECT " + texts + " FROM hone." + m_table.name + " WHERE " + where + " ORDER BY " + key_order() +
                " LIMIT 1 OFFSET " + std::to_string(rows - 1) + " FORMAT RowBinary";
    const std::string bytes = TRY(m_source.query(query));
    KeyValues border;
    for (BinaryReader reader(bytes); !reader.at_end();) border.emplace_back(reader.text());
    return border;
}

// Rows of the target between the borders, as a list of hashes of what they are known by.
Result<std::string> TableMove::present(const std::string& partition, const KeyValues& after, const KeyValues& up_to) {
    ClickHouseQuery query("");
    const std::string where = place(query, partition, after, up_to);
    query.sql = "SELECT sipHash64(" + m_table.identity + ") FROM hone." + m_table.name + " WHERE " + where +
                " FORMAT RowBinary";
    const std::string bytes = TRY(m_target.query(query));
    std::string list;
    for (BinaryReader reader(bytes); !reader.at_end();)
        list += (list.empty() ? "" : ",") + std::to_string(reader.number<uint64_t>());
    return list;
}

Result<std::string> TableMove::read(const std::string& partition, const KeyValues& after, const KeyValues& up_to,
                                    const std::string& but) {
    ClickHouseQuery query("");
    const std::string where = place(query, partition, after, up_to);
    std::string names;
    for (const MoveColumn& one : m_columns) names += (names.empty() ? "" : ", ") + one.name;
    query.sql =
        "SELECT " + names + " FROM hone." + m_table.name + (m_table.is_read_merged ? " FINAL" : "") + " WHERE " + where;
    if (!but.empty()) {
        query.sql += " AND sipHash64(" + m_table.identity + ") NOT IN (" + but + ")";
        query.set("max_query_size", "100000000").set("max_ast_elements", "10000000");
    }
    // Equal bytes each time: the target discards a block that it has, also one that arrives late.
    query.sql += " ORDER BY " + key_order() + ", " + m_hash + " FORMAT RowBinary";
    return m_source.query(query);
}

Result<> TableMove::insert(std::string rows) {
    std::string names;
    for (const MoveColumn& one : m_columns) names += (names.empty() ? "" : ", ") + one.name;
    const std::string into = "hone." + m_table.name + " (" + names + ")";
    Duration pause = m_options.pause;
    for (int i = 1;; ++i, pause *= 2) {
        const auto done = m_target.insert_from(into, rows, std::chrono::minutes(2));
        if (done.ok()) return {};
        const Code code = done.error().code;
        if (i >= m_options.tries || (code != Code::unavailable && code != Code::busy)) return done;
        log(Level::warning, "an insert into the target is repeated", {{"why", done.error().message}});
        std::this_thread::sleep_for(pause);
    }
}

Result<uint64_t> TableMove::copy_block(const std::string& partition, const KeyValues& after, const KeyValues& up_to,
                                       const RowSum& in_source) {
    const RowSum there = TRY(sum_between(m_target, partition, after, up_to));
    if (there == in_source) return uint64_t{0};
    const bool has_some = !m_table.identity.empty() && there.rows > 0;
    const std::string but = has_some ? TRY(present(partition, after, up_to)) : std::string();
    std::string rows = TRY(read(partition, after, up_to, but));
    if (rows.empty()) return uint64_t{0};
    TRY(insert(std::move(rows)));
    return in_source.rows - std::min(in_source.rows, has_some ? there.rows : 0);
}

size_t TableMove::rows_in_block(const MovedPartition& partition) const {
    const uint64_t row_bytes = partition.bytes / std::max<uint64_t>(1, partition.source.rows) + 1;
    return std::clamp<size_t>(m_options.block_bytes / row_bytes, 1, m_options.most_block_rows);
}

Result<> TableMove::copy(MovedPartition& partition,
                         const std::function<void(uint64_t rows, uint64_t copied)>& after_block) {
    const size_t usual = rows_in_block(partition);
    KeyValues after;
    for (size_t rows = usual;;) {
        const KeyValues border = TRY(find_border(partition.partition, after, rows));
        const RowSum in_source = TRY(sum_between(m_source, partition.partition, after, border));
        const auto copied = copy_block(partition.partition, after, border, in_source);
        if (!copied.ok() && copied.error().code == Code::too_large && rows > 1) { // its rows are larger than most
            rows = rows / 2;
            continue;
        }
        partition.copied_rows += TRY(copied);
        after_block(in_source.rows, copied.value());
        if (border.empty()) return {};
        after = border;
        rows = usual;
    }
}

Result<double> TableMove::time_reading(const MovedPartition& partition) {
    const KeyValues border = TRY(find_border(partition.partition, {}, rows_in_block(partition)));
    const auto begun = std::chrono::steady_clock::now();
    const std::string bytes = TRY(read(partition.partition, {}, border, ""));
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
    return took / static_cast<double>(std::max<size_t>(1, bytes.size()));
}

// A table of the target that lacks a column, or has it with another type, cannot get the rows.
Result<> check_columns(ClickHouse& target, const MoveTable& table, const std::vector<MoveColumn>& wanted) {
    const auto found = TRY(columns_of(target, table.name));
    for (const MoveColumn& column : wanted) {
        const auto own = std::ranges::find(found, column.name, &MoveColumn::name);
        if (own == found.end())
            return conflict("the target's table hone." + table.name + " has no column " + column.name +
                            ": use a ClickHouse without the database hone, or one that this version has opened");
        if (own->type != column.type)
            return conflict("in the target's table hone." + table.name + " the column " + column.name + " is " +
                            own->type + " and not " + column.type);
    }
    return {};
}

Result<std::vector<std::string>> tables_at(ClickHouse& target) {
    ClickHouseQuery query("SELECT name FROM system.tables WHERE database = 'hone' FORMAT RowBinary");
    const auto bytes = target.query(query);
    if (!bytes.ok() && bytes.error().code == Code::invalid) return std::vector<std::string>(); // no database hone there
    if (!bytes.ok()) return bytes.error();
    std::vector<std::string> names;
    for (BinaryReader reader(bytes.value()); !reader.at_end();) names.emplace_back(reader.text());
    return names;
}

// The whole move, table by table.
class SpanMove {
public:
    SpanMove(ClickHouse& source, ClickHouse& target, const MoveOptions& options)
        : m_source(source),
          m_target(target),
          m_options(options) {}

    Result<MoveReport> run() {
        const auto begun = std::chrono::steady_clock::now();
        if (!m_options.is_dry_run) TRY(prepare_target());
        const auto there = TRY(tables_at(m_target));
        for (const MoveTable& table : move_tables) TRY(add(table, std::ranges::find(there, table.name) != there.end()));
        for (Part& part : m_parts) TRY(move(part));
        if (!m_options.is_dry_run)
            m_report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
        return std::move(m_report);
    }

private:
    struct Part {
        size_t table; // in m_tables
        bool is_at_target;
        MovedPartition partition;
    };

    Result<> prepare_target() {
        TRY(create_schema(m_target));
        TRY(m_target.define("ALTER TABLE hone.upgraded_days DELETE WHERE 1")); // its days get more spans now
        TRY(create_record_tables(m_target));
        // Of this table, too, the target discards a block that it has. Replicated tables do so by themselves.
        if (m_target.cluster().empty())
            TRY(m_target.define(
                "ALTER TABLE hone.eval_history MODIFY SETTING non_replicated_deduplication_window = 1000"));
        return {};
    }

    Result<> add(const MoveTable& table, bool is_at_target) {
        auto columns = TRY(columns_of(m_source, table.name));
        for (const std::string& key : table.keys)
            if (std::ranges::find(columns, key, &MoveColumn::name) == columns.end())
                return corrupt("the table hone." + table.name + " of the data directory has no column " + key);
        if (is_at_target) TRY(check_columns(m_target, table, columns));
        m_tables.emplace_back(m_source, m_target, table, std::move(columns), m_options);
        for (MovedPartition& partition : TRY(m_tables.back().partitions())) {
            m_progress.all_bytes += partition.bytes;
            m_parts.push_back({m_tables.size() - 1, is_at_target, std::move(partition)});
        }
        return {};
    }

    Result<> move(Part& part) {
        TableMove& table = m_tables[part.table];
        MovedPartition& partition = part.partition;
        m_progress.table = partition.table;
        m_progress.partition = partition.partition;
        partition.source = TRY(table.sum(m_source, partition.partition));
        if (part.is_at_target) partition.target = TRY(table.sum(m_target, partition.partition));
        if (!partition.is_equal() && m_options.is_dry_run) {
            const double missing =
                1 - std::min(1.0, static_cast<double>(partition.target.rows) /
                                      static_cast<double>(std::max<uint64_t>(1, partition.source.rows)));
            if (!m_byte_time) m_byte_time = TRY(table.time_reading(partition));
            m_report.seconds += *m_byte_time * static_cast<double>(partition.bytes) * missing;
        } else if (!partition.is_equal()) {
            const uint64_t before = m_progress.done_bytes;
            uint64_t seen = 0;
            TRY(table.copy(partition, [&](uint64_t rows, uint64_t copied) {
                seen += rows;
                m_progress.copied_rows += copied;
                const double share = std::min(
                    1.0, static_cast<double>(seen) / static_cast<double>(std::max<uint64_t>(1, partition.source.rows)));
                m_progress.done_bytes = before + static_cast<uint64_t>(share * static_cast<double>(partition.bytes));
                if (m_options.progress) m_options.progress(m_progress);
            }));
            m_progress.done_bytes = before;
            partition.target = TRY(table.sum(m_target, partition.partition));
        }
        m_progress.done_bytes += partition.bytes;
        m_report.copied_rows += partition.copied_rows;
        if (m_options.finished_partition) m_options.finished_partition(partition);
        m_report.partitions.push_back(partition);
        return {};
    }

    ClickHouse& m_source;
    ClickHouse& m_target;
    const MoveOptions& m_options;
    std::vector<TableMove> m_tables;
    std::vector<Part> m_parts;
    std::optional<double> m_byte_time;
    MoveProgress m_progress;
    MoveReport m_report;
};

// The engine of a process that was killed a moment ago may still be ending: it has the directory for itself.
Result<> await_engine(EngineProcess& process) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(15);
    for (;;) {
        const auto use = process.use();
        if (use.ok()) return {};
        if (std::chrono::steady_clock::now() >= until) return use.error();
        std::this_thread::sleep_for(std::chrono::milliseconds(250));
    }
}

} // namespace

bool MoveReport::is_equal() const {
    return std::ranges::all_of(partitions, &MovedPartition::is_equal);
}

Result<MoveReport> move_spans(ClickHouse& source, ClickHouse& target, const MoveOptions& options) {
    return SpanMove(source, target, options).run();
}

Result<> with_stored_spans(const std::string& telemetry_directory, EngineProcessOptions engine,
                           const std::function<Result<>(ClickHouse&)>& with) {
    engine.directory = telemetry_directory + "/engine";
    engine.socket = telemetry_directory + "/engine.sock";
    if (!file_exists(engine.directory))
        return conflict("this data directory has no stored spans to move: there is no " + engine.directory);
    EngineProcess process(engine);
    ClickHouseOptions connection;
    connection.engine = &process;
    ClickHouse source(connection);
    TRY(await_engine(process));
    TRY(create_schema(source)); // also of an earlier version
    TRY(create_record_tables(source));
    TRY(attach_restored_parts(source, engine.directory));
    return with(source);
}

} // namespace hone::telemetry
