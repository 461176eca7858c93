#include "evaluate/runner/experiment_tasks.h"

#include "evaluate/experiments/experiment_rows.h"
#include "evaluate/judges/judge.h"
#include "evaluate/runner/prompt_task.h"
#include "net/http/url.h"
#include "sandbox/provider/spec.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr size_t most_task_files = 200;
constexpr size_t largest_task_files = 2 << 20;
constexpr size_t most_evaluators = 20;

// A path below the working directory: no empty, `.` or `..` part.
bool is_plain_relative_path(const std::string& path) {
    return !path.empty() && path.size() <= 400 && path.front() != '/' && is_valid_utf8(path) &&
           sandbox::is_clean_absolute_path("/" + path);
}

Result<> check_files(const TaskDefinition& task) {
    if (task.files.value.size() > most_task_files)
        return invalid(fmt::format("files has at most {} files; use a repository for more", most_task_files));
    size_t bytes = 0;
    for (const auto& [path, content] : *task.files) {
        if (!is_plain_relative_path(path))
            return invalid(
                fmt::format("files: \"{}\" is not a path below the working directory", truncate_utf8(path, 100)));
        bytes += content.size();
    }
    if (bytes > largest_task_files) return too_large("files has at most 2 MiB together; use a repository for more");
    return {};
}

