// Runs as people and the API use them: start, list, follow up, cancel, rerun. Everything here is a change in the
// database and a call of RunListener; nothing here waits for a sandbox. Permissions are checked here. Thread-safe.
#pragma once

#include "access/access.h"
#include "run/run.h"
#include "run/settings/presets.h"
#include "run/transcript.h"

#include <functional>
#include <map>
#include <set>
#include <span>

namespace hone::run {

class Uploads;

struct StartRun {
    std::string project;
    std::string prompt;
    std::optional<std::string> preset = {};
    std::optional<Settings> settings = {};
    std::optional<RunProvider> provider = {};
    std::optional<std::string> title = {};
    Defaulted<int64_t> priority = int64_t{0};
    Defaulted<std::vector<std::string>> files = {};
    Defaulted<std::vector<std::string>> skills = {};
    std::optional<Time> data_from = {};
    std::optional<Time> data_to = {};
    // Not a part of requests: of `settings` that were taken from a preset, the preset whose secret_env they use.
    std::optional<PresetId> secret_env_of = {};
    static constexpr Pack fields{
        Field{"project", &StartRun::project, "Id or name of the project it is bound to."},
        Field{"prompt", &StartRun::prompt, "First message to the worker; at most 100,000 characters."},
        Field{"preset", &StartRun::preset, "Id or name of a preset; or give `settings`."},
        Field{"settings", &StartRun::settings, "Settings of this run only; or give `preset`."},
        Field{"provider", &StartRun::provider, "Replaces the provider of the preset or of `settings`."},
        Field{"title", &StartRun::title, "Shown in lists; the first line of the prompt if not given."},
        Field{"priority", &StartRun::priority, "Runs with a higher priority start first; -10 to 10."},
        Field{"files", &StartRun::files, "Ids of uploads: they are in the workspace before the first turn."},
        Field{"skills", &StartRun::skills, "Ids of skills for this run, besides those of the preset."},
        Field{"data_from", &StartRun::data_from,
              "The prompt limits the worker to spans that started at or after this time."},
        Field{
            "data_to", &StartRun::data_to,
            "The prompt limits the worker to spans that started before this time; the time of the start if not given."},
    };
};

// What an automation adds to a run that it starts.
struct AutomationStart {
    std::string id;
    std::string name;
    std::optional<Budget> budget_per_day{};
    json::Value trigger{}; // data for the worker, never a part of the prompt
    // In the transaction that writes the run: what it writes is there if and only if the run is. May be called again.
    std::function<Result<>(sql::Transaction&, const RunId&)> together{};
};

struct RunFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<std::string> preset{};  // id
    std::optional<std::string> automation{};
    std::optional<Origin> origin{};
    std::vector<State> states{};
    std::optional<Time> after{};  // created at or after
    std::optional<Time> before{}; // created before
    std::optional<RunProvider> provider{};
    std::optional<std::string> harness{};
    std::optional<std::string> person{}; // as in started_by
    std::optional<std::string> title{};  // a part of it, in any case
    std::optional<int64_t> cost_from{};  // in millionths of a US dollar
    std::optional<int64_t> cost_to{};
};

// Notified when a run was queued, or has a new input or command; implemented by the Dispatcher. A call is a hint: the
// database is what counts.
class RunListener {
public:
    virtual ~RunListener() = default;
    virtual void run_changed(const RunId& run) = 0;
};

// A thread and the space that it belongs to.
struct KeptThread {
    std::string space;
    std::string thread;
};

// What a person changes of a run as a record.
struct RunChange {
    std::optional<std::string> title{};
    std::optional<bool> kept{};
};

class Runs {
public:
    Runs(sql::Database& database, const Clock& clock, access::Access& access, Presets& presets, SettingsCheck& check,
         Transcript& transcript)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_presets(presets),
          m_check(check),
          m_transcript(transcript) {}
    // Once, before requests come.
    void set_listener(RunListener& listener) { m_listener = &listener; }
    void set_vault(const secret::Vault& vault) { m_vault = &vault; } // for values of sandbox.secret_env
    void set_uploads(const Uploads& uploads) { m_uploads = &uploads; }

