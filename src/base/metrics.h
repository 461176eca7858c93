// Writes metrics in Prometheus' text format (0.0.4): HELP and TYPE once per name, label values escaped. Names are given
// without their prefix `hone_`. One writer per response; used by one thread at a time. And operations, measured: below.
//   (gauge | counter | family sample*)*
#pragma once

#include "base/time.h"

#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone {

enum class MetricKind { counter, gauge, histogram };

class MetricsWriter {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // A metric with one value and no labels.
    template <class Value>
    void gauge(std::string_view name, std::string_view help, Value value) {
        family(MetricKind::gauge, name, help);
        sample({}, value);
    }
    template <class Value>
    void counter(std::string_view name, std::string_view help, Value value) {
        family(MetricKind::counter, name, help);
        sample({}, value);
    }

    // A metric with labels: its samples follow. `suffix` is that of a histogram's parts: "_bucket", "_sum", "_count".
    void family(MetricKind kind, std::string_view name, std::string_view help);
    template <class Value>
    void sample(Labels labels, Value value, std::string_view suffix = {}) {
        add_sample(labels, fmt::to_string(value), suffix);
    }

    const std::string& text() const { return m_text; }

private:
    void add_sample(Labels labels, std::string_view value, std::string_view suffix);

    std::string m_name; // of the family that samples belong to
    std::string m_text;
};

// Operations: what the program does, measured: requests, runs, scans, steps of background duties. With a sink each of
// them is reported to it when it is over; without one nothing happens. A global as the log is, for the same reason.
// Thread-safe. Never blocks: a sink keeps or drops. Attributes are names and numbers, never contents or credentials.
//   OperationTimer timer("scan", "scan of a project");
//   timer.add("hone.project.id", id);

// Requests with this header are not reported: what a server sends to itself, or to another one, would never end.
constexpr std::string_view self_telemetry_header = "X-Hone-Self-Telemetry";

struct Operation {
    std::string kind; // request, run, scan, job
    std::string name;
    Time start{};
    Duration length{};
    bool has_failed = false;
    std::string problem;
    std::string trace_id, parent_id; // hexadecimal, of a caller that sent them; empty: a trace of its own
    std::string span_id;             // given by the sink
    std::vector<std::pair<std::string, std::string>> attributes;
};

class OperationSink {
public:
    virtual ~OperationSink() = default;
    virtual void take(Operation&& operation) = 0;
};

// Null: none. When it returns, no call of the sink before is under way.
void set_operation_sink(OperationSink* sink);
bool has_operation_sink();
void report_operation(Operation&& operation);

// Reports what happens while it lives.
class OperationTimer {
public:
    OperationTimer(std::string_view kind, std::string_view name);
    ~OperationTimer();
    OperationTimer(const OperationTimer&) = delete;
    OperationTimer& operator=(const OperationTimer&) = delete;

    void add(std::string_view name, std::string value);
    void fail(std::string_view problem);
    // It is not worth a report.
    void forget() { m_is_on = false; }
    // So far.
    Duration length() const;

private:
    bool m_is_on;
    Operation m_operation;
    Duration m_began{};
};

} // namespace hone
