#include "run/runs.h"

#include "access/names.h"
#include "access/project_list.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "run/files/uploads.h"
#include "run/new_run.h"
#include "run/state_change.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::run {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr Pack run_columns{
    sql::Column{"id", &Run::id},
    sql::Column{"space_id", &Run::space_id},
    sql::Column{"project_id", &Run::project_id},
    sql::Column{"origin", &Run::origin},
    sql::Column{"preset_id", &Run::preset_id},
    sql::Column{"preset_name", &Run::preset_name},
    sql::Column{"automation_id", &Run::automation_id},
    sql::Column{"title", &Run::title},
    sql::Column{"provider", &Run::provider, RunProvider::local},
    sql::Column{"harness", &Run::harness},
    sql::Column{"model", &Run::model},
    sql::Column{"state", &Run::state, State::failed},
    sql::Column{"reason", &Run::reason},
    sql::Column{"started_by_name", &Run::started_by},
    sql::Column{"priority", &Run::priority},
    sql::Column{"turns", &Run::turns},
    sql::Column{"steps", &Run::steps},
    sql::Column{"last_event", &Run::last_event},
    sql::Column{"input_tokens", sql::in(&Run::usage, &harness::Usage::input)},
    sql::Column{"cache_read_tokens", sql::in(&Run::usage, &harness::Usage::cache_read)},
    sql::Column{"cache_write_tokens", sql::in(&Run::usage, &harness::Usage::cache_write)},
    sql::Column{"output_tokens", sql::in(&Run::usage, &harness::Usage::output)},
    sql::Column{"reasoning_tokens", sql::in(&Run::usage, &harness::Usage::reasoning)},
    sql::Column{"cost_micro_usd", &Run::cost_micro_usd},
    sql::Column{"from_run", &Run::from_run},
    sql::Column{"trace_id", &Run::trace_id},
    sql::Column{"workspace_removed_at", &Run::workspace_removed_at},
    sql::Column{"kept_by", &Run::kept_by},
    sql::Column{"created_at", &Run::created_at},
    sql::Column{"started_at", &Run::started_at},
    sql::Column{"ended_at", &Run::ended_at},
    sql::Column{"worked_ns", &Run::worked_ns},
    sql::Column{"working_since", &Run::working_since},
};

constexpr std::string_view live_states = "('queued', 'preparing', 'running', 'waiting')";

// The first line of the prompt, short enough for a list.
std::string title_of(std::string_view prompt) {
    const std::string_view line = trim(trim(prompt).substr(0, trim(prompt).find('\n')));
    const std::string_view cut = truncate_utf8(line, 97);
    return harmless(std::string(cut) + (cut.size() < line.size() ? "…" : ""));
}

std::string window_text(const Manifest& manifest) {
    if (!manifest.has_window.value_or(false) || !manifest.data_to) return {};
    const std::string from = manifest.data_from ? " from " + to_text(*manifest.data_from) : "";
    return "\n\nUse only data" + from + " until " + to_text(*manifest.data_to) + ".";
}

// For LIKE with the escape character \.
std::string title_pattern(std::string_view part) {
    std::string pattern = "%";
    for (const char c : lowercase_ascii(part))
        pattern += (c == '%' || c == '_' || c == '\\' ? "\\" : "") + std::string(1, c);
    return pattern + "%";
}

// Who the run's key will stand for: a user, a service key, or Signal; and the key that limits it.
json::Object rights_of(const Caller& caller, const SpaceId& space) {
    json::Object rights;
    if (!caller.key.empty()) rights["key"] = caller.key.text();
    if (caller.kind == access::CallerKind::system) rights["signal"] = true;
    if (caller.user.empty())
        rights["role"] = name_of(caller.role_in(space).value_or(access::Role::viewer));
    else
        rights["user"] = caller.user.text();
    return rights;
}

} // namespace

bool is_only_of(const json::Value& rights, const Caller& caller) {
    if (!rights.is_object() || rights.get_object().contains(rights_shared) || caller.user.empty()) return false;
    const json::Value* user = rights.get_object().if_contains("user");
    return user != nullptr && user->is_string() && std::string_view(user->get_string()) == caller.user.text();
}

Result<> note_author(sql::Transaction& transaction, const Caller& caller, const RunId& id) {
    const auto rows = TRY(transaction.query("SELECT rights FROM runs WHERE id = ?", id));
    if (rows.empty()) return not_found("run " + id.text());
    auto rights = TRY(json::parse(rows.front().text(0)));
    if (is_only_of(rights, caller) || !rights.is_object()) return {};
    rights.get_object()[rights_shared] = true;
    TRY(transaction.execute("UPDATE runs SET rights = ? WHERE id = ?", json::print(rights), id));
    return {};
}

