// One file of the write-ahead log: a header, then frames. Layout in docs/storage-format.md. Used by wal.cpp and by the
// fuzz program; the caller provides the locking.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

constexpr size_t wal_header_bytes = 16; // "HONEWAL1" or "HONEWAL2", first sequence
constexpr size_t wal_frame_bytes = 20;  // mark, length, checksum, sequence; the payload follows
constexpr size_t wal_payload_limit = 256 << 20;

// Of a segment whose file is longer than what is written to it: the rest is zeros, or frames of a segment before that
// used the same file ("HONEWAL2").
std::string encode_segment_header(uint64_t first_sequence);
// The 20 bytes before the payload.
std::string encode_frame_head(uint64_t sequence, std::string_view payload);

struct WalFrame {
    uint64_t sequence = 0;
    std::string_view payload;
    size_t end = 0; // offset after the frame
};

// The frame at `offset` of a segment's bytes, if a whole one with the right checksum lies there.
bool read_frame(std::string_view segment, size_t offset, WalFrame& frame);

struct SegmentScan {
    uint64_t first_sequence = 0;
    uint64_t next_sequence = 0; // after the last good frame
    size_t good_bytes = 0;      // up to the end of the last good frame
    size_t frames = 0;
    size_t damaged_bytes = 0; // between good frames: corruption, not a torn tail
    size_t torn_bytes = 0;    // after the last good frame
    size_t unused_bytes = 0;  // after the last good frame, and nothing was written to them
    struct Place {
        uint64_t sequence;
        size_t offset;
    };
    std::vector<Place> places; // where each good frame starts
};

// Reads a whole segment. Corrupt when even the header is wrong; damage between frames is stepped over and counted.
Result<SegmentScan> scan_segment(std::string_view segment);

} // namespace hone::telemetry
