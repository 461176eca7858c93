#include "evaluate/pairs/pair_tasks.h"

#include "evaluate/experiments/experiment_rows.h"
#include "evaluate/prompts/model_session.h"

#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr int64_t largest_pair_budget = 1'000'000'000'000;

constexpr std::string_view select_pair_task =
    "SELECT t.id, t.space_id, t.base_id, t.other_id, t.evaluator_id, t.number, t.name, t.concurrency, t.budget_tokens, "
    "t.budget_micro_usd, t.state, t.reason, t.started_by_name, t.created_at, t.started_at, t.ended_at, t.attempt_at "
    "FROM pair_tasks t";

// Pairs of runs with an output, of examples with the same content in both experiments.
constexpr std::string_view paired_runs =
    " FROM experiment_runs b JOIN experiment_runs o ON o.experiment_id = ? AND o.example_id = b.example_id AND "
    "o.repetition = b.repetition AND o.error IS NULL JOIN experiment_examples x ON x.experiment_id = b.experiment_id "
    "AND x.example_id = b.example_id JOIN experiment_examples y ON y.experiment_id = o.experiment_id AND y.example_id "
    "= o.example_id AND y.revision = x.revision";

PairTask pair_task_of(const sql::Row& row) {
    PairTask task;
    task.id = row.id<PairTaskTag>(0);
    task.space_id = row.id<access::SpaceTag>(1);
    task.base = row.id<ExperimentTag>(2);
    task.other = row.id<ExperimentTag>(3);
    task.evaluator_id = row.id<EvaluatorTag>(4);
    task.number = row.integer(5);
    task.name = row.text(6);
    task.concurrency = row.integer(7);
    task.budget_tokens = row.optional_integer(8);
    task.budget_micro_usd = row.optional_integer(9);
    task.state = parse_enum<TaskState>(row.text(10)).value_or(TaskState::failed);
    task.reason = row.text(11);
    task.started_by = row.text(12);
    task.created_at = row.time(13);
    task.started_at = row.optional_time(14);
    task.ended_at = row.optional_time(15);
    task.attempt_at = row.time(16);
    return task;
}

PairEval pair_eval_of(const sql::Row& row) {
    PairEval pair;
    pair.example_id = row.id<ExampleTag>(0);
    pair.repetition = row.integer(1);
    pair.base_run_id = row.id<ExperimentRunTag>(2);
    pair.other_run_id = row.id<ExperimentRunTag>(3);
    if (const auto winner = row.optional_text(4)) pair.winner = parse_enum<PairWinner>(*winner);
    pair.first_label = row.text(5);
    pair.swapped_label = row.text(6);
    pair.explanation = row.text(7);
    pair.swapped_explanation = row.text(8);
    pair.error = row.text(9);
    pair.cached = row.integer(10) != 0;
    pair.tokens = row.integer(11);
    pair.cost_nano_usd = row.optional_integer(12);
    pair.duration_ms = row.integer(13);
    pair.trace_id = row.text(14);
    pair.swapped_trace_id = row.text(15);
    pair.estimated_tokens = row.integer(16);
    return pair;
}

Result<> check_pair_budgets(std::optional<int64_t> tokens, std::optional<int64_t> micro_usd) {
    for (const auto& [name, limit] : {std::pair("budget_tokens", tokens), std::pair("budget_micro_usd", micro_usd)})
        if (limit && (*limit < 1 || *limit > largest_pair_budget))
            return invalid(fmt::format("{} must be between 1 and {}", name, largest_pair_budget));
    return {};
}

} // namespace

