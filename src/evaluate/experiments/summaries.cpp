// What lists of experiments show: means of evals with intervals, and tags.
#include "evaluate/experiments/experiments.h"

#include "evaluate/statistics/statistics.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::evaluate {

namespace {

// The evaluators that this server applied, with their versions. Evals that clients sent have none.
Result<> add_evaluators(sql::Database& database, const std::string& among, const std::vector<sql::Value>& values,
                        std::map<ExperimentId, ExperimentSummary>& summaries) {
    for (const auto& row : TRY(database.run_query(
             "SELECT DISTINCT v.experiment_id, v.name, e.evaluator_id, e.number FROM experiment_evals v JOIN "
             "experiment_evaluators e ON e.experiment_id = v.experiment_id AND e.name = COALESCE(v.evaluator, v.name) "
             "WHERE v.experiment_id" +
                 among,
             values)))
        for (EvalSummary& eval : summaries[row.id<ExperimentTag>(0)].evals)
            if (eval.name == row.text(1)) eval.evaluator_id = row.text(2), eval.evaluator_version = row.integer(3);
    return {};
}

} // namespace

Result<std::map<ExperimentId, ExperimentSummary>>
Experiments::summaries(const std::vector<Experiment>& experiments) const {
    std::map<ExperimentId, ExperimentSummary> summaries;
    if (experiments.empty()) return summaries;
    std::vector<std::string> ids;
    for (const Experiment& experiment : experiments) ids.push_back(experiment.id.text());
    const std::string among = " IN (" + sql::marks(ids.size()) + ")";
    const auto values = sql::to_values(ids);
    std::map<std::pair<std::string, std::string>, int64_t> errors;
    for (const auto& row : TRY(m_database.run_query("SELECT experiment_id, name, COUNT(*) FROM experiment_evals WHERE "
                                                    "error IS NOT NULL AND experiment_id" +
                                                        among + " GROUP BY experiment_id, name",
                                                    values)))
        errors[{row.text(0), row.text(1)}] = row.integer(2);
    for (const auto& row : TRY(m_database.run_query(
             "SELECT m.experiment_id, m.name, COUNT(*), AVG(m.mean), AVG(m.mean * m.mean) FROM (SELECT e.experiment_id "
             "AS experiment_id, e.name AS name, AVG(e.score) AS mean FROM experiment_evals e JOIN experiment_runs r ON "
             "r.id = e.run_id WHERE e.score IS NOT NULL AND e.experiment_id" +
                 among + " GROUP BY e.experiment_id, e.name, r.example_id) m GROUP BY m.experiment_id, m.name",
             values))) {
        EvalSummary eval;
        eval.name = row.text(1);
        const Mean mean = mean_of_moments(row.integer(2), row.real(3), row.real(4));
        eval.examples = mean.count;
        eval.mean = mean.mean;
        if (mean.interval) eval.low = mean.interval->low, eval.high = mean.interval->high;
        if (const auto failed = errors.find({row.text(0), row.text(1)}); failed != errors.end()) {
            eval.errors = failed->second;
            errors.erase(failed);
        }
        summaries[row.id<ExperimentTag>(0)].evals.push_back(std::move(eval));
    }
    // Evals of which each one failed.
    for (const auto& [key, count] : errors) {
        EvalSummary eval;
        eval.name = key.second;
        eval.errors = count;
        summaries[ExperimentId(key.first)].evals.push_back(std::move(eval));
    }
    TRY(add_evaluators(m_database, among, values, summaries));
    for (auto& [id, summary] : summaries)
        std::sort(summary.evals.begin(), summary.evals.end(),
                  [](const EvalSummary& a, const EvalSummary& b) { return a.name < b.name; });
    for (const auto& row : TRY(m_database.run_query(
             "SELECT experiment_id, name FROM experiment_tags WHERE experiment_id" + among + " ORDER BY name", values)))
        summaries[row.id<ExperimentTag>(0)].tags.push_back(row.text(1));
    return summaries;
}

} // namespace hone::evaluate
