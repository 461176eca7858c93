#include "cli/toolkit/help.h"

#include "cli/remote/context.h"
#include "cli/table/exit_code.h"
#include "cli/terminal/display.h"

#include <algorithm>

namespace hone::cli {

namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

// Breaks at spaces so that no line passes 100 columns; following lines are indented.
std::string wrap(std::string_view text, size_t indent) {
    std::string wrapped;
    size_t column = indent;
    while (!text.empty()) {
        const size_t space = text.find(' ');
        const std::string_view word = text.substr(0, space);
        text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
        const size_t width = display_width(word);
        if (column > indent && column + 1 + width > 100) {
            wrapped += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            wrapped += ' ';
            ++column;
        }
        wrapped += word;
        column += width;
    }
    return wrapped;
}

std::string section(const Console& console, std::string_view title, const Rows& rows) {
    if (rows.empty()) return "";
    size_t widest = 0;
    for (const auto& row : rows) widest = std::max(widest, display_width(row.first));
    std::string text = "\n" + console.paint(Style::bold, title) + "\n";
    for (const auto& [name, doc] : rows)
        text += "  " + name + std::string(widest - display_width(name) + 2, ' ') + wrap(doc, widest + 4) + "\n";
    return text;
}

std::string option_form(const Option& option) {
    std::string form = option.short_name.empty() ? "" : std::string(option.short_name) + ", ";
    form += option.name;
    if (!option.value.empty()) form += " " + std::string(option.value);
    return form;
}

std::string option_doc(const Option& option) {
    std::string doc(option.doc);
    if (!option.choices.empty()) {
        doc += " One of:";
        for (const auto choice : option.choices)
            doc += (choice == option.choices.front() ? " " : ", ") + std::string(choice);
        doc += ".";
    }
    if (option.repeated) doc += " Can be repeated.";
    return doc;
}

Rows option_rows(const std::vector<Option>& options) {
    Rows rows;
    for (const auto& option : options) rows.emplace_back(option_form(option), option_doc(option));
    return rows;
}

Rows argument_rows(const Command& command) {
    Rows rows;
    for (const auto& argument : command.arguments) rows.emplace_back(argument.name, argument.doc);
    return rows;
}

Rows group_rows(const Tree& tree, const Group& group) {
    Rows rows;
    const std::string prefix = std::string(group.name) + " ";
    for (const auto& command : tree.commands)
        if (!command.hidden && command.path.starts_with(prefix)) rows.emplace_back(command.path, command.summary);
    return rows;
}

// Of commands without a group.
std::vector<const Command*> commands_of(const Tree& tree, std::string_view topic) {
    std::vector<const Command*> found;
    for (const auto& command : tree.commands)
        if (!command.hidden && command.topic == topic && command.path.find(' ') == std::string_view::npos)
            found.push_back(&command);
    return found;
}

// As they come first in the table; what has no topic of its own is last.
std::vector<std::string_view> topics_of(const Tree& tree) {
    std::vector<std::string_view> topics;
    for (const auto& command : tree.commands)
        if (std::find(topics.begin(), topics.end(), command.topic) == topics.end()) topics.push_back(command.topic);
    std::stable_partition(topics.begin(), topics.end(), [](auto topic) { return topic != Command{}.topic; });
    return topics;
}

Rows local_rows(const Tree& tree) {
    Rows rows;
    for (const auto& command : tree.local)
        if (!command.hidden) rows.emplace_back(command.name, command.summary);
    return rows;
}

Rows exit_rows() {
    Rows rows;
    for (const auto& entry : exit_meanings)
        rows.emplace_back(std::to_string(static_cast<int>(entry.exit)), entry.meaning);
    return rows;
}

std::string overview(const Tree& tree, const Console& console) {
    std::string page = "Hone: the agent improvement loop in one binary.\n\nUsage: hone COMMAND [arguments] [options]\n";
    page += section(console, "On this machine", local_rows(tree));
    Rows groups;
    for (const auto& group : tree.groups) {
        std::string words;
        for (const auto word : tree.words_after(group.name)) words += (words.empty() ? "" : ", ") + std::string(word);
        groups.emplace_back(group.name, std::string(group.summary) + " (" + words + ")");
    }
    page += section(console, "Work with a server", groups);
    for (const auto topic : topics_of(tree)) {
        Rows rows;
        for (const Command* command : commands_of(tree, topic)) rows.emplace_back(command->path, command->summary);
        page += section(console, topic, rows);
    }
    page += section(console, "Options of all commands that work with a server", option_rows(tree.global_options));
    return page + "\nhone help COMMAND describes a command; hone help exit-codes lists the exit codes.\n";
}

std::string group_page(const Tree& tree, const Group& group, const Console& console) {
    std::string page = std::string(group.summary) + "\n\nUsage: hone " + std::string(group.name) + " COMMAND\n";
    page += section(console, "Commands", group_rows(tree, group));
    return page + "\nhone help " + std::string(group.name) + " COMMAND describes a command.\n";
}

std::string command_page(const Tree& tree, const Command& command, const Console& console) {
    std::string page = std::string(command.summary) + "\n\nUsage: " + usage_line(command) + "\n";
    if (!command.details.empty()) page += "\n" + std::string(command.details) + "\n";
    if (const Group* group = tree.find_group(command.path))
        page += section(console, "Commands", group_rows(tree, *group));
    page += section(console, "Arguments", argument_rows(command));
    page += section(console, "Options", option_rows(tree.own_options_of(command)));
    page += section(console, "Options of all commands", option_rows(tree.global_options));
    return page;
}

std::string markdown_rows(std::string_view first, std::string_view second, const Rows& rows, bool code = true) {
    if (rows.empty()) return "";
    std::string text = "\n| " + std::string(first) + " | " + std::string(second) + " |\n|---|---|\n";
    const std::string quote = code ? "`" : "";
    for (const auto& [name, doc] : rows) text += "| " + quote + name + quote + " | " + doc + " |\n";
    return text;
}

std::string markdown_command(const Tree& tree, const Command& command) {
    std::string text = "\n### hone " + std::string(command.path) + "\n\n" + std::string(command.summary) + "\n\n```\n" +
                       usage_line(command) + "\n```\n";
    if (!command.details.empty()) text += "\n" + std::string(command.details) + "\n";
    text += markdown_rows("argument", "meaning", argument_rows(command));
    return text + markdown_rows("option", "meaning", option_rows(tree.own_options_of(command)));
}

Result<> run_help(Context& context) {
    if (context.parsed.has("--markdown")) {
        context.console.print(print_markdown(context.tree));
        return {};
    }
    std::string topic = context.parsed.value("COMMAND").value_or("");
    if (const auto second = context.parsed.value("SUBCOMMAND")) topic += " " + *second;
    auto page = help_page(context.tree, topic, context.console);
    if (!page.ok()) return context.fail(Exit::usage, page.error().message, "hone help lists the commands");
    context.console.print(page.value());
    return {};
}

} // namespace