Result<PairTask> PairTasks::start(const Caller& caller, const ExperimentId& base_id, const ExperimentId& other_id,
                                  const EvaluatorVersion& version, const PairLimits& limits) {
    const Experiment base = TRY(m_experiments.find(caller, base_id, Permission::experiment_write));
    const Experiment other = TRY(m_experiments.find(caller, other_id, Permission::experiment_write));
    if (base.id == other.id) return invalid("base and other are the same experiment");
    if (base.dataset_id != other.dataset_id)
        return invalid("the experiments are on different datasets: they have no example in common");
    if (version.space_id != base.space_id) return not_found("evaluator " + version.name);
    if (!version.is_pairwise())
        return invalid("evaluator " + version.name +
                       " evaluates one output, not two: make one from the built-in `pairwise`, or with \"pairwise\": "
                       "true and the variables {{a}} and {{b}}");
    TRY(caller.require(Permission::run_start, base.space_id)); // it spends money
    if (limits.concurrency < 1 || limits.concurrency > 16) return invalid("concurrency must be between 1 and 16");
    TRY(check_pair_budgets(limits.budget_tokens, limits.budget_micro_usd));
    const PairTaskId id = make_id<PairTaskTag>(m_clock);
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto same = TRY(transaction.query(
            "SELECT id FROM pair_tasks WHERE evaluator_id = ? AND number = ? AND ((base_id = ? AND other_id = ?) OR "
            "(base_id = ? AND other_id = ?))",
            version.evaluator_id, version.number, base_id, other_id, other_id, base_id));
        if (!same.empty())
            return conflict(fmt::format("version {} of {} compares these experiments already; resume {} to compare "
                                        "what is missing or failed",
                                        version.number, version.name, same.front().text(0)));
        TRY(transaction.execute(
            "INSERT INTO pair_tasks (id, space_id, base_id, other_id, evaluator_id, number, name, concurrency, "
            "budget_tokens, budget_micro_usd, state, reason, server, lease_until, attempt_at, started_by_name, "
            "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', '', '', 0, ?, ?, ?)",
            id, base.space_id, base_id, other_id, version.evaluator_id, version.number, version.name,
            limits.concurrency, limits.budget_tokens, limits.budget_micro_usd, now, caller.name, now));
        return m_access.audit.record(transaction, caller,
                                     {"pair_task_start",
                                      base.space_id,
                                      id.text(),
                                      {{"evaluator", version.name}, {"base", base.name}, {"other", other.name}}});
    }));
    return find(Caller::system(), id);
}

Result<PairTask> PairTasks::stop(const Caller& caller, const PairTaskId& id) {
    const PairTask task = TRY(find(caller, id, Permission::experiment_write));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed =
            TRY(transaction.execute("UPDATE pair_tasks SET state = 'stopped', reason = ?, ended_at = ? WHERE id = ? "
                                    "AND state IN ('queued', 'running')",
                                    "stopped by " + caller.name, m_clock.now(), id));
        if (changed == 0) return conflict("the comparison does not run: it is " + std::string(name_of(task.state)));
        return m_access.audit.record(transaction, caller, {"pair_task_stop", task.space_id, id.text(), {}});
    }));
    return find(caller, id);
}

Result<PairTask> PairTasks::resume(const Caller& caller, const PairTaskId& id, std::optional<int64_t> budget_tokens,
                                   std::optional<int64_t> budget_micro_usd) {
    const PairTask task = TRY(find(caller, id, Permission::experiment_write));
    TRY(caller.require(Permission::run_start, task.space_id));
    TRY(check_pair_budgets(budget_tokens, budget_micro_usd));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed = TRY(transaction.execute(
            "UPDATE pair_tasks SET state = 'queued', reason = '', ended_at = NULL, attempt_at = ?, budget_tokens = "
            "COALESCE(?, budget_tokens), budget_micro_usd = COALESCE(?, budget_micro_usd) WHERE id = ? AND state NOT "
            "IN ('queued', 'running')",
            m_clock.now(), budget_tokens, budget_micro_usd, id));
        if (changed == 0) return conflict("the comparison is " + std::string(name_of(task.state)) + " already");
        return m_access.audit.record(transaction, caller, {"pair_task_resume", task.space_id, id.text(), {}});
    }));
    return find(caller, id);
}

Result<> PairTasks::remove(const Caller& caller, const PairTaskId& id) {
    const PairTask task = TRY(find(caller, id, Permission::experiment_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM pair_tasks WHERE id = ?", id));
        return m_access.audit.record(transaction, caller, {"pair_task_delete", task.space_id, id.text(), {}});
    });
}

