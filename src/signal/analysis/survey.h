// One scan of a project: the window, the totals, and queries to the engine whose results are aggregates of bounded
// size. Counts what the queries cost. Used by detectors; one thread.
#pragma once

#include "signal/analysis/candidate.h"
#include "telemetry/engine/clickhouse.h"
#include "json/json.h"

#include <functional>
#include <map>
#include <memory>

namespace hone::signal {

struct Cost {
    int64_t questions = 0;
    int64_t rows_read = 0;
    int64_t bytes_read = 0;
};

// One row of a result, read by position. What has another type is empty or 0: the engine is ours, its rows are not.
class ResultRow {
public:
    explicit ResultRow(const json::Value& row) : m_row(row) {}
    std::string text(size_t column) const;
    int64_t integer(size_t column) const;
    double real(size_t column) const;
    const json::Array& list(size_t column) const;
    static int64_t to_integer(const json::Value& value);
    static std::string to_text(const json::Value& value);

private:
    const json::Value* at(size_t column) const;
    const json::Value& m_row;
};

struct Sample;  // trace_sample.h
struct Cluster; // clusters.h

class Survey {
public:
    // The most rows that one query may return.
    static constexpr size_t most_rows = 20'000;

    // Queries the totals.
    static Result<Survey> open(telemetry::ClickHouse& engine, const Window& window, net::Cancel* cancel = nullptr);

    // Queries nothing: for those who read only some traces.
    static Survey without_totals(telemetry::ClickHouse& engine, const Window& window, net::Cancel* cancel = nullptr) {
        return Survey(engine, window, cancel);
    }

    const Window& window() const { return m_window; }
    int64_t traces() const { return m_traces; }
    int64_t traces_before() const { return m_traces_before; }
    int64_t spans() const { return m_spans; }
    int64_t spans_before() const { return m_spans_before; }
    const Cost& cost() const { return m_cost; }
    // Traces that hold a span of this name, in the window and in the baseline; of the most frequent names.
    struct Seen {
        int64_t traces = 0;
        int64_t traces_before = 0;
    };
    Seen seen(const std::string& name) const {
        const auto found = m_names.find(name);
        return found == m_names.end() ? Seen{} : found->second;
    }

    // The same of a tool whose spans have another name.
    Seen seen_tool(const std::string& tool) const {
        const auto found = m_tools.find(tool);
        return found == m_tools.end() ? Seen{} : found->second;
    }

    // The traces that were read as a whole, once they were.
    const std::shared_ptr<const Sample>& sample() const { return m_sample; }
    void keep_sample(std::shared_ptr<const Sample> sample) { m_sample = std::move(sample); }

    // The clusters of failed spans, once they were queried: several detectors divide them.
    const std::shared_ptr<const std::vector<Cluster>>& clusters() const { return m_clusters; }
    void keep_clusters(std::shared_ptr<const std::vector<Cluster>> clusters) { m_clusters = std::move(clusters); }

    // `sql` is a SELECT without FORMAT. {project:String}, {base:Int64}, {from:Int64} and {to:Int64} are bound.
    using Bind = std::function<void(telemetry::ClickHouseQuery&)>;
    Result<> query(const std::string& sql, const std::function<void(const ResultRow&)>& take, const Bind& bind = {});

private:
    Survey(telemetry::ClickHouse& engine, Window window, net::Cancel* cancel)
        : m_engine(&engine),
          m_window(std::move(window)),
          m_cancel(cancel) {}

    telemetry::ClickHouse* m_engine;
    Window m_window;
    net::Cancel* m_cancel;
    int64_t m_traces = 0, m_traces_before = 0, m_spans = 0, m_spans_before = 0;
    std::map<std::string, Seen> m_names, m_tools;
    std::shared_ptr<const Sample> m_sample;
    std::shared_ptr<const std::vector<Cluster>> m_clusters;
    Cost m_cost;
};

// Conditions that most queries have.
inline constexpr std::string_view in_window =
    "project = {project:String} AND start_ns >= {from:Int64} AND start_ns < {to:Int64}";
inline constexpr std::string_view in_both =
    "project = {project:String} AND start_ns >= {base:Int64} AND start_ns < {to:Int64}";

} // namespace hone::signal
