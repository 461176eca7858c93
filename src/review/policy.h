// The review policy of a preset for branches that its runs push: who must approve, what is protected, how the fix is
// verified, how it is delivered. Part of run::Settings; declared once. Values only, any thread.
#pragma once

#include "access/permission.h"
#include "base/result.h"
#include "json/json.h"

#include <string>
#include <vector>

namespace hone::review {

using json::Defaulted;

// keep: the worker's commits are pushed as reviewed. squash: one commit with the same tree, written by Hone.
enum class CommitStyle { keep, squash };
constexpr auto enum_names(CommitStyle) {
    return std::array{EnumName{CommitStyle::keep, "keep"}, EnumName{CommitStyle::squash, "squash"}};
}

// Whose comments on a pull request reach the session. writers: people who can write to the repository.
enum class CommentAuthors { writers, anyone };
constexpr auto enum_names(CommentAuthors) {
    return std::array{EnumName{CommentAuthors::writers, "writers"}, EnumName{CommentAuthors::anyone, "anyone"}};
}

struct VerificationCommand {
    std::string name;
    std::string command;
    Defaulted<int64_t> timeout_seconds = int64_t{600};
    static constexpr Pack fields{
        Field{"name", &VerificationCommand::name, "Short name, such as tests."},
        Field{"command", &VerificationCommand::command,
              "Shell command, run at the top of the repository in a fresh sandbox; it passes with exit code 0. Its "
              "network is "
              "that of setup: sandbox.packages and sandbox.setup_hosts."},
        Field{"timeout_seconds", &VerificationCommand::timeout_seconds, "1 to 3600."},
    };
};

// How a fix is replayed: recorded traces of its issue on the base and on the branch.
struct ReplayPolicy {
    Defaulted<std::string> command;
    Defaulted<std::string> evaluator;
    Defaulted<std::string> control_evaluator;
    Defaulted<int64_t> repetitions = int64_t{3};
    Defaulted<int64_t> evidence = int64_t{20};
    Defaulted<int64_t> control = int64_t{20};
    Defaulted<int64_t> timeout_seconds = int64_t{120};
    Defaulted<int64_t> budget_seconds = int64_t{1800};
    Defaulted<bool> last_line = false;
    Defaulted<bool> live_tools = false;
    static constexpr Pack fields{
        Field{"command", &ReplayPolicy::command,
              "Shell command that runs the application on one example, at the top of the repository in a sandbox "
              "without network: the example as JSON on stdin, the output as JSON on stdout."},
        Field{
            "evaluator", &ReplayPolicy::evaluator,
            "Evaluator that decides whether an output passes, by id or name, with @NUMBER for a version; if not given, "
            "the evaluator of the issue."},
        Field{"control_evaluator", &ReplayPolicy::control_evaluator,
              "Evaluator of the control set; the same one if not given."},
        Field{"repetitions", &ReplayPolicy::repetitions, "Runs of each example on each side, 1 to 9."},
        Field{"evidence", &ReplayPolicy::evidence,
              "Most traces of the issue, 1 to 20; 6 or more are needed for p < 0.05."},
        Field{"control", &ReplayPolicy::control, "Most passing traces of the same entry point, 0 to 20."},
        Field{"timeout_seconds", &ReplayPolicy::timeout_seconds, "Time of one run, 1 to 3600."},
        Field{"budget_seconds", &ReplayPolicy::budget_seconds, "Time of all runs of one side together, 1 to 86400."},
        Field{"last_line", &ReplayPolicy::last_line,
              "The last line of stdout is the output; lines before it are ignored."},
        Field{"live_tools", &ReplayPolicy::live_tools,
              "The application calls its tools in the sandbox; if not given, it gets their recorded results."},
    };
};

struct ReviewPolicy {
    Defaulted<int64_t> approvals = int64_t{1};
    Defaulted<bool> not_starter = false;
    Defaulted<access::Role> role = access::Role::member;
    Defaulted<std::vector<std::string>> protected_paths;
    Defaulted<bool> protect_lock_files = false;
    Defaulted<std::vector<VerificationCommand>> verification;
    Defaulted<bool> require_verified = false;
    Defaulted<ReplayPolicy> replay;
    Defaulted<bool> require_replayed = false;
    Defaulted<bool> open_pull_request = true;
    Defaulted<bool> draft = true;
    Defaulted<int64_t> open_pull_requests = int64_t{10};
    Defaulted<std::vector<std::string>> labels;
    Defaulted<std::vector<std::string>> reviewers;
    Defaulted<CommitStyle> commits = CommitStyle::keep;
    Defaulted<std::string> author;
    Defaulted<std::vector<std::string>> trailers;
    Defaulted<bool> sign_off = false;
    Defaulted<bool> follow_forge_comments = false;
    Defaulted<CommentAuthors> follow_comments_of = CommentAuthors::writers;
    static constexpr Pack fields{
        Field{"approvals", &ReviewPolicy::approvals, "Number of people who must approve a branch, 1 to 10."},
        Field{"not_starter", &ReviewPolicy::not_starter, "The member who started the run cannot approve its branches."},
        Field{"role", &ReviewPolicy::role, "Least role in the space whose approval counts."},
        Field{"protected_paths", &ReviewPolicy::protected_paths,
              "Further patterns of protected paths, whose change needs an explicit approval: deploy/**, *.tf."},
        Field{"protect_lock_files", &ReviewPolicy::protect_lock_files,
              "Lock files of package managers are protected too."},
        Field{"verification", &ReviewPolicy::verification, "Commands run on the base and on the branch."},
        Field{"require_verified", &ReviewPolicy::require_verified,
              "A branch cannot be approved while its commands have not passed."},
        Field{"replay", &ReviewPolicy::replay,
              "How recorded traces of the issue are run on the base and on the branch."},
        Field{"require_replayed", &ReviewPolicy::require_replayed,
              "Each revision is replayed when it is pushed, and cannot be approved until its outcome is fixed."},
        Field{"open_pull_request", &ReviewPolicy::open_pull_request, "false only pushes the branch."},
        Field{"draft", &ReviewPolicy::draft, "Pull requests are opened as drafts."},
        Field{"open_pull_requests", &ReviewPolicy::open_pull_requests,
              "Most open pull requests of Hone in one "
              "repository, 1 to 100."},
        Field{"labels", &ReviewPolicy::labels, "Labels of pull requests."},
        Field{"reviewers", &ReviewPolicy::reviewers, "User names on the forge whose review is requested."},
        Field{"commits", &ReviewPolicy::commits, "keep the worker's commits, or squash them into one."},
        Field{"author", &ReviewPolicy::author,
              "Author of the delivered commits: Name <mail@example.com>; empty: the worker, or Hone for a squashed "
              "commit."},
        Field{"trailers", &ReviewPolicy::trailers, "Lines at the end of each delivered commit's message: Key: value."},
        Field{"sign_off", &ReviewPolicy::sign_off, "Adds Signed-off-by of its author to each delivered commit."},
        Field{"follow_forge_comments", &ReviewPolicy::follow_forge_comments,
              "Changes requested on the forge are sent to the session."},
        Field{"follow_comments_of", &ReviewPolicy::follow_comments_of,
              "Whose comments are sent: writers (people who can write to the repository), or anyone. Comments of bots "
              "and "
              "of the credential's own account are never sent."},
    };
};

// Ranges, patterns, names; errors name the field ("review.approvals must be …").
Result<> validate(const ReviewPolicy& policy);

// Whether a path matches a pattern: `*` within one part, `**` across parts, a pattern without `/` matches a file's
// name anywhere, one that ends with `/` everything below.
bool matches_path(std::string_view pattern, std::string_view path);

} // namespace hone::review
