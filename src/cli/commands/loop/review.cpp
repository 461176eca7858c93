// Reviews: artifacts that wait for a person, comments on them, and the pull requests of approved branches.
#include "cli/commands/loop/decision.h"
#include "cli/commands/loop/replay.h"

#include "base/text.h"
#include "cli/remote/download.h"
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <utility>

namespace hone::cli {

namespace {

const Argument review_argument{.name = "ARTIFACT", .doc = "Id of the artifact."};
const Argument pull_request_argument{.name = "PR", .doc = "Id of the pull request."};

std::string review_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{context.value_or_empty("ARTIFACT")};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/reviews", parts);
}

Columns review_columns() {
    return {
        {.title = "id", .field = "artifact.id", .kind = Kind::id},
        {.title = "kind", .field = "artifact.kind"},
        {.title = "name", .field = "artifact.name"},
        {.title = "review", .field = "artifact.review"},
        {.title = "rev", .field = "revision", .kind = Kind::number},
        {.title = "files", .field = "files", .kind = Kind::number},
        {.title = "+", .field = "additions", .kind = Kind::number},
        {.title = "-", .field = "deletions", .kind = Kind::number},
        {.title = "flags", .field = "blocking_flags", .kind = Kind::number},
        {.title = "verified", .field = "verification"},
        {.title = "pull request", .field = "pull_request"},
        {.title = "saved", .field = "artifact.created_at", .kind = Kind::time},
        {.title = "summary", .field = "artifact.summary"},
    };
}

Columns pull_request_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "repo", .field = "repo_name"},
        {.title = "number", .field = "number", .kind = Kind::number},
        {.title = "state", .field = "state"},
        {.title = "update", .field = "update_state", .only_single = true},
        {.title = "checks", .field = "checks"},
        {.title = "review", .field = "forge_review"},
        {.title = "mergeable", .field = "mergeable", .only_single = true},
        {.title = "title", .field = "title"},
        {.title = "branch", .field = "branch", .only_single = true},
        {.title = "target", .field = "target", .only_single = true},
        {.title = "commit", .field = "head_commit", .only_single = true},
        {.title = "artifact", .field = "artifact_id", .kind = Kind::id, .only_single = true},
        {.title = "session", .field = "run_id", .kind = Kind::id, .only_single = true},
        {.title = "approved revision", .field = "revision", .kind = Kind::number, .only_single = true},
        {.title = "delivered revision", .field = "delivered_revision", .kind = Kind::number, .only_single = true},
        {.title = "branch changed", .field = "people", .only_single = true},
        {.title = "cause", .field = "cause", .only_single = true},
        {.title = "error", .field = "error", .only_single = true},
        {.title = "moved to", .field = "moved_to", .only_single = true},
        {.title = "next check", .field = "next_try_at", .kind = Kind::time, .only_single = true},
        {.title = "updated", .field = "updated_at", .kind = Kind::time},
        {.title = "url", .field = "url"},
    };
}

Result<> list_reviews(Context& context) {
    Query query = space_query(context);
    for (const auto& [option, name] : {std::pair("--project", "project"), {"--session", "run"}, {"--kind", "kind"}})
        query.emplace_back(name, context.value_or_empty(option));
    const std::string review = context.value_or_empty("--review");
    if (review != "all") query.emplace_back("review", review.empty() ? "pending" : review);
    return show_list(context, "/v1/reviews", std::move(query), review_columns(), "No pending reviews.");
}

// How a command ended on one side: "passed", "exit 1", "timed out", "not run".
std::string ending_of(const json::Value& result, std::string_view side) {
    const json::Value& run = result.as_object().at(side);
    if (run.is_null()) return "not run";
    if (run.as_object().at("timed_out").as_bool()) return "timed out";
    if (run.as_object().at("exit_code").is_null()) return "killed";
    const int64_t code = number_of(run, "exit_code");
    return code == 0 ? "passed" : "exit " + std::to_string(code);
}

// The end of what a command printed where it did not pass.
std::string output_lines(const json::Value& result, std::string_view side) {
    constexpr size_t most_lines = 20;
    const std::string ending = ending_of(result, side);
    if (ending == "passed" || ending == "not run") return {};
    const std::string output = text_of(result.as_object().at(side), "output");
    std::vector<std::string_view> lines = split(trim(output), '\n');
    if (trim(output).empty()) return {};
    std::string text = "    " + std::string(side) + " printed:\n";
    if (lines.size() > most_lines) {
        lines.erase(lines.begin(), lines.end() - most_lines);
        text += "      … (hone review show --json has more)\n";
    }
    for (const std::string_view line : lines) text += "      " + safe_line(line) + "\n";
    return text;
}

