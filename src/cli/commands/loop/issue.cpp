// The issues of a project: what was found, and what people do with it.
#include "cli/commands/loop/issue.h"

#include "base/text.h"
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/terminal/sparkline.h"
#include "cli/toolkit/option_number.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <functional>

namespace hone::cli {

namespace {

const Argument issue_argument{.name = "ISSUE", .doc = "Id of the issue."};

Columns issue_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "score", .field = "score", .kind = Kind::number},
        {.title = "severity", .field = "severity"},
        {.title = "status", .field = "status"},
        {.title = "traces", .field = "traces", .kind = Kind::count},
        {.title = "title", .field = "title"},
        {.title = "explanation", .field = "explanation", .only_single = true},
        {.title = "reason", .field = "reason", .only_single = true},
        {.title = "detector", .field = "detector", .only_single = true},
        {.title = "verdict", .field = "verdict", .only_single = true},
        {.title = "reason of the verdict", .field = "verdict_reason", .only_single = true},
        {.title = "filter", .field = "filter", .only_single = true},
        {.title = "assignee", .field = "assignee_name"},
        {.title = "last seen", .field = "last_seen", .kind = Kind::time},
        {.title = "first seen", .field = "first_seen", .kind = Kind::time, .only_single = true},
        {.title = "found by scans", .field = "matches", .kind = Kind::number, .only_single = true},
        {.title = "reopened", .field = "reopened", .kind = Kind::number, .only_single = true},
        {.title = "investigation", .field = "investigation_id", .kind = Kind::id, .only_single = true},
        {.title = "investigation run", .field = "investigation_run", .kind = Kind::id, .only_single = true},
        {.title = "fix run", .field = "fix_run", .kind = Kind::id, .only_single = true},
        {.title = "monitor", .field = "monitor_id", .kind = Kind::id, .only_single = true},
        {.title = "evaluator", .field = "evaluator_id", .kind = Kind::id, .only_single = true},
        {.title = "on the forge", .field = "forge_issue", .only_single = true},
        {.title = "merged into", .field = "merged_into", .kind = Kind::id, .only_single = true},
    };
}

std::string issue_path(const Context& context, const std::string& rest = {}) {
    const std::string id = context.value_or_empty("ISSUE");
    return rest.empty() ? path_of("/v1/issues", {id}) : path_of("/v1/issues", {id, rest});
}

Result<> list_issues(Context& context) {
    Query query = space_query(context);
    for (const auto& [option, name] : {std::pair("--project", "project"),
                                       {"--status", "status"},
                                       {"--severity", "severity"},
                                       {"--detector", "detector"},
                                       {"--assignee", "assignee"}})
        query.emplace_back(name, context.value_or_empty(option));
    return show_list(context, "/v1/issues", std::move(query), issue_columns(),
                     "No issues. Turn on Signal to find them:\n  hone signal enable PROJECT");
}

void print_list(const Context& context, std::string_view heading, const json::Value& issue, std::string_view field,
                const std::function<std::string(const json::Value&)>& line) {
    const json::Value* found = issue.is_object() ? issue.get_object().if_contains(field) : nullptr;
    if (found == nullptr || !found->is_array() || found->get_array().empty()) return;
    context.console.print("\n" + std::string(heading) + "\n");
    for (const json::Value& item : found->get_array()) context.console.print("  " + safe_line(line(item)) + "\n");
}

Result<> show_issue(Context& context) {
    const json::Value detail = TRY(context.remote.get(issue_path(context)));
    if (context.json()) {
        print_json(context, detail);
        return {};
    }
    static const json::Value nothing;
    const json::Value* found = detail.is_object() ? detail.get_object().if_contains("issue") : nullptr;
    const json::Value& issue = found != nullptr ? *found : nothing;
    TRY(show_record(context, issue, issue_columns()));
    print_list(context, "Score", issue, "score_terms", [](const json::Value& term) {
        const json::Value* points = term.is_object() ? term.get_object().if_contains("points") : nullptr;
        const double value = points == nullptr     ? 0
                             : points->is_double() ? points->get_double()
                                                   : static_cast<double>(number_of(term, "points"));
        return fmt::format("{:5.1f}  {} ({})", value, text_of(term, "name"), text_of(term, "why"));
    });
    print_list(context, "Facts", issue, "facts",
               [](const json::Value& fact) { return text_of(fact, "name") + ": " + text_of(fact, "value"); });
    print_list(context, "Examples", issue, "examples", [&](const json::Value& example) {
        return "hone trace " + text_of(example, "trace_id") + " -p " + text_of(issue, "project_id");
    });
    const Items volume = TRY(context.remote.list_whole(issue_path(context, "volume"), {{"hours", "72"}}));
    std::vector<std::optional<double>> bars;
    for (const json::Value& point : volume.items) bars.emplace_back(static_cast<double>(number_of(point, "traces")));
    if (!bars.empty()) context.console.print("\nTraces per hour, last three days\n  " + sparkline(bars) + "\n");
    const json::Value* advice = detail.is_object() ? detail.get_object().if_contains("advice") : nullptr;
    if (advice != nullptr)
        context.console.print("\nWhat to do next\n  " + text_of(*advice, "next_step") +
                              "\n  Usual cause: " + text_of(*advice, "usual_cause") + "\n");
    return {};
}

