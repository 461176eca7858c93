// The command table. One entry declares a command: parsing, help, docs/cli.md and shell completion all come from it.
// Built once per process by make_tree(); read-only afterwards.
#pragma once

#include "base/result.h"
#include "cli/table/local_command.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct Context;

struct Option {
    std::string_view name;  // --role
    std::string_view value; // what a value looks like: NAME, FILE, DURATION; empty: a switch
    std::string_view doc;
    std::vector<std::string_view> choices{};
    bool repeated = false;
    std::string_view short_name{}; // -o

    bool is_called(std::string_view word) const { return word == name || (!short_name.empty() && word == short_name); }
};

// The options and some more.
inline std::vector<Option> with(std::vector<Option> options, std::initializer_list<Option> more) {
    options.insert(options.end(), more);
    return options;
}

struct Argument {
    std::string_view name; // PROJECT
    std::string_view doc;
    std::vector<std::string_view> choices{};
    bool optional = false;
};

// What must be known before the command runs.
enum class Needs { nothing, server, key };

struct Command {
    std::string_view path; // "project create"
    std::string_view summary;
    std::vector<Argument> arguments{};
    std::vector<Option> options{};
    std::string_view details{}; // more for its help page, with an example
    Needs needs = Needs::key;
    bool lists = false;       // has --limit and --all
    bool destructive = false; // has --yes
    bool hidden = false;
    std::string_view topic = "Log in and more"; // heading of a command without a group
    Result<> (*run)(Context&) = nullptr;
};

struct Group {
    std::string_view name; // project
    std::string_view summary;
};

struct Tree {
    std::vector<Group> groups;
    std::vector<Command> commands;
    std::vector<Option> global_options;
    std::span<const LocalCommand> local;

    const Command* find(std::string_view path) const;
    const Group* find_group(std::string_view name) const;
    // Words that may follow `path`, which is empty or a group's name.
    std::vector<std::string_view> words_after(std::string_view path) const;
    // The command's own options, those its kind adds, and the global ones.
    std::vector<Option> options_of(const Command* command) const;
    std::vector<Option> own_options_of(const Command& command) const;
};

Tree make_tree(std::span<const LocalCommand> local);

// The nearest of the words, if one is near enough to have been meant.
std::string_view suggest(std::string_view word, const std::vector<std::string_view>& words);

// "hone project create NAME [options]"
std::string usage_line(const Command& command);

inline std::vector<std::string_view> role_names() {
    return {"owner", "admin", "member", "annotator", "viewer"};
}

// One function per family, in the family's own file.
std::vector<Command> login_commands();
std::vector<Command> project_commands();
std::vector<Command> span_commands();
std::vector<Command> trace_commands();
std::vector<Command> series_commands();
std::vector<Command> compare_commands();
std::vector<Command> sql_commands();
std::vector<Command> annotate_commands();
std::vector<Command> transfer_commands();
std::vector<Command> import_commands();
std::vector<Command> doctor_commands();
std::vector<Command> operations_commands();
std::vector<Command> cluster_commands();
std::vector<Command> install_commands();
std::vector<Command> log_commands();
std::vector<Command> tail_commands();
std::vector<Command> space_commands();
std::vector<Command> member_commands();
std::vector<Command> role_commands();
std::vector<Command> user_commands();
std::vector<Command> provider_commands();
std::vector<Command> key_commands();
std::vector<Command> skill_commands();
std::vector<Command> session_commands();
std::vector<Command> session_record_commands();
std::vector<Command> session_file_commands();
std::vector<Command> preset_commands();
std::vector<Command> artifact_commands();
std::vector<Command> automation_commands();
std::vector<Command> signal_commands();
std::vector<Command> dataset_commands();
std::vector<Command> experiment_commands();
std::vector<Command> eval_task_commands();
std::vector<Command> proposal_commands();
std::vector<Command> queue_commands();
std::vector<Command> calibration_commands();
std::vector<Command> prompt_commands();
std::vector<Command> monitor_commands();
std::vector<Command> notice_commands();
std::vector<Command> repo_commands();
std::vector<Command> review_commands();
std::vector<Command> broker_commands();
std::vector<Command> usage_commands();
std::vector<Command> audit_commands();
std::vector<Command> backup_commands();
std::vector<Command> storage_commands();
std::vector<Command> version_commands();
std::vector<Command> completion_commands();
std::vector<Command> help_commands();

} // namespace hone::cli
