#include "telemetry/ingest/quotas.h"

#include "base/file.h"
#include "base/log.h"
#include "telemetry/span/binary.h"
#include "telemetry/span/checksum.h"

namespace hone::telemetry {

namespace {

constexpr int64_t quota_day_ns = 86'400'000'000'000;
constexpr std::string_view magic = "HONEQUOTA1";
constexpr std::string_view reason_begin = "over the ";
constexpr std::string_view reason_middle = "'s quota of ";

} // namespace

std::string quota_reason(std::string_view whose, std::string_view what) {
    return std::string(reason_begin) + std::string(whose) + std::string(reason_middle) + std::string(what) + " per day";
}

bool is_quota_reason(std::string_view reason) {
    return reason.starts_with(reason_begin) && reason.find(reason_middle) != std::string_view::npos;
}

Quotas::Quotas(std::string state_file, const Clock& clock) : m_state_file(std::move(state_file)), m_clock(clock) {
    if (auto bytes = read_file(m_state_file); bytes.ok()) decode(bytes.value());
}

Quotas::~Quotas() {
    Lock lock(m_mutex);
    if (m_is_changed) (void)write_file(m_state_file, encode()).ok();
}

int64_t Quotas::today() const {
    return to_ns(m_clock.now()) / quota_day_ns;
}

std::string_view Quotas::take(std::string_view owner, const Quota& quota, int64_t spans, int64_t bytes) {
    if (!quota.is_set()) return {};
    const int64_t day = today();
    Lock lock(m_mutex);
    auto place = m_used.find(owner);
    if (place == m_used.end()) place = m_used.emplace(std::string(owner), QuotaUse{}).first;
    QuotaUse& used = place->second;
    if (used.day != day) used = {day, 0, 0};
    if (quota.spans_per_day > 0 && used.spans + spans > quota.spans_per_day) return "spans";
    if (quota.bytes_per_day > 0 && used.bytes + bytes > quota.bytes_per_day) return "bytes";
    used.spans += spans;
    used.bytes += bytes;
    m_is_changed = true;
    return {};
}

void Quotas::give_back(std::string_view owner, const Quota& quota, int64_t spans, int64_t bytes) {
    if (!quota.is_set()) return;
    Lock lock(m_mutex);
    const auto place = m_used.find(owner);
    if (place == m_used.end()) return;
    place->second.spans -= std::min(place->second.spans, spans); // a new day may have begun
    place->second.bytes -= std::min(place->second.bytes, bytes);
    m_is_changed = true;
}

QuotaUse Quotas::used_today(std::string_view owner) const {
    const int64_t day = today();
    Lock lock(m_mutex);
    const auto place = m_used.find(owner);
    return place == m_used.end() || place->second.day != day ? QuotaUse{day, 0, 0} : place->second;
}

void Quotas::save_soon() {
    std::string state;
    {
        Lock lock(m_mutex);
        const Duration now = m_clock.steady();
        if (!m_is_changed || now - m_last_saved < std::chrono::seconds(1)) return;
        m_last_saved = now;
        m_is_changed = false;
        state = encode();
    }
    if (auto written = write_file(m_state_file, state); !written.ok())
        log(Level::warning, "counts of quotas cannot be saved", {{"why", written.error().message}});
}

std::string Quotas::encode() const {
    std::string out(magic);
    const int64_t day = today();
    for (const auto& [owner, used] : m_used) {
        if (used.day != day) continue; // yesterday's counts mean nothing
        put_text(out, owner);
        put_number(out, used.day);
        put_number(out, used.spans);
        put_number(out, used.bytes);
    }
    put_number(out, crc32c(out));
    return out;
}

void Quotas::decode(std::string_view bytes) {
    if (bytes.size() < magic.size() + 4 || !bytes.starts_with(magic)) return;
    const std::string_view body = bytes.substr(0, bytes.size() - 4);
    if (BinaryReader(bytes.substr(body.size())).number<uint32_t>() != crc32c(body)) return;
    Lock lock(m_mutex);
    for (BinaryReader reader(body.substr(magic.size())); !reader.at_end();) {
        QuotaUse& used = m_used[std::string(reader.text())];
        used.day = reader.number<int64_t>();
        used.spans = reader.number<int64_t>();
        used.bytes = reader.number<int64_t>();
    }
}

} // namespace hone::telemetry
