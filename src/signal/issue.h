// An issue: one recurring problem of a project, with what is known about it and where it is in its life. Declared once
// for the database's JSON, the API, the CLI and the UI. Values only; any thread.
//
//   open ─► investigating ─► open          a worker investigates it
//   open ─► fix_proposed ─► resolved       a fix waits for review, then it is merged or a member resolves the issue
//   resolved ─► open                       by itself, when it comes back (reopened)
//   any ─► muted, dismissed ─► open        by a person; matches meanwhile are counted without notices
#pragma once

#include "access/caller.h"
#include "signal/analysis/candidate.h"
#include "json/json.h"

#include <optional>

namespace hone::signal {

struct IssueTag {
    static constexpr std::string_view kind = "issue";
};
using IssueId = Id<IssueTag>;
struct CommentTag {
    static constexpr std::string_view kind = "comment";
};
using CommentId = Id<CommentTag>;
struct ChangeTag {
    static constexpr std::string_view kind = "change";
};

enum class Status { open, investigating, fix_proposed, resolved, muted, dismissed };
constexpr auto enum_names(Status) {
    return std::array{EnumName{Status::open, "open"},
                      EnumName{Status::investigating, "investigating"},
                      EnumName{Status::fix_proposed, "fix_proposed"},
                      EnumName{Status::resolved, "resolved"},
                      EnumName{Status::muted, "muted"},
                      EnumName{Status::dismissed, "dismissed"}};
}

// One part of a score, so that a rank can be understood.
struct ScoreTerm {
    std::string name;
    double points = 0;
    double most = 0;
    std::string why;
    static constexpr Pack fields{
        Field{"name", &ScoreTerm::name, "affected_traces, share, growth, severity, novelty or confidence."},
        Field{"points", &ScoreTerm::points, "Points that it adds to the score."},
        Field{"most", &ScoreTerm::most, "Most points that it can add."},
        Field{"why", &ScoreTerm::why, "Number that the points are computed from."},
    };
};

// What an issue is recognised by; several after a merge.
struct Fingerprint {
    std::string fingerprint;
    Detector detector = Detector::reported;
    std::string title;
    std::string filter;
    int64_t traces = 0;
    Time last_seen{};
    static constexpr Pack fields{
        Field{"fingerprint", &Fingerprint::fingerprint, "Hash of detector, project and subject."},
        Field{"detector", &Fingerprint::detector, "Detector that found it."},
        Field{"title", &Fingerprint::title, "Title of this fingerprint."},
        Field{"filter", &Fingerprint::filter, "Filter of its spans."},
        Field{"traces", &Fingerprint::traces, "Affected traces in the window of the last scan that found it."},
        Field{"last_seen", &Fingerprint::last_seen, "Time of its newest span."},
    };
};

struct Issue {
    IssueId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string fingerprint;
    Detector detector = Detector::reported;
    std::string title;
    std::string explanation;
    Severity severity = Severity::medium;
    Status status = Status::open;
    std::string reason;
    std::optional<Time> muted_until;
    int64_t score = 0;
    std::vector<ScoreTerm> score_terms;
    int64_t traces = 0;
    double share = 0;
    double growth = 1;
    double confidence = 0;
    std::string filter;
    std::vector<Fact> facts;
    std::vector<Example> examples;
    int64_t matches = 0;
    int64_t quiet_matches = 0;
    int64_t reopened = 0;
    std::optional<std::string> assignee;
    std::optional<std::string> assignee_name;
    std::optional<std::string> reported_by;
    std::optional<std::string> investigation_id;
    std::optional<std::string> investigation_run;
    std::optional<Time> investigated_at;
    std::optional<std::string> fix_run;
    std::optional<std::string> monitor_id;
    std::optional<std::string> evaluator_id;
    std::optional<std::string> forge_issue;
    std::string verdict;
    std::string verdict_reason;
    std::optional<std::string> verdict_run;
    std::optional<IssueId> merged_into;
    Time first_seen{};
    Time last_seen{};
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Issue::id, "Id."},
        Field{"space_id", &Issue::space_id, "Id of the space."},
        Field{"project_id", &Issue::project_id, "Id of the project."},
        Field{"fingerprint", &Issue::fingerprint,
              "Fingerprint: hash of detector, project and subject; a merged issue has several."},
        Field{"detector", &Issue::detector, "Detector that found it."},
        Field{"title", &Issue::title, "One line of plain text."},
        Field{"explanation", &Issue::explanation, "Why it was found, as text."},
        Field{"severity", &Issue::severity, "low, medium, high or critical."},
        Field{"status", &Issue::status, "Status of the issue."},
        Field{"reason", &Issue::reason, "Why it is muted, dismissed, resolved or reopened."},
        Field{"muted_until", &Issue::muted_until, "It is reopened then; null: until a member reopens it."},
        Field{"score", &Issue::score, "Rank, 0 to 100."},
        Field{"score_terms", &Issue::score_terms, "Terms that add up to the score."},
        Field{"traces", &Issue::traces, "Affected traces in the window of the last scan that found it."},
        Field{"share", &Issue::share, "Share of the traces in the window, 0 to 1."},
        Field{"growth", &Issue::growth, "Share in the window divided by the share in the baseline."},
        Field{"confidence", &Issue::confidence, "Confidence of the finding, 0 to 1."},
        Field{"filter", &Issue::filter, "Filter of its spans, in the filter language."},
        Field{"facts", &Issue::facts, "Numbers that support it."},
        Field{"examples", &Issue::examples, "Some of its traces, newest first."},
        Field{"matches", &Issue::matches, "Scans that found it."},
        Field{"quiet_matches", &Issue::quiet_matches, "Scans that found it while it was muted or dismissed."},
        Field{"reopened", &Issue::reopened, "How often it was reopened."},
        Field{"assignee", &Issue::assignee, "User who is responsible for it."},
        Field{"assignee_name", &Issue::assignee_name, "E-mail address of the assignee."},
        Field{"reported_by", &Issue::reported_by, "Run or person that reported it, when no detector did."},
        Field{"investigation_id", &Issue::investigation_id, "Artifact of the newest investigation."},
        Field{"investigation_run", &Issue::investigation_run, "Run of the investigation."},
        Field{"investigated_at", &Issue::investigated_at, "Time of the investigation."},
        Field{"fix_run", &Issue::fix_run, "Run that proposes a fix."},
        Field{"monitor_id", &Issue::monitor_id, "Monitor created from it."},
        Field{"evaluator_id", &Issue::evaluator_id, "Evaluator created from it."},
        Field{"forge_issue", &Issue::forge_issue, "Address of the linked issue on a forge."},
        Field{"verdict", &Issue::verdict,
              "confirmed or rejected by a worker with a model that read an example; empty: not read. It changes the "
              "confidence in the score, never the status."},
        Field{"verdict_reason", &Issue::verdict_reason, "Its reason, in one line."},
        Field{"verdict_run", &Issue::verdict_run, "Run of that worker."},
        Field{"merged_into", &Issue::merged_into, "Issue that it was merged into."},
        Field{"first_seen", &Issue::first_seen, "Time of its oldest span."},
        Field{"last_seen", &Issue::last_seen, "Time of its newest span."},
        Field{"created_at", &Issue::created_at, "Time at which it was found."},
        Field{"updated_at", &Issue::updated_at, "Time of the last change."},
    };
};

