// Repositories that workers clone and propose branches for.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <thread>

namespace hone::cli {

namespace {

const Argument repo_argument{.name = "REPO", .doc = "Id or name of the repository."};

Columns repo_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "state", .field = "state"},
        {.title = "fetched", .field = "fetched_at", .kind = Kind::time, .absent = "never"},
        {.title = "size", .field = "bytes", .kind = Kind::bytes},
        {.title = "refs", .field = "refs", .kind = Kind::count},
        {.title = "fetching", .field = "fetching", .kind = Kind::yes_no, .only_single = true},
        {.title = "default branch", .field = "head_ref", .only_single = true},
        {.title = "ref for workers", .field = "default_ref", .only_single = true},
        {.title = "scope", .field = "path_scope", .only_single = true},
        {.title = "skill", .field = "skill_id", .only_single = true},
        {.title = "private address", .field = "allow_private", .kind = Kind::yes_no, .only_single = true},
        {.title = "notes", .field = "notes", .kind = Kind::list, .only_single = true},
        {.title = "error", .field = "error", .only_single = true},
        {.title = "url", .field = "url"},
    };
}

std::string repo_path(const Context& context) {
    return path_of("/v1/repos", {context.value_or_empty("REPO")});
}

// People know a skill by its name. A caller who cannot read skills sees its id.
Result<> show_one(Context& context, json::Value repo) {
    const std::string skill = text_of(repo, "skill_id");
    if (!skill.empty() && !context.json())
        if (const auto found = context.remote.get(path_of("/v1/skills", {skill})); found.ok())
            repo.as_object()["skill_id"] = text_of(found.value(), "name");
    return show_record(context, repo, repo_columns());
}

// What a fetch came to: an error is the command's error.
Result<> show_fetched(Context& context, const json::Value& repo) {
    TRY(show_one(context, repo));
    if (text_of(repo, "state") != "failed") return {};
    return context.fail(Exit::failure, "the repository could not be fetched: " + text_of(repo, "error"),
                        "it is registered: change it with hone repo update " + text_of(repo, "name") +
                            ", or delete it with hone repo rm " + text_of(repo, "name"));
}

bool is_fetching(const json::Value& repo) {
    const json::Value* found = repo.is_object() ? repo.get_object().if_contains("fetching") : nullptr;
    return found != nullptr && found->is_bool() && found->get_bool();
}

Result<json::Value> fetched(Context& context, const std::string& path) {
    json::Value repo = TRY(context.remote.post(path + "/fetch", json::Object{}, space_query(context)));
    while (is_fetching(repo)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
        repo = TRY(context.remote.get(path, space_query(context)));
    }
    return repo;
}

Result<> list_repos(Context& context) {
    return show_list(context, "/v1/repos", space_query(context), repo_columns(),
                     "No repositories. Register one:\n  hone repo add https://github.com/team/project --skill github");
}

Result<> show_repo(Context& context) {
    return show_one(context, TRY(context.remote.get(repo_path(context), space_query(context))));
}

Result<> add_repo(Context& context) {
    json::Object body{{"url", context.value_or_empty("URL")}};
    const std::pair<const char*, const char*> texts[] = {
        {"--name", "name"}, {"--ref", "default_ref"}, {"--skill", "skill"}, {"--path", "path_scope"}};
    for (const auto& [option, field] : texts)
        if (const auto value = context.parsed.value(option)) body[field] = *value;
    if (context.parsed.has("--allow-private")) body["allow_private"] = true;
    const json::Value made = TRY(context.remote.post("/v1/repos", std::move(body), space_query(context)));
    const std::string path = path_of("/v1/repos", {text_of(made, "id")});
    const json::Value repo = TRY(fetched(context, path));
    TRY(show_fetched(context, repo));
    if (text_of(repo, "skill_id").empty()) return {};
    // What the token lacks is better known now than at the first approval.
    const json::Value checks = TRY(context.remote.post(path + "/check", json::Object{}, space_query(context)));
    for (const json::Value& check : checks.as_array())
        if (text_of(check, "result") == "failed")
            context.console.note("Warning: " + text_of(check, "name") + ": " + safe_line(text_of(check, "message")) +
                                 "\n");
    return {};
}

