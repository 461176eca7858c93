#include "run/transcript.h"

#include "base/text.h"

namespace hone::run {

namespace {

constexpr size_t kept_announcements = 1024;

// The code point at `at` of valid UTF-8, and its length.
std::pair<uint32_t, size_t> code_point(std::string_view text, size_t at) {
    const auto byte = [&](size_t offset) {
        return static_cast<uint32_t>(static_cast<unsigned char>(text[at + offset]));
    };
    const uint32_t first = byte(0);
    if (first < 0x80) return {first, 1};
    if (first < 0xE0) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
    if (first < 0xF0) return {(first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
    return {(first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}

// Characters that change how what follows is read or shown.
bool redirects(uint32_t c) {
    return c == 0x061C || (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
           (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF || (c >= 0xE0000 && c <= 0xE007F);
}

void append_harmless(std::string& out, uint32_t c, std::string_view as_is) {
    static constexpr char digits[] = "0123456789abcdef";
    if (c == '\n' || c == '\t') {
        out += as_is;
    } else if (c < 0x20) { // U+2400 and on are pictures of the control characters
        out += "\xE2\x90";
        out += static_cast<char>(0x80 + c);
    } else if (c == 0x7F) {
        out += "\xE2\x90\xA1";
    } else if ((c >= 0x80 && c < 0xA0) || redirects(c)) {
        out += "\\u{";
        for (int shift = 20; shift >= 0; shift -= 4)
            if (c >> shift != 0 || shift < 16) out += digits[c >> shift & 0xF];
        out += '}';
    } else {
        out += as_is;
    }
}

// Cuts to `most` bytes; true when something was left out.
bool cut(std::string& text, size_t most) {
    if (text.size() <= most) return false;
    text.resize(truncate_utf8(text, most).size());
    return true;
}

Result<RunEvent> event_of(const sql::Row& row) {
    return json::read<RunEvent>(row.text(0));
}

} // namespace

std::string harmless(std::string_view text) {
    std::string repaired;
    if (!is_valid_utf8(text)) {
        repaired = repair_utf8(text);
        text = repaired;
    }
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0; at < text.size();) {
        const auto [c, length] = code_point(text, at);
        append_harmless(out, c, text.substr(at, length));
        at += length;
    }
    return out;
}

Result<> Transcript::append(sql::Transaction& transaction, const RunId& run, std::span<RunEvent> events) {
    if (events.empty()) return {};
    const auto rows =
        TRY(transaction.query("UPDATE runs SET last_event = last_event + ? WHERE id = ? RETURNING last_event",
                              static_cast<int64_t>(events.size()), run));
    if (rows.empty()) return not_found("run " + run.text());
    int64_t seq = rows.front().integer(0) - static_cast<int64_t>(events.size());
    for (RunEvent& event : events) {
        event.seq = ++seq;
        if (event.time == Time{}) event.time = m_clock.now();
        event.text = harmless(event.text);
        if (event.input) event.input = harmless(*event.input);
        if (event.tool) event.tool = harmless(truncate_utf8(*event.tool, 200));
        if (event.call_id) event.call_id = harmless(truncate_utf8(*event.call_id, 200));
        std::string whole_text = event.text;
        std::string whole_input = event.input.value_or("");
        const bool text_cut = cut(event.text, shown_text);
        const bool input_cut = event.input && cut(*event.input, shown_text);
        event.truncated = text_cut || input_cut;
        TRY(transaction.execute("INSERT INTO run_events (run_id, seq, body) VALUES (?, ?, ?)", run, event.seq,
                                json::write(event)));
        if (!*event.truncated) continue;
        cut(whole_text, full_text);
        cut(whole_input, full_text);
        TRY(transaction.execute(
            "INSERT INTO run_event_texts (run_id, seq, whole_text, whole_input) VALUES (?, ?, ?, ?)", run, event.seq,
            whole_text, whole_input));
    }
    return {};
}

Result<> Transcript::append(const RunId& run, std::vector<RunEvent> events) {
    if (events.empty()) return {};
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        std::vector<RunEvent> copy = events; // the work may be run again
        return append(transaction, run, copy);
    }));
    announce(run);
    return {};
}

void Transcript::announce(const RunId& run) {
    {
        const std::lock_guard lock(m_mutex);
        m_announcements += 1;
        m_last.push_back(run);
        if (m_last.size() > kept_announcements) m_last.pop_front();
    }
    m_announced.notify_all();
}

Result<std::vector<RunEvent>> Transcript::after(const RunId& run, int64_t seq, int64_t limit) const {
    const auto rows = TRY(m_database.query(
        "SELECT body FROM run_events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?", run, seq, limit));
    std::vector<RunEvent> events;
    for (const auto& row : rows) events.push_back(TRY(event_of(row)));
    return events;
}

Result<RunEvent> Transcript::whole(const RunId& run, int64_t seq) const {
    const auto rows = TRY(m_database.query("SELECT e.body, t.whole_text, t.whole_input FROM run_events e LEFT JOIN "
                                           "run_event_texts t ON t.run_id = e.run_id AND "
                                           "t.seq = e.seq WHERE e.run_id = ? AND e.seq = ?",
                                           run, seq));
    if (rows.empty()) return not_found("event");
    RunEvent event = TRY(event_of(rows.front()));
    if (const auto text = rows.front().optional_text(1)) {
        event.text = *text;
        if (event.input) event.input = rows.front().text(2);
        event.truncated = event.text.size() >= full_text - 4 || (event.input && event.input->size() >= full_text - 4);
    }
    return event;
}

TranscriptChanges Transcript::wait(uint64_t seen, Duration timeout, std::stop_token stop) const {
    std::unique_lock lock(m_mutex);
    m_announced.wait_for(lock, stop, timeout, [&] { return m_announcements != seen; });
    TranscriptChanges changes{.seen = m_announcements, .any_run = false, .runs = {}};
    const uint64_t fresh = m_announcements - seen;
    changes.any_run = fresh == 0 || fresh > m_last.size();
    if (!changes.any_run) changes.runs.insert(m_last.end() - static_cast<std::ptrdiff_t>(fresh), m_last.end());
    return changes;
}

} // namespace hone::run
