#include "evaluate/tasks/pass_rate.h"

#include "evaluate/statistics/statistics.h"
#include "sql/columns.h"

#include <algorithm>
#include <cmath>

namespace hone::evaluate {

namespace {

double four_digits(double share) {
    return std::round(share * 10'000) / 10'000;
}

// Verdicts of one version. A verdict weighs as much as the targets that it stands for.
struct WeighedVerdicts {
    int64_t scored = 0;
    double passes = 0;
    double weight = 0;
    double squares = 0;
    bool is_share = true; // all scores are between 0 and 1

    PassRate rate_of(int64_t version) const {
        PassRate made;
        made.version = version;
        made.scored = scored;
        const double rate = std::clamp(passes / weight, 0.0, 1.0);
        // As many verdicts of equal weight would have the same variance (Kish).
        const Interval interval = wilson_of_rate(rate, weight * weight / squares);
        made.rate = four_digits(rate);
        made.low = four_digits(interval.low);
        made.high = four_digits(interval.high);
        return made;
    }
};

} // namespace

PassRate pass_rate_of(int64_t version, int64_t passes, int64_t of) {
    const auto count = static_cast<double>(of);
    return WeighedVerdicts{of, static_cast<double>(passes), count, count}.rate_of(version);
}

Result<std::map<std::string, PassRate>> pass_rates(sql::Database& database, const std::vector<EvaluatorId>& evaluators,
                                                   const access::Projects::Condition& seen, Time since) {
    std::map<std::string, PassRate> rates;
    if (evaluators.empty()) return rates;
    std::vector<sql::Value> values = sql::to_values(evaluators);
    values.insert(values.end(), seen.values.begin(), seen.values.end());
    const auto tasks =
        TRY(database.run_query("SELECT t.id, t.evaluator_id FROM eval_tasks t WHERE t.evaluator_id IN (" +
                                   sql::marks(evaluators.size()) + ") AND " + seen.sql,
                               values));
    std::map<std::string, std::map<int64_t, WeighedVerdicts>> found;
    for (const auto& task : tasks) {
        // COALESCE: the rows are read in the order of their time, not by the index of states.
        const auto rows = TRY(database.query(
            "SELECT version, COUNT(*), SUM(CASE WHEN score >= 0.5 THEN 1.0 / inclusion ELSE 0.0 END), SUM(1.0 / "
            "inclusion), SUM(1.0 / (inclusion * inclusion)), MIN(score), MAX(score) FROM (SELECT version, score, "
            "inclusion FROM eval_jobs WHERE task_id = ? AND created_at > ? AND COALESCE(state, '') = 'done' AND reason "
            "<> 'superseded' AND score IS NOT NULL AND inclusion > 0 ORDER BY created_at DESC LIMIT ?) AS newest "
            "GROUP BY version",
            task.text(0), since, most_verdicts_read));
        for (const auto& row : rows) {
            WeighedVerdicts& of = found[task.text(1)][row.integer(0)];
            of.scored += row.integer(1);
            of.passes += row.real(2);
            of.weight += row.real(3);
            of.squares += row.real(4);
            of.is_share = of.is_share && row.real(5) >= 0 && row.real(6) <= 1;
        }
    }
    for (const auto& [evaluator, versions] : found) {
        const auto& [version, verdicts] = *versions.rbegin();
        if (verdicts.is_share) rates.emplace(evaluator, verdicts.rate_of(version));
    }
    return rates;
}

} // namespace hone::evaluate
