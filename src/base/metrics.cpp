#include "base/metrics.h"

#include "base/mutex.h"

#include <atomic>

namespace hone {

namespace {

std::string_view kind_name(MetricKind kind) {
    switch (kind) {
    case MetricKind::counter:
        return "counter";
    case MetricKind::gauge:
        return "gauge";
    case MetricKind::histogram:
        return "histogram";
    }
    return "untyped";
}

// HELP escapes backslashes and line ends; label values quotes as well.
void add_escaped(std::string& out, std::string_view text, bool is_label) {
    for (const char character : text) {
        if (character == '\\')
            out += "\\\\";
        else if (character == '\n')
            out += "\\n";
        else if (character == '"' && is_label)
            out += "\\\"";
        else
            out += character;
    }
}

} // namespace

void MetricsWriter::family(MetricKind kind, std::string_view name, std::string_view help) {
    m_name = "hone_";
    m_name += name;
    m_text += "# HELP " + m_name + " ";
    add_escaped(m_text, help, false);
    m_text += "\n# TYPE " + m_name + " ";
    m_text += kind_name(kind);
    m_text += '\n';
}

void MetricsWriter::add_sample(Labels labels, std::string_view value, std::string_view suffix) {
    m_text += m_name;
    m_text += suffix;
    if (labels.size() > 0) {
        char before = '{';
        for (const auto& [label, text] : labels) {
            m_text += before;
            m_text += label;
            m_text += "=\"";
            add_escaped(m_text, text, true);
            m_text += '"';
            before = ',';
        }
        m_text += '}';
    }
    m_text += ' ';
    m_text += value;
    m_text += '\n';
}

namespace {

std::atomic<bool> has_sink{false};
Mutex sink_mutex;
OperationSink* current_sink GUARDED_BY(sink_mutex) = nullptr;

} // namespace

void set_operation_sink(OperationSink* sink) {
    const Lock lock(sink_mutex);
    current_sink = sink;
    has_sink = sink != nullptr;
}

bool has_operation_sink() {
    return has_sink;
}

void report_operation(Operation&& operation) {
    if (!has_sink) return;
    const Lock lock(sink_mutex);
    if (current_sink != nullptr) current_sink->take(std::move(operation));
}

OperationTimer::OperationTimer(std::string_view kind, std::string_view name) : m_is_on(has_sink) {
    if (!m_is_on) return;
    const SystemClock clock;
    m_operation.kind = kind;
    m_operation.name = name;
    m_operation.start = clock.now();
    m_began = clock.steady();
}

OperationTimer::~OperationTimer() {
    if (!m_is_on) return;
    m_operation.length = length();
    report_operation(std::move(m_operation));
}

Duration OperationTimer::length() const {
    return m_is_on ? SystemClock().steady() - m_began : Duration{};
}

void OperationTimer::add(std::string_view name, std::string value) {
    if (m_is_on) m_operation.attributes.emplace_back(name, std::move(value));
}

void OperationTimer::fail(std::string_view problem) {
    m_operation.has_failed = true;
    m_operation.problem = problem;
}

} // namespace hone
