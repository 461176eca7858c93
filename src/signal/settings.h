// Signal of a project: whether it is on, who consented to what, how often it scans and what it may spend; and the
// record of each look. Declared once for the database's JSON, the API, the CLI and the UI. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "run/settings/settings.h"
#include "signal/detect/detectors.h"
#include "signal/issue.h"
#include "signal/reading.h"
#include "json/json.h"

namespace hone::signal {

struct ScanTag {
    static constexpr std::string_view kind = "scan";
};
using ScanId = Id<ScanTag>;

// What a member consents to when Signal is switched on.
inline constexpr std::string_view consent_note =
    "Signal reads the spans and evals of this project on its own, every few minutes, with statistics that stay on this "
    "server. For the issues it ranks highest it starts workers in sandboxes. With a preset that uses a model, those "
    "workers send parts of the traces to the provider of that model, within the budget set here; if traces per reading "
    "are set, also parts of sampled traces that no issue is about. Without a preset, a playbook without a model does "
    "the work. Nothing is changed outside Hone without a person.";

struct SignalSettings {
    json::Defaulted<int64_t> cadence_minutes = int64_t{10};
    json::Defaulted<int64_t> window_hours = int64_t{24};
    json::Defaulted<int64_t> baseline_days = int64_t{7};
    json::Defaulted<std::string> context;
    std::optional<std::string> preset;
    std::optional<run::RepoSettings> repo;
    json::Defaulted<int64_t> max_investigations = int64_t{1};
    json::Defaulted<Severity> least_severity = Severity::medium;
    std::optional<int64_t> tokens_per_day;
    std::optional<int64_t> cost_micro_usd_per_day;
    json::Defaulted<int64_t> sampled_traces = int64_t{0};
    json::Defaulted<int64_t> sampling_hours = int64_t{24};
    json::Defaulted<int64_t> sampled_tokens = int64_t{200'000};
    static constexpr Pack fields{
        Field{"cadence_minutes", &SignalSettings::cadence_minutes,
              "Minutes between two scans; 1 to 1440, 10 if not given."},
        Field{"window_hours", &SignalSettings::window_hours, "Hours that a scan covers; 1 to 168, 24 if not given."},
        Field{"baseline_days", &SignalSettings::baseline_days,
              "Days before the window that it is compared with; 1 to 30, 7 if not given."},
        Field{"context", &SignalSettings::context,
              "Facts about the application for the workers; at most 20,000 bytes."},
        Field{"preset", &SignalSettings::preset, "Preset of the workers; none: a playbook without a model."},
        Field{"repo", &SignalSettings::repo, "The application's repository, for investigations and fixes."},
        Field{"max_investigations", &SignalSettings::max_investigations,
              "Most investigations that one scan starts, 0 to 20."},
        Field{"least_severity", &SignalSettings::least_severity,
              "Issues below this severity are not investigated automatically."},
        Field{"tokens_per_day", &SignalSettings::tokens_per_day, "Tokens of all its workers per day; none: no limit."},
        Field{"cost_micro_usd_per_day", &SignalSettings::cost_micro_usd_per_day,
              "Cost of all its workers per day in millionths of a US dollar; none: no limit."},
        Field{"sampled_traces", &SignalSettings::sampled_traces,
              "Traces that a worker with a model reads after a scan, 0 to 50; 0 (if not given): none. Needs `preset`."},
        Field{"sampling_hours", &SignalSettings::sampling_hours,
              "Hours between two such readings; 1 to 168, 24 if not given."},
        Field{"sampled_tokens", &SignalSettings::sampled_tokens,
              "Most tokens of one reading; 1,000 to 10,000,000, 200,000 if not given."},
    };
};

struct Scan {
    ScanId id;
    access::ProjectId project_id;
    std::string asked_by;
    Time started_at{};
    int64_t took_ms = 0;
    Time baseline_from{};
    Time window_from{};
    Time window_to{};
    int64_t spans = 0;
    int64_t traces = 0;
    int64_t questions = 0;
    int64_t rows_read = 0;
    int64_t bytes_read = 0;
    int64_t memory_bytes = 0;
    int64_t found = 0;
    int64_t new_issues = 0;
    int64_t reopened = 0;
    int64_t quiet = 0;
    int64_t investigations = 0;
    int64_t tokens = 0;
    int64_t cost_micro_usd = 0;
    std::vector<DetectorCost> detectors;
    std::string failed;
    static constexpr Pack fields{
        Field{"id", &Scan::id, "Id."},
        Field{"project_id", &Scan::project_id, "Id of the project."},
        Field{"asked_by", &Scan::asked_by, "`schedule`, or the user or key that requested it."},
        Field{"started_at", &Scan::started_at, "Time of the start."},
        Field{"took_ms", &Scan::took_ms, "Duration in milliseconds."},
        Field{"baseline_from", &Scan::baseline_from,
              "Start of the baseline: the time that the window is compared with."},
        Field{"window_from", &Scan::window_from, "Start of the scanned window."},
        Field{"window_to", &Scan::window_to, "End of the scanned window."},
        Field{"spans", &Scan::spans, "Spans in the window."},
        Field{"traces", &Scan::traces, "Traces in the window."},
        Field{"questions", &Scan::questions, "Queries to the span store."},
        Field{"rows_read", &Scan::rows_read, "Rows read by these queries."},
        Field{"bytes_read", &Scan::bytes_read, "Bytes read by these queries."},
        Field{"memory_bytes", &Scan::memory_bytes,
              "Peak memory of the server's own span engine during the scan; 0: unknown."},
        Field{"found", &Scan::found, "Number of findings."},
        Field{"new_issues", &Scan::new_issues, "Number of new issues."},
        Field{"reopened", &Scan::reopened, "Number of reopened issues."},
        Field{"quiet", &Scan::quiet, "Findings of muted or dismissed issues."},
        Field{"investigations", &Scan::investigations, "Workers started."},
        Field{"tokens", &Scan::tokens, "Tokens that these workers have used so far."},
        Field{"cost_micro_usd", &Scan::cost_micro_usd, "Cost of these workers in millionths of a US dollar."},
        Field{"detectors", &Scan::detectors, "Findings and cost of each detector."},
        Field{"failed", &Scan::failed, "Error; empty: none."},
    };
};

struct SignalView {
    access::ProjectId project_id;
    bool enabled = false;
    SignalSettings settings;
    std::string consent_note;
    std::optional<std::string> consent_by;
    std::optional<Time> consent_at;
    std::optional<Scan> last_scan;
    std::optional<Time> next_scan_at;
    int64_t open_issues = 0;
    std::optional<std::string> automation_id;
    std::optional<ReadingTotals> readings;
    static constexpr Pack fields{
        Field{"project_id", &SignalView::project_id, "Id of the project."},
        Field{"enabled", &SignalView::enabled, "Whether it scans on its schedule."},
        Field{"settings", &SignalView::settings, "Settings of the scans."},
        Field{"consent_note", &SignalView::consent_note, "Text of the consent that is needed to enable it."},
        Field{"consent_by", &SignalView::consent_by, "Name of the user who consented."},
        Field{"consent_at", &SignalView::consent_at, "Time of the consent."},
        Field{"last_scan", &SignalView::last_scan, "The newest scan."},
        Field{"next_scan_at", &SignalView::next_scan_at, "Time of the next scan; null when it is disabled."},
        Field{"open_issues", &SignalView::open_issues,
              "Issues that are open, under investigation or have a proposed fix."},
        Field{"automation_id", &SignalView::automation_id,
              "Automation whose slots record every scan and every worker; null: it was never enabled."},
        Field{"readings", &SignalView::readings,
              "What workers with a model found in sampled traces, and its cost; null: there was no reading."},
    };
};

struct ConfigureSignal {
    std::optional<bool> enabled;
    std::optional<bool> consent;
    std::optional<SignalSettings> settings;
    static constexpr Pack fields{
        Field{"enabled", &ConfigureSignal::enabled, "Enables or disables it; unchanged if not given."},
        Field{"consent", &ConfigureSignal::consent, "Must be true to enable it: consent to consent_note."},
        Field{"settings", &ConfigureSignal::settings, "Replaces all settings; unchanged if not given."},
    };
};

Result<> check_settings(const SignalSettings& settings);

} // namespace hone::signal