Result<> change_issue(const Context& context, json::Object body, const std::string& sentence) {
    const json::Value changed = TRY(context.remote.patch(issue_path(context), std::move(body)));
    return show_done(context, changed, sentence);
}

Result<> set_status(const Context& context, std::string_view status, const std::string& sentence) {
    json::Object body{{"status", status}};
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    if (const auto reason = context.parsed.value("REASON")) body["reason"] = *reason;
    return change_issue(context, std::move(body), sentence);
}

Result<> resolve_issue(Context& context) {
    return set_status(context, "resolved", "Resolved. It reopens if it occurs again.");
}
Result<> reopen_issue(Context& context) {
    return set_status(context, "open", "Reopened.");
}

Result<> mute_issue(Context& context) {
    json::Object body{{"status", "muted"}}, length;
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    TRY(set_seconds(context, "--for", "seconds", length));
    if (!length.empty())
        body["muted_until"] =
            to_text(context.clock.now() + std::chrono::seconds(length["seconds"].get_int64())).substr(0, 19) + "Z";
    return change_issue(context, std::move(body), "Muted. Later matches are counted without notices.");
}

Result<> dismiss_issue(Context& context) {
    return set_status(context, "dismissed", "Dismissed. Later matches are counted without notices.");
}

// Of a member of the issue's space.
Result<std::string> member_id(const Context& context, const std::string& email) {
    const std::string space = text_of(TRY(context.remote.get(issue_path(context))), "space_id");
    const Items members = TRY(context.remote.list(path_of("/v1/spaces", {space, "members"}), {}, std::nullopt));
    for (const json::Value& member : members.items)
        if (equals_ignoring_case(text_of(member, "email"), email)) return text_of(member, "user_id");
    return context.fail(Exit::failure, email + " is not a member of the space", "hone member list shows the members");
}

Result<> assign_issue(Context& context) {
    std::string user = context.value_or_empty("USER");
    if (user == "me")
        user = text_of(TRY(context.remote.get("/v1/me")), "user.id");
    else if (user.find('@') != std::string::npos)
        user = TRY(member_id(context, user));
    const bool is_none = user == "none";
    json::Object body;
    body["assignee"] = is_none ? json::Value(nullptr) : json::Value(std::string_view(user));
    return change_issue(context, std::move(body), is_none ? "Unassigned." : "Assigned.");
}

Result<> update_issue(Context& context) {
    json::Object body;
    if (const auto title = context.parsed.value("--title")) body["title"] = *title;
    if (const auto severity = context.parsed.value("--severity")) body["severity"] = *severity;
    if (body.empty()) return context.usage("nothing to change: give --title or --severity");
    return change_issue(context, std::move(body), "Changed.");
}

Result<> merge_issue(Context& context) {
    const json::Value made = TRY(
        context.remote.post(issue_path(context, "merge"), json::Object{{"issue", context.value_or_empty("OTHER")}}));
    return show_done(context, made, context.value_or_empty("OTHER") + " was merged into it.");
}

Result<> split_issue(Context& context) {
    const json::Value made = TRY(context.remote.post(
        issue_path(context, "split"), json::Object{{"fingerprint", context.value_or_empty("FINGERPRINT")}}));
    return show_done(context, made, "New issue: " + text_of(made, "id") + ".");
}

Result<> comment_on_issue(Context& context) {
    const json::Value made = TRY(
        context.remote.post(issue_path(context, "comments"), json::Object{{"text", context.value_or_empty("TEXT")}}));
    return show_done(context, made, "Comment added.");
}

Result<> list_issue_comments(Context& context) {
    return show_list(context, issue_path(context, "comments"), {},
                     {{.title = "time", .field = "created_at", .kind = Kind::time},
                      {.title = "author", .field = "author"},
                      {.title = "text", .field = "text"}},
                     "No comments.");
}

