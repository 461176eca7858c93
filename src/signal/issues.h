// The issues of projects: what scans and workers found and what people say about it. A finding whose fingerprint is
// known updates its issue; a new one makes one. Every change leaves a line in the issue's history. Thread-safe.
#pragma once

#include "access/access.h"
#include "signal/issue.h"
#include "signal/reading.h"

#include <functional>
#include <map>

namespace hone::signal {

// An issue on a forge, opened from one here or linked to it.
struct ForgeIssueRequest {
    std::optional<std::string> url{};
    std::optional<std::string> repo{};
    std::optional<std::string> title{};
    std::optional<std::string> body{};
    std::optional<std::string> digest{};
    static constexpr Pack fields{
        Field{"url", &ForgeIssueRequest::url, "Link this existing issue; the other fields are not needed."},
        Field{"repo", &ForgeIssueRequest::repo,
              "Repository: id, name or address; that of Signal's settings if not given."},
        Field{"title", &ForgeIssueRequest::title, "Title; that of the issue if not given."},
        Field{"body", &ForgeIssueRequest::body, "Markdown; the text of the draft if not given."},
        Field{"digest", &ForgeIssueRequest::digest,
              "Digest of the draft that was reviewed. Needed unless `body` is given; another draft is a conflict."},
    };
};

// The text that opening an issue on a forge would publish.
struct ForgeIssueDraft {
    std::string title;
    std::string body;
    std::string digest;
    static constexpr Pack fields{
        Field{"title", &ForgeIssueDraft::title, "Title."},
        Field{"body", &ForgeIssueDraft::body, "Markdown."},
        Field{"digest", &ForgeIssueDraft::digest, "Identifies this text when the issue is created."},
    };
};

struct IssueFilter {
    std::optional<std::string> project{}; // id or name
    std::vector<Status> statuses{};       // empty: open, investigating, fix_proposed
    std::vector<Severity> severities{};
    std::optional<Detector> detector{};
    std::optional<std::string> assignee{};
};

struct IssueChange {
    std::optional<Status> status{};
    std::optional<std::string> reason{};
    std::optional<Severity> severity{};
    std::optional<std::optional<std::string>> assignee{}; // id of a user; null: no assignee
    std::optional<std::string> title{};
    std::optional<std::optional<Time>> muted_until{};
    static constexpr Pack fields{
        Field{"status", &IssueChange::status, "open, fix_proposed, resolved, muted or dismissed."},
        Field{"reason", &IssueChange::reason, "The reason; needed for dismissed. At most 2,000 bytes."},
        Field{"severity", &IssueChange::severity, "Later scans do not change it."},
        Field{"assignee", &IssueChange::assignee, "Id of a user; null: no assignee."},
        Field{"title", &IssueChange::title, "Later scans do not change it."},
        Field{"muted_until", &IssueChange::muted_until, "With muted: it is reopened then."},
    };
};

// A problem that a worker or a person reports.
struct NewIssue {
    std::string title;
    std::string explanation;
    std::optional<Severity> severity;
    std::optional<std::string> filter;
    std::optional<std::vector<std::string>> trace_ids;
    std::optional<std::string> subject;
    static constexpr Pack fields{
        Field{"title", &NewIssue::title, "One line: the problem and where it happens."},
        Field{"explanation", &NewIssue::explanation, "Observation, and why it matters."},
        Field{"severity", &NewIssue::severity, "medium if not given."},
        Field{"filter", &NewIssue::filter, "Filter of its spans, in the filter language."},
        Field{"trace_ids", &NewIssue::trace_ids, "Ids of example traces; at most 20."},
        Field{"subject", &NewIssue::subject,
              "Text that identifies the problem when it is reported again; the words of the title if not given."},
    };
};

// The outcome of a finding.
enum class Outcome { found, updated, reopened, quiet };

class Issues {
public:
    Issues(sql::Database& database, const Clock& clock, access::Access& access)
        : m_database(database),
          m_clock(clock),
          m_access(access) {}

    // By scans. `came_back` is called for an issue that was resolved at the given time.
    struct Taken {
        IssueId id;
        Outcome outcome = Outcome::updated;
        bool needs_notice = false; // new or reopened
    };
    using CameBack = std::function<Result<bool>(const Candidate&, Time resolved_at)>;
    Result<Taken> take(const access::SpaceId& space, const access::ProjectId& project, const Candidate& candidate,
                       const CameBack& came_back);
    // What a worker that read an example of it decided. Changes the score, never the status.
    Result<> set_verdict(const IssueId& id, Verdict verdict, const std::string& reason, const std::string& run);
    // Opens what was muted until now.
    Result<int64_t> unmute_due();
    // Traces that are named as evidence, by project: of issues that are neither dismissed nor resolved for 90 days.
    // Those with the highest score count, at most 10,000 issues.
    Result<std::map<std::string, std::vector<std::string>>> evidence_traces() const;
    // Deletes volumes that are too old to be shown.
    Result<> sweep();

