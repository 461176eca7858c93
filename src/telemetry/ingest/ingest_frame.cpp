#include "telemetry/ingest/ingest_frame.h"

#include "telemetry/span/binary.h"
#include "telemetry/span/checksum.h"

namespace hone::telemetry {

namespace {

// 1: rows without the columns from repeated_usage to metadata. 3: the ledger also counts log records and metric points;
// 4: with the reasons why they were dropped. Written only where there are any.
constexpr uint64_t first_frame_version = 1;
constexpr uint64_t frame_version = 2;
constexpr uint64_t frame_version_with_records = 3;
constexpr uint64_t frame_version_with_reasons = 4;
constexpr std::string_view state_magic = "HONESTATE1";
constexpr std::string_view state_magic_with_records = "HONESTATE2";
constexpr std::string_view state_magic_with_reasons = "HONESTATE3";
static_assert(state_magic.size() == state_magic_with_records.size() &&
              state_magic.size() == state_magic_with_reasons.size());

// What a ledger has of log records and points of metrics.
enum class Records { none, counts, reasons };

bool has_records(const Ledger& ledger) {
    for (const auto& [project, counts] : ledger)
        if (counts.has_records()) return true;
    return false;
}

void put_ledger(std::string& out, const Ledger& ledger) {
    const bool with_records = has_records(ledger);
    put_varint(out, ledger.size());
    for (const auto& [project, counts] : ledger) {
        put_text(out, project);
        for (const int64_t number :
             {counts.received, counts.stored, counts.repeated, counts.redacted, counts.truncated, counts.bytes})
            put_varint(out, static_cast<uint64_t>(number));
        put_varint(out, counts.rejected.size());
        for (const auto& [reason, count] : counts.rejected) {
            put_text(out, reason);
            put_varint(out, static_cast<uint64_t>(count));
        }
        if (!with_records) continue;
        for (const int64_t number :
             {counts.log_records, counts.log_records_dropped, counts.metric_points, counts.metric_points_dropped})
            put_varint(out, static_cast<uint64_t>(number));
        put_varint(out, counts.dropped.size());
        for (const auto& [reason, count] : counts.dropped) {
            put_text(out, reason);
            put_varint(out, static_cast<uint64_t>(count));
        }
    }
}

Ledger read_ledger(BinaryReader& reader, Records records) {
    Ledger ledger;
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) {
        LedgerCounts& counts = ledger[std::string(reader.text())];
        for (int64_t* number :
             {&counts.received, &counts.stored, &counts.repeated, &counts.redacted, &counts.truncated, &counts.bytes})
            *number = static_cast<int64_t>(reader.varint());
        for (uint64_t reasons = reader.varint(); reasons > 0 && !reader.failed(); --reasons) {
            const std::string reason(reader.text());
            counts.rejected[reason] = static_cast<int64_t>(reader.varint());
        }
        if (records == Records::none) continue;
        for (int64_t* number : {&counts.log_records, &counts.log_records_dropped, &counts.metric_points})
            *number = static_cast<int64_t>(reader.varint());
        counts.metric_points_dropped = counts.metric_points; // all were, before there were reasons
        if (records == Records::counts) continue;
        counts.metric_points_dropped = static_cast<int64_t>(reader.varint());
        for (uint64_t reasons = reader.varint(); reasons > 0 && !reader.failed(); --reasons) {
            const std::string reason(reader.text());
            counts.dropped[reason] = static_cast<int64_t>(reader.varint());
        }
    }
    return ledger;
}

} // namespace

std::string encode_frame(const Ledger& ledger, const std::vector<std::string_view>& rows) {
    size_t bytes = 256;
    for (const std::string_view row : rows) bytes += row.size() + 5;
    std::string out;
    out.reserve(bytes);
    put_varint(out, has_records(ledger) ? frame_version_with_reasons : frame_version);
    put_ledger(out, ledger);
    put_varint(out, rows.size());
    for (const std::string_view row : rows) put_text(out, row);
    return out;
}

Result<IngestFrame> decode_frame(std::string_view payload) {
    BinaryReader reader(payload);
    const uint64_t version = reader.varint();
    if (version < first_frame_version || version > frame_version_with_reasons)
        return corrupt("a frame of the write-ahead log has an unknown version");
    IngestFrame frame;
    frame.has_earlier_rows = version == first_frame_version;
    frame.ledger = read_ledger(reader, version == frame_version_with_reasons   ? Records::reasons
                                       : version == frame_version_with_records ? Records::counts
                                                                               : Records::none);
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) frame.rows.push_back(reader.text());
    if (reader.failed() || !reader.at_end()) return corrupt("a frame of the write-ahead log is malformed");
    return frame;
}

std::string encode_state(const LoaderState& state) {
    std::string out(has_records(state.ledger) ? state_magic_with_reasons : state_magic);
    put_varint(out, state.next_sequence);
    put_ledger(out, state.ledger);
    put_number(out, crc32c(out));
    return out;
}

Result<LoaderState> decode_state(std::string_view bytes) {
    const Error damaged = corrupt("the loader's state file is damaged");
    Records records = Records::none;
    if (bytes.starts_with(state_magic_with_reasons))
        records = Records::reasons;
    else if (bytes.starts_with(state_magic_with_records))
        records = Records::counts;
    else if (!bytes.starts_with(state_magic))
        return damaged;
    if (bytes.size() < state_magic.size() + 4) return damaged;
    const std::string_view body = bytes.substr(0, bytes.size() - 4);
    if (BinaryReader(bytes.substr(body.size())).number<uint32_t>() != crc32c(body)) return damaged;
    BinaryReader reader(body.substr(state_magic.size()));
    LoaderState state;
    state.next_sequence = reader.varint();
    state.ledger = read_ledger(reader, records);
    if (reader.failed()) return damaged;
    return state;
}

} // namespace hone::telemetry
