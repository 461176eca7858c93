// A run as the API shows it, what it was made of (manifest), and what happened in it (transcript events). Declared
// once for the database's JSON, the API, the CLI and the UI. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "harness/event.h"
#include "run/settings/settings.h"
#include "run/state.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::run {

struct RunTag {
    static constexpr std::string_view kind = "run";
};
struct PresetTag {
    static constexpr std::string_view kind = "preset";
};
using RunId = Id<RunTag>;
using PresetId = Id<PresetTag>;

// A member of the JSON of a run's rights: a person other than its starter wrote a message in its conversation.
constexpr std::string_view rights_shared = "shared";

enum class Origin {
    session,    // a person started it; it takes follow-ups
    automation, // a trigger started it
};
constexpr auto enum_names(Origin) {
    return std::array{EnumName{Origin::session, "session"}, EnumName{Origin::automation, "automation"}};
}

struct ClonedRepo {
    std::string url;
    std::string commit;
    static constexpr Pack fields{
        Field{"url", &ClonedRepo::url, "Address that it was cloned from."},
        Field{"commit", &ClonedRepo::commit, "Commit that was checked out."},
    };
};

// What a pinned rerun must have again; it is checked before the harness starts.
struct Pins {
    Defaulted<std::string> harness_version;
    Defaulted<std::vector<std::string>> skills;
    static constexpr Pack fields{
        Field{"harness_version", &Pins::harness_version, "Version of the harness's program; empty: it has none."},
        Field{"skills", &Pins::skills, "Skills and versions."},
    };
};

// Of a fork that begins after an earlier turn than the last.
struct ForkPoint {
    RunId run;
    int64_t turn = 0;
    static constexpr Pack fields{
        Field{"run", &ForkPoint::run, "Session whose earlier turns the worker reads as text."},
        Field{"turn", &ForkPoint::turn, "The last of these turns."},
    };
};

// Everything a run was made of, so that it can be checked and started again. Names of secrets, never values.
struct Manifest {
    std::optional<PresetId> preset;
    std::optional<std::string> preset_name;
    std::optional<int64_t> preset_version;
    Settings settings;
    std::string prompt;
    Defaulted<std::string> harness_version;
    Defaulted<std::string> tier;
    Defaulted<std::vector<std::string>> layers;
    Defaulted<std::vector<ClonedRepo>> repos;
    Defaulted<std::vector<std::string>> skills;
    Defaulted<std::vector<std::string>> secrets;
    Defaulted<std::string> secret_env_of = {};
    std::optional<Time> data_from;
    std::optional<Time> data_to;
    std::optional<bool> has_window{};
    std::optional<json::Value> trigger{};
    std::optional<Budget> automation_budget{};
    std::optional<Pins> pins{};
    std::optional<ForkPoint> fork_point{};
    static constexpr Pack fields{
        Field{"preset", &Manifest::preset, "Id of the preset, if the run has one."},
        Field{"preset_name", &Manifest::preset_name, "Name of the preset at that time."},
        Field{"preset_version", &Manifest::preset_version, "Version of the preset."},
        Field{"settings", &Manifest::settings, "Settings of the run."},
        Field{"prompt", &Manifest::prompt, "First prompt."},
        Field{"harness_version", &Manifest::harness_version, "Version of the harness's program."},
        Field{"tier", &Manifest::tier, "Isolation tier."},
        Field{"layers", &Manifest::layers, "Hashes of the prepared layers."},
        Field{"repos", &Manifest::repos, "Repositories and commits."},
        Field{"skills", &Manifest::skills, "Skills and versions."},
        Field{"secrets", &Manifest::secrets, "Names of the secrets available through the broker."},
        Field{"secret_env_of", &Manifest::secret_env_of,
              "Preset or run that owns the values of sandbox.secret_env; empty: none."},
        Field{"data_from", &Manifest::data_from, "The run is about spans that started at or after this time."},
        Field{"data_to", &Manifest::data_to, "The run is about spans that started before this time."},
        Field{"has_window", &Manifest::has_window,
              "The prompt states data_from and data_to; null: of a run before this was stored."},
        Field{"trigger", &Manifest::trigger, "Values of the trigger; in the sandbox as /hone/trigger.json."},
        Field{"automation_budget", &Manifest::automation_budget, "Budget of all runs of the automation per day."},
        Field{"pins", &Manifest::pins, "Of a pinned rerun: versions that it must have."},
        Field{"fork_point", &Manifest::fork_point, "Of a fork after an earlier turn: where it begins."},
    };
};