Result<> fetch_repo(Context& context) {
    return show_fetched(context, TRY(fetched(context, repo_path(context))));
}

Result<> list_refs(Context& context) {
    return show_list(context, repo_path(context) + "/refs", space_query(context),
                     {{.title = "name", .field = "name"}, {.title = "commit", .field = "commit"}},
                     "Not fetched yet:\n  hone repo fetch NAME");
}

Result<> list_branches(Context& context) {
    return show_list(context, repo_path(context) + "/branches", space_query(context),
                     {{.title = "branch", .field = "branch"},
                      {.title = "run", .field = "run_id", .kind = Kind::id},
                      {.title = "commit", .field = "head_commit"},
                      {.title = "pushes", .field = "pushes", .kind = Kind::count},
                      {.title = "pushed", .field = "pushed_at", .kind = Kind::time}},
                     "No session has pushed a branch for this repository.");
}

Result<> update_repo(Context& context) {
    json::Object body;
    const std::pair<const char*, const char*> texts[] = {{"--address", "url"},
                                                         {"--name", "name"},
                                                         {"--ref", "default_ref"},
                                                         {"--skill", "skill"},
                                                         {"--path", "path_scope"}};
    for (const auto& [option, field] : texts)
        if (const auto value = context.parsed.value(option)) body[field] = *value;
    if (context.parsed.has("--allow-private")) body["allow_private"] = true;
    if (context.parsed.has("--refuse-private")) body["allow_private"] = false;
    if (body.empty())
        return context.fail(Exit::usage, "nothing to change: give at least one option",
                            "hone repo update --help lists the options");
    const Reply changed = TRY(context.remote.call(
        {.method = "PATCH", .path = repo_path(context), .query = space_query(context), .body = std::move(body)}));
    return show_one(context, changed.data);
}

Result<> make_hook(Context& context) {
    json::Value hook = TRY(context.remote.post(repo_path(context) + "/hook", json::Object{}, space_query(context)));
    hook.as_object()["url"] = context.remote.target().url + text_of(hook, "path");
    if (context.json()) {
        print_json(context, hook);
        return {};
    }
    context.console.print(
        "Address  " + text_of(hook, "url") + "\nSecret   " + text_of(hook, "secret") +
        "\n\nCreate a webhook with both on the forge: JSON content, events for pull requests, reviews,\n"
        "comments and checks. The secret is shown only now; a new one replaces it.\n");
    return {};
}

Result<> open_issue(Context& context) {
    json::Object body{{"title", context.value_or_empty("TITLE")}};
    if (const auto text = context.parsed.value("--body")) body["body"] = *text;
    json::Array labels;
    for (const std::string& label : context.parsed.all("--label")) labels.emplace_back(label);
    body["labels"] = std::move(labels);
    const json::Value opened =
        TRY(context.remote.post(repo_path(context) + "/issues", std::move(body), space_query(context)));
    return show_done(context, opened, "Opened " + text_of(opened, "url"));
}

Result<> check_repo(Context& context) {
    const json::Value checks =
        TRY(context.remote.post(repo_path(context) + "/check", json::Object{}, space_query(context)));
    bool failed = false;
    std::string text;
    for (const json::Value& check : checks.as_array()) {
        const std::string result = text_of(check, "result");
        failed = failed || result == "failed";
        const std::string name = text_of(check, "name");
        text += name + std::string(name.size() < 15 ? 15 - name.size() : 1, ' ') + result +
                std::string(result.size() < 9 ? 9 - result.size() : 1, ' ') + safe_line(text_of(check, "message")) +
                "\n";
    }
    if (context.json())
        print_json(context, checks);
    else
        context.console.print(text);
    if (!failed) return {};
    return context.fail(Exit::failure, "the repository cannot be used for everything",
                        "docs/repositories.md lists the scopes that a token needs");
}

