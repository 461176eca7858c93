#include "signal/detect/evidence.h"

#include "base/text.h"
#include "signal/analysis/statistics.h"
#include "telemetry/query/filter.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace hone::signal {

namespace {

constexpr size_t sample_size = 400;
constexpr size_t example_count = 5;

// The candidate's spans as a condition, values bound to the query.
Result<std::string> condition_of(const Candidate& candidate, telemetry::ClickHouseQuery& query) {
    std::string condition = telemetry::compile_filter(TRY(telemetry::parse_filter(candidate.filter)), query);
    if (candidate.narrower.empty()) return condition;
    for (const auto& [name, value] : candidate.narrower_values) query.bind(name, value);
    return condition + " AND (" + candidate.narrower + ")";
}

// Runs `sql` with "{condition}" in it.
Result<> query_candidate(Survey& survey, const Candidate& candidate, std::string sql, const Survey::Bind& more,
                         const std::function<void(const ResultRow&)>& take) {
    telemetry::ClickHouseQuery bound("");
    // The compiler numbers its values by how many there are; the survey binds four before ours.
    for (const char* name : {"project", "base", "from", "to"}) bound.bind(name, 0);
    const std::string condition = TRY(condition_of(candidate, bound));
    constexpr std::string_view mark = "{condition}";
    sql.replace(sql.find(mark), mark.size(), condition);
    return survey.query(sql, take, [&](telemetry::ClickHouseQuery& query) {
        query.parameters.insert(query.parameters.end(), bound.parameters.begin() + 4, bound.parameters.end());
        query.set("max_rows_to_group_by", "2000000").set("group_by_overflow_mode", "any");
        if (more) more(query);
    });
}

bool is_slower(const Candidate& candidate) {
    return candidate.about.starts_with("latency|");
}

// "page_down" and "PageDownTool" name the same tool.
bool names_tool(std::string_view name, std::string_view tool) {
    const auto letters = [](std::string_view text) {
        std::string kept;
        for (const char letter : text)
            if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
                kept += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        return kept;
    };
    const std::string a = letters(name), b = letters(tool);
    return b.size() >= 3 && a.find(b) != std::string::npos;
}

std::string_view subject_of_about(const Candidate& candidate) {
    const size_t bar = candidate.about.find('|');
    return bar == std::string::npos ? std::string_view() : std::string_view(candidate.about).substr(bar + 1);
}

// The share of a's sampled traces that b touches too. Both samples are the smallest hashes of their traces, so below
// the greater of their smaller ends both are complete.
double contained(const Candidate& a, const Candidate& b) {
    if (a.sample.empty() || b.sample.empty()) return 0;
    const bool b_is_whole = b.sample.size() < sample_size;
    size_t looked = 0, common = 0;
    for (const uint64_t hash : a.sample) {
        if (!b_is_whole && hash > b.sample.back()) break;
        ++looked;
        common += std::binary_search(b.sample.begin(), b.sample.end(), hash) ? 1 : 0;
    }
    return looked == 0 ? 0 : static_cast<double>(common) / static_cast<double>(looked);
}

// A failure whose message is that the model refused.
bool reports_refusal(const Candidate& candidate) {
    return std::any_of(candidate.facts.begin(), candidate.facts.end(), [](const Fact& fact) {
        if (fact.name != "message") return false;
        const std::string text = lowercase_ascii(fact.value);
        return text.find("refus") != std::string::npos || text.find("content filter") != std::string::npos ||
               text.find("content_filter") != std::string::npos;
    });
}

bool explains(const Candidate& cause, const Candidate& effect) {
    using enum Detector;
    // A version that came is stronger evidence than a change over time; a message is stronger than a rate.
    if (!cause.about.empty() && cause.about == effect.about) {
        const bool about_errors = cause.about.starts_with("errors|");
        if (about_errors) return cause.detector != version_regression && effect.detector == version_regression;
        return cause.detector == version_regression && effect.detector != version_regression;
    }
    if (is_slower(cause) && is_slower(effect))
        return cause.change > effect.change && effect.extra_ns <= cause.extra_ns * 1.3 &&
               contained(effect, cause) >= 0.5;
    const bool is_failure =
        cause.detector == error_cluster || cause.detector == tool_failure || cause.detector == unparsable_output;
    if (effect.detector == session_failure && is_failure) return contained(effect, cause) >= 0.6;
    // A tool fails because it is called wrongly; an agent repeats what fails.
    if (effect.detector == tool_failure && cause.detector == invalid_tool_call)
        return names_tool(subject_of_about(effect), subject_of_about(cause)) && contained(effect, cause) >= 0.8;
    // An agent fails because its model refuses.
    if (effect.detector == error_cluster && cause.detector == refused_output)
        return reports_refusal(effect) && contained(effect, cause) >= 0.9;
    if (effect.detector == agent_loop)
        return (is_failure || cause.detector == tool_loop || cause.detector == invalid_tool_call) &&
               contained(effect, cause) >= 0.8;
    if (effect.detector == cost_spike) return cause.about.starts_with("tokens|") || cause.detector == tool_loop;
    return false;
}

// What the effect shows is evidence of the cause.
void fold(Candidate& cause, const Candidate& effect) {
    const bool is_wrong_call = cause.detector == Detector::invalid_tool_call;
    if (!is_wrong_call && cause.detector != Detector::refused_output) return;
    cause.facts.push_back({"consequence", effect.title});
    cause.severity = std::max(cause.severity, effect.severity);
    if (is_wrong_call) cause.filter = "(" + cause.filter + ") or (" + effect.filter + ")";
}

} // namespace