Result<> list_history(Context& context) {
    return show_list(context, issue_path(context, "history"), {},
                     {{.title = "time", .field = "time", .kind = Kind::time},
                      {.title = "actor", .field = "who"},
                      {.title = "change", .field = "what"},
                      {.title = "detail", .field = "detail"}},
                     "No history yet.");
}

Result<> report_issue(Context& context) {
    json::Object body{{"project", context.value_or_empty("PROJECT")},
                      {"title", context.value_or_empty("TITLE")},
                      {"explanation", context.value_or_empty("--explanation")}};
    if (const auto severity = context.parsed.value("--severity")) body["severity"] = *severity;
    if (const auto filter = context.parsed.value("--filter")) body["filter"] = *filter;
    const json::Value made = TRY(context.remote.post("/v1/issues", std::move(body), space_query(context)));
    return show_done(context, made, "Reported " + text_of(made, "id") + ".");
}

Result<> act_on_issue(const Context& context, const std::string& action, std::string_view field,
                      const std::string& sentence) {
    const json::Value issue = TRY(context.remote.post(issue_path(context, action), json::Object{}));
    return show_done(context, issue, sentence + " " + text_of(issue, field) + ".");
}

Result<> investigate_issue(Context& context) {
    return act_on_issue(context, "investigate", "investigation_run", "Started run");
}
Result<> fix_issue(Context& context) {
    return act_on_issue(context, "fix", "fix_run", "Started run");
}
Result<> monitor_issue(Context& context) {
    return act_on_issue(context, "monitor", "monitor_id", "Created monitor");
}

Result<> evaluate_issue(Context& context) {
    return act_on_issue(context, "evaluator", "evaluator_id", "Created evaluator");
}

// Shows the text that would be published and names it in the request.
Result<> confirm_draft(const Context& context, json::Object& body) {
    const json::Value draft = TRY(context.remote.get(issue_path(context, "forge_issue")));
    if (!context.console.is_interactive())
        return context.usage("--digest is needed: it names the text that you reviewed; hone issue forge --draft prints "
                             "it");
    context.console.note(safe_line(text_of(draft, "title")) + "\n\n" + safe_block(text_of(draft, "body")) + "\n");
    const std::string typed = TRY(context.console.prompt("Create this issue on the forge? [y/N] "));
    if (typed != "y" && typed != "yes") return context.fail(Exit::usage, "cancelled: not confirmed");
    body["digest"] = text_of(draft, "digest");
    return {};
}

Result<> link_forge_issue(Context& context) {
    if (context.parsed.has("--draft")) {
        const json::Value draft = TRY(context.remote.get(issue_path(context, "forge_issue")));
        if (context.json())
            print_json(context, draft);
        else
            context.console.print(safe_line(text_of(draft, "title")) + "\n\n" + safe_block(text_of(draft, "body")) +
                                  "\nDigest: " + text_of(draft, "digest") + "\n");
        return {};
    }
    if (context.parsed.has("--unlink")) {
        const json::Value issue = TRY(context.remote.remove(issue_path(context, "forge_issue")));
        return show_done(context, issue, "Link removed. The issue on the forge is unchanged.");
    }
    json::Object body;
    for (const auto& [option, key] :
         {std::pair{"--link", "url"}, {"--repo", "repo"}, {"--title", "title"}, {"--digest", "digest"}})
        if (const auto given = context.parsed.value(option)) body[key] = *given;
    if (!body.contains("url") && !body.contains("digest")) TRY(confirm_draft(context, body));
    const json::Value issue = TRY(context.remote.post(issue_path(context, "forge_issue"), std::move(body)));
    return show_done(context, issue, "Linked to " + text_of(issue, "forge_issue"));
}

} // namespace

