#include "telemetry/ingest/known_spans.h"

#include <algorithm>
#include <cstring>

namespace hone::telemetry {

namespace {

uint64_t hash_of(std::string_view bytes) {
    uint64_t hash = 0x9e3779b97f4a7c15ULL ^ bytes.size();
    const auto mix = [&](uint64_t word) {
        hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
        hash ^= hash >> 32;
    };
    for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data(), 8);
        mix(word);
    }
    uint64_t rest = 0;
    std::memcpy(&rest, bytes.data(), bytes.size());
    mix(rest);
    return hash;
}

constexpr int probes = 7;

} // namespace

bool KnownSpans::Filter::has(uint64_t hash) const {
    const uint64_t step = hash >> 17 | 1;
    for (int i = 0; i < probes; ++i, hash += step) {
        const uint64_t bit = hash % (filter_words * 64);
        if (!(words[bit / 64] >> (bit % 64) & 1)) return false;
    }
    return true;
}

void KnownSpans::Filter::add(uint64_t hash) {
    const uint64_t step = hash >> 17 | 1;
    for (int i = 0; i < probes; ++i, hash += step) {
        const uint64_t bit = hash % (filter_words * 64);
        words[bit / 64] |= uint64_t{1} << (bit % 64);
    }
    ++count;
}

bool KnownSpans::has(int64_t bucket, uint64_t hash) const {
    const auto place = m_buckets.find(bucket);
    return place != m_buckets.end() && std::any_of(place->second.begin(), place->second.end(),
                                                   [&](const Filter& filter) { return filter.has(hash); });
}

bool KnownSpans::is_certainly_new(std::string_view identity, int64_t start_ns) const {
    if (!has_begun() || start_ns - m_window_ns <= m_unknown_until_ns) return false;
    const int64_t bucket = start_ns / m_window_ns;
    const uint64_t hash = hash_of(identity);
    return !has(bucket, hash) && !has(bucket - 1, hash) && !has(bucket + 1, hash);
}

void KnownSpans::add(std::string_view identity, int64_t start_ns) {
    if (!has_begun() || start_ns <= m_unknown_until_ns) return; // would not be queried
    std::vector<Filter>& filters = m_buckets[start_ns / m_window_ns];
    if (filters.empty() || filters.back().count >= filter_spans) {
        filters.emplace_back();
        ++m_filters;
    }
    filters.back().add(hash_of(identity));
    while (m_filters > most_filters) forget_oldest();
}

void KnownSpans::forget_oldest() {
    const auto oldest = m_buckets.begin();
    m_unknown_until_ns = std::max(m_unknown_until_ns, (oldest->first + 1) * m_window_ns);
    m_filters -= oldest->second.size();
    m_buckets.erase(oldest);
}

} // namespace hone::telemetry
