// What a comparison needs of an experiment, without the texts of its runs and examples.
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/experiments/experiments.h"

#include <unordered_map>

namespace hone::evaluate {

using access::Caller;

namespace {

constexpr int64_t scored_at_once = 10'000;

} // namespace

Result<std::vector<ScoredRun>> Experiments::scored_runs(const Caller& caller, const ExperimentId& id) const {
    TRY(find(caller, id));
    std::vector<ScoredRun> runs;
    std::unordered_map<std::string, size_t> places; // by id of the run
    for (int64_t found = scored_at_once; found == scored_at_once;) {
        const std::string after = runs.empty() ? "" : runs.back().example_id.text();
        const auto rows = TRY(m_database.query(
            "SELECT id, example_id, repetition, started_at, ended_at, CASE WHEN error IS NULL THEN 0 ELSE 1 END FROM "
            "experiment_runs WHERE experiment_id = ? AND (example_id, repetition) > (?, ?) ORDER BY example_id, "
            "repetition LIMIT ?",
            id, after, runs.empty() ? int64_t{0} : runs.back().repetition, scored_at_once));
        for (const auto& row : rows) {
            places.emplace(row.text(0), runs.size());
            const std::chrono::duration<double, std::milli> took = row.time(4) - row.time(3);
            runs.push_back({row.id<ExampleTag>(1), row.integer(2), row.integer(5) != 0, took.count(), {}});
        }
        found = static_cast<int64_t>(rows.size());
    }
    std::string run, name;
    for (int64_t found = scored_at_once; found == scored_at_once;) {
        const auto rows = TRY(m_database.query(
            "SELECT run_id, name, score FROM experiment_evals WHERE experiment_id = ? AND (run_id, name) > (?, ?) AND "
            "score IS NOT NULL AND error IS NULL ORDER BY run_id, name LIMIT ?",
            id, run, name, scored_at_once));
        for (const auto& row : rows)
            if (const auto place = places.find(row.text(0)); place != places.end())
                runs[place->second].scores.emplace_back(row.text(1), row.real(2));
        found = static_cast<int64_t>(rows.size());
        if (found > 0) {
            run = rows[rows.size() - 1].text(0);
            name = rows[rows.size() - 1].text(1);
        }
    }
    return runs;
}

Result<std::set<ExampleId>> Experiments::must_pass(const Caller& caller, const ExperimentId& id) const {
    TRY(find(caller, id));
    std::set<ExampleId> found;
    for (const auto& row : TRY(m_database.query(
             "SELECT x.example_id, r.metadata FROM experiment_examples x JOIN dataset_revisions r ON r.example_id = "
             "x.example_id AND r.version = x.revision WHERE x.experiment_id = ? AND r.metadata LIKE '%\"must_pass\"%'",
             id))) {
        const json::Value metadata = stored_json(row.text(1));
        const json::Value* must = metadata.is_object() ? metadata.get_object().if_contains("must_pass") : nullptr;
        if (must != nullptr && must->is_bool() && must->get_bool()) found.insert(row.id<ExampleTag>(0));
    }
    return found;
}

Result<std::map<ExampleId, std::string>> Experiments::external_ids(const Caller& caller, const ExperimentId& id,
                                                                   const std::vector<ExampleId>& examples) const {
    TRY(find(caller, id));
    std::map<ExampleId, std::string> found;
    if (examples.empty()) return found;
    std::vector<sql::Value> values{sql::to_value(id)};
    for (const ExampleId& example : examples) values.push_back(sql::to_value(example));
    for (const auto& row : TRY(m_database.run_query(
             "SELECT e.id, e.external_id FROM experiment_examples x JOIN dataset_examples e ON e.id = x.example_id "
             "WHERE x.experiment_id = ? AND e.external_id IS NOT NULL AND x.example_id IN (" +
                 sql::marks(examples.size()) + ")",
             values)))
        found.emplace(row.id<ExampleTag>(0), row.text(1));
    return found;
}

} // namespace hone::evaluate