    // By workers and people: `by` is a run, or who the caller is. The same subject again is a match of the same issue.
    Result<Issue> report(const access::Caller& caller, const access::SpaceId& space, const access::ProjectId& project,
                         const std::string& by, const NewIssue& wanted);

    // Highest score first.
    Result<access::Page<Issue>> list(const access::Caller& caller, const access::SpaceId& space,
                                     const IssueFilter& filter, const access::PageRequest& page) const;
    Result<Issue> find(const access::Caller& caller, const IssueId& id,
                       access::Permission permission = access::Permission::issue_read) const;
    // For tools, which workers call too. The key of a run reads its project and nothing else: a worker needs
    // project_read and sees the issues of that project; other callers need the permission itself.
    static access::Permission needed_in_tools(const access::Caller& caller, access::Permission permission);
    Result<access::Page<Issue>> list_for_tool(const access::Caller& caller, const access::Project& project,
                                              IssueFilter filter, const access::PageRequest& page) const;
    Result<Issue> find_for_tool(const access::Caller& caller, const IssueId& id) const;
    Result<std::vector<Fingerprint>> fingerprints(const Issue& issue) const;
    // What states the spans of each of its fingerprints: detector, filter and what is narrower. A fingerprint whose
    // condition is not known is left out until the next scan finds it.
    Result<std::vector<Candidate>> conditions(const Issue& issue) const;
    Result<Issue> update(const access::Caller& caller, const IssueId& id, const IssueChange& change);
    // `other` becomes a part of `id`.
    Result<Issue> merge(const access::Caller& caller, const IssueId& id, const IssueId& other);
    // Takes a fingerprint out into an issue of its own, which is returned.
    Result<Issue> split(const access::Caller& caller, const IssueId& id, const std::string& fingerprint);

    // Newest first.
    Result<access::Page<IssueComment>> comments(const access::Caller& caller, const IssueId& id,
                                                const access::PageRequest& page) const;
    Result<IssueComment> comment(const access::Caller& caller, const IssueId& id, const std::string& words);
    Result<access::Page<Change>> history(const access::Caller& caller, const IssueId& id,
                                         const access::PageRequest& page) const;
    // Hours with traces, oldest first.
    Result<std::vector<VolumePoint>> volume(const access::Caller& caller, const IssueId& id, Time after) const;
    Result<std::vector<SeverityVolume>> project_volume(const access::ProjectId& project, Time after) const;

    // By those who act on an issue; each writes history.
    Result<> run_started(sql::Transaction& transaction, const Issue& issue, std::string_view kind,
                         const std::string& run, const std::string& who) const;
    Result<> investigated(const IssueId& id, const std::string& artifact, const std::string& run);
    Result<> run_over(const IssueId& id, const std::string& run, std::string_view kind, bool has_fix,
                      const std::string& how);
    // Issues whose pull request ended: merged ones are resolved, until their detector finds them again; those whose
    // pull request was closed are open. Returns how many changed.
    Result<int64_t> settle_fixes();
    Result<> monitor_made(const access::Caller& caller, const IssueId& id, const std::string& monitor);
    Result<> evaluator_made(const access::Caller& caller, const IssueId& id, const std::string& evaluator);
    // One caller at a time opens an issue on a forge; false: another request is opening it. A claim ends after five
    // minutes.
    Result<bool> claim_forge_issue(const IssueId& id);
    // The address; empty: the claim is given back, or the link is taken away.
    Result<> forge_issue_linked(const access::Caller& caller, const IssueId& id, const std::string& address,
                                const std::string& how);

    // Without a caller, for parts that have no Issues.
    static Result<std::optional<Issue>> read(sql::Database& database, const IssueId& id);

    // "SELECT … FROM issues" with the columns that `issue_of` reads.
    static std::string select();
    static Issue issue_of(const sql::Row& row);

private:
    Result<> note(sql::Transaction& transaction, const IssueId& id, const std::string& who, std::string_view what,
                  const std::string& detail) const;
    // `narrower` is the column of issue_fingerprints; none: not known.
    Result<> create(sql::Transaction& transaction, const Issue& issue,
                    const std::optional<std::string>& narrower) const;
    Result<> write_volume(sql::Transaction& transaction, const access::ProjectId& project,
                          const std::string& fingerprint, const Candidate& candidate) const;
    Result<> rescore(sql::Transaction& transaction, const IssueId& id) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
};

} // namespace hone::signal
