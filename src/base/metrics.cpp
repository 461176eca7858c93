#include "base/metrics.h"

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

} // namespace hone
