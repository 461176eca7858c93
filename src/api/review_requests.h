// Query strings, bodies and answers of the routes about reviews and pull requests, declared once.
#pragma once

#include "api/requests.h"
#include "review/pull_requests.h"
#include "review/reviews.h"

namespace hone::api {

struct ListReviews {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> run;
    std::optional<review::ArtifactKind> kind;
    std::optional<review::ReviewState> review;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListReviews::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListReviews::project, "Id or name: only of its runs."},
        Field{"run", &ListReviews::run, "Id: only of this run."},
        Field{"kind", &ListReviews::kind, "Only artifacts of this kind."},
        Field{"review", &ListReviews::review, "Only those in this state; `pending` is what waits for a person."},
        Field{"limit", &ListReviews::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListReviews::cursor, "next_cursor of the answer before."},
    };
};

struct OfRevision {
    static constexpr bool is_query = true;
    std::optional<int64_t> revision;
    static constexpr std::tuple fields{
        Field{"revision", &OfRevision::revision, "The newest one if not given."},
    };
};

struct FileOfRevision {
    static constexpr bool is_query = true;
    std::optional<std::string> path;
    std::optional<int64_t> revision;
    static constexpr std::tuple fields{
        Field{"path", &FileOfRevision::path, "File as the diff names it; needed."},
        Field{"revision", &FileOfRevision::revision, "The newest one if not given."},
    };
};

struct BetweenRevisions {
    static constexpr bool is_query = true;
    std::optional<int64_t> from;
    std::optional<int64_t> to;
    static constexpr std::tuple fields{
        Field{"from", &BetweenRevisions::from, "Revision that was seen; needed."},
        Field{"to", &BetweenRevisions::to, "The newest one if not given."},
    };
};

struct DiffView {
    int64_t revision = 0;
    std::string base_commit;
    std::string head_commit;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool truncated = false;
    std::vector<review::FileChange> files;
    static constexpr std::tuple fields{
        Field{"revision", &DiffView::revision, "Revision that is shown."},
        Field{"base_commit", &DiffView::base_commit, "From here."},
        Field{"head_commit", &DiffView::head_commit, "To here."},
        Field{"additions", &DiffView::additions, "Added lines."},
        Field{"deletions", &DiffView::deletions, "Deleted lines."},
        Field{"truncated", &DiffView::truncated, "There is more than can be shown."},
        Field{"files", &DiffView::files, "Changed files; GET …/diff/file has the lines of one."},
    };
};

struct InterdiffView {
    int64_t from = 0;
    int64_t to = 0;
    bool base_changed = false;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool truncated = false;
    std::vector<review::FileDiff> files;
    static constexpr std::tuple fields{
        Field{"from", &InterdiffView::from, "Revision that was seen."},
        Field{"to", &InterdiffView::to, "Revision that came later."},
        Field{"base_changed", &InterdiffView::base_changed,
              "They left from different commits: changes of others are in here too."},
        Field{"additions", &InterdiffView::additions, "Added lines."},
        Field{"deletions", &InterdiffView::deletions, "Deleted lines."},
        Field{"truncated", &InterdiffView::truncated, "There is more than can be shown."},
        Field{"files", &InterdiffView::files, "What changed from one to the other, with lines."},
    };
};

struct ChangeComment {
    std::optional<std::string> body;
    std::optional<bool> resolved;
    static constexpr std::tuple fields{
        Field{"body", &ChangeComment::body, "New text; only by its author, until the session was told."},
        Field{"resolved", &ChangeComment::resolved, "Closes or opens the thread."},
    };
};

struct SetViewed {
    std::string path;
    bool viewed = true;
    static constexpr std::tuple fields{
        Field{"path", &SetViewed::path, "File as the diff names it."},
        Field{"viewed", &SetViewed::viewed, "false takes the mark away."},
    };
};

struct ViewedFiles {
    std::vector<std::string> paths;
    static constexpr std::tuple fields{
        Field{"paths", &ViewedFiles::paths, "Files that the caller marked and that have not changed since."},
    };
};

struct ReviewCounts {
    int64_t pending = 0;
    std::vector<review::ReviewCount> counts;
    static constexpr std::tuple fields{
        Field{"pending", &ReviewCounts::pending, "What waits for a person, of all kinds."},
        Field{"counts", &ReviewCounts::counts, "By kind and state."},
    };
};

struct ForgeHook {
    std::string path;
    std::string secret;
    static constexpr std::tuple fields{
        Field{"path", &ForgeHook::path, "Where the forge sends its webhook to, behind this server's address."},
        Field{"secret", &ForgeHook::secret, "Shown once; replaces the one before."},
    };
};

struct OpenRepoIssue {
    std::string title;
    json::Defaulted<std::string> body;
    json::Defaulted<std::vector<std::string>> labels;
    static constexpr std::tuple fields{
        Field{"title", &OpenRepoIssue::title, "One line."},
        Field{"body", &OpenRepoIssue::body,
              "Markdown; it mentions nobody and lines that seem to hold a secret are cut."},
        Field{"labels", &OpenRepoIssue::labels, "Names of labels that the forge knows."},
    };
};

struct OpenedIssue {
    int64_t number = 0;
    std::string url;
    static constexpr std::tuple fields{
        Field{"number", &OpenedIssue::number, "Its number there."},
        Field{"url", &OpenedIssue::url, "Its page."},
    };
};

struct ListPullRequests {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> repo;
    std::optional<std::string> run;
    std::optional<std::string> fix_of;
    std::optional<review::PullRequestState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListPullRequests::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListPullRequests::project, "Id or name: only of its runs."},
        Field{"repo", &ListPullRequests::repo, "Only of this repository, by id or name."},
        Field{"run", &ListPullRequests::run, "Id: only of this run."},
        Field{"fix_of", &ListPullRequests::fix_of, "Id of an issue."},
        Field{"state", &ListPullRequests::state, "Only those in this state."},
        Field{"limit", &ListPullRequests::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListPullRequests::cursor, "next_cursor of the answer before."},
    };
};

} // namespace hone::api
