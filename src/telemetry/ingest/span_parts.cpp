#include "telemetry/ingest/span_parts.h"

#include "base/log.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <set>

namespace hone::telemetry {

namespace {

constexpr uint64_t parts_version = 1;
constexpr size_t entry_bytes = 256; // of memory, beside the part's own bytes
constexpr size_t most_join_keys = 100'000;

std::string encode_parts(int64_t received_ns, const std::vector<SpanPart>& parts) {
    std::string out;
    put_varint(out, parts_version);
    put_varint(out, static_cast<uint64_t>(received_ns));
    put_varint(out, parts.size());
    for (const SpanPart& part : parts) {
        put_varint(out, static_cast<uint64_t>(part.kind));
        put_text(out, part.key.project);
        put_text(out, part.key.trace_id);
        put_text(out, part.key.span_id);
        put_text(out, part.bytes);
    }
    return out;
}

bool decode_parts(std::string_view payload, int64_t& received_ns, std::vector<SpanPart>& parts) {
    BinaryReader reader(payload);
    if (reader.varint() != parts_version) return false;
    received_ns = static_cast<int64_t>(reader.varint());
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) {
        SpanPart part;
        part.kind = static_cast<PartKind>(reader.varint());
        part.key.project = reader.text();
        part.key.trace_id = reader.text();
        part.key.span_id = reader.text();
        part.bytes = reader.text();
        parts.push_back(std::move(part));
    }
    return !reader.failed() && reader.at_end();
}

} // namespace

Result<std::unique_ptr<SpanParts>> SpanParts::open(SpanPartsOptions options, const Clock& clock) {
    std::unique_ptr<SpanParts> parts(new SpanParts(std::move(options), clock));
    parts->m_wal = TRY(Wal::open(parts->m_options.wal, 1));
    TRY(parts->read_log());
    return parts;
}

Result<> SpanParts::read_log() {
    for (uint64_t from = 1;;) {
        const auto frames = TRY(m_wal->read(from, 16 << 20));
        if (frames.list.empty()) break;
        const Lock lock(m_mutex);
        for (const Wal::Frame& frame : frames.list) {
            int64_t received_ns = 0;
            std::vector<SpanPart> parts;
            if (decode_parts(frame.payload, received_ns, parts))
                keep(frame.sequence, received_ns, std::move(parts));
            else
                log(Level::error, "parts of spans on disk are not understood", {{"sequence", frame.sequence}});
        }
        from = frames.list.back().sequence + 1;
    }
    const Lock lock(m_mutex);
    drop_old();
    return {};
}

Result<> SpanParts::add(std::vector<SpanPart> parts) {
    {
        const Lock lock(m_mutex);
        std::erase_if(parts, [&](const SpanPart& part) REQUIRES_LOCK(m_mutex) {
            const auto found = m_by_key.find(part.key.text());
            return found != m_by_key.end() &&
                   std::any_of(found->second.begin(), found->second.end(), [&](const auto& entry) {
                       return entry->part.kind == part.kind && entry->part.bytes == part.bytes;
                   });
        });
    }
    if (parts.empty()) return {};
    const int64_t received_ns = to_ns(m_clock.now());
    const uint64_t sequence = TRY(m_wal->append(encode_parts(received_ns, parts)));
    const Lock lock(m_mutex);
    keep(sequence, received_ns, std::move(parts));
    drop_old();
    return {};
}

void SpanParts::keep(uint64_t sequence, int64_t received_ns, std::vector<SpanPart> parts) {
    for (SpanPart& part : parts) {
        auto entry = std::make_shared<Entry>(Entry{sequence, received_ns, std::move(part)});
        m_bytes += entry->part.bytes.size() + entry_bytes;
        m_by_key[entry->part.key.text()].push_back(entry);
        m_order.push_back(std::move(entry));
    }
    m_count = m_order.size();
    ++m_generation;
}

void SpanParts::drop_front() {
    const auto entry = std::move(m_order.front());
    m_order.pop_front();
    m_bytes -= entry->part.bytes.size() + entry_bytes;
    const auto found = m_by_key.find(entry->part.key.text());
    if (found == m_by_key.end()) return;
    std::erase(found->second, entry);
    if (found->second.empty()) m_by_key.erase(found);
}

