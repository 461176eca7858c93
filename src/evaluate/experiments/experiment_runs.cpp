// Runs and evals of experiments, and what is still missing.
#include "evaluate/experiments/experiment_rows.h"
#include "evaluate/experiments/experiments.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

using access::Caller, access::Page, access::PageRequest, access::Permission;

namespace {

bool is_clean_text(const std::string& text, size_t limit) {
    return text.size() <= limit && is_valid_utf8(text) && text.find('\0') == std::string::npos;
}

Result<> check_text(std::string_view what, std::optional<std::string>& text, size_t limit) {
    if (!text) return {};
    // JSON may hold a NUL, the database may not.
    for (size_t at; (at = text->find('\0')) != std::string::npos;) text->replace(at, 1, "\xef\xbf\xbd");
    if (!is_clean_text(*text, limit))
        return invalid(fmt::format("{} must be UTF-8 text of at most {} bytes", what, limit));
    return {};
}

Result<> check_experiment_eval(ExperimentEval& eval) {
    eval.name = TRY(checked_title("name", eval.name));
    if (eval.score && !std::isfinite(*eval.score)) return invalid("score must be a finite number");
    TRY(check_text("label", eval.label, 10'000));
    TRY(check_text("explanation", eval.explanation, largest_eval_text));
    TRY(check_text("error", eval.error, 1 << 20));
    TRY(check_text("trace_id", eval.trace_id, 200));
    if (!eval.metadata.is_object()) return invalid("metadata must be an object");
    if (json::print(eval.metadata).size() > 1 << 20) return invalid("metadata must be at most 1 MiB of JSON");
    return {};
}

Result<int64_t> position_after(const PageRequest& page) {
    const std::string after = TRY(page.after());
    if (after.empty()) return int64_t{-1};
    const auto number = parse_integer(after);
    if (!number.ok() || number.value() < 0) return invalid("cursor is not valid for this list");
    return number;
}

} // namespace

Result<ExperimentRunId> Experiments::add_run(const Caller& caller, ExperimentRun run) {
    const Experiment of = TRY(find(caller, run.experiment_id, Permission::experiment_write));
    if (run.repetition < 1 || run.repetition > of.repetitions)
        return invalid(fmt::format("repetition_number must be between 1 and {}", of.repetitions));
    if (run.ended_at < run.started_at) return invalid("end_time must not be before start_time");
    if (run.output.size() > largest_output)
        return too_large(fmt::format("output must be at most {} MiB of JSON", largest_output >> 20));
    TRY(check_text("error", run.error, 1 << 20));
    TRY(check_text("trace_id", run.trace_id, 200));
    const ExperimentRunId made = make_id<ExperimentRunTag>(m_clock);
    const Time now = m_clock.now();
    return m_database.write([&](sql::Transaction& transaction) -> Result<ExperimentRunId> {
        const auto is_part = TRY(transaction.query(
            "SELECT 1 FROM experiment_examples WHERE experiment_id = ? AND example_id = ?", of.id, run.example_id));
        if (is_part.empty()) return not_found("example " + run.example_id.text() + " of this experiment");
        const auto stored = TRY(transaction.query(
            "INSERT INTO experiment_runs (id, experiment_id, example_id, repetition, output, error, trace_id, "
            "started_at, ended_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (experiment_id, "
            "example_id, repetition) DO UPDATE SET output = excluded.output, error = excluded.error, trace_id = "
            "excluded.trace_id, started_at = excluded.started_at, ended_at = excluded.ended_at, created_at = "
            "excluded.created_at WHERE experiment_runs.error IS NOT NULL RETURNING id",
            made, of.id, run.example_id, run.repetition, run.output, run.error, run.trace_id, run.started_at,
            run.ended_at, now));
        if (stored.empty())
            return conflict(fmt::format("a run of repetition {} of example {} already exists with a successful result",
                                        run.repetition, run.example_id.text()));
        const auto id = stored.front().id<ExperimentRunTag>(0);
        // Evals of the failed run that this one replaces.
        if (id != made) {
            TRY(transaction.execute("DELETE FROM experiment_evals WHERE run_id = ?", id));
            TRY(transaction.execute("DELETE FROM experiment_corrections WHERE run_id = ?", id));
        }
        return id;
    });
}

Result<ExperimentEvalId> Experiments::store_eval(sql::Transaction& transaction, const Caller& caller,
                                                 const ExperimentEval& eval) const {
    const auto absent = [&] { return not_found("experiment run " + eval.run_id.text()); };
    const auto of = TRY(transaction.query("SELECT x.id, x.space_id FROM experiment_runs r JOIN experiments x ON "
                                          "x.id = r.experiment_id WHERE r.id = ?",
                                          eval.run_id));
    if (of.empty()) return absent();
    const auto allowed = caller.require(Permission::experiment_write, of.front().id<access::SpaceTag>(1));
    if (!allowed.ok()) return allowed.error().code == Code::not_found ? absent() : allowed.error();
    const auto stored = TRY(transaction.query(
        "INSERT INTO experiment_evals (id, run_id, experiment_id, name, kind, label, score, explanation, error, "
        "metadata, trace_id, started_at, ended_at, created_at, evaluator) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ?, "
        "?) ON "
        "CONFLICT (run_id, name) DO UPDATE SET kind = excluded.kind, label = excluded.label, score = excluded.score, "
        "explanation = excluded.explanation, error = excluded.error, metadata = excluded.metadata, trace_id = "
        "excluded.trace_id, started_at = excluded.started_at, ended_at = excluded.ended_at, created_at = "
        "excluded.created_at, evaluator = excluded.evaluator RETURNING id",
        make_id<ExperimentEvalTag>(m_clock), eval.run_id, of.front().text(0), eval.name, name_of(eval.kind), eval.label,
        eval.score, eval.explanation, eval.error, json::print(eval.metadata), eval.trace_id, eval.started_at,
        eval.ended_at, m_clock.now(), eval.evaluator));
    return stored.front().id<ExperimentEvalTag>(0);
}

Result<ExperimentEvalId> Experiments::set_eval(const Caller& caller, ExperimentEval eval) {
    TRY(check_experiment_eval(eval));
    return m_database.write([&](sql::Transaction& transaction) { return store_eval(transaction, caller, eval); });
}

Result<> Experiments::set_evals(const Caller& caller, std::vector<ExperimentEval> evals) {
    for (ExperimentEval& eval : evals) TRY(check_experiment_eval(eval));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const ExperimentEval& eval : evals) {
            const auto stored = store_eval(transaction, caller, eval);
            if (!stored.ok() && stored.error().code != Code::not_found) return stored.error();
            // Several results replace the failure that was stored under the name of the evaluator.
            if (eval.evaluator && *eval.evaluator != eval.name)
                TRY(transaction.execute(
                    "DELETE FROM experiment_evals WHERE run_id = ? AND name = ? AND error IS NOT NULL", eval.run_id,
                    *eval.evaluator));
        }
        return {};
    });
}

