#include "telemetry/query/trace_texts.h"

#include "base/text.h"
#include "telemetry/query/borrowed_texts.h"
#include "telemetry/query/scoped_query.h"
#include "telemetry/span/binary.h"

#include <map>

namespace hone::telemetry {

namespace {

constexpr size_t longest_trace_text = 2000;

// Long enough for the messages of most calls; what is cut is shown as it is.
constexpr std::string_view trace_text_columns = "substring(input, 1, 65536), substring(output, 1, 65536)";

// Attributes with the application's own name of what runs, the most particular first.
constexpr std::string_view title_attributes[] = {"ai.telemetry.functionId", "langfuse.trace.name", "gen_ai.agent.name",
                                                 "agent.name", "gen_ai.workflow.name"};

std::string title_columns() {
    std::string sql;
    for (const std::string_view key : title_attributes) sql += ", attribute_index['" + std::string(key) + "']";
    return sql;
}

ClickHouseQuery trace_texts_query(const Scope& scope, const std::vector<std::string>& trace_ids,
                                  const std::string& sql) {
    // The times of the traces first, so that few granules are read.
    ClickHouseQuery query("WITH (SELECT (min(first_ns), max(last_ns)) FROM hone.trace_times WHERE project = "
                          "{project:String} AND trace_id IN {traces:Array(String)}) AS times SELECT trace_id, " +
                          sql);
    query.project = scope.project;
    query.cancel = scope.cancel.get();
    query.deadline = scope.deadline;
    query.bind("project", scope.project).bind("traces", trace_ids);
    return query;
}

constexpr std::string_view of_traces = " FROM hone.spans WHERE project = {project:String} AND start_ns >= times.1 AND "
                                       "start_ns <= times.2 AND trace_id IN {traces:Array(String)} ";

std::string shown_words(std::string_view text, std::string_view role) {
    return std::string(truncate_utf8(trim(words_of(text, role)), longest_trace_text));
}

std::string title_of(BinaryReader& reader, const std::string& name) {
    std::string title;
    for (size_t i = 0; i < std::size(title_attributes); ++i)
        if (const auto text = reader.text(); title.empty() && name.find(text) == std::string::npos) title = text;
    return title.empty() ? name : title;
}

// Adds the version and the first failure: the span that failed and ended first is where the failure began.
Result<> add_failures(ClickHouse& engine, const Scope& scope, const std::vector<std::string>& trace_ids,
                      std::map<std::string, TraceText>& found) {
    const std::string rows = TRY(engine.query(
        trace_texts_query(scope, trace_ids,
                          "anyIf(toString(version), version != ''), "
                          "argMinIf(toString(exception_type), start_ns + duration_ns, status = 'error'), "
                          "argMinIf(substring(if(status_message != '', status_message, exception_message), 1, 2000), "
                          "start_ns + duration_ns, status = 'error')" +
                              std::string(of_traces) + "GROUP BY trace_id FORMAT RowBinary")));
    for (BinaryReader reader(rows); !reader.at_end();) {
        const std::string id(reader.bytes(32));
        const std::string version(reader.text());
        const std::string type(reader.text());
        const std::string_view message = trim(reader.text());
        const auto place = found.find(id);
        if (place == found.end()) continue;
        place->second.version = version;
        const std::string line(truncate_utf8(message.substr(0, message.find('\n')), 300));
        place->second.error = type.empty() || line.starts_with(type) ? line : line.empty() ? type : type + ": " + line;
    }
    return {};
}

// The span that a trace begins with, where its root belongs to a program that sends no spans here.
std::string first_spans() {
    return "AND (trace_id, span_id) IN (SELECT trace_id, argMin(span_id, (start_ns, -duration_ns))" +
           std::string(of_traces) + "GROUP BY trace_id) ";
}

struct FoundTexts {
    std::map<std::string, TraceText> texts;      // by trace
    std::map<std::string, std::string> failures; // the message of the failed root
};

// Texts of the spans that `which` selects, one of each trace.
Result<> read_root_texts(ClickHouse& engine, const Scope& scope, const std::vector<std::string>& trace_ids,
                         const std::string& which, FoundTexts& found) {
    if (trace_ids.empty()) return {};
    const std::string roots = TRY(
        engine.query(trace_texts_query(scope, trace_ids,
                                       "toString(name), status = 'error', substring(status_message, 1, 4000), " +
                                           std::string(trace_text_columns) + title_columns() + std::string(of_traces) +
                                           which + "ORDER BY start_ns LIMIT 1 BY trace_id FORMAT RowBinary")));
    for (BinaryReader reader(roots); !reader.at_end();) {
        TraceText text;
        text.trace_id = reader.bytes(32);
        const std::string name(reader.text());
        text.has_failed = reader.number<uint8_t>() != 0;
        found.failures[text.trace_id] = reader.text();
        text.input = shown_words(reader.text(), "user");
        text.output = shown_words(reader.text(), "assistant");
        // Of a failed root the reason is more use than the state that it returned.
        if (text.has_failed && text.output.starts_with('{')) text.output.clear();
        text.title = title_of(reader, name);
        found.texts[text.trace_id] = std::move(text);
    }
    return {};
}

} // namespace

Result<std::vector<TraceText>> trace_texts(ClickHouse& engine, const Scope& scope,
                                           const std::vector<std::string>& trace_ids) {
    FoundTexts all;
    auto& [found, failures] = all;
    TRY(read_root_texts(engine, scope, trace_ids, "AND parent_id = '' ", all));
    std::vector<std::string> rootless;
    for (const std::string& id : trace_ids)
        if (!found.contains(id)) rootless.push_back(id);
    TRY(read_root_texts(engine, scope, rootless, first_spans(), all));
    std::vector<std::string> silent;
    for (const std::string& id : trace_ids)
        if (const auto place = found.find(id);
            place == found.end() || (place->second.input.empty() && place->second.output.empty()))
            silent.push_back(id);
    if (!silent.empty()) {
        const std::string calls = TRY(engine.query(trace_texts_query(
            scope, silent,
            "argMinIf(toString(name), start_ns, 1), argMinIf(substring(input, 1, 65536), start_ns, input != ''), "
            "argMaxIf(substring(output, 1, 65536), start_ns + duration_ns, output != '')" +
                std::string(of_traces) + "AND kind = 'llm' GROUP BY trace_id FORMAT RowBinary")));
        for (BinaryReader reader(calls); !reader.at_end();) {
            const std::string id(reader.bytes(32));
            TraceText& text = found[id];
            text.trace_id = id;
            const std::string name(reader.text());
            if (text.title.empty()) text.title = name;
            text.input = shown_words(reader.text(), "user");
            text.output = shown_words(reader.text(), "assistant");
        }
    }
    TRY(add_failures(engine, scope, trace_ids, found));
    std::vector<TraceText> texts;
    for (auto& [id, text] : found) {
        if (text.output.empty()) text.output = truncate_utf8(failures[id], longest_trace_text);
        texts.push_back(std::move(text));
    }
    return texts;
}

Result<std::vector<SpanText>> span_texts(ClickHouse& engine, const Scope& scope,
                                         const std::vector<std::string>& span_ids) {
    ScopedQuery scoped = TRY(scope_query(scope));
    scoped.query.bind("spans", span_ids);
    scoped.query.sql = "SELECT trace_id, span_id, " + std::string(trace_text_columns) + " FROM hone.spans WHERE " +
                       scoped.where + " AND span_id IN {spans:Array(String)} AND (input != '' OR output != '') LIMIT " +
                       std::to_string(10 * most_span_texts) + " FORMAT RowBinary";
    const std::string bytes = TRY(engine.query(scoped.query));
    std::vector<SpanText> texts;
    for (BinaryReader reader(bytes); !reader.at_end();) {
        SpanText text;
        text.trace_id = reader.bytes(32);
        text.span_id = reader.bytes(16);
        text.input = shown_words(reader.text(), "user");
        text.output = shown_words(reader.text(), "assistant");
        texts.push_back(std::move(text));
    }
    return texts;
}

} // namespace hone::telemetry
