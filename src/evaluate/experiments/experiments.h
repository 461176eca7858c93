// Experiments on datasets: created with a frozen set of examples; runs and evals are stored as clients send them, and
// what is missing or failed is listed, so that a client can resume. A run is stored once: a second one for the same
// example and repetition replaces a failed one and conflicts with a good one. Thread-safe.
#pragma once

#include "evaluate/datasets/datasets.h"
#include "evaluate/experiments/experiment.h"

#include <map>
#include <set>

namespace hone::evaluate {

constexpr int64_t most_repetitions = 1000;
constexpr size_t largest_output = 4 << 20; // bytes of JSON
constexpr size_t largest_eval_text = 8 << 20;

class Experiments {
public:
    Experiments(sql::Database& database, const Clock& clock, access::Access& access, Datasets& datasets)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_datasets(datasets) {}

    Result<Experiment> create(const access::Caller& caller, const DatasetId& dataset, const NewExperiment& wanted);
    Result<Experiment> find(const access::Caller& caller, const ExperimentId& id,
                            access::Permission permission = access::Permission::dataset_read) const;
    // Of a dataset, newest first.
    Result<access::Page<Experiment>> list(const access::Caller& caller, const DatasetId& dataset,
                                          const access::PageRequest& page) const;
    // Newest first, of a space: those whose metadata contains one of these texts, such as ids of prompt versions.
    Result<std::vector<Experiment>> mentioning(const access::Caller& caller, const access::SpaceId& space,
                                               const std::vector<std::string>& texts, int64_t limit) const;
    // The one with this tag, or this name (the newest), in a dataset.
    Result<Experiment> find_by_name(const access::Caller& caller, const DatasetId& dataset,
                                    std::string_view tag_or_name) const;
    Result<Experiment> update(const access::Caller& caller, const ExperimentId& id, const ExperimentChange& change);
    // `with_project`: the traces of its runs too.
    Result<> remove(const access::Caller& caller, const ExperimentId& id, bool with_project);
    // The dataset with its experiments and their traces.
    Result<> remove_dataset(const access::Caller& caller, const DatasetId& dataset);

    Result<ExperimentRunId> add_run(const access::Caller& caller, ExperimentRun run);
    Result<ExperimentEvalId> set_eval(const access::Caller& caller, ExperimentEval eval);
    // All or none, except those of runs that are gone.
    Result<> set_evals(const access::Caller& caller, std::vector<ExperimentEval> evals);

    // A person's verdict about a run, for its eval of this name; replaces an earlier one of the same person. Needs
    // eval_write. The eval itself and the numbers of the experiment stay as they are.
    Result<EvalCorrection> correct(const access::Caller& caller, EvalCorrection correction);
    // A run that the caller may see with this permission, with its example, evals and corrections.
    Result<RunRecord> record(const access::Caller& caller, const ExperimentRunId& run,
                             access::Permission permission = access::Permission::dataset_read) const;

    // In the order in which they were stored; `after` is the id of a run or empty.
    Result<std::vector<ExperimentRun>> runs(const access::Caller& caller, const ExperimentId& id,
                                            const std::string& after, int64_t limit) const;
    // By example and repetition; `after` is the position of an example.
    Result<std::vector<RunRecord>> records(const access::Caller& caller, const ExperimentId& id, int64_t after,
                                           int64_t examples) const;
    // Of one example, by repetition.
    Result<std::vector<RunRecord>> records_of(const access::Caller& caller, const ExperimentId& id,
                                              const ExampleId& example) const;
    // The position of the last of so many examples after `after`, for the next call of records(); absent at the end.
    Result<std::optional<int64_t>> next_position(const access::Caller& caller, const ExperimentId& id, int64_t after,
                                                 int64_t examples) const;
    // All of them, by example and repetition, without their texts.
    Result<std::vector<ScoredRun>> scored_runs(const access::Caller& caller, const ExperimentId& id) const;
    // The examples whose metadata has `must_pass`.
    Result<std::set<ExampleId>> must_pass(const access::Caller& caller, const ExperimentId& id) const;
    // Ids that senders gave to these examples; most 1000.
    Result<std::map<ExampleId, std::string>> external_ids(const access::Caller& caller, const ExperimentId& id,
                                                          const std::vector<ExampleId>& examples) const;
    // The names of all its evals, sorted.
    Result<std::vector<std::string>> eval_names(const access::Caller& caller, const ExperimentId& id) const;
    Result<access::Page<IncompleteRun>> incomplete_runs(const access::Caller& caller, const ExperimentId& id,
                                                        const access::PageRequest& page) const;
    Result<access::Page<IncompleteEvaluation>> incomplete_evaluations(const access::Caller& caller,
                                                                      const ExperimentId& id,
                                                                      const std::vector<std::string>& names,
                                                                      const access::PageRequest& page) const;

    // Means of evals with intervals, and tags; of experiments that the caller may read.
    Result<std::map<ExperimentId, ExperimentSummary>> summaries(const std::vector<Experiment>& experiments) const;

    Result<std::vector<ExperimentMark>> tags(const access::Caller& caller, const ExperimentId& id) const;
    // Moves the tag to this experiment when another one of the dataset has it.
    Result<ExperimentMark> set_tag(const access::Caller& caller, const ExperimentId& id, const std::string& name,
                                   const std::string& description);
    Result<> remove_tag(const access::Caller& caller, const ExperimentId& id, std::string_view name_or_id);

private:
    Result<ExperimentEvalId> store_eval(sql::Transaction& transaction, const access::Caller& caller,
                                        const ExperimentEval& eval) const;
    Result<> add_corrections(const ExperimentId& id, int64_t first, int64_t last,
                             const std::map<ExperimentRunId, size_t>& by_run, std::vector<RunRecord>& records) const;
    Result<std::vector<Example>> examples_at(const ExperimentId& id, int64_t after, int64_t limit) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Datasets& m_datasets;
};

} // namespace hone::evaluate
