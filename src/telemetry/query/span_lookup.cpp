#include "telemetry/query/span_lookup.h"

#include "telemetry/query/filter.h"
#include "telemetry/span/binary.h"

#include <algorithm>
#include <iterator>

namespace hone::telemetry {

namespace {

constexpr Duration patience = std::chrono::seconds(30);
// Bound values go in the URL, which the engine takes up to a megabyte of, percent-encoded.
constexpr size_t most_bytes_at_once = 200'000;

// Projects' ids are ours: letters, digits and an underscore.
std::string list_of(const std::vector<std::string>& projects) {
    std::string list;
    for (const std::string& project : projects)
        if (std::all_of(project.begin(), project.end(), [](char letter) { return letter != '\'' && letter != '\\'; }))
            list += (list.empty() ? "'" : ", '") + project + "'";
    return list;
}

// Others cannot be there, and the engine refuses to compare with what is longer.
std::vector<std::string> with_length(const std::vector<std::string>& ids, size_t length) {
    std::vector<std::string> fitting;
    std::copy_if(ids.begin(), ids.end(), std::back_inserter(fitting),
                 [&](const std::string& id) { return id.size() == length; });
    return fitting;
}

std::string with_projects(std::string sql, const std::vector<std::string>& projects) {
    constexpr std::string_view mark = "{projects}";
    const std::string list = "(" + list_of(projects) + ")";
    for (size_t at = sql.find(mark); at != std::string::npos; at = sql.find(mark, at + list.size()))
        sql.replace(at, mark.size(), list);
    return sql;
}

} // namespace

Result<std::vector<FoundPlace>> SpanLookup::find(const std::string& sql, const std::vector<std::string>& projects,
                                                 const std::vector<std::string>& ids) {
    std::vector<FoundPlace> all;
    if (projects.empty()) return all;
    for (auto next = ids.begin(); next != ids.end();) {
        std::vector<std::string> some;
        for (size_t bytes = 0; next != ids.end() && bytes < most_bytes_at_once; ++next) {
            bytes += next->size() + 3;
            some.push_back(*next);
        }
        ClickHouseQuery query(with_projects(sql, projects) + " FORMAT RowBinary");
        query.bind("ids", some).set("max_query_size", "100000000");
        query.deadline = patience;
        const std::string bytes = TRY(m_engine.query(query));
        for (BinaryReader reader(bytes); !reader.at_end();) {
            FoundPlace found;
            found.id = reader.text();
            found.project = reader.text();
            found.trace_id = reader.text();
            all.push_back(std::move(found));
        }
    }
    return all;
}

Result<std::vector<FoundPlace>> SpanLookup::spans(const std::vector<std::string>& projects,
                                                  const std::vector<std::string>& span_ids) {
    return find("SELECT toString(span_id) AS id, toString(project) AS place, toString(trace_id) FROM hone.spans WHERE "
                "project IN {projects} AND span_id IN {ids:Array(String)} ORDER BY start_ns DESC",
                projects, with_length(span_ids, 16));
}

// Reads the place, then the spans: deleted spans leave their place behind.
Result<std::vector<FoundPlace>> SpanLookup::traces(const std::vector<std::string>& projects,
                                                   const std::vector<std::string>& trace_ids) {
    return find("SELECT toString(trace_id) AS id, toString(project) AS place, '' FROM hone.spans WHERE project IN "
                "{projects} AND trace_id IN {ids:Array(String)} AND start_ns >= (SELECT min(first_ns) "
                "FROM hone.trace_times WHERE project IN {projects} AND trace_id IN {ids:Array(String)}) "
                "AND start_ns <= (SELECT max(last_ns) FROM hone.trace_times WHERE project IN {projects} "
                "AND trace_id IN {ids:Array(String)}) GROUP BY id, place ORDER BY max(start_ns) DESC",
                projects, with_length(trace_ids, 32));
}

Result<std::vector<FoundPlace>> SpanLookup::chat_sessions(const std::vector<std::string>& projects,
                                                          const std::vector<std::string>& names) {
    return find("SELECT chat_session AS id, toString(project) AS place, '' FROM hone.spans WHERE project IN "
                "{projects} AND chat_session IN {ids:Array(String)} GROUP BY id, place ORDER BY "
                "max(start_ns) DESC",
                projects, names);
}

Result<std::vector<SpanTexts>> SpanLookup::texts(const std::string& project, const std::string& condition,
                                                 const std::vector<std::string>& ids,
                                                 const std::vector<std::string_view>& keys) {
    std::string columns, has_one;
    for (size_t i = 0; i < keys.size(); ++i) {
        const std::string value = "JSONExtractString(attributes, {key" + std::to_string(i) + ":String})";
        columns += ", " + value;
        has_one += (has_one.empty() ? "" : " OR ") + ("notEmpty(" + value + ")");
    }
    std::vector<SpanTexts> all;
    for (auto next = ids.begin(); next != ids.end();) {
        std::vector<std::string> some;
        for (size_t bytes = 0; next != ids.end() && bytes < most_bytes_at_once; ++next) {
            bytes += next->size() + 3;
            some.push_back(*next);
        }
        ClickHouseQuery query("SELECT toString(trace_id), toString(span_id)" + columns +
                              " FROM hone.spans WHERE project = {project:String} AND " + condition + " AND (" +
                              has_one + ") FORMAT RowBinary");
        query.bind("project", project).bind("ids", some);
        for (size_t i = 0; i < keys.size(); ++i) query.bind("key" + std::to_string(i), keys[i]);
        query.deadline = patience;
        const std::string bytes = TRY(m_engine.query(query));
        for (BinaryReader reader(bytes); !reader.at_end();) {
            SpanTexts span;
            span.trace_id = reader.text();
            span.span_id = reader.text();
            for (size_t i = 0; i < keys.size(); ++i) span.values.emplace_back(reader.text());
            all.push_back(std::move(span));
        }
    }
    return all;
}

Result<std::vector<SpanTexts>> SpanLookup::attributes_of_spans(const std::string& project,
                                                               const std::vector<std::string>& span_ids,
                                                               const std::vector<std::string_view>& keys) {
    return texts(project, "span_id IN {ids:Array(String)}", with_length(span_ids, 16), keys);
}

Result<std::vector<SpanTexts>> SpanLookup::attributes_of_traces(const std::string& project,
                                                                const std::vector<std::string>& trace_ids,
                                                                const std::vector<std::string_view>& keys) {
    return texts(project,
                 "trace_id IN {ids:Array(String)} AND start_ns >= (SELECT min(first_ns) FROM hone.trace_times WHERE "
                 "project = {project:String} AND trace_id IN {ids:Array(String)})",
                 with_length(trace_ids, 32), keys);
}

Result<std::vector<TraceMatch>> SpanLookup::match_traces(const std::string& project,
                                                         const std::vector<std::string>& trace_ids,
                                                         const std::string& filter, const std::string& condition) {
    const FilterNode evaluated = TRY(parse_filter(filter));
    const FilterNode matches = TRY(parse_filter(condition));
    const std::vector<std::string> ids = with_length(trace_ids, 32);
    std::vector<TraceMatch> all;
    constexpr size_t at_once = most_bytes_at_once / 35;
    for (size_t first = 0; first < ids.size(); first += at_once) {
        const std::vector<std::string> some(ids.begin() + static_cast<std::ptrdiff_t>(first),
                                            ids.begin() +
                                                static_cast<std::ptrdiff_t>(std::min(ids.size(), first + at_once)));
        ClickHouseQuery query("");
        const std::string is_evaluated = compile_filter(evaluated, query, FilterPlace::elsewhere);
        const std::string is_match = compile_filter(matches, query, FilterPlace::elsewhere);
        const std::string of_traces = " WHERE project = {project:String} AND trace_id IN {ids:Array(String)}";
        query.sql = "SELECT toString(trace_id), count(), countIf(" + is_evaluated + "), countIf((" + is_evaluated +
                    ") AND (" + is_match + ")) FROM hone.spans" + of_traces +
                    " AND start_ns >= (SELECT min(first_ns) FROM hone.trace_times" + of_traces +
                    ") AND start_ns <= (SELECT max(last_ns) FROM hone.trace_times" + of_traces +
                    ") GROUP BY trace_id FORMAT RowBinary";
        query.bind("project", project).bind("ids", some);
        query.project = project;
        query.deadline = patience;
        const std::string bytes = TRY(m_engine.query(query));
        for (BinaryReader reader(bytes); !reader.at_end();) {
            TraceMatch& match = all.emplace_back();
            match.trace_id = reader.text();
            match.spans = static_cast<int64_t>(reader.number<uint64_t>());
            match.evaluated = static_cast<int64_t>(reader.number<uint64_t>());
            match.matched = static_cast<int64_t>(reader.number<uint64_t>());
        }
    }
    return all;
}

Result<std::vector<PromptUse>> SpanLookup::prompt_uses(const std::vector<std::string>& projects,
                                                       const std::vector<std::string>& versions, int64_t since_ns,
                                                       int64_t limit) {
    std::vector<PromptUse> uses;
    if (projects.empty() || versions.empty()) return uses;
    const std::string named = "attribute_index['prompt.id']",
                      templated = "attribute_index['llm.prompt_template.version']";
    const std::string is_use = named + " IN {ids:Array(String)}";
    ClickHouseQuery query(with_projects(
        "SELECT toString(project) AS place, toString(trace_id), if(" + is_use + ", " + named + ", " + templated +
            ") AS version, argMax(name, start_ns), count(), max(start_ns) AS last FROM "
            "hone.spans WHERE project IN {projects} AND start_ns >= {since:Int64} AND (" +
            is_use + " OR " + templated +
            " IN {ids:Array(String)}) GROUP BY place, trace_id, version ORDER BY last "
            "DESC LIMIT " +
            std::to_string(limit) + " FORMAT RowBinary",
        projects));
    query.bind("ids", versions).bind("since", since_ns).set("max_query_size", "100000000");
    query.deadline = patience;
    const std::string bytes = TRY(m_engine.query(query));
    for (BinaryReader reader(bytes); !reader.at_end();) {
        PromptUse& use = uses.emplace_back();
        use.project = reader.text();
        use.trace_id = reader.text();
        use.version = reader.text();
        use.name = reader.text();
        use.spans = static_cast<int64_t>(reader.number<uint64_t>());
        use.last_ns = reader.number<int64_t>();
    }
    return uses;
}

Result<std::vector<std::string>> SpanLookup::traces_of_sessions(const std::string& project,
                                                                const std::vector<std::string>& names) {
    std::vector<std::string> traces;
    for (FoundPlace& found :
         TRY(find("SELECT DISTINCT toString(trace_id) AS id, '', '' FROM hone.spans WHERE project IN "
                  "{projects} AND chat_session IN {ids:Array(String)}",
                  {project}, names)))
        traces.push_back(std::move(found.id));
    return traces;
}

} // namespace hone::telemetry