Result<std::string> help_page(const Tree& tree, std::string_view topic, const Console& console) {
    if (topic.empty()) return overview(tree, console);
    if (topic == "exit-codes") return "Exit codes of all commands.\n" + section(console, "Exit codes", exit_rows());
    if (const Command* command = tree.find(topic)) return command_page(tree, *command, console);
    if (const Group* group = tree.find_group(topic)) return group_page(tree, *group, console);
    for (const auto& local : tree.local)
        if (local.name == topic)
            return std::string(local.summary) + "\n\nhone " + std::string(local.name) + " --help shows more.\n";
    const size_t space = topic.find(' ');
    const bool in_group = space != std::string_view::npos && tree.find_group(topic.substr(0, space)) != nullptr;
    const std::string_view near = in_group ? suggest(topic.substr(space + 1), tree.words_after(topic.substr(0, space)))
                                           : suggest(topic.substr(0, space), tree.words_after(""));
    return Error{Code::not_found,
                 "no help on \"" + safe_line(cut_to_width(topic, 60)) + "\"" +
                     (near.empty() ? "" : "; did you mean " + std::string(near) + "?"),
                 {}};
}

std::string print_markdown(const Tree& tree) {
    std::string text =
        "# The command line\n\n"
        "Printed by `hone help --markdown`; do not edit by hand.\n\n"
        "Commands that work with a server use only its public HTTP API. The address is `--url`, else `HONE_URL`, "
        "else that of the last `hone login`,\nelse `http://127.0.0.1:7070`; the API key is `--api-key`, else "
        "`HONE_API_KEY`, else the key that `hone login` stored for that\nserver in "
        "`${XDG_CONFIG_HOME:-~/.config}/hone/credentials.json` (mode 0600).\n\n"
        "With `--json`, standard output is one JSON document: the `data` of the API's response; a stream, such as "
        "`hone tail`, is one per line.\nWithout it, lists are tables, cut to the width of a terminal and complete "
        "in a pipe; control characters in data are made visible. Errors go to standard error as `error:` and `hint:` "
        "lines,\nor as "
        "`{\"error\":{\"code\",\"message\",\"hint\",\"request_id\",\"exit\"}}` with `--json`.\n";
    text += "\n## Exit codes\n" + markdown_rows("code", "meaning", exit_rows(), false);
    text += "\n## Options of all commands that work with a server\n" +
            markdown_rows("option", "meaning", option_rows(tree.global_options));
    const Rows local = local_rows(tree);
    if (!local.empty()) text += "\n## On this machine\n" + markdown_rows("command", "what it does", local);
    for (const auto topic : topics_of(tree)) {
        text += "\n## " + std::string(topic) + "\n";
        for (const Command* command : commands_of(tree, topic)) text += markdown_command(tree, *command);
    }
    for (const auto& group : tree.groups) {
        text += "\n## hone " + std::string(group.name) + "\n\n" + std::string(group.summary) + "\n";
        for (const auto& command : tree.commands)
            if (!command.hidden && command.path.starts_with(std::string(group.name) + " "))
                text += markdown_command(tree, command);
    }
    return text;
}

std::vector<Command> help_commands() {
    return {{.path = "help",
             .summary = "Show help for a command.",
             .arguments = {{.name = "COMMAND", .doc = "A command, a group, or exit-codes.", .optional = true},
                           {.name = "SUBCOMMAND", .doc = "A command of the group.", .optional = true}},
             .options = {{.name = "--markdown", .value = "", .doc = "Print the whole reference as Markdown."}},
             .needs = Needs::nothing,
             .run = run_help}};
}

} // namespace hone::cli