Result<> remove_repo(Context& context) {
    const json::Value repo = TRY(context.remote.get(repo_path(context), space_query(context)));
    const std::string name = text_of(repo, "name");
    TRY(context.confirm(
        "The repository " + name +
            " is deleted here, with its mirror and the branches that sessions pushed. The repository on the forge is "
            "unchanged.",
        name));
    Query query = space_query(context);
    if (context.parsed.has("--abandon")) query.emplace_back("abandon", "true");
    const json::Value gone = TRY(context.remote.remove(repo_path(context), std::move(query)));
    return show_done(context, gone, "Deleted repository " + name + ".");
}

} // namespace

std::vector<Command> repo_commands() {
    return {
        {.path = "repo list", .summary = "List the repositories of the space.", .lists = true, .run = list_repos},
        {.path = "repo show", .summary = "Show a repository.", .arguments = {repo_argument}, .run = show_repo},
        {.path = "repo add",
         .summary = "Register a repository and fetch it.",
         .arguments = {{.name = "URL", .doc = "Its https address, without user or token."}},
         .options = {{.name = "--name", .value = "NAME", .doc = "Name in Hone. Default: from the address."},
                     {.name = "--skill", .value = "SKILL", .doc = "Skill whose credential fetches it."},
                     {.name = "--ref", .value = "REF", .doc = "Branch, tag or commit that workers get."},
                     {.name = "--path",
                      .value = "FOLDER",
                      .doc = "Folder of a large repository that workers get. Default: all of it."},
                     {.name = "--allow-private", .value = "", .doc = "The forge has a private address."}},
         .run = add_repo},
        {.path = "repo update",
         .summary = "Change a repository's address, name, credential, ref or scope.",
         .arguments = {repo_argument},
         .options = {{.name = "--address", .value = "URL", .doc = "New address of a repository that moved."},
                     {.name = "--name", .value = "NAME", .doc = "New name."},
                     {.name = "--skill", .value = "SKILL", .doc = "Skill whose credential fetches it; empty: none."},
                     {.name = "--ref", .value = "REF", .doc = "Branch, tag or commit that workers get."},
                     {.name = "--path", .value = "FOLDER", .doc = "Folder that workers get; empty: all of it."},
                     {.name = "--allow-private", .value = "", .doc = "The forge has a private address."},
                     {.name = "--refuse-private", .value = "", .doc = "The forge has a public address."}},
         .run = update_repo},
        {.path = "repo hook",
         .summary = "Create or replace the secret of the repository's webhook.",
         .arguments = {repo_argument},
         .run = make_hook},
        {.path = "repo issue",
         .summary = "Create an issue on the repository's forge.",
         .arguments = {repo_argument, {.name = "TITLE", .doc = "Title."}},
         .options = {{.name = "--body", .value = "TEXT", .doc = "Text of the issue, in Markdown."},
                     {.name = "--label", .value = "LABEL", .doc = "Label that exists on the forge.", .repeated = true}},
         .run = open_issue},
        {.path = "repo fetch", .summary = "Fetch a repository now.", .arguments = {repo_argument}, .run = fetch_repo},
        {.path = "repo refs",
         .summary = "List branches and tags of a repository.",
         .arguments = {repo_argument},
         .lists = true,
         .run = list_refs},
        {.path = "repo branches",
         .summary = "List the branches that sessions pushed for a repository.",
         .arguments = {repo_argument},
         .lists = true,
         .run = list_branches},
        {.path = "repo rm",
         .summary = "Delete a repository and its mirror.",
         .arguments = {repo_argument},
         .options = {{.name = "--abandon",
                      .value = "",
                      .doc = "Also when it has open pull requests: Hone no longer follows them."}},
         .destructive = true,
         .run = remove_repo},
        {.path = "repo check",
         .summary = "Try what the credential of a repository is needed for. Nothing changes on the forge.",
         .arguments = {repo_argument},
         .run = check_repo},
    };
}

} // namespace hone::cli