struct IssueComment {
    CommentId id;
    std::string author;
    std::string text;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &IssueComment::id, "Id."},
        Field{"author", &IssueComment::author, "E-mail address or name of a key."},
        Field{"text", &IssueComment::text, "Plain text or Markdown."},
        Field{"created_at", &IssueComment::created_at, "Time of creation."},
    };
};

struct Change {
    Time time{};
    std::string who;
    std::string what;
    std::string detail;
    static constexpr Pack fields{
        Field{"time", &Change::time, "Time of the change."},
        Field{"who", &Change::who, "Signal, an e-mail address, a key or a run."},
        Field{"what", &Change::what,
              "found, reopened, status, severity, title, assignee, merged, split, investigation, fix, verdict, "
              "monitor, evaluator, "
              "forge_issue."},
        Field{"detail", &Change::detail, "`open → resolved: fixed in 1.9.1`"},
    };
};

struct VolumePoint {
    Time time{};
    int64_t traces = 0;
    static constexpr Pack fields{
        Field{"time", &VolumePoint::time, "Start of the hour."},
        Field{"traces", &VolumePoint::traces, "Affected traces."},
    };
};

// By severity, for a stacked chart. A trace that two issues touch counts twice.
struct SeverityVolume {
    Time time{};
    int64_t low = 0, medium = 0, high = 0, critical = 0;
    static constexpr Pack fields{
        Field{"time", &SeverityVolume::time, "Start of the hour."},
        Field{"low", &SeverityVolume::low, "Affected traces of issues with this severity."},
        Field{"medium", &SeverityVolume::medium, ""},
        Field{"high", &SeverityVolume::high, ""},
        Field{"critical", &SeverityVolume::critical, ""},
    };
};

// Its filter names spans one by one, as that of a behaviour does which no filter can state.
inline bool lists_spans(const Issue& issue) {
    return issue.filter.starts_with("span_id in (");
}

// The same problem of the same project always has the same one.
std::string fingerprint_of(const access::ProjectId& project, Detector detector, std::string_view subject);

// The terms of a score and their sum, 0 to 100. `age` is the time since it was first seen.
std::vector<ScoreTerm> score_terms(const Issue& issue, Duration age);
int64_t score_of(const std::vector<ScoreTerm>& terms);

} // namespace hone::signal
