#include "telemetry/cluster/block_claims.h"

#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <vector>

namespace hone::telemetry {

namespace {

constexpr size_t hash_digits = 16;

} // namespace

std::string claimed_traces(const std::set<std::string>& traces) {
    std::vector<std::string> hashes;
    hashes.reserve(traces.size());
    for (const std::string& trace : traces) hashes.push_back(to_hex(crypto::hash(trace)).substr(0, hash_digits));
    std::ranges::sort(hashes);
    std::string all;
    all.reserve(hashes.size() * hash_digits);
    for (const std::string& hash : hashes) all += hash;
    return all;
}

bool have_common_trace(std::string_view one, std::string_view other) {
    while (one.size() >= hash_digits && other.size() >= hash_digits) {
        const int order = one.substr(0, hash_digits).compare(other.substr(0, hash_digits));
        if (order == 0) return true;
        (order < 0 ? one : other).remove_prefix(hash_digits);
    }
    return false;
}

// Inside the statement: a claim that one server takes as ended is never renewed by another one later.
std::string BlockClaims::now() const {
    if (m_database.engine() == sql::Engine::sqlite || !m_options.uses_database_clock)
        return std::to_string(to_ns(m_clock.now()));
    return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000000 AS BIGINT)";
}

Result<std::optional<ClaimedFrames>> BlockClaims::unfinished() {
    if (m_has_read) return m_unfinished;
    const auto rows =
        TRY(m_database.query("SELECT first_frame, last_frame FROM span_blocks WHERE server = ?", m_server));
    m_has_read = true;
    if (!rows.empty())
        m_unfinished = ClaimedFrames{static_cast<uint64_t>(rows.front().integer(0)),
                                     static_cast<uint64_t>(rows.front().integer(1))};
    return m_unfinished;
}

Result<> BlockClaims::claim(ClaimedFrames frames, const std::string& traces) {
    const auto began = m_clock.steady();
    int64_t turn = 0;
    bool is_new = false;
    std::map<std::string, int64_t> earlier;
    // Serializable: of two claims at the same moment one sees the other. Written again from its start when it fails.
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM span_blocks WHERE until_ns <= " + now()));
        const auto rows =
            TRY(transaction.query("SELECT server, turn, first_frame, last_frame, traces FROM span_blocks"));
        int64_t last_turn = 0;
        turn = 0;
        earlier.clear();
        for (const auto& row : rows) {
            last_turn = std::max(last_turn, row.integer(1));
            const ClaimedFrames theirs{static_cast<uint64_t>(row.integer(2)), static_cast<uint64_t>(row.integer(3))};
            if (row.text(0) == m_server && theirs == frames) turn = row.integer(1);
        }
        is_new = turn == 0;
        if (is_new) turn = last_turn + 1;
        for (const auto& row : rows)
            if (row.text(0) != m_server && row.integer(1) < turn && have_common_trace(row.text(4), traces))
                earlier[row.text(0)] = row.integer(1);
        if (is_new)
            TRY(transaction.execute(
                "INSERT INTO span_blocks (server, turn, first_frame, last_frame, traces, until_ns) VALUES (?, ?, ?, ?, "
                "?, " +
                    now() +
                    " + ?) ON CONFLICT (server) DO UPDATE SET turn = excluded.turn, first_frame = "
                    "excluded.first_frame, last_frame = excluded.last_frame, traces = excluded.traces, until_ns = "
                    "excluded.until_ns",
                m_server, turn, static_cast<int64_t>(frames.first), static_cast<int64_t>(frames.last), traces,
                m_options.length.count()));
        return {};
    }));
    m_turn = turn;
    m_earlier = std::move(earlier);
    m_unfinished = frames;
    m_has_read = true;
    m_renewed_at = is_new ? began : began - m_options.length; // one that was found again may end soon
    return {};
}

Result<bool> BlockClaims::has_turn() {
    if (m_earlier.empty()) return true;
    const auto rows = TRY(m_database.query("SELECT server, turn FROM span_blocks WHERE until_ns > " + now()));
    std::map<std::string, int64_t> left;
    for (const auto& row : rows)
        if (const auto place = m_earlier.find(row.text(0)); place != m_earlier.end() && place->second == row.integer(1))
            left.insert(*place);
    m_earlier = std::move(left);
    if (m_earlier.empty()) return true;
    ++m_waits;
    if (m_clock.steady() - m_renewed_at > m_options.length / 3) TRY(renew());
    return false;
}

bool BlockClaims::is_fresh() const {
    return m_clock.steady() - m_renewed_at < std::chrono::seconds(1);
}

Result<> BlockClaims::renew() {
    const auto began = m_clock.steady();
    const int64_t renewed = TRY(m_database.execute("UPDATE span_blocks SET until_ns = " + now() +
                                                       " + ? WHERE server = ? AND turn = ? AND until_ns > " + now(),
                                                   m_options.length.count(), m_server, m_turn));
    if (renewed == 0)
        return conflict("the block of spans waited too long for other servers or for the span store: it begins again");
    m_renewed_at = began;
    return {};
}

Result<> BlockClaims::release() {
    TRY(m_database.execute("DELETE FROM span_blocks WHERE server = ? AND turn = ?", m_server, m_turn));
    m_unfinished.reset();
    return {};
}

} // namespace hone::telemetry
