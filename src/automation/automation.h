// An automation: what it starts, what triggers it, and its slots (scheduled times with their outcomes). Declared
// once for the database's JSON, the API, the CLI and the UI. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "run/run.h"
#include "telemetry/query/span_store.h"

#include <optional>
#include <string>

namespace hone::automation {

using json::Defaulted;

struct AutomationTag {
    static constexpr std::string_view kind = "auto";
};
struct SlotTag {
    static constexpr std::string_view kind = "slot";
};
using AutomationId = Id<AutomationTag>;
using SlotId = Id<SlotTag>;

enum class TriggerType {
    cron,
    metric,
    monitor,
    webhook,
    managed, // a part of Hone fires it; not for people
};
constexpr auto enum_names(TriggerType) {
    return std::array{EnumName{TriggerType::cron, "cron"}, EnumName{TriggerType::metric, "metric"},
                      EnumName{TriggerType::monitor, "monitor"}, EnumName{TriggerType::webhook, "webhook"},
                      EnumName{TriggerType::managed, "managed"}};
}

// Who sends the deliveries of a webhook: decides which headers carry the signature.
enum class HookSource {
    hone, // X-Hone-Signature over time, id and body
    github,
    gitlab,
    grafana,
    pagerduty,
    slack,
    standard, // standardwebhooks.com
    hmac,     // HMAC-SHA256 in a header of the sender's choice
};
constexpr auto enum_names(HookSource) {
    return std::array{EnumName{HookSource::hone, "hone"},           EnumName{HookSource::github, "github"},
                      EnumName{HookSource::gitlab, "gitlab"},       EnumName{HookSource::grafana, "grafana"},
                      EnumName{HookSource::pagerduty, "pagerduty"}, EnumName{HookSource::slack, "slack"},
                      EnumName{HookSource::standard, "standard"},   EnumName{HookSource::hmac, "hmac"}};
}

enum class Comparator { above, at_least, below, at_most };
constexpr auto enum_names(Comparator) {
    return std::array{EnumName{Comparator::above, "above"}, EnumName{Comparator::at_least, "at_least"},
                      EnumName{Comparator::below, "below"}, EnumName{Comparator::at_most, "at_most"}};
}

struct Trigger {
    TriggerType type = TriggerType::cron;
    std::optional<std::string> schedule;
    std::optional<std::string> time_zone;
    std::optional<telemetry::Metric> metric;
    std::optional<std::string> filter;
    std::optional<Comparator> comparator;
    std::optional<double> threshold;
    std::optional<int64_t> window_seconds;
    std::optional<int64_t> every_seconds;
    std::optional<int64_t> for_seconds;
    std::optional<int64_t> minimum_samples;
    std::optional<std::string> eval_name;
    std::optional<std::string> eval_label;
    std::optional<std::string> monitor;
    std::optional<HookSource> source;
    std::optional<std::string> signature_header;
    std::optional<std::string> timestamp_header;
    static constexpr Pack fields{
        Field{"type", &Trigger::type, "cron, metric, monitor or webhook."},
        Field{"schedule", &Trigger::schedule,
              "cron: five fields, six with seconds first, or a shorthand such as @hourly."},
        Field{"time_zone", &Trigger::time_zone, "cron: a name like Europe/Berlin; UTC if not given."},
        Field{"metric", &Trigger::metric, "metric: the metric, computed over the window."},
        Field{"filter", &Trigger::filter, "metric: only spans that match this filter."},
        Field{"comparator", &Trigger::comparator, "metric: above, at_least, below or at_most the threshold."},
        Field{"threshold", &Trigger::threshold,
              "metric: in the unit of the metric; latencies in milliseconds, cost in USD."},
        Field{"window_seconds", &Trigger::window_seconds, "metric: 60 to 604800; 900 if not given."},
        Field{"every_seconds", &Trigger::every_seconds, "metric: how often it is evaluated; 60 if not given."},
        Field{"for_seconds", &Trigger::for_seconds, "metric: how long the condition must be true; 0 if not given."},
        Field{"minimum_samples", &Trigger::minimum_samples,
              "metric: with fewer spans the value is ignored; 1 if not given."},
        Field{"eval_name", &Trigger::eval_name, "metric: for eval_rate and eval_score."},
        Field{"eval_label", &Trigger::eval_label, "metric: for eval_rate, the label whose share is measured."},
        Field{"monitor", &Trigger::monitor, "monitor: id of the monitor; fires when its state becomes triggered."},
        Field{"source", &Trigger::source,
              "webhook: who signs the deliveries: hone (if not given), github, gitlab, grafana, pagerduty, slack, "
              "standard or hmac."},
        Field{"signature_header", &Trigger::signature_header,
              "webhook of hmac: header with the signature; X-Signature if not given."},
        Field{"timestamp_header", &Trigger::timestamp_header,
              "webhook of hmac: header with the seconds since 1970, signed as \"timestamp.body\"; null: the body alone "
              "is signed."},
    };
};

enum class Overlap {
    skip,     // while a run of this automation is active, scheduled times are skipped
    queue,    // they wait for the run before them
    parallel, // they start immediately
};
constexpr auto enum_names(Overlap) {
    return std::array{EnumName{Overlap::skip, "skip"}, EnumName{Overlap::queue, "queue"},
                      EnumName{Overlap::parallel, "parallel"}};
}

// How scheduled times that were missed while no server was running are handled.
enum class CatchUp {
    coalesce, // one firing for all of them
    all,      // each fires
    none,     // none fires
};
constexpr auto enum_names(CatchUp) {
    return std::array{EnumName{CatchUp::coalesce, "coalesce"}, EnumName{CatchUp::all, "all"},
                      EnumName{CatchUp::none, "none"}};
}

struct DayBudget {
    std::optional<int64_t> tokens_per_day;
    std::optional<int64_t> cost_micro_usd_per_day;
    Defaulted<int64_t> soft_percent = int64_t{80};
    static constexpr Pack fields{
        Field{"tokens_per_day", &DayBudget::tokens_per_day, "Tokens of all its runs per day (UTC); null: no limit."},
        Field{"cost_micro_usd_per_day", &DayBudget::cost_micro_usd_per_day,
              "Cost of all its runs per day (UTC) in millionths of a US dollar; null: no limit."},
        Field{"soft_percent", &DayBudget::soft_percent,
              "From this percentage on, requests carry a notice to finish; 1 to 100."},
    };
};

struct Spent {
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    static constexpr Pack fields{
        Field{"tokens", &Spent::tokens, "Tokens of all its runs today (UTC)."},
        Field{"cost_micro_usd", &Spent::cost_micro_usd, "Cost of all its runs today in millionths of a US dollar."},
    };
};

enum class SlotOutcome {
    due,     // no outcome yet
    fired,   // a run was started
    skipped, // see `reason`
    failed,  // the run could not be started; see `note`
};
constexpr auto enum_names(SlotOutcome) {
    return std::array{EnumName{SlotOutcome::due, "due"}, EnumName{SlotOutcome::fired, "fired"},
                      EnumName{SlotOutcome::skipped, "skipped"}, EnumName{SlotOutcome::failed, "failed"}};
}

enum class SlotReason {
    none,
    paused,         // the automation was paused
    overlap,        // a run of it was active
    waiting,        // still due: the previous run is active
    cool_off,       // too soon after the previous firing
    capacity,       // too much is waiting already
    budget,         // the day's budget was used up
    preset_missing, // the preset was deleted
    coalesced,      // missed, and counted into a later firing
    missed,         // missed, and not to be caught up
    owner_gone,     // its owner may no longer start runs there
    not_started,    // the run was refused; see `note`
    nothing_new,    // Signal: no new span since the previous scan
    interrupted,    // Signal: the server stopped in the meantime
};
constexpr auto enum_names(SlotReason) {
    using enum SlotReason;
    return std::array{EnumName{none, "none"},
                      EnumName{paused, "paused"},
                      EnumName{overlap, "overlap"},
                      EnumName{waiting, "waiting"},
                      EnumName{cool_off, "cool_off"},
                      EnumName{capacity, "capacity"},
                      EnumName{budget, "budget"},
                      EnumName{preset_missing, "preset_missing"},
                      EnumName{coalesced, "coalesced"},
                      EnumName{missed, "missed"},
                      EnumName{owner_gone, "owner_gone"},
                      EnumName{not_started, "not_started"},
                      EnumName{nothing_new, "nothing_new"},
                      EnumName{interrupted, "interrupted"}};
}

// One scheduled time and its outcome.
struct Slot {
    SlotId id;
    AutomationId automation_id;
    std::string due_key;
    Time due_at{};
    SlotOutcome outcome = SlotOutcome::due;
    SlotReason reason = SlotReason::none;
    std::string note;
    std::optional<run::RunId> run_id;
    std::optional<run::State> run_state;
    json::Value values;
    bool by_hand = false;
    Time created_at{};
    std::optional<Time> acted_at;
    static constexpr Pack fields{
        Field{"id", &Slot::id, "Id."},
        Field{"automation_id", &Slot::automation_id, "Id of the automation."},
        Field{"due_key", &Slot::due_key,
              "Key that makes this entry unique: its time, threshold crossing, state change or delivery."},
        Field{"due_at", &Slot::due_at, "Scheduled time."},
        Field{"outcome", &Slot::outcome, "due, fired, skipped or failed."},
        Field{"reason", &Slot::reason, "Why it was skipped, is waiting or failed."},
        Field{"note", &Slot::note, "Details of the reason, as text."},
        Field{"run_id", &Slot::run_id, "Run that it started."},
        Field{"run_state", &Slot::run_state, "Final state of that run."},
        Field{"values", &Slot::values, "Values of the trigger; the run reads them from /hone/trigger.json."},
        Field{"by_hand", &Slot::by_hand, "Started by a person."},
        Field{"created_at", &Slot::created_at, "Time of creation."},
        Field{"acted_at", &Slot::acted_at, "Time of the outcome."},
    };
};

struct Automation {
    AutomationId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string project_name;
    std::string name;
    std::string description;
    std::optional<run::PresetId> preset_id;
    std::optional<std::string> preset_name;
    std::string prompt;
    Trigger trigger;
    bool paused = false;
    std::string pause_reason;
    Overlap overlap = Overlap::skip;
    CatchUp catch_up = CatchUp::coalesce;
    int64_t cool_off_seconds = 0;
    DayBudget budget;
    Spent spent_today;
    int64_t failure_limit = 5;
    int64_t failure_streak = 0;
    std::optional<std::string> managed_by;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    std::optional<Slot> last_slot;
    std::optional<Time> next_at;
    std::optional<std::string> hook_path;
    std::optional<std::string> hook_secret;
    static constexpr Pack fields{
        Field{"id", &Automation::id, "Id."},
        Field{"space_id", &Automation::space_id, "Id of the space."},
        Field{"project_id", &Automation::project_id, "Project its runs are bound to."},
        Field{"project_name", &Automation::project_name, "Name of the project."},
        Field{"name", &Automation::name, "Unique in its space."},
        Field{"description", &Automation::description, "Purpose, as text."},
        Field{"preset_id", &Automation::preset_id, "Preset of its runs."},
        Field{"preset_name", &Automation::preset_name, "Name of the preset; null after it was deleted."},
        Field{"prompt", &Automation::prompt, "Template of the prompt of each run."},
        Field{"trigger", &Automation::trigger, "Trigger that fires it."},
        Field{"paused", &Automation::paused, "Scheduled times are recorded and skipped."},
        Field{"pause_reason", &Automation::pause_reason, "Why it is paused."},
        Field{"overlap", &Automation::overlap, "What happens at a scheduled time while a run is active."},
        Field{"catch_up", &Automation::catch_up, "cron: how scheduled times missed while no server ran are handled."},
        Field{"cool_off_seconds", &Automation::cool_off_seconds, "Least time between two firings."},
        Field{"budget", &Automation::budget, "Budget of all its runs per day."},
        Field{"spent_today", &Automation::spent_today, "Usage of its runs today."},
        Field{"failure_limit", &Automation::failure_limit, "It is paused after this many failures in a row; 0: never."},
        Field{"failure_streak", &Automation::failure_streak, "Number of failures in a row."},
        Field{"managed_by", &Automation::managed_by, "Component of Hone that manages it, such as signal."},
        Field{"created_by", &Automation::created_by, "User or key whose permissions its runs have."},
        Field{"created_at", &Automation::created_at, "Time of creation."},
        Field{"updated_at", &Automation::updated_at, "Time of the last change."},
        Field{"last_slot", &Automation::last_slot, "Its newest slot: a scheduled time and its outcome."},
        Field{"next_at", &Automation::next_at, "cron: the next firing. metric: the next evaluation."},
        Field{"hook_path", &Automation::hook_path, "webhook: path that accepts deliveries."},
        Field{"hook_secret", &Automation::hook_secret,
              "webhook: secret that signs deliveries. Shown once, when it is created; null if the caller gave it."},
    };
};

// What people write: the body of POST, and the file in git.
struct NewAutomation {
    std::string name;
    Defaulted<std::string> description;
    std::string project;
    std::string preset;
    std::string prompt;
    Trigger trigger;
    Defaulted<Overlap> overlap = Overlap::skip;
    Defaulted<CatchUp> catch_up = CatchUp::coalesce;
    Defaulted<int64_t> cool_off_seconds = int64_t{0};
    Defaulted<DayBudget> budget;
    Defaulted<int64_t> failure_limit = int64_t{5};
    Defaulted<bool> paused = false;
    std::optional<std::string> hook_secret;
    static constexpr Pack fields{
        Field{"name", &NewAutomation::name, "Unique in the space."},
        Field{"description", &NewAutomation::description, "Purpose, as text."},
        Field{"project", &NewAutomation::project, "Id or name of the project its runs are bound to."},
        Field{"preset", &NewAutomation::preset, "Id or name of the preset of its runs."},
        Field{"prompt", &NewAutomation::prompt,
              "Template of the prompt of each run, with variables such as `{{window.from}}`."},
        Field{"trigger", &NewAutomation::trigger, "Trigger that fires it."},
        Field{"overlap", &NewAutomation::overlap, "skip (if not given), queue or parallel."},
        Field{"catch_up", &NewAutomation::catch_up, "coalesce (if not given), all or none."},
        Field{"cool_off_seconds", &NewAutomation::cool_off_seconds, "0 to 2592000; 0 if not given."},
        Field{"budget", &NewAutomation::budget, "Budget of all its runs per day."},
        Field{"failure_limit", &NewAutomation::failure_limit, "0 (never pause) to 100; 5 if not given."},
        Field{"paused", &NewAutomation::paused, "Whether it is created paused."},
        Field{"hook_secret", &NewAutomation::hook_secret,
              "webhook: the secret that the sender made, as PagerDuty and Slack do; never shown again. If not given, "
              "Hone makes one."},
    };
};

struct AutomationChange {
    std::optional<std::string> name{};
    std::optional<std::string> description{};
    std::optional<std::string> project{};
    std::optional<std::string> preset{};
    std::optional<std::string> prompt{};
    std::optional<Trigger> trigger{};
    std::optional<Overlap> overlap{};
    std::optional<CatchUp> catch_up{};
    std::optional<int64_t> cool_off_seconds{};
    std::optional<DayBudget> budget{};
    std::optional<int64_t> failure_limit{};
    std::optional<bool> paused{};
    std::optional<std::string> hook_secret{};
    static constexpr Pack fields{
        Field{"name", &AutomationChange::name, "Unique in the space."},
        Field{"description", &AutomationChange::description, "Purpose, as text."},
        Field{"project", &AutomationChange::project, "Id or name of the project its runs are bound to."},
        Field{"preset", &AutomationChange::preset, "Id or name of the preset of its runs."},
        Field{"prompt", &AutomationChange::prompt, "Template of the prompt of each run."},
        Field{"trigger", &AutomationChange::trigger, "Replaces the whole trigger."},
        Field{"overlap", &AutomationChange::overlap, "skip, queue or parallel."},
        Field{"catch_up", &AutomationChange::catch_up, "coalesce, all or none."},
        Field{"cool_off_seconds", &AutomationChange::cool_off_seconds, "0 to 2592000."},
        Field{"budget", &AutomationChange::budget, "Replaces the whole budget."},
        Field{"failure_limit", &AutomationChange::failure_limit, "0 (never pause) to 100."},
        Field{"paused", &AutomationChange::paused, "Pauses or resumes it."},
        Field{"hook_secret", &AutomationChange::hook_secret,
              "webhook: replaces the secret by one that the sender made; never shown again."},
    };
};

// Everything that can be checked in a trigger without the database; absent fields get their defaults. Errors
// name the field.
Result<Trigger> checked_trigger(Trigger trigger);
bool compares(Comparator comparator, double value, double threshold);

} // namespace hone::automation
