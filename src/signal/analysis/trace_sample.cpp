#include "signal/analysis/trace_sample.h"

#include "base/text.h"
#include "telemetry/messages/message_json.h"
#include "telemetry/span/text_slices.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace hone::signal {

namespace {

constexpr size_t most_traces = 240;
constexpr int64_t most_spans = 4000;
constexpr int64_t slices = 6; // parts of a large window, each with its newest traces

struct Slice {
    int64_t from_ns = 0, to_ns = 0; // of its spans
    std::vector<std::string> traces;
};

// Which traces to read. Spans are stored by time, so traces near each other cost little to read.
Result<std::vector<Slice>> choose_traces(Survey& survey, bool& is_whole) {
    const int64_t width = std::max<int64_t>(1, (survey.window().to_ns - survey.window().from_ns) / slices + 1);
    const bool is_small = survey.traces() <= static_cast<int64_t>(most_traces);
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT toString(trace_id) AS trace, count() AS spans, min(start_ns) AS first, max(start_ns) AS "
        "last, intDiv(first - {{from:Int64}}, {0}) AS slice FROM hone.spans WHERE {1} GROUP BY trace ORDER BY first "
        "DESC, trace LIMIT {2} BY slice)",
        is_small ? survey.window().to_ns : width, in_window, is_small ? most_traces : most_traces / slices);
    std::map<int64_t, Slice> chosen;
    std::map<int64_t, int64_t> spans;
    is_whole = is_small;
    TRY(survey.query(sql, [&](const ResultRow& row) {
        const int64_t number = row.integer(4);
        int64_t& sum = spans[number];
        if (sum + row.integer(1) > (is_small ? most_spans : most_spans / slices)) {
            is_whole = false;
            return;
        }
        sum += row.integer(1);
        Slice& slice = chosen[number];
        slice.from_ns = slice.traces.empty() ? row.integer(2) : std::min(slice.from_ns, row.integer(2));
        slice.to_ns = std::max(slice.to_ns, row.integer(3));
        slice.traces.push_back(row.text(0));
    }));
    std::vector<Slice> made;
    for (auto& [number, slice] : chosen) made.push_back(std::move(slice));
    return made;
}

// The condition of a slice; ids are hexadecimal digits.
std::string condition_of_slice(const Slice& slice) {
    std::string ids;
    for (const std::string& trace : slice.traces) ids += (ids.empty() ? "'" : ", '") + trace + "'";
    return fmt::format("{} AND start_ns >= {} AND start_ns <= {} AND trace_id IN ({})", in_window, slice.from_ns,
                       slice.to_ns, ids);
}

// Messages of a model call as JSON texts, and the schemas of the tools it offers.
constexpr std::string_view messages_sql =
    "if(kind = 'llm', if(startsWith(input, '['), JSONExtractArrayRaw(input), JSONExtractArrayRaw(input, 'messages')), "
    "[])";
std::string tools_sql() {
    return "if(kind = 'llm', arrayConcat(arrayMap(pair -> pair.2, arrayFilter(pair -> startsWith(pair.1, 'llm.tools.') "
           "OR pair.1 = 'gen_ai.tool.definitions', JSONExtractKeysAndValues(" +
           telemetry::full_attributes_sql() + ", 'String'))), JSONExtractArrayRaw(input, 'tools')), [])";
}
constexpr int64_t head_messages = 3;

class Reader {
public:
    Reader(Survey& survey, Sample& sample) : m_survey(survey), m_sample(sample) {}