void SpanParts::drop_old() {
    const int64_t oldest = to_ns(m_clock.now()) - m_options.kept_for.count();
    while (!m_order.empty() && (m_order.front()->received_ns < oldest || m_bytes > m_options.memory_bytes))
        drop_front();
    m_count = m_order.size();
    const uint64_t first = m_order.empty() ? m_wal->stats().next_sequence : m_order.front()->sequence;
    if (const auto released = m_wal->release(first); !released.ok())
        log(Level::warning, "old parts of spans were not deleted", {{"why", released.error().message}});
}

std::vector<std::string> SpanParts::of(const SpanKey& key, PartKind kind) const {
    std::vector<std::string> bytes;
    const Lock lock(m_mutex);
    const auto found = m_by_key.find(key.text());
    if (found == m_by_key.end()) return bytes;
    for (const auto& entry : found->second)
        if (entry->part.kind == kind) bytes.push_back(entry->part.bytes);
    return bytes;
}

bool SpanParts::has(const SpanKey& key, PartKind kind) const {
    const Lock lock(m_mutex);
    const auto found = m_by_key.find(key.text());
    return found != m_by_key.end() && std::any_of(found->second.begin(), found->second.end(),
                                                  [&](const auto& entry) { return entry->part.kind == kind; });
}

void SpanParts::request_join(std::vector<SpanKey> keys, uint64_t sequence) {
    if (keys.empty()) return;
    const Lock lock(m_mutex);
    if (!m_request) m_request.emplace();
    m_request->sequence = std::max(m_request->sequence, sequence);
    for (SpanKey& key : keys)
        if (m_request->keys.size() < most_join_keys) m_request->keys.push_back(std::move(key));
    m_requested.notify_all();
}

std::optional<JoinRequest> SpanParts::next_request(std::stop_token stop) {
    Lock lock(m_mutex);
    m_is_joining = false;
    m_joining.clear();
    m_requested.notify_all();
    m_requested.wait(m_mutex, stop, [&]() REQUIRES_LOCK(m_mutex) { return m_request.has_value(); });
    if (stop.stop_requested()) return std::nullopt;
    m_is_joining = true;
    m_joining = m_request->keys;
    return std::exchange(m_request, std::nullopt);
}

bool SpanParts::wait_joined(Duration most) {
    const auto until = std::chrono::steady_clock::now() + most;
    Lock lock(m_mutex);
    while (m_request || m_is_joining) {
        if (std::chrono::steady_clock::now() >= until) return false;
        m_requested.wait_until(m_mutex, until);
    }
    return true;
}

void SpanParts::await_trace(const std::string& project, std::string_view trace_id, Duration most) {
    const auto until = std::chrono::steady_clock::now() + most;
    const auto is_of_trace = [&](const SpanKey& key) { return key.trace_id == trace_id && key.project == project; };
    Lock lock(m_mutex);
    while (std::any_of(m_joining.begin(), m_joining.end(), is_of_trace) ||
           (m_request && std::any_of(m_request->keys.begin(), m_request->keys.end(), is_of_trace))) {
        if (std::chrono::steady_clock::now() >= until) break;
        m_requested.wait_until(m_mutex, until);
    }
}

std::vector<SpanKey> SpanParts::recent_logs(Duration within) const {
    const int64_t oldest = to_ns(m_clock.now()) - within.count();
    std::set<SpanKey> keys;
    const Lock lock(m_mutex);
    for (auto entry = m_order.rbegin(); entry != m_order.rend() && (*entry)->received_ns >= oldest; ++entry)
        if ((*entry)->part.kind == PartKind::log) keys.insert((*entry)->part.key);
    return {keys.begin(), keys.end()};
}

void SpanParts::forget(const std::string& project) {
    const Lock lock(m_mutex);
    std::deque<std::shared_ptr<const Entry>> kept;
    for (auto& entry : m_order) {
        if (entry->part.key.project != project) {
            kept.push_back(std::move(entry));
            continue;
        }
        m_bytes -= entry->part.bytes.size() + entry_bytes;
        m_by_key.erase(entry->part.key.text());
    }
    m_order = std::move(kept);
    m_count = m_order.size();
}

} // namespace hone::telemetry