Result<> check_command(const TaskDefinition& task) {
    if (trim(*task.command).empty()) return invalid("command is empty: give the shell command that runs an example");
    if (task.command.value.size() > 10'000 || task.command.value.find('\0') != std::string::npos)
        return invalid("command has at most 10000 bytes of text");
    if (!task.url.value.empty()) return invalid("give a command or a url, not both");
    if (!task.ref.value.empty() && task.repo.value.empty()) return invalid("ref needs a repo");
    if (task.ref.value.size() > 250 || task.ref.value.starts_with("-"))
        return invalid("ref is not a branch, tag or commit");
    if (*task.image != "host" && !sandbox::is_plain_name(*task.image))
        return invalid("image is not the name of an image");
    for (const auto& [name, value] : *task.env)
        if (!sandbox::is_environment_name(name) || value.find('\0') != std::string::npos || value.size() > 10'000)
            return invalid("env: " + std::string(truncate_utf8(name, 60)) + " is not a usable environment variable");
    if (task.env.value.size() > 100) return invalid("env has at most 100 variables");
    return check_files(task);
}

Result<> check_budget(const TaskBudget& budget) {
    if (budget.seconds && (*budget.seconds < 1 || *budget.seconds > 30 * 86'400))
        return invalid("budget_seconds must be between 1 and 2592000");
    if (budget.micro_usd && (*budget.micro_usd < 1 || *budget.micro_usd > 1'000'000'000'000))
        return invalid("budget_micro_usd must be between 1 and 1000000000000");
    return {};
}

Result<> check_url(const TaskDefinition& task) {
    const net::Url url = TRY(net::parse_url(*task.url));
    if (!url.unix_path.empty()) return invalid("url must begin with http:// or https://");
    if (!url.user_info.empty()) return invalid("url must not have a user or a password: it is stored as given");
    return {};
}

Result<> check_task(const TaskDefinition& task) {
    if (*task.timeout_ms < 100 || *task.timeout_ms > 3'600'000)
        return invalid("timeout_ms must be between 100 and 3600000");
    if (task.kind != TaskKind::prompt && (!task.prompt.value.empty() || !task.prompt_version.value.is_null()))
        return invalid("prompt and prompt_version belong to a task of kind prompt");
    const bool is_replay = task.kind == TaskKind::replay;
    if (task.replay_tools && (!is_replay || (task.command.value.empty() && task.url.value.empty())))
        return invalid("replay_tools belongs to a replay through a command or a url");
    if (task.replay_tools == ReplayTools::none) return invalid("replay_tools must be live or recorded");
    if (task.kind == TaskKind::command || (is_replay && !task.command.value.empty())) return check_command(task);
    if (!task.command.value.empty() || !task.files.value.empty() || !task.repo.value.empty())
        return invalid("command, files and repo belong to a task of kind command");
    if (task.kind == TaskKind::prompt && !task.url.value.empty()) return invalid("url belongs to a task of kind http");
    if (task.kind == TaskKind::prompt) return {}; // pin_prompt_task checks the rest
    if (task.kind == TaskKind::evaluate || (is_replay && task.url.value.empty())) return {};
    return check_url(task);
}

Result<std::pair<std::string, std::optional<int64_t>>> name_and_number(const std::string& text) {
    const size_t at = text.rfind('@');
    if (at == std::string::npos) return std::pair(text, std::optional<int64_t>());
    const auto number = parse_integer(std::string_view(text).substr(at + 1));
    if (!number.ok() || number.value() < 1)
        return invalid("evaluators: " + std::string(truncate_utf8(text, 100)) + " has no version number after @");
    return std::pair(text.substr(0, at), std::optional(number.value()));
}

constexpr std::string_view task_columns =
    "t.experiment_id, t.space_id, t.task, t.concurrency, t.budget_seconds, t.state, t.reason, t.commit_name, "
    "t.spent_ms, t.attempt_at, t.started_by_name, t.created_at, t.started_at, t.ended_at, t.budget_micro_usd, "
    "t.source_projects";

Result<ExperimentTask> experiment_task_of(const sql::Row& row) {
    ExperimentTask task;
    task.experiment_id = row.id<ExperimentTag>(0);
    task.space_id = row.id<access::SpaceTag>(1);
    task.task = TRY(json::read<TaskDefinition>(row.text(2)));
    task.concurrency = row.integer(3);
    task.budget_seconds = row.optional_integer(4);
    task.state = parse_enum<TaskState>(row.text(5)).value_or(TaskState::failed);
    task.reason = row.text(6);
    task.commit_name = row.text(7);
    task.spent_ms = row.integer(8);
    task.attempt_at = row.time(9);
    task.started_by = row.text(10);
    task.created_at = row.time(11);
    task.started_at = row.optional_time(12);
    task.ended_at = row.optional_time(13);
    task.budget_micro_usd = row.optional_integer(14);
    task.source_projects = TRY(json::read<std::vector<std::string>>(row.text(15)));
    return task;
}

} // namespace

Result<ExperimentTask> ExperimentTasks::start(const Caller& caller, const ExperimentId& id, const StartTask& wanted,
                                              const FindEvaluator& find_evaluator) {
    const Experiment of = TRY(m_experiments.find(caller, id, Permission::experiment_write));
    TaskDefinition task = wanted.task;
    TRY(check_task(task));
    if (*wanted.concurrency < 1 || *wanted.concurrency > 16) return invalid("concurrency must be between 1 and 16");
    TRY(check_budget({wanted.budget_seconds, wanted.budget_micro_usd}));
    if (wanted.budget_micro_usd && task.kind != TaskKind::prompt)
        return invalid("budget_micro_usd belongs to a task of kind prompt: others call no models through this server");
    if (wanted.evaluators.value.size() > most_evaluators)
        return invalid(fmt::format("evaluators has at most {} names", most_evaluators));
    if (task.kind == TaskKind::evaluate && wanted.evaluators.value.empty())
        return invalid("evaluators is empty: a task of kind evaluate needs at least one");
    if (task.ref.value.starts_with(pushed_prefix) && caller.kind != access::CallerKind::system)
        return invalid("ref is not a branch, tag or commit");
    if (!task.repo.value.empty()) {
        if (m_sources == nullptr) return unavailable("this server has no repositories");
        task.repo = TRY(m_sources->find_repo(caller, of.space_id, *task.repo));
    }
    if (task.kind == TaskKind::prompt) TRY(pin_prompt_task(caller, of, m_prompts, task, m_sources));
    std::vector<std::string> sources;
    if (task.kind == TaskKind::replay) sources = TRY(readable_sources(caller, of));
    std::vector<EvaluatorVersion> evaluators;
    std::set<std::string> names;
    for (const std::string& text : *wanted.evaluators) {
        const auto [name, number] = TRY(name_and_number(text));
        EvaluatorVersion found = TRY(find_evaluator(name, number));
        if (found.space_id != of.space_id) return not_found("evaluator " + std::string(truncate_utf8(name, 100)));
        if (found.kind == EvaluatorKind::rule && !task.command.value.empty())
            return invalid("evaluator " + found.name +
                           " is a rule over spans, and runs of a command have no trace: evaluate them by code");
        TRY(require_single(found));
        // Models and workers cost money: what starts a run may use them.
        if (found.kind == EvaluatorKind::llm || found.kind == EvaluatorKind::agent)
            TRY(caller.require(Permission::run_start, of.space_id));
        if (!names.insert(found.name).second) return invalid("evaluators: " + found.name + " is there twice");
        evaluators.push_back(std::move(found));
    }
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto made = TRY(transaction.execute(
            "INSERT INTO experiment_tasks (experiment_id, space_id, task, concurrency, budget_seconds, state, reason, "
            "commit_name, spent_ms, server, lease_until, attempt_at, started_by_name, created_at, budget_micro_usd, "
            "source_projects) VALUES (?, ?, ?, ?, ?, 'queued', '', '', 0, '', 0, ?, ?, ?, ?, ?) ON CONFLICT "
            "(experiment_id) DO NOTHING",
            id, of.space_id, json::write(task), *wanted.concurrency, wanted.budget_seconds, now, caller.name, now,
            wanted.budget_micro_usd, json::write(sources)));
        if (made == 0)
            return conflict("the experiment was started already; resume it to run what is missing or failed");
        if (task.kind == TaskKind::prompt)
            TRY(transaction.execute("UPDATE experiments SET metadata = ? WHERE id = ?",
                                    json::print(metadata_of_prompt_task(of, task)), id));
        int64_t position = 0;
        for (const EvaluatorVersion& version : evaluators) {
            // A rule from before versions were stored has none yet.
            TRY(EvaluatorVersions::add(transaction, version));
            TRY(transaction.execute("INSERT INTO experiment_evaluators (experiment_id, position, evaluator_id, number, "
                                    "name, project_id) VALUES (?, ?, ?, ?, ?, ?)",
                                    id, position++, version.evaluator_id, version.number, version.name,
                                    version.project_id));
        }
        return m_access.audit.record(
            transaction, caller,
            {"experiment_start", of.space_id, id.text(), {{"name", of.name}, {"kind", name_of(task.kind)}}});
    }));
    return find(caller, id);
}

