#include "api/families/traces/span_views.h"

#include "api/families/traces/outline.h"

#include <algorithm>
#include <unordered_map>

namespace hone::api {

int64_t to_micro(int64_t nano_usd) {
    return (nano_usd + 500) / 1000;
}

json::Value tree_of(const std::string& text) {
    if (text.empty()) return nullptr;
    auto tree = json::parse(text);
    return tree.ok() ? std::move(tree).value() : json::Value(text);
}

bool is_message(const telemetry::SpanRow& row) {
    constexpr uint8_t producer = 4, consumer = 5; // OTLP's numbers
    return (row.otel_kind == producer || row.otel_kind == consumer) &&
           (row.kind == telemetry::SpanKind::chain || row.kind == telemetry::SpanKind::unknown);
}

SpanRow view_of(const telemetry::SpanRow& row) {
    SpanRow view;
    view.trace_id = row.trace_id;
    view.span_id = row.span_id;
    view.parent_id = row.parent_id;
    view.name = row.name;
    view.kind = row.kind;
    view.status = row.status;
    view.status_message = row.status_message;
    view.start_time = from_ns(row.start_ns);
    view.duration_ns = row.duration_ns;
    view.service = row.service;
    view.model = row.model;
    view.provider = row.provider;
    view.tokens = {row.tokens.input,  row.tokens.cache_read, row.tokens.cache_write,
                   row.tokens.output, row.tokens.reasoning,  row.tokens.total()};
    view.cost_micro_usd = to_micro(row.cost_nano_usd);
    view.cost_nano_usd = row.cost_nano_usd;
    view.user_id = row.user_id;
    view.session_id = row.chat_session;
    view.tool_name = row.tool_name;
    view.exception_type = row.exception_type;
    view.is_message = is_message(row);
    return view;
}

namespace {

// Positions of texts; views of the skeleton, which outlives it.
class TextTable {
public:
    explicit TextTable(std::vector<std::string>& texts) : m_texts(texts) { position(""); }
    int64_t position(std::string_view text) {
        const auto [known, is_new] = m_positions.try_emplace(text, static_cast<int64_t>(m_texts.size()));
        if (is_new) m_texts.emplace_back(text);
        return known->second;
    }

private:
    std::vector<std::string>& m_texts;
    std::unordered_map<std::string_view, int64_t> m_positions;
};

// A column of all spans; empty when it would have zeros only.
template <class ValueOf>
std::vector<int64_t> column(const std::vector<telemetry::SpanRow>& spans, ValueOf value_of) {
    std::vector<int64_t> values;
    values.reserve(spans.size());
    for (const telemetry::SpanRow& span : spans) values.push_back(value_of(span));
    if (std::all_of(values.begin(), values.end(), [](int64_t value) { return value == 0; })) values.clear();
    return values;
}

void add_parents(const std::vector<telemetry::SpanRow>& spans, TraceOutline& outline) {
    std::unordered_map<std::string_view, int64_t> positions;
    positions.reserve(spans.size());
    for (size_t at = 0; at < spans.size(); ++at) positions.try_emplace(spans[at].span_id, static_cast<int64_t>(at));
    outline.parents.reserve(spans.size());
    for (const telemetry::SpanRow& span : spans) {
        const auto found = span.parent_id.empty() ? positions.end() : positions.find(span.parent_id);
        if (found == positions.end() && !span.parent_id.empty())
            outline.missing_parents.push_back({static_cast<int64_t>(outline.parents.size()), span.parent_id});
        outline.parents.push_back(found == positions.end() ? -1 : found->second);
    }
}

} // namespace

TraceOutline outline_of(const telemetry::TraceSkeleton& skeleton) {
    const auto& spans = skeleton.spans;
    TraceOutline outline;
    outline.is_cut = skeleton.is_cut;
    if (spans.empty()) return outline;
    int64_t first_ns = spans.front().start_ns;
    for (const auto& span : spans) first_ns = std::min(first_ns, span.start_ns);
    outline.start_time = from_ns(first_ns);
    outline.span_ids.reserve(spans.size());
    for (const auto& span : spans) outline.span_ids.push_back(span.span_id);
    add_parents(spans, outline);
    for (size_t at = 0; at < spans.size(); ++at)
        if (is_message(spans[at])) outline.messages.push_back(static_cast<int64_t>(at));

    using Row = telemetry::SpanRow;
    outline.starts_ns = column(spans, [&](const Row& row) { return row.start_ns - first_ns; });
    outline.durations_ns = column(spans, [](const Row& row) { return row.duration_ns; });
    TextTable texts(outline.texts);
    outline.names = column(spans, [&](const Row& row) { return texts.position(row.name); });
    outline.kinds = column(spans, [&](const Row& row) { return texts.position(name_of(row.kind)); });
    outline.statuses = column(spans, [&](const Row& row) { return texts.position(name_of(row.status)); });
    outline.status_messages = column(spans, [&](const Row& row) { return texts.position(row.status_message); });
    outline.services = column(spans, [&](const Row& row) { return texts.position(row.service); });
    outline.models = column(spans, [&](const Row& row) { return texts.position(row.model); });
    outline.providers = column(spans, [&](const Row& row) { return texts.position(row.provider); });
    outline.users = column(spans, [&](const Row& row) { return texts.position(row.user_id); });
    outline.sessions = column(spans, [&](const Row& row) { return texts.position(row.chat_session); });
    outline.tools = column(spans, [&](const Row& row) { return texts.position(row.tool_name); });
    outline.exceptions = column(spans, [&](const Row& row) { return texts.position(row.exception_type); });
    outline.input_tokens = column(spans, [](const Row& row) { return row.tokens.input; });
    outline.cache_read_tokens = column(spans, [](const Row& row) { return row.tokens.cache_read; });
    outline.cache_write_tokens = column(spans, [](const Row& row) { return row.tokens.cache_write; });
    outline.output_tokens = column(spans, [](const Row& row) { return row.tokens.output; });
    outline.reasoning_tokens = column(spans, [](const Row& row) { return row.tokens.reasoning; });
    outline.costs_nano_usd = column(spans, [](const Row& row) { return row.cost_nano_usd; });
    return outline;
}

} // namespace hone::api