std::string verification_lines(const json::Value& revision) {
    std::string text;
    for (const json::Value& result : revision.as_object().at("verification_results").as_array())
        text += "  " + safe_line(text_of(result, "name")) + ": base " + ending_of(result, "base") + ", branch " +
                ending_of(result, "branch") + "\n" + output_lines(result, "base") + output_lines(result, "branch");
    return text;
}

// The checks of the forge, one by one: "  failed   ci / test  2 tests failed".
std::string check_lines(const json::Value& pull_request) {
    std::string text;
    for (const json::Value& check : pull_request.as_object().at("check_results").as_array()) {
        const std::string result = text_of(check, "result");
        const std::string summary = safe_line(text_of(check, "summary"));
        text += "  " + result + std::string(result.size() < 9 ? 9 - result.size() : 1, ' ') +
                safe_line(text_of(check, "name")) + (summary.empty() ? "" : "  " + summary) + "\n";
    }
    return text;
}

void print_lines(const Context& context, const json::Value& review) {
    const json::Array* revisions = review.as_object().if_contains("revisions")->if_array();
    if (revisions == nullptr || revisions->empty()) return;
    const json::Value& newest = revisions->back();
    std::string text = "\n" + safe_line(text_of(newest, "title")) + "\n";
    text += "Revision " + std::to_string(number_of(newest, "revision")) + ": " +
            std::to_string(number_of(newest, "files")) + (number_of(newest, "files") == 1 ? " file" : " files") +
            ", +" + std::to_string(number_of(newest, "additions")) + " -" +
            std::to_string(number_of(newest, "deletions")) + ", commit " +
            text_of(newest, "head_commit").substr(0, 12) + "\n";
    if (const std::string state = text_of(newest, "verification"); state != "none")
        text += "Verification: " + state + "\n" + verification_lines(newest);
    if (const std::string error = text_of(newest, "error"); !error.empty()) text += safe_line(error) + "\n";
    if (const json::Value& one = review.as_object().at("pull_request"); one.is_object())
        if (const std::string checks = check_lines(one); !checks.empty())
            text += "Checks of the forge (hone pr log " + text_of(one, "id") + " CHECK prints a log)\n" + checks;
    for (const json::Value& flag : newest.as_object().at("flags").as_array()) {
        const bool blocking = flag.as_object().at("blocking").as_bool();
        const std::string path = text_of(flag, "path");
        const int64_t line = number_of(flag, "line");
        text += (blocking ? "! " : "  ") + text_of(flag, "kind") + (path.empty() ? "" : " " + safe_line(path)) +
                (line > 0 ? ":" + std::to_string(line) : "") + "  " + safe_line(text_of(flag, "message")) + "\n";
    }
    context.console.print(text);
}

Result<> show_review(Context& context) {
    const json::Value review = TRY(context.remote.get(review_path(context)));
    TRY(show_record(context, review,
                    {{.title = "id", .field = "artifact.id", .kind = Kind::id},
                     {.title = "kind", .field = "artifact.kind"},
                     {.title = "name", .field = "artifact.name"},
                     {.title = "summary", .field = "artifact.summary"},
                     {.title = "review", .field = "artifact.review"},
                     {.title = "reviewer", .field = "artifact.reviewer"},
                     {.title = "comment", .field = "artifact.comment"},
                     {.title = "approvals", .field = "approvals", .kind = Kind::number},
                     {.title = "approvals needed", .field = "approvals_needed", .kind = Kind::number},
                     {.title = "open comments", .field = "open_comments", .kind = Kind::number},
                     {.title = "cannot approve", .field = "cannot_approve"},
                     {.title = "branch", .field = "branch.branch"},
                     {.title = "repo", .field = "branch.repo_name"},
                     {.title = "pull request", .field = "pull_request.url"},
                     {.title = "pull request state", .field = "pull_request.state"},
                     {.title = "pull request checks", .field = "pull_request.checks"},
                     {.title = "pull request mergeable", .field = "pull_request.mergeable"},
                     {.title = "pull request error", .field = "pull_request.error"},
                     {.title = "digest", .field = "artifact.digest"},
                     {.title = "session", .field = "artifact.run_id", .kind = Kind::id}}));
    if (!context.json()) print_lines(context, review);
    return {};
}

Result<> show_diff(Context& context) {
    Query query;
    query.emplace_back("revision", context.value_or_empty("--revision"));
    std::string patch;
    TRY(context.remote.stream({.path = review_path(context, {"patch"}), .query = std::move(query)}, "",
                              [&](std::string_view piece) -> Result<> {
                                  patch += piece;
                                  return {};
                              }));
    if (context.json())
        print_json(context, json::Object{{"patch", patch}});
    else
        context.console.print(safe_block(patch));
    return {};
}

