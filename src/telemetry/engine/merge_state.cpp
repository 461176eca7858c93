#include "telemetry/engine/merge_state.h"

#include "telemetry/span/binary.h"

namespace hone::telemetry {

Result<MergeState> read_merge_state(ClickHouse& engine) {
    ClickHouseQuery query(
        "SELECT toInt64(countIf(active)), toInt64(countIf(active AND level = 0)), "
        "toInt64(arrayMax(mapValues(sumMapIf(map("
        "partition, toUInt64(1)), active)))), toInt64((SELECT count() FROM system.merges WHERE database = 'hone' AND "
        "table "
        "= 'spans')), toInt64(sumIf(bytes_on_disk, NOT active)), "
        // A merge that has just begun can report a size that no part has; it never writes more than there is.
        "toInt64(least((SELECT sum(total_size_bytes_compressed * (1 - least(1, greatest(0, progress)))) FROM "
        "system.merges WHERE database = 'hone'), (SELECT toFloat64(sum(bytes_on_disk)) FROM system.parts WHERE "
        "database = 'hone' AND active))), toFloat64(if(countIf(active AND level = 0) = 0, 0, "
        "greatest(0, toUnixTimestamp(now()) - toUnixTimestamp(minIf(modification_time, active AND level = 0))))) FROM "
        "system.parts WHERE database = 'hone' AND table = 'spans' FORMAT RowBinary");
    const std::string bytes = TRY(engine.query(query));
    BinaryReader reader(bytes);
    MergeState state;
    for (int64_t* number : {&state.parts, &state.unmerged_parts, &state.most_parts_a_day, &state.merges,
                            &state.replaced_bytes, &state.merging_bytes})
        *number = reader.number<int64_t>();
    state.oldest_unmerged_seconds = reader.number<double>();
    if (reader.failed()) return internal("the engine's parts cannot be counted");
    return state;
}

} // namespace hone::telemetry
