// Queries the spans: the value of a monitor's metric over a window, and its bounds. Blocks; any thread.
#pragma once

#include "monitor/condition.h"

namespace hone::monitor {

// Where values come from: the span store, in the server.
class SeriesSource {
public:
    virtual ~SeriesSource() = default;
    virtual Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) = 0;
    // The one number that a query returns; behind the guard of SQL, with a deadline.
    virtual Result<std::optional<double>> number(const access::ProjectId& project, const std::string& sql) {
        (void)project, (void)sql;
        return unavailable("SQL cannot be run here");
    }
};

class Evaluator {
public:
    explicit Evaluator(SeriesSource& source) : m_source(source) {}

    // The window that ends at `at`; of automatic conditions the last whole one, aligned to its length, so that it can
    // be compared with those of the weeks before.
    Result<Reading> read(const access::ProjectId& project, const MonitorSettings& settings, Time at);
    // Its states over past data, with the state machine running; at most `most_points` evaluations, a dozen of SQL.
    Result<Chart> replay(const access::ProjectId& project, const MonitorSettings& settings, Time from, Time to,
                         size_t most_points = 60);

private:
    struct Value {
        std::string group;
        double value = 0;
        int64_t samples = 0;
    };
    Result<std::vector<Value>> values(const access::ProjectId& project, const MonitorSettings& settings,
                                      int64_t from_ns, int64_t to_ns);
    Result<std::vector<PastValue>> history(const access::ProjectId& project, const MonitorSettings& settings,
                                           int64_t before_ns);
    Reading worst_of(const MonitorSettings& settings, Time at, const std::vector<Value>& now,
                     const std::vector<Value>& before);

    SeriesSource& m_source;
};

} // namespace hone::monitor