Result<> comment(Context& context) {
    json::Object body{{"body", context.value_or_empty("TEXT")}};
    if (const auto file = context.parsed.value("--file")) body["path"] = *file;
    if (const auto line = TRY(context.integer("--line", 1))) body["line"] = *line;
    if (const auto reply = context.parsed.value("--reply-to")) body["reply_to"] = *reply;
    if (context.parsed.has("--old")) body["side"] = "old";
    const json::Value made = TRY(context.remote.post(review_path(context, {"comments"}), std::move(body)));
    return show_done(context, made,
                     "Comment " + text_of(made, "id") + " saved. The session receives it when you request changes.");
}

Result<> list_comments(Context& context) {
    return show_list(context, review_path(context, {"comments"}), {},
                     {{.title = "id", .field = "id", .kind = Kind::id},
                      {.title = "file", .field = "path"},
                      {.title = "line", .field = "line", .kind = Kind::number},
                      {.title = "author", .field = "author"},
                      {.title = "resolved", .field = "resolved_by"},
                      {.title = "comment", .field = "body"}},
                     "No comments.");
}

Result<> list_pull_requests(Context& context) {
    Query query = space_query(context);
    for (const auto& [option, name] :
         {std::pair("--project", "project"), {"--repo", "repo"}, {"--session", "run"}, {"--state", "state"}})
        query.emplace_back(name, context.value_or_empty(option));
    return show_list(context, "/v1/pull_requests", std::move(query), pull_request_columns(),
                     "No pull requests. One is opened when a branch is approved: hone review list.");
}

std::string pull_request_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{context.value_or_empty("PR")};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/pull_requests", parts);
}

Result<> show_pull_request(Context& context) {
    const json::Value shown = TRY(context.remote.get(pull_request_path(context)));
    TRY(show_record(context, shown, pull_request_columns()));
    if (context.json()) return {};
    std::string text = check_lines(shown);
    if (!text.empty()) text.insert(0, "\nChecks of the forge\n");
    bool first = true;
    for (const json::Value& commit : shown.as_object().at("their_commits").as_array())
        text += (std::exchange(first, false) ? "\nCommits of people on the branch\n" : "") + std::string("  ") +
                safe_line(text_of(commit, "id").substr(0, 12) + "  " + text_of(commit, "author") + "  " +
                          text_of(commit, "title")) +
                "\n";
    const Items events = TRY(context.remote.list_whole(pull_request_path(context, {"events"}), {}));
    if (!events.items.empty()) text += "\nHistory\n";
    for (const json::Value& event : events.items)
        text += "  " + text_of(event, "created_at").substr(0, 19) + "Z  " + text_of(event, "kind") + "  " +
                safe_line(text_of(event, "message")) + "\n";
    context.console.print(text);
    return {};
}

Result<> list_pull_request_comments(Context& context) {
    return show_list(context, pull_request_path(context, {"comments"}), {},
                     {{.title = "author", .field = "author"},
                      {.title = "file", .field = "path"},
                      {.title = "line", .field = "line", .kind = Kind::number},
                      {.title = "comment", .field = "body"}},
                     "No comments on the forge.");
}

Result<> list_checks(Context& context) {
    const json::Value shown = TRY(context.remote.get(pull_request_path(context)));
    if (context.json()) {
        print_json(context, shown.as_object().at("check_results"));
        return {};
    }
    const std::string text = check_lines(shown);
    context.console.print(text.empty() ? "No checks on the forge.\n" : text);
    return {};
}

Result<> show_check_log(Context& context) {
    const json::Value log =
        TRY(context.remote.get(pull_request_path(context, {"checks", context.value_or_empty("CHECK"), "log"})));
    if (context.json()) {
        print_json(context, log);
        return {};
    }
    if (log.as_object().at("truncated").as_bool()) context.console.note("The log is longer: this is its end.\n");
    context.console.print(safe_block(text_of(log, "text")));
    return {};
}

Result<> send_checks(Context& context) {
    const json::Value done = TRY(context.remote.post(pull_request_path(context, {"send_checks"}), json::Object{}));
    return show_done(context, done, "The session receives the failed checks. It pushes a new revision for review.");
}

Result<> cancel_pull_request(Context& context) {
    const json::Value done = TRY(context.remote.post(pull_request_path(context, {"cancel"}), json::Object{}));
    return show_done(context, done, "Cancelled. The branch waits for a review again.");
}

Result<> abandon_pull_request(Context& context) {
    const json::Value done = TRY(context.remote.post(pull_request_path(context, {"abandon"}), json::Object{}));
    return show_done(context, done, "Abandoned. Hone no longer follows it; it is unchanged on the forge.");
}

Result<> take_over_pull_request(Context& context) {
    const json::Value done = TRY(context.remote.post(pull_request_path(context, {"take_over"}), json::Object{}));
    return show_done(context, done, "The session receives the commits. It pushes a new revision for review.");
}