    Result<> read(const Slice& slice) {
        TRY(read_texts(slice));
        const std::string sql = fmt::format(
            "SELECT * FROM (SELECT toString(trace_id), toString(span_id), parent_id, name, toString(kind), status = "
            "'error', start_ns, duration_ns, tool_name, exception_type, exception_message != '', if(length(text) > "
            "3000, concat(leftUTF8(text, 800), '\\n', rightUTF8(text, 2200)), text), finish_reason, input_tokens "
            "+ cache_read_tokens + cache_write_tokens, if(kind = 'llm', '', substringUTF8(input, 1, 2000)), "
            "substringUTF8(output, 1, if(kind = 'llm', 12000, 4000)), length(parts), if(kind = 'llm', "
            "if(empty(parts), substringUTF8(input, 1, 3000), substringUTF8(parts[-1], 1, 12000)), ''), arrayMap(part "
            "-> cityHash64(part), arraySlice(parts, 1, {0})), cityHash64(schemas), "
            "toInt64OrZero(attribute_index[arrayFirst(key -> match(key, "
            "'(max_steps|max_iterations|max_turns|recursion_limit)$'), mapKeys(attribute_index))]) FROM (SELECT *, "
            "if(exception_message != '', exception_message, status_message) AS text, {1} AS parts, {2} AS schemas FROM "
            "hone.spans WHERE {3}) ORDER BY start_ns, span_id LIMIT {4})",
            head_messages, messages_sql, tools_sql(), condition_of_slice(slice), most_spans);
        return m_survey.query(sql, [&](const ResultRow& row) { take(row); });
    }

    void finish() {
        for (SampledTrace& trace : m_sample.traces) trace.link();
    }

private:
    // What many spans share: first messages and schemas, each once.
    Result<> read_texts(const Slice& slice) {
        const std::string sql = fmt::format(
            "SELECT * FROM (SELECT cityHash64(part) AS hash, substringUTF8(any(part), 1, 40000) FROM (SELECT "
            "arrayJoin(arraySlice(parts, 1, {0})) AS part FROM (SELECT {1} AS parts FROM hone.spans WHERE {2} AND kind "
            "= 'llm')) GROUP BY hash LIMIT 1500)",
            head_messages, messages_sql, condition_of_slice(slice));
        TRY(m_survey.query(sql, [&](const ResultRow& row) {
            const uint64_t hash = hash_of(row, 0);
            if (m_messages.contains(hash)) return;
            m_sample.messages.push_back(std::make_unique<telemetry::Message>(message_of(row.text(1))));
            m_messages[hash] = m_sample.messages.back().get();
        }));
        const std::string schemas = fmt::format(
            "SELECT * FROM (SELECT cityHash64(schemas) AS hash, any(schemas) FROM (SELECT {0} AS schemas FROM "
            "hone.spans WHERE {1} AND kind = 'llm') WHERE notEmpty(schemas) GROUP BY hash LIMIT 300)",
            tools_sql(), condition_of_slice(slice));
        return m_survey.query(schemas, [&](const ResultRow& row) {
            const uint64_t hash = hash_of(row, 0);
            if (m_tools.contains(hash)) return;
            auto list = std::make_unique<std::vector<std::string>>();
            for (const json::Value& schema : row.list(1)) list->push_back(ResultRow::to_text(schema));
            m_sample.tool_lists.push_back(std::move(list));
            m_tools[hash] = m_sample.tool_lists.back().get();
        });
    }

    static uint64_t hash_of(const ResultRow& row, size_t column) { return static_cast<uint64_t>(row.integer(column)); }

    static telemetry::Message message_of(const std::string& raw) {
        auto messages = telemetry::read_messages(raw, "user");
        if (!messages.empty()) return std::move(messages.front());
        telemetry::Message message;
        message.role = "user";
        message.content = raw;
        return message;
    }

    void take(const ResultRow& row) {
        SampledSpan span;
        const std::string trace = row.text(0);
        span.span_id = row.text(1);
        span.parent_id = row.text(2);
        span.name = row.text(3);
        span.kind = row.text(4);
        span.failed = row.integer(5) != 0;
        span.start_ns = row.integer(6);
        span.end_ns = span.start_ns + row.integer(7);
        span.tool = row.text(8);
        span.exception = row.text(9);
        span.in_exception = row.integer(10) != 0;
        span.message = row.text(11);
        span.finish_reason = row.text(12);
        span.input_tokens = row.integer(13);
        span.input = row.text(14);
        span.output = row.text(15);
        span.messages = row.integer(16);
        span.most_steps = row.integer(20);
        if (span.kind == "llm") {
            span.newest = message_of(row.text(17));
            auto said = telemetry::read_messages(span.output, "assistant");
            if (!said.empty()) {
                span.output = said.front().content;
                span.calls = std::move(said.front().tool_calls);
            }
            for (const json::Value& hash : row.list(18))
                if (const auto found = m_messages.find(static_cast<uint64_t>(ResultRow::to_integer(hash)));
                    found != m_messages.end())
                    span.head.push_back(found->second);
            if (const auto found = m_tools.find(hash_of(row, 19)); found != m_tools.end()) span.tools = found->second;
        }
        auto [at, is_new] = m_traces.try_emplace(trace, m_sample.traces.size());
        if (is_new) m_sample.traces.push_back({trace, {}});
        m_sample.traces[at->second].spans.push_back(std::move(span));
    }

