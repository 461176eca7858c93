#include "telemetry/retention/kept_traces.h"

#include "telemetry/span/binary.h"

namespace hone::telemetry {

Result<int64_t> count_evaluated_by_people(ClickHouse& engine, const std::string& project) {
    ClickHouseQuery query("SELECT toUInt64(uniqExact(target, target_id)) FROM hone.evals FINAL WHERE project = "
                          "{project:String} AND " +
                          std::string(keeping_eval) +
                          " AND target IN ('span', 'trace', 'chat_session') FORMAT RowBinary");
    query.bind("project", project);
    const std::string bytes = TRY(engine.query(query));
    return static_cast<int64_t>(BinaryReader(bytes).number<uint64_t>());
}

} // namespace hone::telemetry
