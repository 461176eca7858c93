// What people do with runs as records: rename, keep, delete, rerun, fork.
#include "access/names.h"
#include "harness/catalog.h"
#include "review/stored_artifacts.h"
#include "run/files/uploads.h"
#include "run/forks/earlier_turns.h"
#include "run/new_run.h"

namespace hone::run {

using access::Caller, access::Permission;

namespace {

// The commits become the refs of the repositories.
void pin_commits(Manifest& manifest) {
    for (RepoSettings& wanted : manifest.settings.repos.value)
        for (const ClonedRepo& cloned : *manifest.repos)
            if (cloned.url == wanted.url && !cloned.commit.empty()) wanted.ref = cloned.commit;
}

// Versions are compared when the run is prepared. A run that ended before it was prepared has nothing to pin.
void pin(Manifest& manifest) {
    pin_commits(manifest);
    if (manifest.tier.value.empty()) return;
    Pins pins;
    pins.harness_version = *manifest.harness_version;
    pins.skills = *manifest.skills;
    manifest.pins = std::move(pins);
}

// What only the old run had is determined again.
void forget_preparation(Manifest& manifest) {
    manifest.harness_version = std::string();
    manifest.tier = std::string();
    manifest.layers.value.clear();
    manifest.repos.value.clear();
}

} // namespace

Result<Run> Runs::update(const Caller& caller, const RunId& id, const RunChange& change) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    const std::string title = change.title ? TRY(access::checked_name("title", *change.title)) : run.title;
    const std::optional<std::string> kept_by = !change.kept   ? run.kept_by
                                               : *change.kept ? std::optional(caller.name)
                                                              : std::nullopt;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE runs SET title = ?, kept_by = ? WHERE id = ?", title, kept_by, id));
        return m_access.audit.record(
            transaction, caller,
            {"run_update", run.space_id, id.text(), {{"title", title}, {"kept", kept_by.has_value()}}});
    }));
    m_transcript.announce(id);
    return find(Caller::system(), id);
}

Result<Run> Runs::attach_files(const Caller& caller, const RunId& id, const std::vector<std::string>& uploads) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    TRY(find(caller, id, Permission::project_read)); // as for a message
    TRY(require_capability(run.provider, capability::uploads));
    if (uploads.empty()) return invalid("uploads is empty");
    if (m_uploads == nullptr) return unavailable("this server stores no uploads");
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT state, workspace_removed_at FROM runs WHERE id = ?", id));
        if (rows.empty()) return not_found("run " + id.text());
        const State state = parse_enum<State>(rows.front().text(0)).value_or(State::failed);
        if (is_over(state) && !rows.front().is_null(1))
            return conflict("the workspace of the session has expired; rerun it instead");
        std::string paths;
        for (const Upload& upload : TRY(m_uploads->attach(transaction, caller, run.space_id, id, uploads)))
            paths += (paths.empty() ? "" : ", ") + upload.path;
        RunEvent event;
        event.step = "files";
        event.text = caller.name + " uploaded " + paths + ".";
        TRY(m_transcript.append(transaction, id, std::span(&event, 1)));
        TRY(note_author(transaction, caller, id));
        return m_access.audit.record(transaction, caller, {"run_upload", run.space_id, id.text(), {{"files", paths}}});
    }));
    notify(id);
    return find(Caller::system(), id);
}

Result<> Runs::remove(const Caller& caller, const RunId& id) {
    const Run run = TRY(find(caller, id, Permission::trace_delete));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT state FROM runs WHERE id = ?", id));
        if (rows.empty()) return not_found("run " + id.text());
        if (!is_over(parse_enum<State>(rows.front().text(0)).value_or(State::failed)))
            return conflict("the run is not over: cancel it first");
        if (TRY(review::has_open_pull_request(transaction, id.text())))
            return conflict("a pull request of the run is open: merge, close or withdraw it first");
        TRY(transaction.execute("DELETE FROM runs WHERE id = ?", id));
        TRY(forget_secrets(transaction, m_vault, id.text()));
        return m_access.audit.record(
            transaction, caller,
            {"run_delete", run.space_id, id.text(), {{"title", run.title}, {"project", run.project_id.text()}}});
    });
}

