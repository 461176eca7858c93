#include "telemetry/ingest/ingest_frame.h"

#include "telemetry/span/binary.h"
#include "telemetry/span/checksum.h"

namespace hone::telemetry {

namespace {

// 1: rows without the columns from repeated_usage to metadata.
constexpr uint64_t frame_version = 2;
constexpr std::string_view state_magic = "HONESTATE1";

void put_ledger(std::string& out, const Ledger& ledger) {
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
    }
}

Ledger read_ledger(BinaryReader& reader) {
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
    }
    return ledger;
}

} // namespace

std::string encode_frame(const Ledger& ledger, const std::vector<std::string_view>& rows) {
    size_t bytes = 256;
    for (const std::string_view row : rows) bytes += row.size() + 5;
    std::string out;
    out.reserve(bytes);
    put_varint(out, frame_version);
    put_ledger(out, ledger);
    put_varint(out, rows.size());
    for (const std::string_view row : rows) put_text(out, row);
    return out;
}

Result<IngestFrame> decode_frame(std::string_view payload) {
    BinaryReader reader(payload);
    const uint64_t version = reader.varint();
    if (version == 0 || version > frame_version)
        return corrupt("a frame of the write-ahead log has an unknown version");
    IngestFrame frame;
    frame.has_earlier_rows = version < 2;
    frame.ledger = read_ledger(reader);
    for (uint64_t left = reader.varint(); left > 0 && !reader.failed(); --left) frame.rows.push_back(reader.text());
    if (reader.failed() || !reader.at_end()) return corrupt("a frame of the write-ahead log is malformed");
    return frame;
}

std::string encode_state(const LoaderState& state) {
    std::string out(state_magic);
    put_varint(out, state.next_sequence);
    put_ledger(out, state.ledger);
    put_number(out, crc32c(out));
    return out;
}

Result<LoaderState> decode_state(std::string_view bytes) {
    const Error damaged = corrupt("the loader's state file is damaged");
    if (bytes.size() < state_magic.size() + 4 || !bytes.starts_with(state_magic)) return damaged;
    const std::string_view body = bytes.substr(0, bytes.size() - 4);
    if (BinaryReader(bytes.substr(body.size())).number<uint32_t>() != crc32c(body)) return damaged;
    BinaryReader reader(body.substr(state_magic.size()));
    LoaderState state;
    state.next_sequence = reader.varint();
    state.ledger = read_ledger(reader);
    if (reader.failed()) return damaged;
    return state;
}

} // namespace hone::telemetry
