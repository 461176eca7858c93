// What spans need besides ingest and queries: deletes the data of deleted projects, applies retention, reports
// numbers. One thread calls it (the sweeper of src/server); numbers from any.
#pragma once

#include "base/metrics.h"
#include "telemetry/engine/merge_state.h"
#include "telemetry/spans.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace hone::telemetry {

class SpanDuties final : public access::ProjectData {
public:
    SpanDuties(access::Access& access, Spans& spans, const Clock& clock, std::string engine_directory)
        : m_access(access),
          m_spans(spans),
          m_clock(clock),
          m_engine_directory(std::move(engine_directory)),
          m_last_retention(clock.steady()) {}

    // Traces that retention leaves, by project; read before each time.
    using KeptTraces = std::function<Result<std::map<std::string, std::vector<std::string>>>()>;
    void keep(KeptTraces traces) { m_kept_traces = std::move(traces); }

    Result<> delete_project_data(const access::ProjectId& project) override;
    // Retention when its time has come: every hour while the engine runs, once a day otherwise.
    Result<> step();
    void metrics(MetricsWriter& out) const;
    // As read after the last spans.
    MergeState merges() const {
        const Lock lock(m_mutex);
        return m_merges;
    }

private:
    bool holds_nothing() const;
    void read_merges();
    Result<> upgrade();

    access::Access& m_access;
    Spans& m_spans;
    const Clock& m_clock;
    const std::string m_engine_directory; // empty: a ClickHouse elsewhere
    Duration m_last_retention;            // by the steady clock; starting counts as the first
    KeptTraces m_kept_traces;
    uint64_t m_merges_read_at = 0; // the loader's position when they were read last
    mutable Mutex m_mutex;
    MergeState m_merges GUARDED_BY(m_mutex);
};

} // namespace hone::telemetry
