// Which spans this process has put into the engine lately, so that most blocks need not ask the engine which of theirs
// it has: that query reads every row of the minutes around them. May return "perhaps" for a span that is new, never
// "new" of one that was put in. About 10 bits a span; the oldest are forgotten first. One thread, the loader's.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

namespace hone::telemetry {

class KnownSpans {
public:
    // `window_ns`: how far a span's start may move when it is sent again.
    explicit KnownSpans(int64_t window_ns) : m_window_ns(window_ns) {}

    // Older spans in the engine start at or before this; until it is set, no span is certainly new.
    void begin(int64_t newest_start_ns) { m_unknown_until_ns = newest_start_ns; }
    bool has_begun() const { return m_unknown_until_ns != std::numeric_limits<int64_t>::max(); }

    // As it was made: gives the filters' memory back.
    void forget() { *this = KnownSpans(m_window_ns); }

    bool is_certainly_new(std::string_view identity, int64_t start_ns) const;
    void add(std::string_view identity, int64_t start_ns);

    static constexpr size_t most_filters = 48; // of a megabyte each

private:
    // A Bloom filter of a megabyte; one in a hundred results is a wrong "perhaps" when it is full.
    struct Filter {
        std::vector<uint64_t> words = std::vector<uint64_t>(filter_words);
        size_t count = 0;
        bool has(uint64_t hash) const;
        void add(uint64_t hash);
    };
    static constexpr size_t filter_words = (1 << 20) / 8;
    static constexpr size_t filter_spans = 800'000;

    bool has(int64_t bucket, uint64_t hash) const;
    void forget_oldest();

    int64_t m_window_ns;
    int64_t m_unknown_until_ns = std::numeric_limits<int64_t>::max();
    std::map<int64_t, std::vector<Filter>> m_buckets; // by start time / window
    size_t m_filters = 0;
};

} // namespace hone::telemetry