Result<std::vector<ExperimentRun>> Experiments::runs(const Caller& caller, const ExperimentId& id,
                                                     const std::string& after, int64_t limit) const {
    TRY(find(caller, id));
    std::vector<ExperimentRun> found;
    for (const auto& row : TRY(m_database.query("SELECT " + sql::names(run_columns) +
                                                    " FROM experiment_runs WHERE experiment_id = ? AND id > ? ORDER BY "
                                                    "id LIMIT ?",
                                                id, after, limit)))
        found.push_back(sql::read<ExperimentRun>(run_columns, row));
    return found;
}

Result<std::vector<Example>> Experiments::examples_at(const ExperimentId& id, int64_t after, int64_t limit) const {
    std::vector<Example> found;
    for (const auto& row : TRY(m_database.query(
             "SELECT " + std::string(example_columns) +
                 " FROM experiment_examples x JOIN dataset_examples e ON e.id = x.example_id JOIN dataset_revisions r "
                 "ON r.example_id = x.example_id AND r.version = x.revision WHERE x.experiment_id = ? AND x.position > "
                 "? ORDER BY x.position LIMIT ?",
             id, after, limit)))
        found.push_back(example_of(row));
    return found;
}

Result<std::vector<RunRecord>> Experiments::records(const Caller& caller, const ExperimentId& id, int64_t after,
                                                    int64_t limit) const {
    TRY(find(caller, id));
    const auto examples = TRY(examples_at(id, after, limit));
    std::vector<RunRecord> records;
    if (examples.empty()) return records;
    std::map<ExampleId, const Example*> by_id;
    for (const Example& example : examples) by_id[example.id] = &example;
    std::map<ExperimentRunId, size_t> by_run;
    for (const auto& row : TRY(m_database.query(
             "SELECT " + sql::names(run_columns, "r.") +
                 " FROM experiment_runs r JOIN experiment_examples x ON x.experiment_id = r.experiment_id AND "
                 "x.example_id = r.example_id WHERE r.experiment_id = ? AND x.position >= ? AND x.position <= ? ORDER "
                 "BY x.position, r.repetition",
             id, examples.front().position, examples.back().position))) {
        RunRecord record;
        record.run = sql::read<ExperimentRun>(run_columns, row);
        const auto example = by_id.find(record.run.example_id);
        if (example == by_id.end()) continue;
        record.example = *example->second;
        by_run[record.run.id] = records.size();
        records.push_back(std::move(record));
    }
    for (const auto& row : TRY(m_database.query(
             "SELECT " + sql::names(eval_columns, "v.") +
                 " FROM experiment_evals v JOIN experiment_runs r ON r.id = v.run_id JOIN experiment_examples x ON "
                 "x.experiment_id = r.experiment_id AND x.example_id = r.example_id WHERE v.experiment_id = ? AND "
                 "x.position >= ? AND x.position <= ? ORDER BY v.name",
             id, examples.front().position, examples.back().position))) {
        auto eval = sql::read<ExperimentEval>(eval_columns, row);
        if (const auto run = by_run.find(eval.run_id); run != by_run.end())
            records[run->second].evals.push_back(std::move(eval));
    }
    TRY(add_corrections(id, examples.front().position, examples.back().position, by_run, records));
    return records;
}

