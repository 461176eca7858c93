// An issue: one recurring problem of a project, with what is known about it and where it is in its life. Declared once
// for the database's JSON, the API, the CLI and the UI. Values only; any thread.
//
//   open ─► investigating ─► open          a worker investigates it
//   open ─► fix_proposed ─► resolved       a fix waits for review, then it is merged or a member resolves the issue
//   resolved ─► open                       by itself, when it comes back (reopened)
//   any ─► muted, dismissed ─► open        by a person; what matches meanwhile is counted and stays quiet
#pragma once

#include "access/caller.h"
#include "signal/detect/candidate.h"
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
    static constexpr std::tuple fields{
        Field{"name", &ScoreTerm::name, "affected_traces, share, growth, severity, novelty or confidence."},
        Field{"points", &ScoreTerm::points, "What it adds."},
        Field{"most", &ScoreTerm::most, "What it could add."},
        Field{"why", &ScoreTerm::why, "The number it comes from."},
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
    static constexpr std::tuple fields{
        Field{"fingerprint", &Fingerprint::fingerprint, "Computed from detector, project and subject."},
        Field{"detector", &Fingerprint::detector, "What found it."},
        Field{"title", &Fingerprint::title, "Its own title."},
        Field{"filter", &Fingerprint::filter, "The spans it is about."},
        Field{"traces", &Fingerprint::traces, "Traces touched in the window of the last scan that found it."},
        Field{"last_seen", &Fingerprint::last_seen, "Newest span of it."},
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
    std::optional<IssueId> merged_into;
    Time first_seen{};
    Time last_seen{};
    Time created_at{};
    Time updated_at{};
    static constexpr std::tuple fields{
        Field{"id", &Issue::id, "Id."},
        Field{"space_id", &Issue::space_id, "Space."},
        Field{"project_id", &Issue::project_id, "Project."},
        Field{"fingerprint", &Issue::fingerprint, "What it is recognised by; a merged issue has more."},
        Field{"detector", &Issue::detector, "What found it."},
        Field{"title", &Issue::title, "One line of plain text."},
        Field{"explanation", &Issue::explanation, "Why this was found, in words."},
        Field{"severity", &Issue::severity, "How bad."},
        Field{"status", &Issue::status, "Where it is in its life."},
        Field{"reason", &Issue::reason, "Why it is muted, dismissed or resolved, or why it came back."},
        Field{"muted_until", &Issue::muted_until, "Then it is open again; null: until a member opens it."},
        Field{"score", &Issue::score, "Rank, 0 to 100."},
        Field{"score_terms", &Issue::score_terms, "What the score is made of."},
        Field{"traces", &Issue::traces, "Traces touched in the window of the last scan that found it."},
        Field{"share", &Issue::share, "Of the window's traces."},
        Field{"growth", &Issue::growth, "Share in the window over share in the time before."},
        Field{"confidence", &Issue::confidence, "How sure the finding is, 0 to 1."},
        Field{"filter", &Issue::filter, "The spans it is about, in the filter language."},
        Field{"facts", &Issue::facts, "Numbers that support it."},
        Field{"examples", &Issue::examples, "Some of its traces, newest first."},
        Field{"matches", &Issue::matches, "Scans that found it."},
        Field{"quiet_matches", &Issue::quiet_matches, "Of these, while it was muted or dismissed."},
        Field{"reopened", &Issue::reopened, "How often it came back."},
        Field{"assignee", &Issue::assignee, "User who is responsible for it."},
        Field{"assignee_name", &Issue::assignee_name, "E-mail address."},
        Field{"reported_by", &Issue::reported_by, "Run or person that reported it, when no detector did."},
        Field{"investigation_id", &Issue::investigation_id, "Artifact: the newest investigation."},
        Field{"investigation_run", &Issue::investigation_run, "Run that wrote it, or is at it."},
        Field{"investigated_at", &Issue::investigated_at, "When."},
        Field{"fix_run", &Issue::fix_run, "Run that works, or worked, on a fix."},
        Field{"monitor_id", &Issue::monitor_id, "Monitor made from it."},
        Field{"evaluator_id", &Issue::evaluator_id, "Evaluator made from it."},
        Field{"forge_issue", &Issue::forge_issue, "Address of the issue on a forge that it is linked to."},
        Field{"merged_into", &Issue::merged_into, "Issue that it is a part of now."},
        Field{"first_seen", &Issue::first_seen, "Oldest span of it that was seen."},
        Field{"last_seen", &Issue::last_seen, "Newest."},
        Field{"created_at", &Issue::created_at, "When it was found."},
        Field{"updated_at", &Issue::updated_at, "When anything about it changed."},
    };
};

struct IssueComment {
    CommentId id;
    std::string author;
    std::string text;
    Time created_at{};
    static constexpr std::tuple fields{
        Field{"id", &IssueComment::id, "Id."},
        Field{"author", &IssueComment::author, "E-mail address or key."},
        Field{"text", &IssueComment::text, "Plain text or Markdown."},
        Field{"created_at", &IssueComment::created_at, "When."},
    };
};

struct Change {
    Time time{};
    std::string who;
    std::string what;
    std::string detail;
    static constexpr std::tuple fields{
        Field{"time", &Change::time, "When."},
        Field{"who", &Change::who, "Signal, an e-mail address, a key or a run."},
        Field{"what", &Change::what,
              "found, reopened, status, severity, title, assignee, merged, split, investigation, fix, monitor, "
              "evaluator, "
              "forge_issue."},
        Field{"detail", &Change::detail, "`open → resolved: fixed in 1.9.1`"},
    };
};

struct VolumePoint {
    Time time{};
    int64_t traces = 0;
    static constexpr std::tuple fields{
        Field{"time", &VolumePoint::time, "Start of the hour."},
        Field{"traces", &VolumePoint::traces, "Traces touched."},
    };
};

// By severity, for a stacked chart. A trace that two issues touch counts twice.
struct SeverityVolume {
    Time time{};
    int64_t low = 0, medium = 0, high = 0, critical = 0;
    static constexpr std::tuple fields{
        Field{"time", &SeverityVolume::time, "Start of the hour."},
        Field{"low", &SeverityVolume::low, "Traces of issues of this severity."},
        Field{"medium", &SeverityVolume::medium, ""},
        Field{"high", &SeverityVolume::high, ""},
        Field{"critical", &SeverityVolume::critical, ""},
    };
};

// The same problem of the same project always has the same one.
std::string fingerprint_of(const access::ProjectId& project, Detector detector, std::string_view subject);

// The terms of a score and their sum, 0 to 100. `age` is the time since it was first seen.
std::vector<ScoreTerm> score_terms(const Issue& issue, Duration age);
int64_t score_of(const std::vector<ScoreTerm>& terms);

} // namespace hone::signal