struct Run {
    RunId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    Origin origin = Origin::session;
    std::optional<PresetId> preset_id;
    std::optional<std::string> preset_name;
    std::optional<std::string> automation_id;
    std::string title;
    RunProvider provider = RunProvider::local;
    std::string harness;
    std::string model;
    State state = State::queued;
    std::string reason;
    std::string started_by;
    int64_t priority = 0;
    int64_t turns = 0;
    int64_t steps = 0;
    int64_t last_event = 0;
    harness::Usage usage;
    std::optional<int64_t> cost_micro_usd;
    std::optional<RunId> from_run;
    std::string trace_id;
    bool takes_follow_ups = false;
    std::optional<Time> workspace_removed_at;
    std::optional<std::string> kept_by;
    Time created_at{};
    std::optional<Time> started_at;
    std::optional<Time> ended_at;
    std::optional<int64_t> worked_ns;
    std::optional<Time> working_since;
    static constexpr Pack fields{
        Field{"id", &Run::id, "Id."},
        Field{"space_id", &Run::space_id, "Id of the space."},
        Field{"project_id", &Run::project_id, "Project it is bound to."},
        Field{"origin", &Run::origin, "Whether a person or an automation started it."},
        Field{"preset_id", &Run::preset_id, "Id of the preset, if the run has one."},
        Field{"preset_name", &Run::preset_name, "Name of the preset at that time."},
        Field{"automation_id", &Run::automation_id, "Automation that started it."},
        Field{"title", &Run::title, "First line of the prompt, unless one was given."},
        Field{"provider", &Run::provider, "Where it works."},
        Field{"harness", &Run::harness, "Name of the harness."},
        Field{"model", &Run::model, "Model; empty when the harness needs none."},
        Field{"state", &Run::state, "State of the run."},
        Field{"reason", &Run::reason, "Reason of the state, for example the error."},
        Field{"started_by", &Run::started_by, "E-mail address, key or automation."},
        Field{"priority", &Run::priority, "Runs with a higher priority start first."},
        Field{"turns", &Run::turns, "Number of turns."},
        Field{"steps", &Run::steps, "Number of tool calls."},
        Field{"last_event", &Run::last_event, "Sequence number of its newest event."},
        Field{"usage", &Run::usage, "Tokens as the gateway counted them, also while it runs."},
        Field{"cost_micro_usd", &Run::cost_micro_usd, "Cost; null when a model's price is unknown."},
        Field{"from_run", &Run::from_run, "Run it repeats or was forked from."},
        Field{"trace_id", &Run::trace_id, "Its trace in the project hone-runs."},
        Field{"takes_follow_ups", &Run::takes_follow_ups, "Whether it accepts a follow-up now."},
        Field{"workspace_removed_at", &Run::workspace_removed_at,
              "Time at which its workspace expired; it takes no follow-ups since."},
        Field{"kept_by", &Run::kept_by, "Name of the person who keeps it: it does not expire."},
        Field{"created_at", &Run::created_at, "Time of creation."},
        Field{"started_at", &Run::started_at, "Time at which its first sandbox was created."},
        Field{"ended_at", &Run::ended_at, "Time at which it ended."},
        Field{"worked_ns", &Run::worked_ns,
              "Time that it was prepared and ran until its last change of state, in nanoseconds; without the time that "
              "it waited. null: not known."},
        Field{"working_since", &Run::working_since, "Since when it works now; null: it does not."},
    };
};

// One line of a transcript.
struct RunEvent {
    int64_t seq = 0;
    Time time{};
    harness::EventKind kind = harness::EventKind::status;
    int64_t turn = 0;
    std::string text;
    std::optional<std::string> step;
    std::optional<State> state;
    std::optional<std::string> tool;
    std::optional<std::string> call_id;
    std::optional<std::string> input;
    std::optional<std::string> author;
    std::optional<std::string> artifact;
    std::optional<harness::Usage> usage;
    Defaulted<bool> failed = false;
    Defaulted<bool> truncated = false;
    static constexpr Pack fields{
        Field{"seq", &RunEvent::seq, "Sequence number, from 1."},
        Field{"time", &RunEvent::time, "Time of the event."},
        Field{"kind", &RunEvent::kind, "Kind of the event."},
        Field{"turn", &RunEvent::turn, "Turn it belongs to; 0 before the first."},
        Field{"text", &RunEvent::text, "Text of the event."},
        Field{"step", &RunEvent::step,
              "Step of the preparation: provision, clone, layers, init, skills, project, harness."},
        Field{"state", &RunEvent::state, "New state of the run."},
        Field{"tool", &RunEvent::tool, "Tool that was called."},
        Field{"call_id", &RunEvent::call_id, "Id shared by a tool call and its result."},
        Field{"input", &RunEvent::input, "Arguments of a call, as JSON text."},
        Field{"author", &RunEvent::author, "Name of the author of a follow-up."},
        Field{"artifact", &RunEvent::artifact, "Artifact that was saved."},
        Field{"usage", &RunEvent::usage, "Tokens as the harness counts them."},
        Field{"failed", &RunEvent::failed, "The step failed."},
        Field{"truncated", &RunEvent::truncated, "Text or input is cut; GET …/events/{seq} has more."},
    };
};

} // namespace hone::run