Result<std::vector<RunRecord>> Experiments::records_of(const Caller& caller, const ExperimentId& id,
                                                       const ExampleId& example) const {
    TRY(find(caller, id));
    const auto rows = TRY(m_database.query(
        "SELECT position FROM experiment_examples WHERE experiment_id = ? AND example_id = ?", id, example));
    if (rows.empty()) return not_found("example " + example.text() + " of this experiment");
    return records(caller, id, rows.front().integer(0) - 1, 1);
}

Result<std::optional<int64_t>> Experiments::next_position(const Caller& caller, const ExperimentId& id, int64_t after,
                                                          int64_t examples) const {
    TRY(find(caller, id));
    const auto rows = TRY(m_database.query("SELECT position FROM experiment_examples WHERE experiment_id = ? AND "
                                           "position > ? ORDER BY position LIMIT ?",
                                           id, after, examples));
    if (rows.size() < static_cast<size_t>(examples)) return std::optional<int64_t>();
    return std::optional(rows[rows.size() - 1].integer(0));
}

Result<std::vector<std::string>> Experiments::eval_names(const Caller& caller, const ExperimentId& id) const {
    TRY(find(caller, id));
    std::vector<std::string> names;
    for (const auto& row :
         TRY(m_database.query("SELECT DISTINCT name FROM experiment_evals WHERE experiment_id = ? ORDER BY name", id)))
        names.push_back(row.text(0));
    return names;
}

