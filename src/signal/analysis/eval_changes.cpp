#include "signal/analysis/eval_changes.h"

#include "base/text.h"
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/text/message_template.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace hone::signal {

const std::string_view evals_of_targets =
    "SELECT name, label, score, 1 / inclusion AS weight, target_id, if(span_start_ns > 0, span_start_ns, created_ns) "
    "AS moment FROM hone.evals FINAL WHERE inclusion > 0 AND project = {project:String} AND target = "
    "{n_target:String} AND moment >= {base:Int64} AND moment < {to:Int64} AND (evaluator_version = 0 OR (identifier, "
    "evaluator_version) IN (SELECT identifier, max(evaluator_version) FROM hone.evals FINAL WHERE project = "
    "{project:String} AND target = {n_target:String} AND evaluator_version > 0 GROUP BY identifier))";

namespace {

constexpr int64_t least_evals = 20;

// The weighed mean of scores, from sums that the engine made.
struct WeighedScores {
    double mean = 0;
    double variance = 0; // of the mean
    double count = 0;    // as many of equal weight would be as informative (Kish)
};

// Of five columns: the sums of w, w x, w w, w w x and w w x x.
WeighedScores weighed_scores(const ResultRow& row, size_t first) {
    const double weight = row.real(first), squares = row.real(first + 2);
    if (weight <= 0 || squares <= 0) return {};
    WeighedScores scores;
    scores.mean = row.real(first + 1) / weight;
    const double spread =
        row.real(first + 4) - 2 * scores.mean * row.real(first + 3) + scores.mean * scores.mean * squares;
    scores.variance = std::max(0.0, spread) / (weight * weight);
    scores.count = weight * weight / squares;
    return scores;
}

// The same five columns, of the evals for which a condition holds.
std::string score_sums(std::string_view condition) {
    return fmt::format("sumIf(weight, {0}), sumIf(weight * score, {0}), sumIf(weight * weight, {0}), sumIf(weight * "
                       "weight * score, {0}), sumIf(weight * weight * score * score, {0})",
                       condition);
}

Result<> lower_scores(Survey& survey, const EvalSplit& split, std::vector<WorseEval>& found) {
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, countIf({0}) AS n, countIf({1}) AS m, max(score) - min(score), {2}, {3} FROM "
        "({4}) "
        "WHERE isNotNull(score) GROUP BY name HAVING n >= {5} AND m >= {5} ORDER BY n DESC, name LIMIT 100)",
        split.is_now, split.is_before, score_sums(split.is_now), score_sums(split.is_before), split.rows, least_evals);
    return survey.query(
        sql,
        [&](const ResultRow& row) {
            const WeighedScores now = weighed_scores(row, 4), before = weighed_scores(row, 9);
            if (std::min(now.count, before.count) < static_cast<double>(least_evals)) return;
            WorseEval worse{row.text(0), "", before.mean, now.mean, row.real(3), 0, row.integer(1)};
            const double fall = worse.before - worse.now, error = std::sqrt(now.variance + before.variance);
            worse.z = error > 0 ? fall / error : fall > 0 ? 20.0 : 0.0;
            if (fall < 0.1 * worse.range || worse.range <= 0 || worse.z < 5) return;
            found.push_back(std::move(worse));
        },
        split.bind);
}

// Evals of a name in one part.
struct WeighedLabels {
    int64_t count = 0;
    double weight = 0, squares = 0;
    double usual = 0; // weight of the usual label
    void add(const ResultRow& row, size_t first, bool is_usual) {
        count += row.integer(first);
        weight += row.real(first + 1);
        squares += row.real(first + 2);
        if (is_usual) usual = row.real(first + 1);
    }
    double share() const { return weight > 0 ? usual / weight : 0; }
    // As many of equal weight would be as informative (Kish).
    int64_t effective() const { return squares > 0 ? std::llround(weight * weight / squares) : 0; }
    int64_t others() const { return std::llround((1 - share()) * static_cast<double>(effective())); }
};

// Less of these is better.
constexpr std::string_view bad_labels[] = {"bad",       "fail",       "failed",   "failure", "false",
                                           "incorrect", "irrelevant", "negative", "no",      "wrong"};
bool is_bad(const std::string& label) {
    return std::ranges::find(bad_labels, lowercase_ascii(label)) != std::end(bad_labels);
}

struct Labels {
    WeighedLabels now, before;
    std::string usual; // the most frequent one before
};

// Of labels without a score: a score shows which label is better.
Result<> rarer_labels(Survey& survey, const EvalSplit& split, std::vector<WorseEval>& found) {
    std::set<std::string> reported;
    for (const WorseEval& worse : found) reported.insert(worse.name);
    std::map<std::string, Labels> names;
    TRY(survey.query(
        fmt::format("SELECT * FROM (SELECT name, label, countIf({0}), sumIf(weight, {0}), sumIf(weight * weight, {0}), "
                    "countIf({1}), sumIf(weight, {1}) AS baseline, sumIf(weight * weight, {1}) FROM ({2}) WHERE label "
                    "!= '' AND isNull(score) GROUP BY name, label ORDER BY baseline DESC, name, label LIMIT 2000)",
                    split.is_now, split.is_before, split.rows),
        [&](const ResultRow& row) {
            Labels& labels = names[row.text(0)];
            const bool is_usual = labels.usual.empty(); // the first is the most frequent
            if (is_usual) labels.usual = row.text(1);
            labels.now.add(row, 2, is_usual);
            labels.before.add(row, 5, is_usual);
        },
        split.bind));
    for (const auto& [name, labels] : names) {
        const int64_t evals_now = labels.now.effective(), evals_before = labels.before.effective();
        if (reported.contains(name) || is_bad(labels.usual)) continue;
        if (std::min(evals_now, evals_before) < least_evals) continue;
        const double now = labels.now.share(), before = labels.before.share();
        const double z = proportion_z(labels.now.others(), evals_now, labels.before.others(), evals_before);
        if (before < 0.5 || before - now < 0.15 || z < 5) continue;
        found.push_back({name, labels.usual, before, now, 1, z, labels.now.count});
    }
    return {};
}

} // namespace

Result<std::vector<WorseEval>> worse_evals(Survey& survey, const EvalSplit& split) {
    std::vector<WorseEval> found;
    TRY(lower_scores(survey, split, found));
    TRY(rarer_labels(survey, split, found));
    return found;
}

std::string worse_in_filter(const WorseEval& worse) {
    return worse.usual.empty() ? fmt::format("score < {:.6f}", worse.before) : "label != " + quote_filter(worse.usual);
}

void narrow_to_worse(Candidate& candidate, const EvalTargets& targets, const WorseEval& worse) {
    candidate.narrower =
        fmt::format("{} IN (SELECT target_id FROM hone.evals FINAL WHERE project = {{project:String}} "
                    "AND target = {{n_target:String}} AND name = {{n_name:String}} AND {})",
                    targets.column, worse.usual.empty() ? "score < {n_score:Float64}" : "label != {n_label:String}");
    candidate.narrower_values = {{"n_target", std::string(targets.name)}, {"n_name", worse.name}};
    if (worse.usual.empty())
        candidate.narrower_values.emplace_back("n_score", fmt::format("{:.6f}", worse.before));
    else
        candidate.narrower_values.emplace_back("n_label", worse.usual);
}

Severity severity_of(const WorseEval& worse) {
    return worse.before - worse.now >= 0.3 * worse.range ? Severity::high : Severity::medium;
}

} // namespace hone::signal
