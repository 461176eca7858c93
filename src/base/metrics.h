// Writes metrics in Prometheus' text format (0.0.4): HELP and TYPE once per name, label values escaped. Names are given
// without their prefix `hone_`. One writer per response; used by one thread at a time.
//   (gauge | counter | family sample*)*
#pragma once

#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

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

} // namespace hone
