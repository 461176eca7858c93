#include "telemetry/ingest/loader.h"

#include "base/log.h"
#include "base/text.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <limits>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <set>

namespace hone::telemetry {

namespace {

std::string identity(const SpanRowHead& head) {
    std::string key(head.project);
    key += '\0';
    key += head.trace_id;
    key += head.span_id;
    return key;
}

// Ids are hexadecimal digits by construction; projects are ids of ours. Still quoted with care.
std::string quote_token(std::string_view text) {
    std::string out = "'";
    for (const char letter : text) {
        if (letter == '\'' || letter == '\\') out += '\\';
        out += letter;
    }
    return out + "'";
}

// When a frame of an earlier server was acknowledged, by the steady clock of this one. Its rows have the wall clock's
// time; a clock that was set back does not make them wait without end.
Duration acknowledged_since(const IngestFrame& frame, const Clock& clock) {
    SpanRowHead head;
    if (frame.rows.empty() || !read_span_row_head(frame.rows.front(), head)) return clock.steady();
    return clock.steady() - std::max(Duration(0), clock.now() - from_ns(head.received_ns));
}

} // namespace

Result<LoaderState> Loader::read_state(const std::string& state_file) {
    if (!file_exists(state_file)) return LoaderState{};
    auto bytes = TRY(read_file(state_file));
    auto state = decode_state(bytes);
    if (state.ok()) return state;
    log(Level::error, "state of the loader is damaged: the ledger starts again, no span is lost",
        {{"file", state_file}});
    return LoaderState{};
}

Loader::Loader(LoaderOptions options, Wal& wal, ClickHouse& engine, LoaderState state, const Clock& clock)
    : m_options(std::move(options)),
      m_wal(wal),
      m_engine(engine),
      m_clock(clock),
      m_state(std::move(state)),
      m_known(m_options.same_span_window.count()),
      m_next(m_state.next_sequence),
      m_ledger(m_state.ledger) {
    // Frames that were acknowledged but not loaded before the last end count as received; those that are elsewhere when
    // they are loaded.
    m_uncounted = m_wal.archived_ranges();
    for (uint64_t from = m_next;;) {
        auto frames = m_wal.read_here(from, m_options.block_bytes);
        if (!frames.ok() || frames.value().list.empty()) return;
        const Lock lock(m_mutex);
        for (const auto& frame : frames.value().list)
            if (auto decoded = decode_frame(frame.payload); decoded.ok())
                count_waiting(frame.sequence, decoded.value().ledger, acknowledged_since(decoded.value(), m_clock));
        from = frames.value().list.back().sequence + 1;
    }
}

Loader::~Loader() {
    m_thread = {};
}

void Loader::start() {
    m_thread = std::jthread([this](std::stop_token stop) { run(stop); });
}

void Loader::run(std::stop_token stop) {
    ::pthread_setname_np(::pthread_self(), "span-loader");
    {
        const std::scoped_lock step(m_step_mutex);
        m_stop = stop;
    }
    Duration pause = std::chrono::milliseconds(100);
    while (!stop.stop_requested()) {
        if (!m_wal.wait(m_next, m_options.rest_after, stop)) {
            rest();
            continue;
        }
        if (!m_is_behind) {
            Lock lock(m_mutex);
            if (!stop.stop_requested()) m_loaded.wait_for(m_mutex, stop, m_options.gather, [] { return false; });
        }
        auto loaded = step();
        if (loaded.ok()) {
            pause = std::chrono::milliseconds(100);
            continue;
        }
        log(Level::warning, "spans wait in the log",
            {{"why", loaded.error().message}, {"detail", loaded.error().trail}});
        Lock lock(m_mutex);
        m_loaded.wait_for(m_mutex, stop, pause, [] { return false; });
        pause = std::min<Duration>(pause * 2, std::chrono::seconds(5));
    }
}

void Loader::rest() {
    {
        const std::scoped_lock step(m_step_mutex);
        m_known.forget(); // the next block queries the engine for what it holds
        m_usage.forget();
        m_sessions.forget();
        m_rows = std::string();
    }
    ::malloc_trim(0);
}

Result<bool> Loader::step() {
    auto loaded = load_block();
    note(loaded);
    return loaded;
}

void Loader::note(const Result<bool>& loaded) {
    Lock lock(m_mutex);
    m_failures += loaded.ok() ? 0 : 1;
    m_why = loaded.ok() ? std::string() : loaded.error().message;
}

Result<bool> Loader::load_block() {
    const std::scoped_lock step(m_step_mutex);
    Block block = TRY(read_block());
    if (block.frames.list.empty()) return false;
    leave_out_repetitions(block);
    if (!block.rows.empty()) {
        if (m_options.prepare) TRY(m_options.prepare());
        TRY(claim(block));
        TRY(begin_known());
        TRY(compare_with_engine(block));
        std::optional<ClickHouse::Replacement> replacement; // until the new rows are in
        if (!block.replaced.empty()) replacement.emplace(m_engine);
        TRY(delete_replaced(block));
        TRY(count_usage(block));
        // Before they go in: an insert whose response is lost may have happened, and must be queried the next time.
        for (const Row& row : block.rows)
            if (!row.is_left_out) m_known.add(identity(row.head), row.head.start_ns);
        TRY(insert(block));
        if (m_options.claims) TRY(m_options.claims->release());
    }
    TRY(finish(block));
    return true;
}

Result<Loader::Block> Loader::read_block() {
    Block block;
    block.frames = TRY(m_wal.read(m_next, m_options.block_bytes));
    // One that was claimed may be stored already: with the same frames its rows have the same token.
    const auto claimed = m_options.claims ? TRY(m_options.claims->unfinished()) : std::nullopt;
    if (claimed && claimed->first == m_next)
        std::erase_if(block.frames.list, [&](const Wal::Frame& frame) { return frame.sequence > claimed->last; });
    size_t bytes = 0;
    for (const Wal::Frame& frame : block.frames.list) {
        bytes += frame.payload.size();
        auto decoded = decode_frame(frame.payload);
        if (!decoded.ok()) { // its checksum is right, so we wrote it: a newer version did
            log(Level::error, "a frame of the span log has an unknown version and is skipped",
                {{"sequence", frame.sequence}});
            block.decoded.emplace_back();
            continue;
        }
        block.decoded.push_back(std::move(decoded).value());
    }
    for (const IngestFrame& frame : block.decoded)
        for (const std::string_view encoded : frame.rows) {
            Row row{encoded, {}};
            if (frame.has_earlier_rows) row.bytes = block.made.emplace_back(complete_span_row(encoded));
            if (read_span_row_head(row.bytes, row.head)) block.rows.push_back(row);
        }
    m_is_behind = bytes >= m_options.block_bytes / 2;
    return block;
}

// Within the block the last one wins.
void Loader::leave_out_repetitions(Block& block) {
    std::unordered_map<std::string, size_t> last;
    last.reserve(block.rows.size());
    for (size_t i = 0; i < block.rows.size(); ++i) {
        const auto [place, is_new] = last.try_emplace(identity(block.rows[i].head), i);
        if (is_new) continue;
        block.rows[place->second].is_left_out = true;
        block.outcome[std::string(block.rows[i].head.project)].repeated++;
        place->second = i;
    }
}

// Until no other server stores spans of these traces. Then check and insert are one step.
Result<> Loader::claim(const Block& block) {
    if (!m_options.claims) return {};
    std::set<std::string> traces;
    for (const Row& row : block.rows)
        traces.insert(std::string(row.head.project) + '\0' + std::string(row.head.trace_id));
    TRY(read_store_clock());
    TRY(m_options.claims->claim({block.frames.list.front().sequence, block.frames.list.back().sequence},
                                claimed_traces(traces)));
    while (!TRY(m_options.claims->has_turn())) {
        Lock lock(m_mutex);
        m_loaded.wait_for(m_mutex, m_stop, m_options.claims->options().poll, [] { return false; });
        if (m_stop.stop_requested()) return unavailable("the server stops");
    }
    return {};
}

// How long the store takes what we send, by its own clock. A server that was frozen does not know that its claim has
// ended, and another one may have stored the same spans; its insert then comes too late and is refused. Read before
// the claim is written or renewed, so that the claim lasts longer.
Result<> Loader::read_store_clock() {
    ClickHouseQuery query("SELECT toUnixTimestamp(now()) FORMAT TSVRaw");
    query.deadline = m_options.claims->options().insert_deadline;
    const std::string seconds = TRY(m_engine.query(query));
    m_store_until_s =
        TRY(parse_integer(trim(seconds))) +
        std::chrono::duration_cast<std::chrono::seconds>(m_options.claims->options().insert_deadline).count();
    return {};
}

// Before each statement that adds rows.
Result<> Loader::renew_claim() {
    if (!m_options.claims || m_options.claims->is_fresh()) return {};
    TRY(read_store_clock());
    return m_options.claims->renew();
}

// Once: what the engine holds from before. A start in the future counts too, so the clock cannot be used.
Result<> Loader::begin_known() {
    if (!m_options.is_only_writer || m_known.has_begun()) return {};
    const std::string bytes =
        TRY(m_engine.query(ClickHouseQuery("SELECT max(start_ns) FROM hone.spans FORMAT RowBinary")));
    m_stored_until_ns = BinaryReader(bytes).number<int64_t>(); // 0 when there is none
    m_known.begin(m_stored_until_ns);
    return {};
}

Result<> Loader::compare_with_engine(Block& block) {
    int64_t first = std::numeric_limits<int64_t>::max(), last = 0;
    std::set<std::string_view> projects;
    std::string spans;
    std::unordered_map<std::string, size_t> wanted;
    for (size_t i = 0; i < block.rows.size(); ++i) {
        const Row& row = block.rows[i];
        if (row.is_left_out) continue;
        std::string key = identity(row.head);
        if (m_known.is_certainly_new(key, row.head.start_ns)) continue;
        first = std::min(first, row.head.start_ns);
        last = std::max(last, row.head.start_ns);
        projects.insert(row.head.project);
        spans += (spans.empty() ? "" : ",") + quote_token(row.head.span_id);
        wanted.emplace(std::move(key), i);
    }
    if (wanted.empty()) return {};
    if (!m_engine.cluster().empty()) { // this replica must have what another one stored before our turn
        ClickHouseQuery sync("SYSTEM SYNC REPLICA hone.spans LIGHTWEIGHT");
        sync.deadline = m_options.insert_deadline;
        TRY(m_engine.query(sync));
    }
    std::string project_list;
    for (const std::string_view project : projects)
        project_list += (project_list.empty() ? "" : ",") + quote_token(project);
    const int64_t window = m_options.same_span_window.count();
    ClickHouseQuery query(
        "SELECT project, start_ns, trace_id, span_id, content_hash, received_ns FROM hone.spans WHERE project IN (" +
        project_list + ") AND start_ns BETWEEN " + std::to_string(first - window) + " AND " +
        std::to_string(std::min(last, INT64_MAX - window) + window) + " AND span_id IN (" + spans +
        ") FORMAT RowBinary");
    query.deadline = m_options.insert_deadline;
    query.set("max_query_size", "100000000").set("max_ast_elements", "10000000");
    const std::string found = TRY(m_engine.query(query));
    BinaryReader reader(found);
    while (!reader.at_end()) {
        SpanRowHead head;
        head.project = reader.text();
        head.start_ns = reader.number<int64_t>();
        head.trace_id = reader.bytes(32);
        head.span_id = reader.bytes(16);
        head.content_hash = reader.number<uint64_t>();
        head.received_ns = reader.number<int64_t>();
        const auto place = wanted.find(identity(head));
        if (place == wanted.end()) continue;
        Row& row = block.rows[place->second];
        LedgerCounts& counts = block.outcome[std::string(head.project)];
        if (head.content_hash == row.head.content_hash && head.start_ns == row.head.start_ns) {
            if (row.is_left_out) continue;
            row.is_left_out = true;
            // Of the same request: we put it there ourselves before a crash.
            (head.received_ns == row.head.received_ns ? counts.stored : counts.repeated)++;
        } else
            block.replaced.push_back(place->second);
    }
    return {};
}

Result<> Loader::delete_replaced(const Block& block) {
    if (block.replaced.empty()) return {};
    const int64_t window = m_options.same_span_window.count();
    std::string condition;
    for (const size_t index : block.replaced) {
        const SpanRowHead& head = block.rows[index].head;
        condition += (condition.empty() ? "(" : " OR (") + ("project = " + quote_token(head.project)) +
                     " AND trace_id = " + quote_token(head.trace_id) + " AND span_id = " + quote_token(head.span_id) +
                     " AND start_ns BETWEEN " + std::to_string(head.start_ns - window) + " AND " +
                     std::to_string(head.start_ns + window) +
                     " AND content_hash != " + std::to_string(head.content_hash) + ")";
    }
    ClickHouseQuery query("DELETE FROM hone.spans WHERE " + condition);
    query.deadline = m_options.insert_deadline;
    query.set("max_query_size", "100000000").set("max_ast_elements", "10000000").set("lightweight_deletes_sync", "1");
    TRY(m_engine.query(query));
    return {};
}

// Of the sessions that are new or continue.
Result<> Loader::insert_session_times(const Block& block) {
    if (m_forgets_sessions.exchange(false)) m_sessions.forget();
    for (const Row& row : block.rows)
        if (!row.is_left_out) m_sessions.add(row.head.project, read_span_row_session(row.bytes), row.head.start_ns);
    const std::string rows = m_sessions.rows();
    if (!rows.empty()) TRY(m_engine.insert("hone.session_times", rows, m_options.insert_deadline));
    m_sessions.written();
    return {};
}

Result<> Loader::insert(const Block& block) {
    struct Times {
        int64_t first, last;
    };
    std::map<std::pair<std::string_view, std::string_view>, Times> traces;
    m_rows.clear();
    for (const Row& row : block.rows) {
        if (row.is_left_out) continue;
        m_rows += row.bytes;
        const auto [place, is_new] =
            traces.try_emplace({row.head.project, row.head.trace_id}, Times{row.head.start_ns, row.head.start_ns});
        place->second.first = std::min(place->second.first, row.head.start_ns);
        place->second.last = std::max(place->second.last, row.head.start_ns);
    }
    if (m_rows.empty()) return {};
    std::string times;
    for (const auto& [key, range] : traces) {
        put_text(times, key.first);
        times += key.second;
        put_number(times, range.first);
        put_number(times, range.last);
    }
    // First where the traces are, then the spans: a crash between leaves a place without spans, never the reverse.
    TRY(m_engine.insert("hone.trace_times", times, m_options.insert_deadline));
    TRY(insert_session_times(block));
    // Large blocks follow each other: their parts are merged within seconds, and indexed then, once.
    constexpr size_t large_block = 4000;
    Duration deadline = m_options.insert_deadline;
    TRY(renew_claim());
    if (m_options.claims) deadline = std::min(deadline, m_options.claims->options().insert_deadline);
    return m_engine.insert_from("hone.spans", m_rows, deadline, block.rows.size() >= large_block,
                                m_options.claims ? std::optional(m_store_until_s) : std::nullopt);
}

bool Loader::is_uncounted(uint64_t sequence) const {
    return std::ranges::any_of(m_uncounted,
                               [&](const auto& range) { return range.first <= sequence && sequence <= range.second; });
}

Result<> Loader::finish(Block& block) {
    const std::set<size_t> replaced(block.replaced.begin(), block.replaced.end());
    for (size_t i = 0; i < block.rows.size(); ++i) {
        if (block.rows[i].is_left_out) continue;
        LedgerCounts& counts = block.outcome[std::string(block.rows[i].head.project)];
        (replaced.contains(i) ? counts.repeated : counts.stored)++;
    }
    Ledger uncounted;
    for (size_t i = 0; i < block.decoded.size(); ++i)
        for (const auto& [project, counts] : block.decoded[i].ledger) {
            m_state.ledger[project].add(counts);
            if (is_uncounted(block.frames.list[i].sequence)) uncounted[project].add(counts);
        }
    for (const auto& [project, counts] : block.outcome) m_state.ledger[project].add(counts);
    m_state.next_sequence = block.frames.list.back().sequence + 1;
    TRY(write_file(m_options.state_file, encode_state(m_state)));
    // Before a waiter continues, so that its first list has these spans.
    if (m_options.loaded) {
        std::vector<SpanRowHead> rows;
        for (const Row& row : block.rows)
            if (!row.is_left_out) rows.push_back(row.head);
        m_options.loaded(rows);
    }
    {
        Lock lock(m_mutex);
        for (const auto& [project, counts] : uncounted) m_ledger[project].add(counts);
        for (const auto& [project, counts] : block.outcome) m_ledger[project].add(counts);
        m_next = m_state.next_sequence;
        m_waiting.loaded(m_next, m_after_last);
        m_loaded.notify_all();
    }
    return m_wal.release(m_state.next_sequence);
}

void Loader::accepted(uint64_t sequence, const Ledger& ledger) {
    Lock lock(m_mutex);
    count_waiting(sequence, ledger, m_clock.steady());
}

void Loader::count_waiting(uint64_t sequence, const Ledger& ledger, Duration since) {
    for (const auto& [project, counts] : ledger) m_ledger[project].add(counts);
    if (sequence < m_next) return; // loaded before we came here
    m_after_last = std::max(m_after_last, sequence + 1);
    m_waiting.add(sequence, since);
}

Backlog Loader::backlog() const {
    Backlog backlog;
    {
        Lock lock(m_mutex);
        for (const auto& [project, counts] : m_ledger) backlog.spans += counts.pending();
        backlog.spans = std::max<int64_t>(backlog.spans, 0); // a frame may be loaded before it is counted as received
        backlog.failures = m_failures;
        backlog.why = m_why;
        backlog.oldest_wait = m_waiting.oldest_wait(m_clock.steady());
    }
    backlog.first_sequence = m_next;
    backlog.bytes = static_cast<int64_t>(m_wal.bytes_from(backlog.first_sequence));
    backlog.is_late = backlog.spans > 0 && backlog.oldest_wait >= m_options.wait_limit;
    return backlog;
}

Ledger Loader::ledger() const {
    Lock lock(m_mutex);
    return m_ledger;
}

bool Loader::wait_loaded(uint64_t sequence, Duration most) {
    const auto until = std::chrono::steady_clock::now() + most;
    Lock lock(m_mutex);
    while (m_next < sequence) {
        if (std::chrono::steady_clock::now() >= until) return false;
        m_loaded.wait_until(m_mutex, until);
    }
    return true;
}

} // namespace hone::telemetry
