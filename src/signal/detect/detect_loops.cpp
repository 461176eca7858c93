// Agents that call a tool repeatedly with the same input.
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

namespace hone::signal {

namespace {

// At least six calls of a tool in a trace, at most every third with an input of its own.
constexpr std::string_view is_loop = "count() >= 6 AND uniqExact(cityHash64(input)) * 3 <= count()";
constexpr int64_t least_traces = 3;

} // namespace

Result<> detect_tool_loops(Survey& survey, std::vector<Candidate>& found) {
    const std::string loops =
        fmt::format("SELECT trace_id, name, count() AS calls FROM hone.spans WHERE {} AND kind = 'tool' GROUP BY "
                    "trace_id, name HAVING {}",
                    in_window, is_loop);
    const std::string sql = fmt::format("SELECT * FROM (SELECT name, count() AS traces, max(calls), median(calls) FROM "
                                        "({}) GROUP BY name HAVING traces >= {} ORDER BY traces DESC, name LIMIT 20)",
                                        loops, least_traces);
    return survey.query(sql, [&](const ResultRow& row) {
        const std::string name = row.text(0), shown = plain_line(name, 80);
        const double share = share_of(row.integer(1), survey.seen(name).traces);
        Candidate candidate;
        candidate.detector = Detector::tool_loop;
        candidate.subject = name;
        candidate.title = fmt::format("The agent calls {} repeatedly with the same input", shown);
        candidate.explanation = fmt::format(
            "In {} traces ({} of those that use it) {} is called at least six times while at most every third call has "
            "an input of its own. The tool's result does not seem to show the agent that repeating the call will not "
            "help.",
            row.integer(1), percent(share), shown);
        candidate.severity = share >= 0.2 ? Severity::high : Severity::medium;
        candidate.filter = "kind = tool and name = " + quote_filter(name);
        candidate.narrower = fmt::format("trace_id IN (SELECT trace_id FROM hone.spans WHERE {} AND kind = 'tool' AND "
                                         "name = {{n_name:String}} GROUP BY trace_id HAVING {})",
                                         in_both, is_loop);
        candidate.narrower_values = {{"n_name", name}};
        candidate.about = "loop|" + name;
        candidate.facts = {{"most calls in a trace", std::to_string(row.integer(2))},
                           {"calls in the usual loop", fmt::format("{:.0f}", row.real(3))},
                           {"share of traces with the tool", percent(share)}};
        found.push_back(std::move(candidate));
    });
}

} // namespace hone::signal