Result<ExperimentTask> ExperimentTasks::stop(const Caller& caller, const ExperimentId& id) {
    const ExperimentTask task = TRY(find(caller, id, Permission::experiment_write));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed = TRY(transaction.execute(
            "UPDATE experiment_tasks SET state = 'stopped', reason = ?, ended_at = ? WHERE experiment_id = ? AND state "
            "IN ('queued', 'running')",
            "stopped by " + caller.name, now, id));
        if (changed == 0) return conflict("the experiment does not run: it is " + std::string(name_of(task.state)));
        return m_access.audit.record(transaction, caller, {"experiment_stop", task.space_id, id.text(), {}});
    }));
    return find(caller, id);
}

Result<ExperimentTask> ExperimentTasks::resume(const Caller& caller, const ExperimentId& id, const TaskBudget& budget) {
    const ExperimentTask task = TRY(find(caller, id, Permission::experiment_write));
    TRY(check_budget(budget));
    if (budget.micro_usd && task.task.kind != TaskKind::prompt)
        return invalid("budget_micro_usd belongs to a task of kind prompt");
    if (task.task.kind == TaskKind::prompt) TRY(caller.require(Permission::run_start, task.space_id));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed = TRY(transaction.execute(
            "UPDATE experiment_tasks SET state = 'queued', reason = '', ended_at = NULL, attempt_at = ?, "
            "budget_seconds "
            "= COALESCE(?, budget_seconds), budget_micro_usd = COALESCE(?, budget_micro_usd) WHERE experiment_id = ? "
            "AND state NOT IN ('queued', 'running')",
            now, budget.seconds, budget.micro_usd, id));
        if (changed == 0) return conflict("the experiment is " + std::string(name_of(task.state)) + " already");
        return m_access.audit.record(transaction, caller, {"experiment_resume", task.space_id, id.text(), {}});
    }));
    return find(caller, id);
}

Result<ExperimentTask> ExperimentTasks::find(const Caller& caller, const ExperimentId& id,
                                             Permission permission) const {
    const Experiment of = TRY(m_experiments.find(caller, id, permission));
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(task_columns) + " FROM experiment_tasks t WHERE t.experiment_id = ?", id));
    if (rows.empty()) return not_found("a task of experiment " + id.text() + " that the server runs");
    ExperimentTask task = TRY(experiment_task_of(rows.front()));
    task.expected_runs = of.example_count * of.repetitions;
    task.successful_runs = of.successful_runs;
    task.failed_runs = of.failed_runs;
    task.project_id = of.project_id.text();
    task.project_name = of.project_name;
    const auto left =
        TRY(m_database.query("SELECT COUNT(*) FROM experiment_replays WHERE experiment_id = ? AND reason <> ''", id));
    task.not_replayed = left.front().integer(0);
    for (const auto& row : TRY(m_database.query(
             "SELECT e.evaluator_id, e.number, e.name, (SELECT COUNT(DISTINCT v.run_id) FROM experiment_evals v WHERE "
             "v.experiment_id = e.experiment_id AND (v.name = e.name OR v.evaluator = e.name) AND v.error IS NULL), "
             "(SELECT COUNT(*) FROM experiment_evals v "
             "WHERE v.experiment_id = e.experiment_id AND v.name = e.name AND v.error IS NOT NULL), e.project_id FROM "
             "experiment_evaluators e WHERE e.experiment_id = ? ORDER BY e.position",
             id)))
        task.evaluators.push_back({row.id<EvaluatorTag>(0), row.integer(1), row.text(2), row.integer(3), row.integer(4),
                                   row.optional_id<access::ProjectTag>(5)});
    TRY(add_spending(task, m_sources)); // knows by its evaluators whether models are called
    return task;
}