Result<> gather_evidence(Survey& survey, Candidate& candidate) {
    const std::string sql = fmt::format(
        "SELECT countIf(first >= {{from:Int64}}), countIf(first < {{from:Int64}}), min(first), max(last), "
        "sumMap([intDiv(first, {0}) * {0}], [toInt64(1)]), groupArraySorted({1})(hash), "
        "groupArraySorted({2})((-last, trace, span)) FROM (SELECT toString(trace_id) AS trace, min(start_ns) AS first, "
        "max(start_ns) AS last, toString(argMax(span_id, start_ns)) AS span, toInt64(bitShiftRight(cityHash64(trace), "
        "1)) AS hash FROM hone.spans WHERE {3} AND {{condition}} GROUP BY trace)",
        hour_ns, sample_size, example_count, in_both);
    TRY(query_candidate(survey, candidate, sql, {}, [&](const ResultRow& row) {
        candidate.traces = row.integer(0);
        candidate.traces_before = row.integer(1);
        candidate.first_seen_ns = row.integer(2);
        candidate.last_seen_ns = row.integer(3);
        const json::Array& hours = row.list(4);
        if (hours.size() == 2 && hours[0].is_array() && hours[1].is_array())
            for (size_t i = 0; i < std::min(hours[0].get_array().size(), hours[1].get_array().size()); ++i)
                candidate.volume.emplace_back(ResultRow::to_integer(hours[0].get_array()[i]),
                                              ResultRow::to_integer(hours[1].get_array()[i]));
        for (const json::Value& hash : row.list(5))
            candidate.sample.push_back(static_cast<uint64_t>(ResultRow::to_integer(hash)));
        for (const json::Value& example : row.list(6)) {
            const ResultRow parts(example);
            candidate.examples.push_back({parts.text(1), parts.text(2), from_ns(-parts.integer(0))});
        }
    }));
    candidate.confidence = confidence_of(candidate.traces, candidate.clear);
    if (candidate.sampled_share > 0) { // its spans are listed: nothing earlier can match
        candidate.share = std::min(1.0, candidate.sampled_share);
        return {};
    }
    candidate.share = std::min(1.0, share_of(candidate.traces, survey.traces()));
    constexpr int64_t enough_before = 50; // traces, to know what is usual
    if (survey.traces_before() >= enough_before)
        candidate.growth = candidate.share / share_of(candidate.traces_before + 1, survey.traces_before() + 1);
    return {};
}

Result<Since> count_since(Survey& survey, const Candidate& candidate, int64_t since_ns) {
    Since since;
    const Survey::Bind bind = [&](telemetry::ClickHouseQuery& query) { query.bind("since", since_ns); };
    TRY(query_candidate(survey, candidate,
                        "SELECT uniq(trace_id) FROM hone.spans WHERE " + std::string(in_both) +
                            " AND start_ns >= {since:Int64} AND {condition}",
                        bind, [&](const ResultRow& row) { since.touched = row.integer(0); }));
    TRY(survey.query(
        "SELECT uniq(trace_id) FROM hone.spans WHERE " + std::string(in_both) + " AND start_ns >= {since:Int64}",
        [&](const ResultRow& row) { since.traces = row.integer(0); }, bind));
    return since;
}

Result<std::vector<std::string>> newest_traces(Survey& survey, const Candidate& candidate, size_t limit) {
    std::vector<std::string> traces;
    const std::string sql = fmt::format(
        "SELECT trace FROM (SELECT toString(trace_id) AS trace, max(start_ns) AS last FROM hone.spans WHERE "
        "{} AND {{condition}} GROUP BY trace ORDER BY last DESC, trace LIMIT {})",
        in_both, limit);
    TRY(query_candidate(survey, candidate, sql, {}, [&](const ResultRow& row) { traces.push_back(row.text(0)); }));
    return traces;
}

std::vector<Candidate> without_consequences(std::vector<Candidate> candidates) {
    std::vector<Candidate> kept;
    std::vector<bool> is_effect(candidates.size());
    for (size_t i = 0; i < candidates.size(); ++i) {
        const auto cause = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& other) {
            return &other != &candidates[i] && explains(other, candidates[i]);
        });
        is_effect[i] = cause != candidates.end();
        if (is_effect[i]) fold(*cause, candidates[i]);
    }
    for (size_t i = 0; i < candidates.size(); ++i)
        if (!is_effect[i]) kept.push_back(std::move(candidates[i]));
    std::stable_sort(kept.begin(), kept.end(), [](const Candidate& a, const Candidate& b) {
        return a.traces != b.traces ? a.traces > b.traces : a.subject < b.subject;
    });
    return kept;
}

} // namespace hone::signal
