// Verdicts of people about runs of experiments.
#include "evaluate/experiments/experiments.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr size_t longest_label = 10'000;
constexpr size_t longest_explanation = 100'000;

Result<> check_correction_text(std::string_view what, const std::string& text, size_t limit) {
    if (text.size() <= limit && is_valid_utf8(text) && text.find('\0') == std::string::npos) return {};
    return invalid(fmt::format("{} must be UTF-8 text of at most {} bytes", what, limit));
}

} // namespace

Result<RunRecord> Experiments::record(const Caller& caller, const ExperimentRunId& run, Permission permission) const {
    const auto absent = [&] { return not_found("experiment run " + run.text()); };
    const auto rows = TRY(m_database.query("SELECT experiment_id, example_id FROM experiment_runs WHERE id = ?", run));
    if (rows.empty()) return absent();
    const auto of = find(caller, rows.front().id<ExperimentTag>(0), permission);
    if (!of.ok()) return of.error().code == Code::not_found ? absent() : of.error();
    for (RunRecord& found : TRY(records_of(caller, of.value().id, rows.front().id<ExampleTag>(1))))
        if (found.run.id == run) return std::move(found);
    return absent();
}

Result<EvalCorrection> Experiments::correct(const Caller& caller, EvalCorrection correction) {
    const RunRecord record = TRY(this->record(caller, correction.run_id, Permission::eval_write));
    const Experiment of = TRY(find(caller, record.run.experiment_id));
    if (!caller.run.empty() || caller.user.empty())
        return forbidden("only people correct verdicts: log in, or use a personal API key");
    if (!correction.label && !correction.score) return invalid("give a label, a score or both");
    if (correction.score && !std::isfinite(*correction.score)) return invalid("score must be a finite number");
    TRY(check_correction_text("label", correction.label.value_or(""), longest_label));
    TRY(check_correction_text("explanation", correction.explanation, longest_explanation));
    if (std::ranges::find(record.evals, correction.name, &ExperimentEval::name) == record.evals.end())
        return not_found("an eval of this run with the name " + std::string(truncate_utf8(correction.name, 100)));
    correction.author = caller.user.text();
    correction.author_name = caller.name;
    correction.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO experiment_corrections (run_id, name, author, author_name, label, score, explanation, "
            "updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, name, author) DO UPDATE SET author_name "
            "= excluded.author_name, label = excluded.label, score = excluded.score, explanation = "
            "excluded.explanation, updated_at = excluded.updated_at",
            correction.run_id, correction.name, correction.author, correction.author_name, correction.label,
            correction.score, correction.explanation, correction.updated_at));
        return m_access.audit.record(transaction, caller,
                                     {"verdict_correct",
                                      of.space_id,
                                      of.id.text(),
                                      {{"run", correction.run_id.text()}, {"eval", correction.name}}});
    }));
    return correction;
}

Result<> Experiments::add_corrections(const ExperimentId& id, int64_t first, int64_t last,
                                      const std::map<ExperimentRunId, size_t>& by_run,
                                      std::vector<RunRecord>& records) const {
    for (const auto& row : TRY(m_database.query(
             "SELECT c.run_id, c.name, c.author, c.author_name, c.label, c.score, c.explanation, c.updated_at FROM "
             "experiment_corrections c JOIN experiment_runs r ON r.id = c.run_id JOIN experiment_examples x ON "
             "x.experiment_id = r.experiment_id AND x.example_id = r.example_id WHERE r.experiment_id = ? AND "
             "x.position >= ? AND x.position <= ? ORDER BY c.name, c.updated_at DESC, c.author",
             id, first, last))) {
        const auto run = by_run.find(row.id<ExperimentRunTag>(0));
        if (run == by_run.end()) continue;
        records[run->second].corrections.push_back({row.id<ExperimentRunTag>(0), row.text(1), row.text(2), row.text(3),
                                                    row.optional_text(4), row.optional_real(5), row.text(6),
                                                    row.time(7)});
    }
    return {};
}

} // namespace hone::evaluate