std::string select_run(std::string_view more) {
    return "SELECT " + sql::names(run_columns) + std::string(more.empty() ? "" : ", ") + std::string(more) +
           " FROM runs";
}

size_t run_width() {
    return sql::width(run_columns);
}

Run run_of(const sql::Row& row) {
    Run run = sql::read<Run>(run_columns, row);
    run.takes_follow_ups = !is_over(run.state) || !run.workspace_removed_at;
    return run;
}

Result<std::set<std::string>> existing_runs(sql::Database& database, std::span<const std::string> ids) {
    std::set<std::string> existing;
    if (ids.empty()) return existing;
    const auto rows = TRY(
        database.run_query("SELECT id FROM runs WHERE id IN (" + sql::marks(ids.size()) + ")", sql::to_values(ids)));
    for (const auto& row : rows) existing.insert(row.text(0));
    return existing;
}

Result<std::map<RunId, std::string>> run_titles(sql::Database& database, std::span<const RunId> ids) {
    std::map<RunId, std::string> titles;
    if (ids.empty()) return titles;
    const auto rows = TRY(database.run_query("SELECT id, title FROM runs WHERE id IN (" + sql::marks(ids.size()) + ")",
                                             sql::to_values(ids)));
    for (const auto& row : rows) titles.emplace(row.id<RunTag>(0), row.text(1));
    return titles;
}

Result<std::vector<Run>> runs_ended_since(sql::Database& database, Time since, int64_t limit) {
    const auto rows =
        TRY(database.query(select_run() + " WHERE ended_at >= ? ORDER BY ended_at LIMIT ?", since, limit));
    std::vector<Run> runs;
    for (const auto& row : rows) runs.push_back(run_of(row));
    return runs;
}

Result<Run> Runs::start(const Caller& caller, const SpaceId& space, const StartRun& wanted) {
    return insert(caller, TRY(new_run(caller, space, wanted)));
}

Result<Run> Runs::start_for(const AutomationStart& automation, const Caller& owner, const SpaceId& space,
                            const StartRun& wanted) {
    New made = TRY(new_run(owner, space, wanted));
    TRY(require_capability(*made.manifest.settings.provider, capability::automations));
    made.automation = &automation;
    made.manifest.trigger = automation.trigger;
    made.manifest.automation_budget = automation.budget_per_day;
    return insert(owner, made);
}

Result<Runs::New> Runs::new_run(const Caller& caller, const SpaceId& space, const StartRun& wanted) const {
    New made;
    made.project = TRY(m_access.projects.find(caller, space, wanted.project, Permission::run_start));
    if (caller.kind == access::CallerKind::system && made.project.restricted) {
        const auto bindings = TRY(m_access.projects.bindings(caller, made.project.id));
        const auto is_signal = [](const access::Binding& each) { return each.principal == access::signal_principal; };
        if (std::none_of(bindings.begin(), bindings.end(), is_signal))
            return forbidden("the project is restricted and Signal is not bound to it: a worker could not read it. "
                             "Bind the principal `signal` to the project");
    }
    if (wanted.preset && wanted.settings) return invalid("give either preset or settings, not both");
    if (!wanted.preset && !wanted.settings) return invalid("preset is missing (or settings, for an ad-hoc worker)");
    if (wanted.preset) {
        const Preset preset = TRY(m_presets.find(caller, made.project.space_id, *wanted.preset));
        made.manifest.preset = preset.id;
        made.manifest.preset_name = preset.name;
        made.manifest.preset_version = preset.version;
        made.manifest.settings = preset.settings;
        made.manifest.secret_env_of = preset.id.text();
    } else {
        made.manifest.settings = *wanted.settings;
        if (wanted.secret_env_of)
            made.manifest.secret_env_of = wanted.secret_env_of->text();
        else
            made.secrets = std::make_shared<const SecretValues>(take_secrets(made.manifest.settings));
    }
    if (made.manifest.settings.sandbox.value.secret_env.value.empty()) made.manifest.secret_env_of = std::string();
    if (wanted.provider) made.manifest.settings.provider = *wanted.provider;
    made.manifest.prompt = wanted.prompt;
    if (wanted.title) made.title = TRY(access::checked_name("title", *wanted.title));
    made.priority = wanted.priority;
    made.files = *wanted.files;
    if (wanted.data_from && wanted.data_to && *wanted.data_from >= *wanted.data_to)
        return invalid("data_from must be before data_to");
    made.manifest.data_from = wanted.data_from;
    made.manifest.data_to = wanted.data_to;
    made.manifest.has_window = wanted.data_from || wanted.data_to;
    auto& skills = made.manifest.settings.skills.value;
    for (const std::string& skill : *wanted.skills)
        if (std::find(skills.begin(), skills.end(), skill) == skills.end()) skills.push_back(skill);
    return made;
}

