// What spans need besides ingest and queries: deletes the data of deleted projects, applies retention, reports
// numbers. One thread calls step() (the sweeper of src/server), one read_merges(); numbers from any.
#pragma once

#include "base/metrics.h"
#include "telemetry/engine/merge_state.h"
#include "telemetry/spans.h"

#include <functional>
#include <map>
#include <optional>
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
    // How the engine's parts and merges are: the log keeps the disk free that merges will use. Every second; only while
    // spans are loaded, until a minute after them, or while parts are merged: reading keeps the engine from its rest.
    Result<> read_merges();
    void metrics(MetricsWriter& out) const;
    // As read last.
    MergeState merges() const {
        const Lock lock(m_mutex);
        return m_merges;
    }

private:
    bool holds_nothing() const;
    Result<> upgrade();

    access::Access& m_access;
    Spans& m_spans;
    const Clock& m_clock;
    const std::string m_engine_directory; // empty: a ClickHouse elsewhere
    Duration m_last_retention;            // by the steady clock; starting counts as the first
    KeptTraces m_kept_traces;
    uint64_t m_loaded_until = 0;         // the loader's position when merges were read last
    std::optional<Duration> m_loaded_at; // when that position had moved, by the steady clock
    std::optional<Duration> m_merges_read_at;
    mutable Mutex m_mutex;
    MergeState m_merges GUARDED_BY(m_mutex);
};

} // namespace hone::telemetry