Result<std::optional<ExperimentId>> ExperimentTasks::claim(const std::string& server) {
    const Time now = m_clock.now();
    const auto due = TRY(m_database.query(
        "SELECT experiment_id FROM experiment_tasks WHERE state IN ('queued', 'running') AND lease_until < ? ORDER BY "
        "created_at, experiment_id LIMIT 20",
        now));
    for (const auto& row : due) {
        const auto id = row.id<ExperimentTag>(0);
        // The server that changes the lease first has it.
        const auto claimed = TRY(m_database.execute(
            "UPDATE experiment_tasks SET state = 'running', server = ?, lease_until = ?, started_at = "
            "COALESCE(started_at, ?) WHERE experiment_id = ? AND state IN ('queued', 'running') AND lease_until < ?",
            server, now + lease, now, id, now));
        if (claimed > 0) return std::optional(id);
    }
    return std::optional<ExperimentId>();
}

Result<bool> ExperimentTasks::renew(const ExperimentId& id, const std::string& server, Duration spent) {
    const int64_t ms = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
    const auto kept = TRY(m_database.execute("UPDATE experiment_tasks SET lease_until = ?, spent_ms = spent_ms + ? "
                                             "WHERE experiment_id = ? AND server = ? AND state = 'running'",
                                             m_clock.now() + lease, ms, id, server));
    return kept > 0;
}

Result<> ExperimentTasks::set_commit(const ExperimentId& id, const std::string& commit) {
    TRY(m_database.execute("UPDATE experiment_tasks SET commit_name = ? WHERE experiment_id = ?", commit, id));
    return {};
}

Result<> ExperimentTasks::end(const ExperimentId& id, const std::string& server, TaskState state,
                              const std::string& reason) {
    TRY(m_database.execute("UPDATE experiment_tasks SET state = ?, reason = ?, ended_at = ?, lease_until = 0 WHERE "
                           "experiment_id = ? AND server = ? AND state = 'running'",
                           name_of(state), std::string(truncate_utf8(reason, 2000)), m_clock.now(), id, server));
    return release(id, server);
}

Result<> ExperimentTasks::release(const ExperimentId& id, const std::string& server) {
    TRY(m_database.execute("UPDATE experiment_tasks SET lease_until = 0 WHERE experiment_id = ? AND server = ?", id,
                           server));
    return {};
}

// Who starts a replay reads recorded traces through it: only those of projects that this caller can read.
Result<std::vector<std::string>> ExperimentTasks::readable_sources(const Caller& caller, const Experiment& of) const {
    std::vector<std::string> readable;
    const auto rows = TRY(m_database.query(
        "SELECT DISTINCT e.source_project FROM experiment_examples x JOIN dataset_examples e ON e.id = x.example_id "
        "WHERE x.experiment_id = ? AND e.source_project IS NOT NULL ORDER BY e.source_project LIMIT 1000",
        of.id));
    if (rows.empty())
        return invalid("no example of this experiment has a recorded trace; add spans to the dataset first, or use a "
                       "task of kind command or http");
    for (const auto& row : rows) {
        const auto project = m_access.projects.find(caller, of.space_id, row.text(0), Permission::project_read);
        if (project.ok())
            readable.push_back(project.value().id.text());
        else if (project.error().code != Code::not_found && project.error().code != Code::forbidden)
            return project.error();
    }
    return readable;
}

Result<> ExperimentTasks::set_replay(const ExperimentId& id, const Replay& replay) {
    TRY(m_database.execute(
        "INSERT INTO experiment_replays (experiment_id, example_id, tools, tool_results, reason) SELECT id, ?, ?, ?, ? "
        "FROM experiments WHERE id = ? ON CONFLICT (experiment_id, example_id) DO UPDATE SET tools = excluded.tools, "
        "tool_results = excluded.tool_results, reason = excluded.reason",
        replay.example_id, name_of(replay.tools), replay.tool_results, std::string(truncate_utf8(replay.reason, 1000)),
        id));
    return {};
}