    Result<Run> start(const access::Caller& caller, const access::SpaceId& space, const StartRun& wanted);
    // The same for a trigger, with the rights of the automation's owner; takes no follow-ups.
    Result<Run> start_for(const AutomationStart& automation, const access::Caller& owner, const access::SpaceId& space,
                          const StartRun& wanted);
    // Newest first.
    Result<access::Page<Run>> list(const access::Caller& caller, const access::SpaceId& space, const RunFilter& filter,
                                   const access::PageRequest& page) const;
    Result<Run> find(const access::Caller& caller, const RunId& id,
                     access::Permission permission = access::Permission::run_read) const;
    // Many in one call, for other folders that checked the caller themselves; ids without a run are omitted.
    Result<std::map<RunId, Run>> find_all(std::span<const RunId> ids) const;
    Result<Manifest> manifest(const access::Caller& caller, const RunId& id) const;
    Result<std::vector<RunEvent>> events(const access::Caller& caller, const RunId& id, int64_t after,
                                         int64_t limit) const;
    Result<RunEvent> event(const access::Caller& caller, const RunId& id, int64_t seq) const;

    // A follow-up. Joins a live session, wakes a finished one.
    Result<Run> send_message(const access::Caller& caller, const RunId& id, const std::string& text);
    // Ends the running turn; the session continues.
    Result<Run> interrupt(const access::Caller& caller, const RunId& id);
    Result<Run> cancel(const access::Caller& caller, const RunId& id);
    Result<Run> update(const access::Caller& caller, const RunId& id, const RunChange& change);
    // Uploads of the caller; the worker finds them in its workspace before its next turn, or RunFiles writes them now.
    Result<Run> attach_files(const access::Caller& caller, const RunId& id, const std::vector<std::string>& uploads);
    // An ended one, with its transcript and artifacts; Storage deletes its files and its trace. conflict while it is
    // live or has an open pull request.
    Result<> remove(const access::Caller& caller, const RunId& id);
    // A new run from the manifest of another; `prompt` and `provider` replace those of the run. Pinned: the same
    // commits, versions of the harness and of skills, data window and uploaded files, or it fails before its harness
    // starts. Otherwise with what there is now.
    enum class Versions { pinned, latest };
    Result<Run> rerun(const access::Caller& caller, const RunId& id, const std::optional<std::string>& prompt,
                      Versions versions = Versions::pinned, std::optional<RunProvider> provider = {});
    // A new session that continues a finished one, on a copy of its workspace. After an earlier turn (from 1): in a new
    // workspace with the same commits and uploaded files, whose worker reads the turns until there as text.
    Result<Run> fork(const access::Caller& caller, const RunId& id, const std::string& prompt,
                     const std::optional<int64_t>& turn = {});

    // Threads of all spaces, also those whose volumes were removed meanwhile.
    Result<std::vector<KeptThread>> kept_threads() const;

    // --- facts for the triggers that start runs, without a caller ---------------------------------------------------
    // Runs of an automation that are not over; within a transaction without the one that it has just written.
    Result<int64_t> count_live(const std::string& automation) const;
    Result<int64_t> count_live(sql::Transaction& transaction, const std::string& automation, const RunId& except) const;
    // Runs of a space that wait for a place.
    Result<int64_t> count_queued(const access::SpaceId& space) const;
    struct Spent {
        int64_t tokens = 0;
        int64_t cost_micro_usd = 0;
    };
    // Of an automation's runs that were created since then.
    Result<Spent> spent_by_automation(const std::string& automation, Time since) const;

private:
    struct New;
    Result<New> new_run(const access::Caller& caller, const access::SpaceId& space, const StartRun& wanted) const;
    Result<Run> insert(const access::Caller& caller, const New& wanted);
    Result<> read_earlier_turns(const access::Caller& caller, const ForkPoint& point, New& made) const;
    Result<Run> fork_after(const access::Caller& caller, const Run& run, const std::string& prompt, int64_t turn);
    Result<std::string> take_files(sql::Transaction& transaction, const access::Caller& caller, const New& wanted,
                                   const RunId& id) const;
    Result<Run> send_command(const access::Caller& caller, const RunId& id, RunCommand command);
    void notify(const RunId& run) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Presets& m_presets;
    SettingsCheck& m_check;
    Transcript& m_transcript;
    RunListener* m_listener = nullptr;
    const secret::Vault* m_vault = nullptr;
    const Uploads* m_uploads = nullptr;
};

// "SELECT … FROM runs" with the columns that `run_of` reads; `more` are columns after them.
std::string select_run(std::string_view more = {});
size_t run_width(); // the position of the first of `more`
Run run_of(const sql::Row& row);

// Those of the ids that are runs.
Result<std::set<std::string>> existing_runs(sql::Database& database, std::span<const std::string> ids);
// Titles by id; ids without a run are left out.
Result<std::map<RunId, std::string>> run_titles(sql::Database& database, std::span<const RunId> ids);
// Runs that ended at or after `since`, oldest end first; for notices.
Result<std::vector<Run>> runs_ended_since(sql::Database& database, Time since, int64_t limit);

} // namespace hone::run
