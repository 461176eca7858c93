// Evals that became worse: a lower score, or less of the label that is usual.
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::signal {

namespace {

constexpr int64_t least_evals = 20;

// The spans that an eval is about, by what it was given to.
struct Target {
    std::string_view name;   // as stored
    std::string_view filter; // in the filter language; empty: it cannot express it
    std::string_view column; // of hone.spans
    std::string_view plural; // in sentences
};
constexpr Target targets[] = {{"span", "eval", "toString(span_id)", "spans"},
                              {"trace", "trace_eval", "toString(trace_id)", "traces"},
                              {"chat_session", "", "chat_session", "chat sessions"}};

// Evals count at the time of the span that they evaluate, when that is known. Of an evaluator with versions only those
// of its newest one: another definition is not a change of the application.
constexpr std::string_view evals_of_spans =
    "SELECT name, label, score, if(span_start_ns > 0, span_start_ns, created_ns) AS moment FROM hone.evals FINAL WHERE "
    "project = {project:String} AND target = {n_target:String} AND moment >= {base:Int64} AND moment < {to:Int64} AND "
    "(evaluator_version = 0 OR (identifier, evaluator_version) IN (SELECT identifier, max(evaluator_version) FROM "
    "hone.evals FINAL WHERE project = {project:String} AND target = {n_target:String} AND evaluator_version > 0 GROUP "
    "BY "
    "identifier))";

Candidate candidate_of(const Target& target, const std::string& name, std::string condition_in_filter,
                       std::string condition_in_sql) {
    Candidate candidate;
    candidate.detector = Detector::eval_drop;
    candidate.subject = std::string(target.name) + "\n" + name;
    candidate.about = "eval|" + name;
    if (!target.filter.empty())
        candidate.filter = fmt::format("{}[{}].{}", target.filter, quote_filter(name), std::move(condition_in_filter));
    // Also with a filter: it cannot distinguish the evals of the window from older ones.
    candidate.narrower = fmt::format("{} IN (SELECT target_id FROM hone.evals FINAL WHERE project = {{project:String}} "
                                     "AND target = {{n_target:String}} AND name = {{n_name:String}} AND {})",
                                     target.column, condition_in_sql);
    candidate.narrower_values = {{"n_target", std::string(target.name)}, {"n_name", name}};
    return candidate;
}

Result<std::set<std::string>> lower_scores(Survey& survey, const Target& target, std::vector<Candidate>& found) {
    std::set<std::string> reported;
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, countIf(moment >= {{from:Int64}}) AS n, avgIf(score, moment >= {{from:Int64}}), "
        "varPopIf(score, moment >= {{from:Int64}}), countIf(moment < {{from:Int64}}) AS m, avgIf(score, moment < "
        "{{from:Int64}}), varPopIf(score, moment < {{from:Int64}}), max(score) - min(score) FROM ({}) WHERE isNotNull("
        "score) GROUP BY name HAVING n >= {} AND m >= {} ORDER BY n DESC, name LIMIT 100)",
        evals_of_spans, least_evals, least_evals);
    TRY(survey.query(
        sql,
        [&](const ResultRow& row) {
            const std::string name = row.text(0), shown = plain_line(name, 80);
            const double after = row.real(2), before = row.real(5), range = row.real(7);
            const double error = std::sqrt(row.real(3) / row.real(1) + row.real(6) / row.real(4));
            const double z = error > 0 ? (before - after) / error : before > after ? 20.0 : 0.0;
            if (before - after < 0.1 * range || range <= 0 || z < 5) return;
            Candidate candidate =
                candidate_of(target, name, fmt::format("score < {:.6f}", before), "score < {n_score:Float64}");
            candidate.narrower_values.emplace_back("n_score", fmt::format("{:.6f}", before));
            candidate.title = fmt::format("The eval {} fell from {:.2f} to {:.2f}", shown, before, after);
            candidate.explanation = fmt::format("The mean score of {} on {} is lower in the window than before, by "
                                                "more than chance explains.",
                                                shown, target.plural);
            candidate.severity = before - after >= 0.3 * range ? Severity::high : Severity::medium;
            candidate.clear = z;
            candidate.facts = {{"mean score before", fmt::format("{:.3f}", before)},
                               {"mean score now", fmt::format("{:.3f}", after)},
                               {"evals now", std::to_string(row.integer(1))}};
            reported.insert(name);
            found.push_back(std::move(candidate));
        },
        [&](telemetry::ClickHouseQuery& query) { query.bind("n_target", target.name); }));
    return reported;
}

struct Labels {
    int64_t now = 0, before = 0; // all of the name
    std::string usual;           // the most frequent of the baseline
    int64_t usual_now = 0, usual_before = 0;
};

Result<> rarer_labels(Survey& survey, const Target& target, const std::set<std::string>& reported,
                      std::vector<Candidate>& found) {
    std::map<std::string, Labels> names;
    TRY(survey.query(
        fmt::format(
            "SELECT * FROM (SELECT name, label, countIf(moment >= {{from:Int64}}), countIf(moment < "
            "{{from:Int64}}) AS baseline FROM ({}) WHERE label != '' GROUP BY name, label ORDER BY baseline DESC, "
            "name, label LIMIT 2000)",
            evals_of_spans),
        [&](const ResultRow& row) {
            Labels& labels = names[row.text(0)];
            labels.now += row.integer(2);
            labels.before += row.integer(3);
            if (labels.usual.empty()) { // the first is the most frequent
                labels.usual = row.text(1);
                labels.usual_now = row.integer(2);
                labels.usual_before = row.integer(3);
            }
        },
        [&](telemetry::ClickHouseQuery& query) { query.bind("n_target", target.name); }));
    for (const auto& [name, labels] : names) {
        if (reported.contains(name) || labels.now < least_evals || labels.before < least_evals) continue;
        const double now = share_of(labels.usual_now, labels.now),
                     before = share_of(labels.usual_before, labels.before);
        const double z =
            proportion_z(labels.now - labels.usual_now, labels.now, labels.before - labels.usual_before, labels.before);
        if (before < 0.5 || before - now < 0.15 || z < 5) continue;
        const std::string shown = plain_line(name, 80), usual = plain_line(labels.usual, 60);
        Candidate candidate =
            candidate_of(target, name, "label != " + quote_filter(labels.usual), "label != {n_label:String}");
        candidate.narrower_values.emplace_back("n_label", labels.usual);
        candidate.title =
            fmt::format("The eval {} is {} less often: {} instead of {}", shown, usual, percent(now), percent(before));
        candidate.explanation = fmt::format("{} was the usual label of {} before the window; its share fell by more "
                                            "than chance explains.",
                                            usual, shown);
        candidate.severity = before - now >= 0.3 ? Severity::high : Severity::medium;
        candidate.clear = z;
        candidate.facts = {
            {"share before", percent(before)}, {"share now", percent(now)}, {"evals now", std::to_string(labels.now)}};
        found.push_back(std::move(candidate));
    }
    return {};
}

} // namespace

Result<> detect_eval_drops(Survey& survey, std::vector<Candidate>& found) {
    for (const Target& target : targets) {
        const auto reported = TRY(lower_scores(survey, target, found));
        TRY(rarer_labels(survey, target, reported, found));
    }
    return {};
}

} // namespace hone::signal
