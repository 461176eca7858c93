#include "telemetry/log/wal_segment.h"

#include "telemetry/span/checksum.h"

#include <cstring>

namespace hone::telemetry {

namespace {

constexpr std::string_view exact_magic = "HONEWAL1";
constexpr std::string_view segment_magic = "HONEWAL2";
constexpr std::string_view frame_magic = "HFRM";

template <class Number>
void put(std::string& out, Number number) { // little-endian, as every machine we run on
    out.append(reinterpret_cast<const char*>(&number), sizeof number);
}

template <class Number>
Number get(std::string_view bytes, size_t offset) {
    Number number{};
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

// Whether a frame that belongs to this segment begins at the offset, whole or not.
bool begins_frame(std::string_view segment, size_t offset, uint64_t next_sequence) {
    const std::string_view rest = segment.substr(offset);
    const std::string_view mark = rest.substr(0, frame_magic.size());
    if (mark != frame_magic.substr(0, mark.size())) return false;
    return rest.size() < wal_frame_bytes || get<uint64_t>(segment, offset + 12) >= next_sequence;
}

} // namespace

std::string encode_segment_header(uint64_t first_sequence) {
    std::string header(segment_magic);
    put(header, first_sequence);
    return header;
}

std::string encode_frame_head(uint64_t sequence, std::string_view payload) {
    std::string sequence_bytes;
    put(sequence_bytes, sequence);
    std::string head(frame_magic);
    put(head, static_cast<uint32_t>(payload.size()));
    put(head, crc32c(payload, crc32c(sequence_bytes)));
    return head + sequence_bytes;
}

bool read_frame(std::string_view segment, size_t offset, WalFrame& frame) {
    if (offset > segment.size() || segment.size() - offset < wal_frame_bytes) return false;
    if (segment.substr(offset, 4) != frame_magic) return false;
    const size_t length = get<uint32_t>(segment, offset + 4);
    if (length > wal_payload_limit || segment.size() - offset - wal_frame_bytes < length) return false;
    frame.sequence = get<uint64_t>(segment, offset + 12);
    frame.payload = segment.substr(offset + wal_frame_bytes, length);
    frame.end = offset + wal_frame_bytes + length;
    return get<uint32_t>(segment, offset + 8) == crc32c(frame.payload, crc32c(segment.substr(offset + 12, 8)));
}

Result<SegmentScan> scan_segment(std::string_view segment) {
    const bool is_exact = segment.starts_with(exact_magic);
    if (segment.size() < wal_header_bytes || (!is_exact && !segment.starts_with(segment_magic)))
        return corrupt("a write-ahead log segment has no valid header");
    SegmentScan scan;
    scan.first_sequence = scan.next_sequence = get<uint64_t>(segment, 8);
    scan.good_bytes = wal_header_bytes;
    WalFrame frame;
    for (size_t offset = wal_header_bytes; offset < segment.size();) {
        if (read_frame(segment, offset, frame) && frame.sequence >= scan.next_sequence) {
            scan.damaged_bytes += offset - scan.good_bytes;
            scan.places.push_back({frame.sequence, offset});
            scan.next_sequence = frame.sequence + 1;
            scan.good_bytes = offset = frame.end;
            scan.frames++;
            continue;
        }
        offset = segment.find(frame_magic, offset + 1); // past the damage, if anything good follows
        if (offset == std::string_view::npos) break;
    }
    const size_t rest = segment.size() - scan.good_bytes;
    const bool is_torn = rest > 0 && (is_exact || begins_frame(segment, scan.good_bytes, scan.next_sequence));
    (is_torn ? scan.torn_bytes : scan.unused_bytes) = rest;
    return scan;
}

} // namespace hone::telemetry