Result<> sync_pull_request(Context& context) {
    const json::Value woken = TRY(context.remote.post(pull_request_path(context, {"sync"}), json::Object{}));
    return show_done(context, woken, "The pull request is checked now: hone pr show " + context.value_or_empty("PR"));
}

} // namespace

std::vector<Command> review_commands() {
    const Option project{
        .name = "--project", .value = "PROJECT", .doc = "Only reviews of this project.", .short_name = "-p"};
    const Option session{.name = "--session", .value = "SESSION", .doc = "Only reviews of this session."};
    std::vector<Command> commands{
        {.path = "review list",
         .summary = "List reviews, newest first.",
         .options = {project,
                     session,
                     {.name = "--kind",
                      .value = "KIND",
                      .doc = "Only artifacts of this kind.",
                      .choices = {"branch", "investigation", "labels", "file"}},
                     {.name = "--review",
                      .value = "REVIEW",
                      .doc = "Only reviews in this state. Default: pending.",
                      .choices = {"pending", "approved", "rejected", "changes_requested", "all"}}},
         .lists = true,
         .run = list_reviews},
        {.path = "review show",
         .summary = "Show a review: flags, verification, approvals, pull request.",
         .arguments = {review_argument},
         .run = show_review},
        {.path = "review diff",
         .summary = "Print a branch as a patch.",
         .arguments = {review_argument},
         .options = {{.name = "--revision", .value = "NUMBER", .doc = "Revision. Default: the newest."}},
         .details = "Control characters are removed from what it prints. For `git am` save the patch with\n"
                    "hone artifact show ARTIFACT --output FILE.\n",
         .run = show_diff},
        {.path = "review comment",
         .summary = "Comment on a line, a file or the whole change.",
         .arguments = {review_argument, {.name = "TEXT", .doc = "Comment, in Markdown."}},
         .options = {{.name = "--file", .value = "PATH", .doc = "File, as named in the diff."},
                     {.name = "--line", .value = "NUMBER", .doc = "Line of the file."},
                     {.name = "--old", .value = "", .doc = "LINE is a line of the file before the change."},
                     {.name = "--reply-to", .value = "COMMENT", .doc = "Reply to this comment."}},
         .run = comment},
        {.path = "review comments",
         .summary = "List the comments, oldest first.",
         .arguments = {review_argument},
         .lists = true,
         .run = list_comments},
        {.path = "pr list",
         .summary = "List pull requests, newest first.",
         .options = {project,
                     {.name = "--repo", .value = "REPO", .doc = "Only pull requests of this repository: id or name."},
                     session,
                     {.name = "--state",
                      .value = "STATE",
                      .doc = "Only pull requests in this state.",
                      .choices = {"queued", "pushed", "open", "merged", "closed", "only_pushed", "failed", "cancelled",
                                  "abandoned"}}},
         .lists = true,
         .run = list_pull_requests},
        {.path = "pr show",
         .summary = "Show a pull request and its history.",
         .arguments = {pull_request_argument},
         .run = show_pull_request},
        {.path = "pr sync",
         .summary = "Check a pull request now: retry what failed, and read its state from the forge.",
         .arguments = {pull_request_argument},
         .run = sync_pull_request},
        {.path = "pr comments",
         .summary = "List what people wrote about a pull request on the forge.",
         .arguments = {pull_request_argument},
         .lists = true,
         .run = list_pull_request_comments},
        {.path = "pr checks",
         .summary = "List the checks of the forge on a pull request.",
         .arguments = {pull_request_argument},
         .run = list_checks},
        {.path = "pr log",
         .summary = "Print the end of the log of a check.",
         .arguments = {pull_request_argument, {.name = "CHECK", .doc = "Name or id of the check."}},
         .run = show_check_log},
        {.path = "pr send-checks",
         .summary = "Send the failed checks, with the ends of their logs, to the session.",
         .arguments = {pull_request_argument},
         .run = send_checks},
        {.path = "pr take-over",
         .summary = "Give the session the commits that people pushed to the branch on the forge.",
         .arguments = {pull_request_argument},
         .run = take_over_pull_request},
        {.path = "pr cancel",
         .summary = "Withdraw what was approved and is not on the forge yet. The branch waits for a review again.",
         .arguments = {pull_request_argument},
         .run = cancel_pull_request},
        {.path = "pr abandon",
         .summary = "Stop following a pull request. It is unchanged on the forge.",
         .arguments = {pull_request_argument},
         .run = abandon_pull_request},
    };
    const std::vector<Command> decisions = decision_commands("review");
    commands.insert(commands.end(), decisions.begin(), decisions.end());
    const std::vector<Command> replays = replay_commands();
    commands.insert(commands.end(), replays.begin(), replays.end());
    return commands;
}

} // namespace hone::cli
