#include "telemetry/upgrade/store_upgrade.h"

#include "base/log.h"
#include "base/text.h"
#include "telemetry/engine/schema.h"
#include "telemetry/span/binary.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr int64_t upgrade_day_ns = 86'400'000'000'000;
constexpr Duration upgrade_patience = std::chrono::minutes(10);

constexpr std::string_view sessions_step = "sessions";
constexpr std::string_view texts_step = "texts";
// Its days are those up to which parts may lack indexes in their present form.
constexpr std::string_view texts_until = "texts_until";

std::string in_day(int64_t day) {
    return "start_ns >= " + std::to_string(day * upgrade_day_ns) + " AND start_ns < " +
           std::to_string((day + 1) * upgrade_day_ns);
}

} // namespace

int64_t StoreUpgrade::today() const {
    return to_ns(m_clock.now()) / upgrade_day_ns;
}

bool StoreUpgrade::is_due() const {
    return !m_knows_sessions || !m_has_indexes || m_sessions_of_day != today();
}

Result<bool> StoreUpgrade::step() {
    if (!is_due()) return false;
    if (!m_has_read_recent) TRY(read_recent());
    if (TRY(fill_sessions())) return true;
    return index_texts();
}

// How many spans began in each second of the last ones, so that lists read the newest of them only.
Result<> StoreUpgrade::read_recent() {
    ClickHouseQuery query("SELECT toString(project), intDiv(start_ns, 1000000000) AS second, toInt64(count()) FROM "
                          "hone.spans WHERE start_ns >= (SELECT max(start_ns) FROM hone.spans) - {back:Int64} GROUP BY "
                          "project, second ORDER BY project, second DESC LIMIT " +
                          std::to_string(RecentSpans::most_seconds) + " BY project FORMAT RowBinary");
    query.bind("back", upgrade_day_ns);
    query.deadline = upgrade_patience;
    const std::string bytes = TRY(m_engine.query(query));
    for (BinaryReader reader(bytes); !reader.at_end();) {
        const std::string_view project = reader.text();
        const auto second = reader.number<int64_t>();
        m_recent.add_stored(project, second, reader.number<int64_t>());
    }
    m_has_read_recent = true;
    return {};
}

// The days up to one that have spans and are not done, the newest first.
Result<std::deque<int64_t>> StoreUpgrade::days_without(std::string_view step, int64_t last) {
    ClickHouseQuery query(
        "SELECT intDiv(start_ns, 86400000000000) AS day FROM hone.spans WHERE day <= {last:Int64} AND "
        "day NOT IN (SELECT day FROM hone.upgraded_days WHERE step = {step:String}) GROUP BY day "
        "ORDER BY day DESC FORMAT RowBinary");
    query.bind("step", step).bind("last", last);
    query.deadline = upgrade_patience;
    const std::string bytes = TRY(m_engine.query(query));
    std::deque<int64_t> days;
    for (BinaryReader reader(bytes); !reader.at_end();) days.push_back(reader.number<int64_t>());
    return days;
}

Result<> StoreUpgrade::record(std::string_view step, int64_t day) {
    std::string row;
    put_text(row, step);
    put_number(row, day);
    return m_engine.insert("hone.upgraded_days", std::move(row), upgrade_patience);
}

// The loader writes the times of what it stores. What an earlier version stored, also beside this one, is added here:
// every day once, after it is over. Minimum and maximum, so that doing it twice is harmless.
Result<bool> StoreUpgrade::fill_sessions() {
    const int64_t now = today();
    if (m_sessions_of_day != now) {
        m_session_days = TRY(days_without(sessions_step, INT64_MAX));
        m_sessions_of_day = now;
    }
    m_days_left = static_cast<int64_t>(m_session_days.size());
    if (m_session_days.empty()) {
        m_knows_sessions = true;
        return false;
    }
    const int64_t day = m_session_days.front();
    ClickHouseQuery query("INSERT INTO hone.session_times SELECT project, chat_session, min(start_ns), max(start_ns) "
                          "FROM hone.spans WHERE " +
                          in_day(day) + " AND chat_session != '' GROUP BY project, chat_session");
    query.deadline = upgrade_patience;
    query.set("max_threads", "1").set("max_bytes_before_external_group_by", "268435456");
    TRY(m_engine.insert_selected(query));
    if (day < now) TRY(record(sessions_step, day));
    m_session_days.pop_front();
    return true;
}

// Of the embedded engine: a table of the first version has indexes with larger lists. They are replaced immediately,
// and built for the parts of one day after the other; a search scans the texts of days that are not done.
Result<bool> StoreUpgrade::index_texts() {
    if (m_has_indexes) return false;
    if (!m_engine.is_embedded()) {
        m_has_indexes = true;
        return false;
    }
    if (!m_index_days) return begin_indexes();
    const std::string changes = TRY(m_engine.query(ClickHouseQuery(
        "SELECT latest_fail_reason FROM system.mutations WHERE database = 'hone' AND table = 'spans' AND NOT is_done "
        "AND (command LIKE '%DROP INDEX%' OR command LIKE '%MATERIALIZE INDEX%') FORMAT TSVRaw")));
    if (!changes.empty()) { // by the engine, which continues after a restart too
        if (trim(changes).empty()) return false;
        return unavailable("indexes of texts cannot be built: " + std::string(truncate_utf8(trim(changes), 400)));
    }
    if (m_indexing) TRY(record(texts_step, *std::exchange(m_indexing, std::nullopt)));
    m_days_left = static_cast<int64_t>(m_index_days->size());
    if (m_index_days->empty()) {
        m_has_indexes = true;
        return false;
    }
    const int64_t day = m_index_days->front();
    const std::string part = " IN PARTITION " + std::to_string(day);
    ClickHouseQuery query("ALTER TABLE hone.spans MATERIALIZE INDEX input_words" + part +
                          ", MATERIALIZE INDEX output_words" + part);
    query.deadline = upgrade_patience;
    query.set("mutations_sync", "0");
    TRY(m_engine.query(query));
    m_index_days->pop_front();
    m_indexing = day;
    return true;
}

// Which days are to be indexed is in the table before the old indexes go.
Result<bool> StoreUpgrade::begin_indexes() {
    const std::string old = TRY(m_engine.query(ClickHouseQuery(
        "SELECT count() FROM system.data_skipping_indices WHERE database = 'hone' AND table = 'spans' AND name = "
        "'input_index' FORMAT TSVRaw")));
    if (trim(old) != "0") {
        TRY(index_texts_of_stored(m_engine));
        TRY(m_engine.define("ALTER TABLE hone.spans DROP INDEX input_index, DROP INDEX output_index, ADD " +
                            text_index("input", true) + ", ADD " + text_index("output", true) +
                            " SETTINGS alter_sync = 0"));
        log(Level::info, "the indexes of texts are built again in the background, day by day");
    }
    const std::string bytes = TRY(m_engine.query(ClickHouseQuery(
        "SELECT if(count() = 0, -1, max(day)) FROM hone.upgraded_days WHERE step = 'texts_until' FORMAT RowBinary")));
    const auto last = BinaryReader(bytes).number<int64_t>();
    m_index_days = last < 0 ? std::deque<int64_t>() : TRY(days_without(texts_step, last));
    return true;
}

Result<> index_texts_of_stored(ClickHouse& engine) {
    return engine.insert_selected(ClickHouseQuery("INSERT INTO hone.upgraded_days SELECT '" + std::string(texts_until) +
                                                  "', intDiv(max(start_ns), 86400000000000) FROM hone.spans"));
}

} // namespace hone::telemetry
