#include "telemetry/engine/merge_state.h"

#include "telemetry/span/binary.h"

namespace hone::telemetry {

Result<MergeState> read_merge_state(ClickHouse& engine) {
    // A subquery may have no row, so its value is Nullable, which has a byte more: ifNull.
    ClickHouseQuery query(
        "SELECT toInt64(sum(parts)), toInt64(sum(fresh)), toInt64(max(parts)), toInt64(ifNull((SELECT count() FROM "
        "system.merges WHERE database = 'hone' AND table = 'spans'), 0)), toInt64(sum(replaced)), "
        // A merge that has just begun can report a size that no part has; it never writes more than there is.
        "toInt64(least(ifNull((SELECT sum(total_size_bytes_compressed * (1 - least(1, greatest(0, progress)))) FROM "
        "system.merges WHERE database = 'hone'), 0), ifNull((SELECT toFloat64(sum(bytes_on_disk)) FROM system.parts "
        "WHERE database = 'hone' AND active), 0))), "
        // The only part of a day waits for no merge, and no merge runs while the engine does not.
        "toFloat64(if(countIf(parts > 1 AND fresh > 0) = 0, 0, least(uptime(), greatest(0, toUnixTimestamp(now()) - "
        "toUnixTimestamp(minIf(oldest, parts > 1 AND fresh > 0)))))) FROM (SELECT partition, countIf(active) AS parts, "
        "countIf(active AND level = 0) AS fresh, minIf(modification_time, active AND level = 0) AS oldest, "
        "sumIf(bytes_on_disk, NOT active) AS replaced FROM system.parts WHERE database = 'hone' AND table = 'spans' "
        "GROUP BY partition) FORMAT RowBinary");
    const std::string bytes = TRY(engine.query(query));
    BinaryReader reader(bytes);
    MergeState state;
    for (int64_t* number : {&state.parts, &state.unmerged_parts, &state.most_parts_a_day, &state.merges,
                            &state.replaced_bytes, &state.merging_bytes})
        *number = reader.number<int64_t>();
    state.oldest_unmerged_seconds = reader.number<double>();
    if (reader.failed() || !reader.at_end()) return internal("the engine's parts cannot be counted");
    return state;
}

std::string merge_advice(int64_t most_parts_a_day, double oldest_unmerged_seconds) {
    if (most_parts_a_day <= many_parts_a_day && oldest_unmerged_seconds <= long_unmerged_seconds) return {};
    return "merges are behind: queries get slower; give the machine more CPU, or sample traces";
}

} // namespace hone::telemetry