Result<> PairTasks::add_counts(PairTask& task) const {
    const auto expected = TRY(m_database.query("SELECT COUNT(*)" + std::string(paired_runs) +
                                                   " WHERE b.experiment_id = ? AND b.error IS NULL",
                                               task.other, task.base));
    task.expected = expected.front().integer(0);
    const auto changed = TRY(m_database.query(
        "SELECT COUNT(*) FROM experiment_examples x JOIN experiment_examples y ON y.experiment_id = ? AND y.example_id "
        "= x.example_id AND y.revision <> x.revision WHERE x.experiment_id = ?",
        task.other, task.base));
    task.changed = changed.front().integer(0);
    const auto counts =
        TRY(m_database.query("SELECT COUNT(winner), COUNT(*) FROM pair_evals WHERE task_id = ?", task.id));
    task.done = counts.front().integer(0);
    task.failed = counts.front().integer(1) - task.done;
    if (m_sources == nullptr || m_sources->models() == nullptr) return {};
    const ModelSpending spent = TRY(m_sources->models()->spent(task.id.text()));
    task.spent_tokens = spent.tokens;
    task.spent_micro_usd = spent.cost_nano_usd / 1000;
    return {};
}

Result<PairTask> PairTasks::find(const Caller& caller, const PairTaskId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(std::string(select_pair_task) + " WHERE t.id = ?", id));
    if (rows.empty()) return not_found("comparison " + id.text());
    PairTask task = pair_task_of(rows.front());
    const auto base = m_experiments.find(caller, task.base, permission);
    if (!base.ok() && base.error().code == Code::not_found) return not_found("comparison " + id.text());
    if (!base.ok()) return base.error();
    TRY(add_counts(task));
    return task;
}

Result<std::vector<PairTask>> PairTasks::list(const Caller& caller, const ExperimentId& experiment) const {
    TRY(m_experiments.find(caller, experiment));
    std::vector<PairTask> tasks;
    for (const auto& row : TRY(m_database.query(std::string(select_pair_task) +
                                                    " WHERE t.base_id = ? OR t.other_id = ? ORDER BY t.id DESC LIMIT "
                                                    "200",
                                                experiment, experiment)))
        tasks.push_back(pair_task_of(row));
    for (PairTask& task : tasks) TRY(add_counts(task));
    return tasks;
}

Result<std::vector<PairEval>> PairTasks::read_pairs(const PairTaskId& id, const std::string& condition,
                                                    const std::vector<sql::Value>& values) const {
    std::vector<sql::Value> bound{sql::to_value(id)};
    bound.insert(bound.end(), values.begin(), values.end());
    std::vector<PairEval> pairs;
    for (const auto& row : TRY(m_database.run_query(
             "SELECT p.example_id, p.repetition, p.base_run_id, p.other_run_id, p.winner, p.first_label, "
             "p.swapped_label, p.explanation, p.swapped_explanation, p.error, p.cached, p.tokens, p.cost_nano_usd, "
             "p.duration_ms, p.trace_id, p.swapped_trace_id, p.estimated_tokens FROM pair_evals p WHERE p.task_id = ?" +
                 condition,
             bound)))
        pairs.push_back(pair_eval_of(row));
    std::map<std::pair<ExampleId, int64_t>, PairEval*> places;
    for (PairEval& pair : pairs) places.emplace(std::pair(pair.example_id, pair.repetition), &pair);
    for (const auto& row : TRY(m_database.query(
             "SELECT p.example_id, p.repetition, l.user_name, l.winner FROM pair_evals p JOIN pair_labels l ON "
             "l.base_run_id = p.base_run_id AND l.other_run_id = p.other_run_id WHERE p.task_id = ?",
             id)))
        if (const auto place = places.find({row.id<ExampleTag>(0), row.integer(1)}); place != places.end())
            place->second->people[row.text(2)] = row.text(3);
    return pairs;
}

Result<access::Page<PairEval>> PairTasks::pairs(const Caller& caller, const PairTaskId& id, const PairFilter& filter,
                                                const access::PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const size_t space = after.find(' ');
    const auto number =
        space == std::string::npos ? Result<int64_t>(int64_t{0}) : parse_integer(after.substr(space + 1));
    if (!number.ok()) return invalid("cursor is not one of this list");
    std::vector<sql::Value> values{sql::to_value(after.substr(0, space)), sql::to_value(number.value())};
    std::string condition = " AND (p.example_id, p.repetition) > (?, ?)";
    if (filter.winner) {
        condition += " AND p.winner = ?";
        values.push_back(sql::to_value(std::string(name_of(*filter.winner))));
    }
    if (filter.example) {
        condition += " AND p.example_id = ?";
        values.push_back(sql::to_value(*filter.example));
    }
    values.push_back(sql::to_value(page.limit + 1));
    auto found = TRY(read_pairs(id, condition + " ORDER BY p.example_id, p.repetition LIMIT ?", values));
    return access::make_page(std::move(found), page, [](const PairEval& pair) {
        return pair.example_id.text() + " " + std::to_string(pair.repetition);
    });
}