    Survey& m_survey;
    Sample& m_sample;
    std::unordered_map<uint64_t, const telemetry::Message*> m_messages;
    std::unordered_map<uint64_t, const std::vector<std::string>*> m_tools;
    std::unordered_map<std::string, size_t> m_traces;
};

} // namespace

void SampledTrace::link() {
    std::unordered_map<std::string_view, size_t> by_id;
    for (size_t i = 0; i < spans.size(); ++i) by_id.emplace(spans[i].span_id, i);
    for (size_t i = 0; i < spans.size(); ++i) {
        const auto found = by_id.find(spans[i].parent_id);
        if (found == by_id.end() || found->second == i) continue;
        spans[i].parent = found->second;
        spans[found->second].children.push_back(i);
        const SampledSpan& parent = spans[found->second];
        if (spans[i].kind == "chain" && parent.kind == "tool" && !parent.failed) spans[i].tool_around = parent.tool;
    }
}

size_t SampledTrace::above(size_t span, std::string_view kind) const {
    size_t at = spans[span].parent;
    for (size_t steps = 0; at != none && steps < spans.size(); ++steps) {
        if (spans[at].kind == kind) return at;
        at = spans[at].parent;
    }
    return none;
}

std::vector<size_t> SampledTrace::below(size_t span) const {
    std::vector<size_t> found, open{span};
    std::set<size_t> seen{span}; // ids from outside may form a circle
    while (!open.empty()) {
        const size_t at = open.back();
        open.pop_back();
        for (const size_t child : spans[at].children)
            if (seen.insert(child).second) {
                found.push_back(child);
                open.push_back(child);
            }
    }
    std::sort(found.begin(), found.end());
    return found;
}

Result<std::shared_ptr<const Sample>> read_sample(Survey& survey) {
    if (survey.sample()) return survey.sample();
    auto sample = std::make_shared<Sample>();
    Reader reader(survey, *sample);
    for (const Slice& slice : TRY(choose_traces(survey, sample->is_whole))) TRY(reader.read(slice));
    reader.finish();
    survey.keep_sample(sample);
    return std::shared_ptr<const Sample>(sample);
}

Result<std::shared_ptr<const Sample>> read_traces(Survey& survey, const std::vector<std::string>& traces) {
    auto sample = std::make_shared<Sample>();
    Slice wanted;
    for (const std::string& trace : traces)
        if (trace.size() == 32 && from_hex(trace).ok()) wanted.traces.push_back(trace);
    if (wanted.traces.empty()) return std::shared_ptr<const Sample>(sample);
    wanted.from_ns = survey.window().from_ns;
    wanted.to_ns = survey.window().to_ns;
    // One by one where they are near each other in time: spans are stored by time.
    std::vector<Slice> slices;
    TRY(survey.query("SELECT toString(trace_id), min(start_ns), max(start_ns) FROM hone.spans WHERE " +
                         condition_of_slice(wanted) + " GROUP BY trace_id ORDER BY min(start_ns)",
                     [&](const ResultRow& row) {
                         slices.push_back({row.integer(1), row.integer(2), {row.text(0)}});
                     }));
    Reader reader(survey, *sample);
    for (const Slice& slice : slices) TRY(reader.read(slice));
    reader.finish();
    return std::shared_ptr<const Sample>(sample);
}

} // namespace hone::signal
