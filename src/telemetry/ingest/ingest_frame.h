// What one ingest request leaves in the write-ahead log: its part of the ledger and its rows. And the loader's state:
// how far the log is loaded, with the ledger up to there, in one file, so that both move together. Pure; fuzzed.
#pragma once

#include "base/result.h"
#include "telemetry/ingest/ledger.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::telemetry {

std::string encode_frame(const Ledger& ledger, const std::vector<std::string_view>& rows);

struct IngestFrame {
    Ledger ledger;
    std::vector<std::string_view> rows; // into the payload
    bool has_earlier_rows = false;      // of a version with fewer columns: complete_span_row
};
Result<IngestFrame> decode_frame(std::string_view payload);

struct LoaderState {
    uint64_t next_sequence = 1; // frames below are in the engine
    Ledger ledger;
};
std::string encode_state(const LoaderState& state);
Result<LoaderState> decode_state(std::string_view bytes);

} // namespace hone::telemetry