Result<Run> Runs::insert(const Caller& caller, const New& wanted) {
    Manifest manifest = wanted.manifest;
    if (trim(manifest.prompt).empty()) return invalid("prompt is empty");
    TRY(check_prompt("prompt", manifest.prompt));
    if (wanted.priority < -10 || wanted.priority > 10) return invalid("priority must be between -10 and 10");
    TRY(validate(manifest.settings));
    TRY(m_check.check(caller, wanted.project.space_id, manifest.settings));
    manifest.settings.budget = TRY(m_check.budget_of(wanted.project.space_id, *manifest.settings.budget));
    const RunId id = make_id<RunTag>(m_clock);
    const bool has_secrets = !manifest.settings.sandbox.value.secret_env.value.empty();
    if (wanted.secrets && has_secrets) manifest.secret_env_of = id.text();
    const Time now = m_clock.now();
    if (!manifest.data_to) manifest.data_to = now;
    const std::string title = wanted.title.empty() ? title_of(manifest.prompt) : wanted.title;
    const std::string trace_id = to_hex(crypto::random_bytes(16));
    // A fork's volume is copied under its own name before its sandbox starts.
    const std::string thread = id.text();
    const AutomationStart* const by = wanted.automation;
    const std::string starter = by ? "automation " + by->name : caller.name;
    json::Object rights = rights_of(caller, wanted.project.space_id);
    if (wanted.is_shared) rights[rights_shared] = true;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO runs (id, space_id, project_id, origin, automation_id, preset_id, preset_name, title, "
            "provider, harness, model, manifest, state, reason, started_by, started_by_name, rights, priority, turns, "
            "last_event, input_tokens, "
            "cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, from_run, fork_of, thread, "
            "trace_id, harness_session, spool_offset, wish, created_at, queued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, '', ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0, ?, ?, ?, ?, ?, 0, '', ?, ?)",
            id, wanted.project.space_id, wanted.project.id, name_of(by ? Origin::automation : Origin::session),
            by ? std::optional(by->id) : std::nullopt, manifest.preset, manifest.preset_name, title,
            name_of(*manifest.settings.provider), manifest.settings.harness, *manifest.settings.model,
            json::write(manifest), name_of(State::queued), by ? by->id : caller.actor(), starter, json::print(rights),
            wanted.priority, wanted.from_run, wanted.fork_of, thread, trace_id, wanted.harness_session, now, now));
        TRY(transaction.execute("INSERT INTO run_files (run_id, space_id, thread, trace_id) VALUES (?, ?, ?, ?)", id,
                                wanted.project.space_id, thread, trace_id));
        const std::string prompt =
            manifest.prompt + window_text(manifest) + TRY(take_files(transaction, caller, wanted, id));
        if (!wanted.earlier_turns.empty()) {
            RunEvent record;
            record.step = "fork";
            record.text = wanted.earlier_turns;
            TRY(m_transcript.append(transaction, id, std::span(&record, 1)));
        }
        RunEvent said;
        said.kind = harness::EventKind::follow_up;
        said.turn = 1;
        said.text = prompt;
        said.author = starter;
        TRY(m_transcript.append(transaction, id, std::span(&said, 1)));
        TRY(transaction.execute("INSERT INTO run_inputs (run_id, seq, words) VALUES (?, ?, ?)", id, said.seq,
                                wanted.earlier_turns + prompt));
        if (wanted.secrets)
            TRY(store_secrets(transaction, m_vault, wanted.project.space_id, id.text(), manifest.settings,
                              *wanted.secrets));
        if (by && by->together) TRY(by->together(transaction, id));
        return m_access.audit.record(transaction, caller,
                                     {"run_start",
                                      wanted.project.space_id,
                                      id.text(),
                                      {{"project", wanted.project.id.text()},
                                       {"provider", name_of(*manifest.settings.provider)},
                                       {"harness", manifest.settings.harness},
                                       {"preset", manifest.preset_name.value_or("")},
                                       {"automation", by ? by->id : ""}}});
    }));
    notify(id);
    return find(Caller::system(), id);
}