Result<Run> Runs::rerun(const Caller& caller, const RunId& id, const std::optional<std::string>& prompt,
                        Versions versions, std::optional<RunProvider> provider) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    New made;
    made.project = TRY(m_access.projects.find(caller, run.space_id, run.project_id.text(), Permission::run_start));
    made.manifest = TRY(manifest(caller, id));
    if (versions == Versions::pinned) {
        pin(made.manifest);
        // A program that reads the prompt as its input gets a window only if its first run got one.
        const bool had_window = made.manifest.has_window.value_or(made.manifest.data_from.has_value());
        made.manifest.has_window = made.manifest.settings.harness != "command" || had_window;
    } else {
        made.manifest.has_window = false;
        made.manifest.pins.reset();
        made.manifest.data_from.reset();
        made.manifest.data_to.reset();
    }
    forget_preparation(made.manifest);
    if (provider) made.manifest.settings.provider = *provider;
    if (made.manifest.fork_point) TRY(read_earlier_turns(caller, ForkPoint(*made.manifest.fork_point), made));
    if (prompt) made.manifest.prompt = *prompt;
    if (!prompt) made.title = run.title;
    made.priority = run.priority;
    made.from_run = id;
    if (m_uploads != nullptr && !TRY(m_uploads->of_run(id)).empty()) {
        TRY(find(caller, id, Permission::project_read)); // the files are the run's
        made.files_of = id;
    }
    return insert(caller, made);
}

Result<> Runs::read_earlier_turns(const Caller& caller, const ForkPoint& point, New& made) const {
    TRY(find(caller, point.run, Permission::project_read)); // the turns hold what its worker read
    const auto rows = TRY(m_database.query("SELECT rights FROM runs WHERE id = ?", point.run));
    if (rows.empty()) return not_found("run " + point.run.text());
    std::vector<RunEvent> events;
    for (int64_t after = 0;;) { // a page at a time, until the turn after it begins
        const auto page = TRY(m_transcript.after(point.run, after, 1000));
        events.insert(events.end(), page.begin(), page.end());
        if (page.size() < 1000 || page.back().turn > point.turn + 1 || events.size() >= 50'000) break;
        after = page.back().seq;
    }
    made.earlier_turns = describe_turns(events, point.turn).words;
    made.manifest.fork_point = point;
    // The conversation that it continues may have messages of other people.
    made.is_shared = made.is_shared || !is_only_of(TRY(json::parse(rows.front().text(0))), caller);
    return {};
}

Result<Run> Runs::fork_after(const Caller& caller, const Run& run, const std::string& prompt, int64_t turn) {
    if (turn < 1 || turn > run.turns)
        return invalid("turn must be between 1 and " + std::to_string(run.turns) + ", the turns of the session");
    if (turn == run.turns && (run.state == State::running || run.state == State::preparing))
        return conflict("turn " + std::to_string(turn) + " has not ended; interrupt it or wait for its end");
    New made;
    made.project = TRY(m_access.projects.find(caller, run.space_id, run.project_id.text(), Permission::run_start));
    made.manifest = TRY(manifest(caller, run.id));
    pin_commits(made.manifest);
    forget_preparation(made.manifest);
    made.manifest.pins.reset();
    made.manifest.has_window = false;
    made.manifest.prompt = prompt;
    made.from_run = run.id;
    TRY(read_earlier_turns(caller, {run.id, turn}, made));
    if (m_uploads != nullptr && !TRY(m_uploads->of_run(run.id)).empty()) made.files_of = run.id;
    return insert(caller, made);
}

Result<Run> Runs::fork(const Caller& caller, const RunId& id, const std::string& prompt,
                       const std::optional<int64_t>& turn) {
    const Run run = TRY(find(caller, id, Permission::run_start));
    TRY(find(caller, id, Permission::project_read)); // its workspace holds what its worker read
    if (run.origin != Origin::session) return conflict("only sessions can be forked; rerun it instead");
    TRY(require_capability(run.provider, capability::fork));
    const bool is_from_end = is_over(run.state) && run.takes_follow_ups && turn == run.turns;
    if (turn && !is_from_end) return fork_after(caller, run, prompt, *turn);
    if (!is_over(run.state)) return conflict("the session has not ended; cancel it or wait for its end");
    if (!run.takes_follow_ups)
        return conflict("the workspace of the session has expired; fork it after a turn, or rerun it");
    const harness::Harness* harness = harness::find(run.harness);
    New made;
    made.project = TRY(m_access.projects.find(caller, run.space_id, run.project_id.text(), Permission::run_start));
    made.manifest = TRY(manifest(caller, id));
    made.manifest.prompt = prompt;
    made.manifest.has_window = false;
    made.manifest.fork_point.reset();
    made.from_run = id;
    made.fork_of = id;
    const auto rows = TRY(m_database.query("SELECT harness_session, rights FROM runs WHERE id = ?", id));
    if (!rows.empty() && harness != nullptr && harness->resumes) made.harness_session = rows.front().text(0);
    // The conversation that it continues may have messages of other people.
    if (!rows.empty()) made.is_shared = !is_only_of(TRY(json::parse(rows.front().text(1))), caller);
    return insert(caller, made);
}

} // namespace hone::run
