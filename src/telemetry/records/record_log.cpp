#include "telemetry/records/record_log.h"

#include "base/log.h"
#include "base/text.h"
#include "telemetry/span/binary.h"

#include <algorithm>

namespace hone::telemetry {

namespace {

constexpr uint64_t record_frame_version = 1;
constexpr Duration record_insert_deadline = std::chrono::seconds(60);

Result<uint64_t> read_position(const std::string& state_file) {
    if (!file_exists(state_file)) return uint64_t{1};
    const std::string text = TRY(read_file(state_file));
    const auto number = parse_integer(trim(text));
    if (number.ok() && number.value() > 0) return static_cast<uint64_t>(number.value());
    log(Level::error, "state of the log of records is damaged: it is loaded again from its start",
        {{"file", state_file}});
    return uint64_t{1};
}

} // namespace

std::string encode_record_frame(const RecordFrame& frame) {
    std::string out;
    out.reserve(frame.logs.size() + frame.metrics.size() + 32);
    put_varint(out, record_frame_version);
    put_text(out, frame.logs);
    put_text(out, frame.metrics);
    return out;
}

Result<RecordFrame> decode_record_frame(std::string_view payload) {
    BinaryReader reader(payload);
    if (reader.varint() != record_frame_version) return corrupt("a frame of the log of records has an unknown version");
    RecordFrame frame;
    frame.logs = reader.text();
    frame.metrics = reader.text();
    if (reader.failed() || !reader.at_end()) return corrupt("a frame of the log of records is malformed");
    return frame;
}

Result<std::unique_ptr<RecordLog>> RecordLog::open(RecordLogOptions options, ClickHouse& engine, const Clock& clock) {
    std::unique_ptr<RecordLog> made(new RecordLog(std::move(options), engine, clock));
    made->m_next = TRY(read_position(made->m_options.state_file));
    made->m_wal = TRY(Wal::open(made->m_options.wal, made->m_next));
    if (!made->is_empty()) made->count_waiting(made->m_next);
    return made;
}

RecordLog::~RecordLog() {
    m_thread = {};
}

void RecordLog::start() {
    m_thread = std::jthread([this](std::stop_token stop) { run(stop); });
}

Result<> RecordLog::append(const RecordFrame& rows) {
    if (rows.logs.empty() && rows.metrics.empty()) return {};
    const uint64_t sequence = TRY(m_wal->append(encode_record_frame(rows)));
    count_waiting(sequence);
    return {};
}

void RecordLog::count_waiting(uint64_t sequence) {
    const Duration now = m_clock.steady();
    const Lock lock(m_mutex);
    if (sequence >= m_next) m_waiting.add(sequence, now); // else it was loaded before we came here
}

RecordBacklog RecordLog::backlog() const {
    RecordBacklog backlog;
    const uint64_t after_last = m_wal->stats().next_sequence;
    const Lock lock(m_mutex);
    const uint64_t next = m_next;
    backlog.requests = after_last > next ? static_cast<int64_t>(after_last - next) : 0;
    if (backlog.requests > 0) backlog.oldest_wait = m_waiting.oldest_wait(m_clock.steady());
    backlog.bytes = static_cast<int64_t>(m_wal->bytes_from(next));
    backlog.failures = m_failures;
    backlog.why = m_why;
    backlog.is_late = backlog.requests > 0 && backlog.oldest_wait >= m_options.wait_limit;
    return backlog;
}

bool RecordLog::wait_loaded(Duration most) {
    const uint64_t wanted = m_wal->stats().next_sequence;
    const auto until = std::chrono::steady_clock::now() + most;
    Lock lock(m_mutex);
    while (m_next < wanted) {
        if (std::chrono::steady_clock::now() >= until) return false;
        m_loaded.wait_until(m_mutex, until);
    }
    return true;
}

Result<bool> RecordLog::step() {
    auto loaded = load_block();
    const Lock lock(m_mutex);
    m_failures += loaded.ok() ? 0 : 1;
    m_why = loaded.ok() ? std::string() : loaded.error().message;
    return loaded;
}

Result<bool> RecordLog::load_block() {
    const std::scoped_lock step(m_step_mutex);
    const auto frames = TRY(m_wal->read(m_next, m_options.block_bytes));
    if (frames.list.empty()) return false;
    std::string logs, metrics;
    for (const Wal::Frame& frame : frames.list) {
        const auto rows = decode_record_frame(frame.payload);
        if (!rows.ok()) { // its checksum is right: a newer version wrote it
            log(Level::error, "a frame of the log of records is skipped",
                {{"sequence", frame.sequence}, {"why", rows.error().message}});
            continue;
        }
        logs += rows.value().logs;
        metrics += rows.value().metrics;
    }
    if (m_options.prepare) TRY(m_options.prepare());
    if (!logs.empty()) TRY(m_engine.insert("hone.logs", std::move(logs), record_insert_deadline));
    if (!metrics.empty()) TRY(m_engine.insert("hone.metric_points", std::move(metrics), record_insert_deadline));
    const uint64_t next = frames.list.back().sequence + 1;
    TRY(write_file(m_options.state_file, std::to_string(next) + "\n"));
    {
        const Lock lock(m_mutex);
        m_next = next;
        m_waiting.loaded(next, m_wal->stats().next_sequence);
        m_loaded.notify_all();
    }
    TRY(m_wal->release(next));
    return true;
}

void RecordLog::run(std::stop_token stop) {
    Duration pause = std::chrono::milliseconds(200);
    const auto rest = [&](Duration length) {
        Lock lock(m_mutex);
        m_loaded.wait_for(m_mutex, stop, length, [] { return false; });
    };
    while (!stop.stop_requested()) {
        if (!m_wal->wait(m_next, std::chrono::hours(1), stop)) continue;
        rest(m_options.gather);
        if (stop.stop_requested()) return;
        const auto loaded = step();
        if (loaded.ok()) {
            pause = std::chrono::milliseconds(200);
            continue;
        }
        log(Level::warning, "log records and metrics wait to be loaded", {{"why", loaded.error().message}});
        rest(pause);
        pause = std::min<Duration>(pause * 2, std::chrono::seconds(10));
    }
}

} // namespace hone::telemetry