// The part of the prompt about the files.
Result<std::string> Runs::take_files(sql::Transaction& transaction, const Caller& caller, const New& wanted,
                                     const RunId& id) const {
    if (wanted.files.empty() && !wanted.files_of) return std::string();
    TRY(require_capability(*wanted.manifest.settings.provider, capability::uploads));
    if (m_uploads == nullptr) return unavailable("this server stores no uploads");
    if (wanted.files_of) TRY(m_uploads->copy(transaction, *wanted.files_of, id));
    TRY(m_uploads->attach(transaction, caller, wanted.project.space_id, id, wanted.files));
    std::string list;
    for (const auto& row : TRY(transaction.query("SELECT path, bytes FROM uploads WHERE run_id = ? ORDER BY id", id)))
        list += "\n- " + row.text(0) + " (" + std::to_string(row.integer(1)) + " bytes)";
    return list.empty() ? list : "\n\nFiles that were uploaded for you are in /workspace:" + list;
}

void Runs::notify(const RunId& run) const {
    m_transcript.announce(run);
    if (m_listener != nullptr) m_listener->run_changed(run);
}

Result<Run> Runs::find(const Caller& caller, const RunId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select_run() + " WHERE id = ?", id));
    if (rows.empty()) return not_found("run " + id.text());
    Run run = run_of(rows.front());
    TRY(access::require_in_project(m_access.projects, caller, run.space_id, run.project_id, permission,
                                   "run " + id.text()));
    return run;
}

Result<Page<Run>> Runs::list(const Caller& caller, const SpaceId& space, const RunFilter& filter,
                             const PageRequest& page) const {
    auto list = TRY(access::ProjectList::create(m_access.projects, caller, space, filter.project, Permission::run_read,
                                                select_run()));
    if (filter.preset) list.where("preset_id = ?", *filter.preset);
    if (filter.automation) list.where("automation_id = ?", *filter.automation);
    if (filter.origin) list.where("origin = ?", name_of(*filter.origin));
    if (filter.after) list.where("created_at >= ?", *filter.after);
    if (filter.before) list.where("created_at < ?", *filter.before);
    if (filter.provider) list.where("provider = ?", name_of(*filter.provider));
    if (filter.harness) list.where("harness = ?", *filter.harness);
    if (filter.person) list.where("started_by_name = ?", *filter.person);
    if (filter.title) list.where("LOWER(title) LIKE ? ESCAPE '\\'", title_pattern(*filter.title));
    if (filter.cost_from) list.where("cost_micro_usd >= ?", *filter.cost_from);
    if (filter.cost_to) list.where("cost_micro_usd <= ?", *filter.cost_to);
    if (!filter.states.empty()) list.where_one_of("state", filter.states);
    const auto rows = TRY(list.newest_first(m_database, page));
    std::vector<Run> runs;
    for (const auto& row : rows) runs.push_back(run_of(row));
    return access::make_page(std::move(runs), page, [](const Run& run) { return run.id.text(); });
}

Result<std::map<RunId, Run>> Runs::find_all(std::span<const RunId> ids) const {
    std::map<RunId, Run> runs;
    if (ids.empty()) return runs;
    const auto rows =
        TRY(m_database.run_query(select_run() + " WHERE id IN (" + sql::marks(ids.size()) + ")", sql::to_values(ids)));
    for (const auto& row : rows) {
        Run run = run_of(row);
        runs.emplace(run.id, std::move(run));
    }
    return runs;
}

Result<std::vector<KeptThread>> Runs::kept_threads() const {
    std::vector<KeptThread> threads;
    for (const auto& row : TRY(m_database.query("SELECT DISTINCT space_id, thread FROM runs")))
        threads.push_back({row.text(0), row.text(1)});
    return threads;
}

Result<int64_t> Runs::count_live(const std::string& automation) const {
    const auto rows = TRY(m_database.query(
        "SELECT COUNT(*) FROM runs WHERE automation_id = ? AND state IN " + std::string(live_states), automation));
    return rows.front().integer(0);
}

Result<int64_t> Runs::count_live(sql::Transaction& transaction, const std::string& automation,
                                 const RunId& except) const {
    const auto rows = TRY(transaction.query("SELECT COUNT(*) FROM runs WHERE automation_id = ? AND id <> ? AND state "
                                            "IN " +
                                                std::string(live_states),
                                            automation, except));
    return rows.front().integer(0);
}

Result<int64_t> Runs::count_queued(const SpaceId& space) const {
    const auto rows = TRY(m_database.query("SELECT COUNT(*) FROM runs WHERE space_id = ? AND state = 'queued'", space));
    return rows.front().integer(0);
}