Result<PairEval> PairTasks::label(const Caller& caller, const PairTaskId& id, const ExampleId& example,
                                  int64_t repetition, PairWinner winner) {
    const PairTask task = TRY(find(caller, id));
    TRY(caller.require(Permission::queue_answer, task.space_id));
    if (winner != PairWinner::base && winner != PairWinner::other && winner != PairWinner::tie)
        return invalid("winner must be base, other or tie");
    const std::vector<sql::Value> place{sql::to_value(example), sql::to_value(repetition)};
    const std::string condition = " AND p.example_id = ? AND p.repetition = ?";
    const auto found = TRY(read_pairs(id, condition, place));
    if (found.empty())
        return not_found(fmt::format("a compared pair of example {}, repetition {}", example.text(), repetition));
    if (!caller.run.empty() || caller.user.empty())
        return forbidden("labels are given by people: log in, or use a personal key");
    TRY(m_database.execute(
        "INSERT INTO pair_labels (base_run_id, other_run_id, user_id, user_name, winner, created_at) VALUES (?, ?, ?, "
        "?, ?, ?) ON CONFLICT (base_run_id, other_run_id, user_id) DO UPDATE SET winner = excluded.winner, user_name = "
        "excluded.user_name, created_at = excluded.created_at",
        found.front().base_run_id, found.front().other_run_id, caller.user, caller.name, name_of(winner),
        m_clock.now()));
    return TRY(read_pairs(id, condition, place)).front();
}

Result<std::vector<PairResults>> PairTasks::results(const Caller& caller, const ExperimentId& base,
                                                    const ExperimentId& other) const {
    TRY(m_experiments.find(caller, base));
    TRY(m_experiments.find(caller, other));
    std::vector<PairTask> tasks;
    for (const auto& row : TRY(m_database.query(std::string(select_pair_task) +
                                                    " WHERE (t.base_id = ? AND t.other_id = ?) OR (t.base_id = ? AND "
                                                    "t.other_id = ?) ORDER BY t.name, t.number, t.id",
                                                base, other, other, base)))
        tasks.push_back(pair_task_of(row));
    std::vector<PairResults> all;
    for (PairTask& task : tasks) {
        TRY(add_counts(task));
        PairResults results = summarize_pairs(TRY(read_pairs(task.id, "", {})));
        PairSummary& summary = results.summary;
        summary.task_id = task.id;
        summary.name = task.name;
        summary.evaluator_id = task.evaluator_id.text();
        summary.version = task.number;
        summary.state = std::string(name_of(task.state));
        summary.reason = task.reason;
        summary.expected_pairs = task.expected;
        if (task.base != base) mirror(results);
        all.push_back(std::move(results));
    }
    return all;
}

Result<std::optional<PairTaskId>> PairTasks::claim(const std::string& server) {
    const Time now = m_clock.now();
    const auto due = TRY(m_database.query("SELECT id FROM pair_tasks WHERE state IN ('queued', 'running') AND "
                                          "lease_until < ? ORDER BY created_at, id LIMIT 20",
                                          now));
    for (const auto& row : due) {
        // The server that changes the lease first has it.
        const auto claimed = TRY(m_database.execute(
            "UPDATE pair_tasks SET state = 'running', server = ?, lease_until = ?, started_at = COALESCE(started_at, "
            "?) WHERE id = ? AND state IN ('queued', 'running') AND lease_until < ?",
            server, now + lease, now, row.text(0), now));
        if (claimed > 0) return std::optional(row.id<PairTaskTag>(0));
    }
    return std::optional<PairTaskId>();
}