Result<Page<IncompleteRun>> Experiments::incomplete_runs(const Caller& caller, const ExperimentId& id,
                                                         const PageRequest& page) const {
    const Experiment of = TRY(find(caller, id));
    const int64_t after = TRY(position_after(page));
    const auto examples = TRY(m_database.query(
        "SELECT " + std::string(example_columns) +
            " FROM experiment_examples x JOIN dataset_examples e ON e.id = x.example_id JOIN dataset_revisions r ON "
            "r.example_id = x.example_id AND r.version = x.revision WHERE x.experiment_id = ? AND x.position > ? AND "
            "(SELECT COUNT(*) FROM experiment_runs n WHERE n.experiment_id = x.experiment_id AND n.example_id = "
            "x.example_id AND n.error IS NULL) < ? ORDER BY x.position LIMIT ?",
        id, after, of.repetitions, page.limit + 1));
    std::vector<IncompleteRun> found;
    for (const auto& row : examples) {
        IncompleteRun one{example_of(row), {}};
        std::set<int64_t> good;
        for (const auto& run : TRY(m_database.query("SELECT repetition FROM experiment_runs WHERE experiment_id = ? "
                                                    "AND example_id = ? AND error IS NULL",
                                                    id, one.example.id)))
            good.insert(run.integer(0));
        for (int64_t repetition = 1; repetition <= of.repetitions; ++repetition)
            if (!good.contains(repetition)) one.repetitions.push_back(repetition);
        found.push_back(std::move(one));
    }
    return access::make_page(std::move(found), page,
                             [](const IncompleteRun& one) { return std::to_string(one.example.position); });
}

Result<Page<IncompleteEvaluation>> Experiments::incomplete_evaluations(const Caller& caller, const ExperimentId& id,
                                                                       const std::vector<std::string>& names,
                                                                       const PageRequest& page) const {
    TRY(find(caller, id));
    if (names.empty()) return invalid("evaluation_name is missing: name at least one evaluation");
    if (names.size() > 100) return invalid("evaluation_name is given more than 100 times");
    const std::set<std::string> wanted(names.begin(), names.end());
    for (const std::string& name : wanted)
        if (!is_clean_text(name, 300)) return invalid("evaluation_name must be UTF-8 text of at most 300 bytes");
    const std::string after = TRY(page.after());
    std::string sql = "SELECT " + sql::names(run_columns, "n.") + ", " + std::string(example_columns) +
                      " FROM experiment_runs n JOIN experiment_examples x ON x.experiment_id = n.experiment_id AND "
                      "x.example_id = n.example_id JOIN dataset_examples e ON e.id = x.example_id JOIN "
                      "dataset_revisions r ON r.example_id = x.example_id AND r.version = x.revision WHERE "
                      "n.experiment_id = ? AND n.id > ? AND n.error IS NULL AND (SELECT COUNT(*) FROM experiment_evals "
                      "v WHERE v.run_id = n.id AND v.error IS NULL AND v.name IN (" +
                      sql::marks(wanted.size()) + ")) < ? ORDER BY n.id LIMIT ?";
    std::vector<sql::Value> values{sql::to_value(id), sql::to_value(after)};
    for (const std::string& name : wanted) values.push_back(sql::to_value(name));
    values.push_back(sql::to_value(static_cast<int64_t>(wanted.size())));
    values.push_back(sql::to_value(page.limit + 1));
    std::vector<IncompleteEvaluation> found;
    for (const auto& row : TRY(m_database.run_query(sql, values))) {
        IncompleteEvaluation one;
        one.run = sql::read<ExperimentRun>(run_columns, row);
        one.example = example_of(row, sql::width(run_columns));
        std::set<std::string> missing = wanted;
        for (const auto& there :
             TRY(m_database.query("SELECT name FROM experiment_evals WHERE run_id = ? AND error IS NULL", one.run.id)))
            missing.erase(there.text(0));
        one.names.assign(missing.begin(), missing.end());
        found.push_back(std::move(one));
    }
    return access::make_page(std::move(found), page, [](const IncompleteEvaluation& one) { return one.run.id.text(); });
}

} // namespace hone::evaluate