Result<Runs::Spent> Runs::spent_by_automation(const std::string& automation, Time since) const {
    const auto rows = TRY(m_database.query(
        "SELECT CAST(COALESCE(SUM(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + "
        "reasoning_tokens), 0) AS BIGINT), CAST(COALESCE(SUM(cost_micro_usd), 0) AS BIGINT) FROM runs WHERE "
        "automation_id = ? AND created_at >= ?",
        automation, since));
    return Spent{rows.front().integer(0), rows.front().integer(1)};
}

Result<Manifest> Runs::manifest(const Caller& caller, const RunId& id) const {
    TRY(find(caller, id));
    const auto rows = TRY(m_database.query("SELECT manifest FROM runs WHERE id = ?", id));
    if (rows.empty()) return not_found("run " + id.text());
    return json::read<Manifest>(rows.front().text(0));
}

Result<std::vector<RunEvent>> Runs::events(const Caller& caller, const RunId& id, int64_t after, int64_t limit) const {
    TRY(find(caller, id));
    return m_transcript.after(id, after, limit);
}

Result<RunEvent> Runs::event(const Caller& caller, const RunId& id, int64_t seq) const {
    TRY(find(caller, id));
    return m_transcript.whole(id, seq);
}

Result<Run> Runs::send_message(const Caller& caller, const RunId& id, const std::string& text) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    TRY(find(caller, id, Permission::project_read)); // the worker reads the project, with the rights of its starter
    if (trim(text).empty()) return invalid("the message is empty");
    TRY(check_prompt("the message", text));
    const Time now = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows =
            TRY(transaction.query("SELECT state, workspace_removed_at, turns FROM runs WHERE id = ?", id));
        if (rows.empty()) return not_found("run " + id.text());
        const State state = parse_enum<State>(rows.front().text(0)).value_or(State::failed);
        if (is_over(state) && !rows.front().is_null(1))
            return conflict("the workspace of the session has expired; rerun it instead");
        const auto waiting =
            TRY(transaction.query("SELECT COUNT(*) FROM run_inputs WHERE run_id = ? AND told_at_offset IS NULL", id));
        if (waiting.front().integer(0) >= 20)
            return conflict("20 messages are waiting already; send more after the next turn");
        RunEvent said;
        said.kind = harness::EventKind::follow_up;
        said.turn = rows.front().integer(2) + 1;
        said.text = text;
        said.author = caller.name;
        TRY(m_transcript.append(transaction, id, std::span(&said, 1)));
        TRY(transaction.execute("INSERT INTO run_inputs (run_id, seq, words) VALUES (?, ?, ?)", id, said.seq, text));
        TRY(note_author(transaction, caller, id));
        if (is_over(state) && TRY(change_state(transaction, id, state, State::queued, "", now)))
            TRY(transaction.execute("UPDATE runs SET wish = '', queued_at = ? WHERE id = ?", now, id));
        return m_access.audit.record(transaction, caller, {"run_say", run.space_id, id.text(), {}});
    }));
    notify(id);
    return find(Caller::system(), id);
}

Result<Run> Runs::send_command(const Caller& caller, const RunId& id, RunCommand command) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    const std::string action = "run_" + std::string(name_of(command));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT state FROM runs WHERE id = ?", id));
        if (rows.empty()) return not_found("run " + id.text());
        const State state = parse_enum<State>(rows.front().text(0)).value_or(State::failed);
        if (is_over(state))
            return conflict("the run is over already: " + std::string(name_of(state)) + "; a follow-up resumes it");
        if (command == RunCommand::interrupt && state != State::running)
            return conflict("no turn is running: nothing to interrupt");
        const std::string cancelled = "cancelled by " + caller.name;
        if (state == State::queued) {
            // No worker has it yet: it is over now.
            TRY(change_state(transaction, id, State::queued, State::cancelled, cancelled, m_clock.now()));
            RunEvent ended;
            ended.text = "Cancelled by " + caller.name + ".";
            ended.state = State::cancelled;
            TRY(m_transcript.append(transaction, id, std::span(&ended, 1)));
        } else {
            TRY(transaction.execute("UPDATE runs SET wish = ?, reason = ? WHERE id = ?", name_of(command),
                                    command == RunCommand::cancel ? cancelled : run.reason, id));
        }
        return m_access.audit.record(transaction, caller, {action, run.space_id, id.text(), {}});
    }));
    notify(id);
    return find(Caller::system(), id);
}

Result<Run> Runs::interrupt(const Caller& caller, const RunId& id) {
    return send_command(caller, id, RunCommand::interrupt);
}

Result<Run> Runs::cancel(const Caller& caller, const RunId& id) {
    return send_command(caller, id, RunCommand::cancel);
}

} // namespace hone::run