std::vector<Command> issue_commands() {
    const Argument project_argument{.name = "PROJECT", .doc = "Id or name of the project."};
    const Option reason{.name = "--reason", .value = "TEXT", .doc = "Reason, shown in the issue's history."};
    const Option severity{.name = "--severity",
                          .value = "SEVERITY",
                          .doc = "Severity.",
                          .choices = {"low", "medium", "high", "critical"}};
    return {
        {.path = "issue list",
         .summary = "List issues, highest score first.",
         .options =
             {{.name = "--project", .value = "PROJECT", .doc = "Only issues of this project.", .short_name = "-p"},
              {.name = "--status",
               .value = "STATUS",
               .doc = "Statuses, separated by commas, or all. Default: open,investigating,fix_proposed."},
              {.name = "--severity", .value = "SEVERITY", .doc = "Severities, separated by commas."},
              {.name = "--detector", .value = "DETECTOR", .doc = "Only issues of this detector."},
              {.name = "--assignee", .value = "USER", .doc = "Only issues of this assignee: id of a user, or me."}},
         .lists = true,
         .run = list_issues},
        {.path = "issue show",
         .summary = "Show an issue: score, facts and example traces.",
         .arguments = {issue_argument},
         .run = show_issue},
        {.path = "issue report",
         .summary = "Report a problem. A repeated report is counted in the same issue.",
         .arguments = {project_argument, {.name = "TITLE", .doc = "Title: what fails, and where."}},
         .options = {{.name = "--explanation",
                      .value = "TEXT",
                      .doc = "Description: what happens, and why it matters."},
                     severity,
                     {.name = "--filter", .value = "FILTER", .doc = "Filter for the spans of the issue."}},
         .run = report_issue},
        {.path = "issue resolve",
         .summary = "Mark an issue as resolved.",
         .arguments = {issue_argument},
         .options = {reason},
         .run = resolve_issue},
        {.path = "issue reopen",
         .summary = "Reopen an issue.",
         .arguments = {issue_argument},
         .options = {reason},
         .run = reopen_issue},
        {.path = "issue mute",
         .summary = "Mute an issue for a time, or until it is reopened.",
         .arguments = {issue_argument},
         .options = {{.name = "--for",
                      .value = "DURATION",
                      .doc = "Reopen it after this time, such as 24h. Default: until it is reopened."},
                     reason},
         .run = mute_issue},
        {.path = "issue dismiss",
         .summary = "Dismiss an issue. Later matches are counted without notices.",
         .arguments = {issue_argument, {.name = "REASON", .doc = "Reason, shown in the issue's history."}},
         .run = dismiss_issue},
        {.path = "issue assign",
         .summary = "Assign an issue.",
         .arguments = {issue_argument, {.name = "USER", .doc = "E-mail address or id of a member, me, or none."}},
         .run = assign_issue},
        {.path = "issue update",
         .summary = "Change the title or the severity of an issue.",
         .arguments = {issue_argument},
         .options = {{.name = "--title", .value = "TEXT", .doc = "New title."}, severity},
         .run = update_issue},
        {.path = "issue merge",
         .summary = "Merge another issue into this one.",
         .arguments = {issue_argument, {.name = "OTHER", .doc = "Id of the other issue."}},
         .run = merge_issue},
        {.path = "issue split",
         .summary = "Move one fingerprint to a new issue.",
         .arguments = {issue_argument,
                       {.name = "FINGERPRINT", .doc = "Fingerprint, as `hone issue show --json` lists it."}},
         .run = split_issue},
        {.path = "issue comment",
         .summary = "Comment on an issue.",
         .arguments = {issue_argument, {.name = "TEXT", .doc = "Plain text or Markdown."}},
         .run = comment_on_issue},
        {.path = "issue comments",
         .summary = "List the comments on an issue, newest first.",
         .arguments = {issue_argument},
         .lists = true,
         .run = list_issue_comments},
        {.path = "issue history",
         .summary = "List the changes of an issue, newest first.",
         .arguments = {issue_argument},
         .lists = true,
         .run = list_history},
        {.path = "issue investigate",
         .summary = "Start a run that investigates the issue.",
         .arguments = {issue_argument},
         .run = investigate_issue},
        {.path = "issue fix",
         .summary = "Start a run that proposes a fix.",
         .arguments = {issue_argument},
         .run = fix_issue},
        {.path = "issue monitor",
         .summary = "Create a monitor for an issue.",
         .arguments = {issue_argument},
         .run = monitor_issue},
        {.path = "issue evaluator",
         .summary = "Create an evaluator that labels the spans of an issue: new ones and those of the last day.",
         .arguments = {issue_argument},
         .run = evaluate_issue},
        {.path = "issue forge",
         .summary = "Create an issue on the forge of a repository, or link an existing one.",
         .arguments = {issue_argument},
         .options = {{.name = "--repo",
                      .value = "REPO",
                      .doc = "Id, name or address of the repository. Default: the one in Signal's settings."},
                     {.name = "--title", .value = "TEXT", .doc = "Title on the forge. Default: the issue's title."},
                     {.name = "--link", .value = "URL", .doc = "Link this existing issue instead of creating one."},
                     {.name = "--unlink", .value = "", .doc = "Remove the link."},
                     {.name = "--draft", .value = "", .doc = "Print the text that would be published, and its digest."},
                     {.name = "--digest", .value = "DIGEST", .doc = "Digest of the draft that you reviewed."}},
         .details = "On a terminal the command shows the text and asks for confirmation; else give --digest.\n"
                    "Example: hone issue forge issue_01J… --repo shop",
         .run = link_forge_issue},
    };
}

} // namespace hone::cli
