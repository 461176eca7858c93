// Any bytes are a segment with some good frames, or corrupt; every frame that the scan found can be read.
#include "telemetry/log/wal_segment.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::telemetry;
    std::string bytes(reinterpret_cast<const char*>(data), size);
    // Checksums are hard to guess: half of the inputs become payloads of good frames around the noise.
    if (size > 2 && data[0] % 2) {
        const std::string payload = bytes.substr(1, data[1]);
        bytes = encode_segment_header(1) + encode_frame_head(1, payload) + payload + bytes +
                encode_frame_head(2, payload) + payload;
    }
    auto scan = scan_segment(bytes);
    if (!scan.ok()) return 0;
    for (const auto& place : scan.value().places) {
        WalFrame frame;
        if (!read_frame(bytes, place.offset, frame) || frame.sequence != place.sequence) std::abort();
    }
    if (scan.value().good_bytes + scan.value().torn_bytes != bytes.size()) std::abort();
    return 0;
}
