#include "cli/table/command.h"

#include <algorithm>
#include <numeric>

namespace hone::cli {

namespace {

std::vector<Option> make_global_options() {
    return {
        {.name = "--url",
         .value = "URL",
         .doc = "Address of the server; also HONE_URL. Default: the server of the last login."},
        {.name = "--api-key",
         .value = "KEY",
         .doc = "API key. Prefer HONE_API_KEY: other users of this machine can see the command line."},
        {.name = "--space", .value = "SPACE", .doc = "Id or name of the space. Default: the space of the API key."},
        {.name = "--json", .value = "", .doc = "Print the data as one JSON document, and errors as JSON."},
        {.name = "--ca-file", .value = "FILE", .doc = "PEM file with the certificates to trust; also HONE_CA_FILE."},
        {.name = "--timeout", .value = "DURATION", .doc = "Timeout of a request. Default: 30s."},
        {.name = "--no-color", .value = "", .doc = "No colours; also NO_COLOR."},
        {.name = "--help", .value = "", .doc = "Show help for the command; also -h."},
    };
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t(0));
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = std::exchange(row[0], i);
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

} // namespace

const Command* Tree::find(std::string_view path) const {
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const auto& c) { return c.path == path; });
    return found == commands.end() ? nullptr : &*found;
}

const Group* Tree::find_group(std::string_view name) const {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.name == name; });
    return found == groups.end() ? nullptr : &*found;
}

std::vector<std::string_view> Tree::words_after(std::string_view path) const {
    std::vector<std::string_view> words;
    if (path.empty())
        for (const auto& command : local)
            if (!command.hidden) words.push_back(command.name);
    const std::string prefix = path.empty() ? "" : std::string(path) + " ";
    for (const auto& command : commands) {
        if (command.hidden || !command.path.starts_with(prefix)) continue;
        std::string_view word = command.path.substr(prefix.size());
        word = word.substr(0, word.find(' '));
        if (words.empty() || words.back() != word) words.push_back(word);
    }
    return words;
}

std::vector<Option> Tree::own_options_of(const Command& command) const {
    std::vector<Option> options = command.options;
    if (command.lists) {
        options.push_back({.name = "--limit", .value = "NUMBER", .doc = "Show at most this many. Default: 100."});
        options.push_back({.name = "--all", .value = "", .doc = "Show all."});
    }
    if (command.destructive) options.push_back({.name = "--yes", .value = "", .doc = "Do not ask for confirmation."});
    return options;
}

std::vector<Option> Tree::options_of(const Command* command) const {
    std::vector<Option> options;
    if (command != nullptr) options = own_options_of(*command);
    options.insert(options.end(), global_options.begin(), global_options.end());
    return options;
}

Tree make_tree(std::span<const LocalCommand> local) {
    Tree tree;
    tree.local = local;
    tree.global_options = make_global_options();
    tree.groups = {
        {"project", "Observed applications: their traces, evals and settings."},
        {"exports", "Exports of spans in the object store of the server."},
        {"doctor", "Find what arrives but is not understood, and what is wrong with the server."},
        {"import", "Import traces from other products."},
        {"session", "Start, follow and stop sessions."},
        {"preset", "Saved settings of runs: harness, model, skills, sandbox, budget."},
        {"automation", "Start runs on a schedule, metric, monitor or webhook."},
        {"artifact", "Artifacts of runs and their reviews."},
        {"evaluator", "Rules over new spans, and code for experiments."},
        {"dataset", "Examples with versions, to measure an application on."},
        {"prompt", "Prompts with versions and tags, and calls of models with them."},
        {"eval-task", "Evaluators over new spans, traces and chat sessions: limits, jobs, backfills."},
        {"experiment", "Runs of an application on a dataset, compared with intervals and tests."},
        {"queue", "Traces that people label, one after the other."},
        {"monitor", "Metrics with a condition: healthy, no data or triggered."},
        {"destination", "Where notices are sent: webhooks, Slack-compatible webhooks, email."},
        {"notice", "Messages about state changes."},
        {"signal", "Finds recurring problems in a project."},
        {"issue", "Recurring problems, ranked and investigated."},
        {"review", "Review artifacts: list, comment, approve, reject."},
        {"pr", "Pull requests of approved branches."},
        {"repo", "Repositories that workers clone and propose branches for."},
        {"space", "Spaces, which contain projects and members."},
        {"member", "Members of a space and their roles."},
        {"role", "Custom roles of a space, composed of permissions."},
        {"user", "The accounts of this installation."},
        {"provider", "Providers of single sign-on (OpenID Connect)."},
        {"cluster", "The credentials of a Kubernetes cluster for runs."},
        {"key", "API keys for people and for programs."},
        {"skill", "Integrations for workers: variables, secrets, hosts."},
        {"secret", "The secrets of skills; their values are never shown."},
        {"broker", "Explain which requests a run can send."},
        {"budget", "Daily budget of the model calls of a space."},
        {"audit", "The tamper-evident record of every change."},
        {"server", "The servers that share the database, and the coding agents on them."},
        {"storage", "What is on the server's disk, and what it removes by itself."},
    };
    for (auto* family :
         {login_commands,        project_commands,    span_commands,     trace_commands,       series_commands,
          compare_commands,      sql_commands,        tail_commands,     session_commands,     session_record_commands,
          session_file_commands, preset_commands,     artifact_commands, automation_commands,  monitor_commands,
          notice_commands,       signal_commands,     dataset_commands,  experiment_commands,  review_commands,
          repo_commands,         annotate_commands,   transfer_commands, import_commands,      doctor_commands,
          log_commands,          space_commands,      member_commands,   user_commands,        provider_commands,
          key_commands,          skill_commands,      broker_commands,   usage_commands,       audit_commands,
          backup_commands,       storage_commands,    version_commands,  completion_commands,  help_commands,
          prompt_commands,       proposal_commands,   queue_commands,    calibration_commands, eval_task_commands,
          role_commands,         operations_commands, cluster_commands,  install_commands})
        for (auto& command : family()) tree.commands.push_back(std::move(command));
    return tree;
}

std::string_view suggest(std::string_view word, const std::vector<std::string_view>& words) {
    std::string_view nearest;
    size_t least = std::max<size_t>(1, word.size() / 3) + 1;
    if (word.size() > 64) return nearest;
    for (const std::string_view candidate : words) {
        // What was typed as an abbreviation is nearer than any misspelling.
        const size_t distance = word.size() >= 3 && candidate.starts_with(word) ? 0 : edit_distance(word, candidate);
        if (distance >= least) continue;
        least = distance;
        nearest = candidate;
    }
    return nearest;
}

std::string usage_line(const Command& command) {
    std::string line = "hone " + std::string(command.path);
    for (const auto& argument : command.arguments) {
        const std::string name(argument.name);
        line += argument.optional ? " [" + name + "]" : " " + name;
    }
    return line + " [options]";
}

} // namespace hone::cli