Result<access::Page<Replay>> ExperimentTasks::replays(const Caller& caller, const ExperimentId& id, bool only_reasons,
                                                      const access::PageRequest& page) const {
    TRY(m_experiments.find(caller, id));
    const std::string after = TRY(page.after());
    const auto position = parse_integer(after.empty() ? "-1" : after);
    if (!position.ok()) return invalid("cursor is not one of this list");
    const std::string sql =
        "SELECT y.example_id, e.source_project, e.source_trace, e.source_span, y.tools, y.tool_results, y.reason, "
        "x.position FROM experiment_replays y JOIN experiment_examples x ON x.experiment_id = y.experiment_id AND "
        "x.example_id = y.example_id JOIN dataset_examples e ON e.id = y.example_id WHERE y.experiment_id = ? AND "
        "x.position > ?" +
        std::string(only_reasons ? " AND y.reason <> ''" : "") + " ORDER BY x.position LIMIT ?";
    std::vector<std::pair<int64_t, Replay>> found;
    for (const auto& row : TRY(m_database.query(sql, id, position.value(), page.limit + 1)))
        found.emplace_back(row.integer(7), Replay{row.id<ExampleTag>(0), row.optional_text(1), row.optional_text(2),
                                                  row.optional_text(3),
                                                  parse_enum<ReplayTools>(row.text(4)).value_or(ReplayTools::none),
                                                  row.integer(5), row.text(6)});
    const auto numbered =
        access::make_page(std::move(found), page, [](const auto& one) { return std::to_string(one.first); });
    access::Page<Replay> replays;
    replays.next_cursor = numbered.next_cursor;
    for (const auto& [at, replay] : numbered.data) replays.data.push_back(replay);
    return replays;
}

Result<std::vector<PendingRun>> ExperimentTasks::pending_runs(const ExperimentTask& task, int64_t after,
                                                              int64_t examples, int64_t& last_position) const {
    const Experiment of = TRY(m_experiments.find(Caller::system(), task.experiment_id));
    std::vector<PendingRun> pending;
    std::map<ExampleId, std::set<int64_t>> tried;
    const auto rows = TRY(m_database.query(
        "SELECT " + std::string(example_columns) +
            ", x.position FROM experiment_examples x JOIN dataset_examples e ON e.id = x.example_id JOIN "
            "dataset_revisions r ON r.example_id = x.example_id AND r.version = x.revision WHERE x.experiment_id = ? "
            "AND x.position > ? ORDER BY x.position LIMIT ?",
        task.experiment_id, after, examples));
    if (rows.empty()) return pending;
    last_position = rows[rows.size() - 1].integer(10);
    for (const auto& row : TRY(m_database.query(
             "SELECT n.example_id, n.repetition FROM experiment_runs n JOIN experiment_examples x ON x.experiment_id = "
             "n.experiment_id AND x.example_id = n.example_id WHERE n.experiment_id = ? AND x.position > ? AND "
             "x.position <= ? AND (n.error IS NULL OR n.created_at >= ?)",
             task.experiment_id, after, last_position, task.attempt_at)))
        tried[row.id<ExampleTag>(0)].insert(row.integer(1));
    for (const auto& row : rows) {
        const Example example = example_of(row);
        const auto& done = tried[example.id];
        for (int64_t repetition = 1; repetition <= of.repetitions; ++repetition)
            if (!done.contains(repetition)) pending.push_back({example, repetition});
    }
    return pending;
}

Result<std::vector<RunRecord>> ExperimentTasks::pending_evals(const ExperimentTask& task, const std::string& name,
                                                              const std::string& after, int64_t limit) const {
    std::vector<RunRecord> pending;
    for (const auto& row : TRY(m_database.query(
             "SELECT " + sql::names(run_columns, "n.") + ", " + std::string(example_columns) +
                 " FROM experiment_runs n JOIN experiment_examples x ON x.experiment_id = n.experiment_id AND "
                 "x.example_id = n.example_id JOIN dataset_examples e ON e.id = x.example_id JOIN dataset_revisions r "
                 "ON r.example_id = x.example_id AND r.version = x.revision WHERE n.experiment_id = ? AND n.id > ? AND "
                 "n.error IS NULL AND NOT EXISTS (SELECT 1 FROM experiment_evals v WHERE v.run_id = n.id AND "
                 "(v.name = ? OR v.evaluator = ?) AND (v.error IS NULL OR v.created_at >= ?)) ORDER BY n.id LIMIT ?",
             task.experiment_id, after, name, name, task.attempt_at, limit))) {
        RunRecord record;
        record.run = sql::read<ExperimentRun>(run_columns, row);
        record.example = example_of(row, sql::width(run_columns));
        pending.push_back(std::move(record));
    }
    return pending;
}

} // namespace hone::evaluate