Result<bool> PairTasks::renew(const PairTaskId& id, const std::string& server) {
    const auto kept =
        TRY(m_database.execute("UPDATE pair_tasks SET lease_until = ? WHERE id = ? AND server = ? AND state = "
                               "'running'",
                               m_clock.now() + lease, id, server));
    return kept > 0;
}

Result<> PairTasks::end(const PairTaskId& id, const std::string& server, TaskState state, const std::string& reason) {
    TRY(m_database.execute("UPDATE pair_tasks SET state = ?, reason = ?, ended_at = ? WHERE id = ? AND server = ? AND "
                           "state = 'running'",
                           name_of(state), std::string(truncate_utf8(reason, 2000)), m_clock.now(), id, server));
    return release(id, server);
}

Result<> PairTasks::release(const PairTaskId& id, const std::string& server) {
    TRY(m_database.execute("UPDATE pair_tasks SET lease_until = 0 WHERE id = ? AND server = ?", id, server));
    return {};
}

Result<std::vector<PendingPair>> PairTasks::pending(const PairTask& task, const ExampleId& after_example,
                                                    int64_t after_repetition, int64_t limit) const {
    std::vector<PendingPair> found;
    for (const auto& row : TRY(m_database.query(
             "SELECT " + std::string(example_columns) + ", b.repetition, b.id, o.id, b.output, o.output" +
                 std::string(paired_runs) +
                 " JOIN dataset_examples e ON e.id = x.example_id JOIN dataset_revisions r ON r.example_id = "
                 "x.example_id AND r.version = x.revision WHERE b.experiment_id = ? AND b.error IS NULL AND "
                 "(b.example_id, b.repetition) > (?, ?) AND NOT EXISTS (SELECT 1 FROM pair_evals p WHERE p.task_id = ? "
                 "AND p.example_id = b.example_id AND p.repetition = b.repetition AND (p.winner IS NOT NULL OR "
                 "p.created_at >= ?)) ORDER BY b.example_id, b.repetition LIMIT ?",
             task.other, task.base, after_example, after_repetition, task.id, task.attempt_at, limit))) {
        PendingPair pair;
        pair.example = example_of(row);
        pair.repetition = row.integer(10);
        pair.base_run_id = row.id<ExperimentRunTag>(11);
        pair.other_run_id = row.id<ExperimentRunTag>(12);
        pair.base_output = row.text(13);
        pair.other_output = row.text(14);
        found.push_back(std::move(pair));
    }
    return found;
}

Result<> PairTasks::store(const PairTaskId& id, const PairEval& pair) const {
    std::optional<std::string> winner;
    if (pair.winner) winner = std::string(name_of(*pair.winner));
    // A task that was deleted meanwhile keeps nothing.
    TRY(m_database.execute(
        "INSERT INTO pair_evals (task_id, example_id, repetition, base_run_id, other_run_id, winner, first_label, "
        "swapped_label, explanation, swapped_explanation, error, cached, tokens, cost_nano_usd, duration_ms, trace_id, "
        "swapped_trace_id, estimated_tokens, created_at) SELECT t.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
        "?, ? FROM pair_tasks t "
        "WHERE t.id = ? ON CONFLICT (task_id, example_id, repetition) DO UPDATE SET winner = excluded.winner, "
        "first_label = excluded.first_label, swapped_label = excluded.swapped_label, explanation = "
        "excluded.explanation, swapped_explanation = excluded.swapped_explanation, error = excluded.error, cached = "
        "excluded.cached, tokens = excluded.tokens, estimated_tokens = excluded.estimated_tokens, cost_nano_usd = "
        "excluded.cost_nano_usd, duration_ms = excluded.duration_ms, trace_id = excluded.trace_id, swapped_trace_id = "
        "excluded.swapped_trace_id, created_at "
        "= excluded.created_at WHERE pair_evals.winner IS NULL",
        pair.example_id, pair.repetition, pair.base_run_id, pair.other_run_id, winner, pair.first_label,
        pair.swapped_label, pair.explanation, pair.swapped_explanation, std::string(truncate_utf8(pair.error, 2000)),
        int64_t{pair.cached}, pair.tokens, pair.cost_nano_usd, pair.duration_ms, pair.trace_id, pair.swapped_trace_id,
        pair.estimated_tokens, m_clock.now(), id));
    return {};
}

} // namespace hone::evaluate
