#include "cli/cli.h"

#include "base/text.h"
#include "cli/commands/team/version.h"
#include "cli/remote/context.h"
#include "cli/remote/remote.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/completion.h"
#include "cli/toolkit/help.h"
#include "json/json.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace hone::cli {

namespace {

void print_failure(Console& console, bool as_json, const Error& error, const Explanation& explanation, Exit exit) {
    if (as_json) {
        json::Object inner{{"code", code_name(error.code)}, {"message", repair_utf8(error.message)}};
        if (!explanation.hint.empty()) inner["hint"] = repair_utf8(explanation.hint);
        if (!explanation.request_id.empty()) inner["request_id"] = repair_utf8(explanation.request_id);
        inner["exit"] = static_cast<int>(exit);
        console.note(safe_json(json::print(json::Object{{"error", std::move(inner)}})) + "\n");
        return;
    }
    std::string text = console.paint_note(Style::red, "error:") + " " + safe_line(error.message) + "\n";
    if (!explanation.hint.empty())
        text += console.paint_note(Style::yellow, "hint:") + " " + safe_line(explanation.hint) + "\n";
    if (!explanation.request_id.empty()) text += "request id: " + safe_line(explanation.request_id) + "\n";
    console.note(text);
}

Result<> prepare(const Command& command, const Context& context) {
    if (command.needs == Needs::nothing) return {};
    Target target = TRY(find_target(context));
    // A login begins without a key; an old or foreign one must not replace the person.
    if (command.path == "login" || command.path == "logout") target.api_key.clear();
    if (command.needs == Needs::key && target.api_key.empty())
        return context.fail(Exit::unauthorized, "not logged in to " + target.url,
                            "hone login --url " + target.url + ", or set HONE_API_KEY");
    context.remote.set_target(std::move(target));
    return {};
}

Result<> run_command(const Command& command, Context& context) {
    TRY(prepare(command, context));
    return command.run(context);
}

int run_parsed(const Tree& tree, const Parsed& parsed, Console& console, const World& world) {
    Explanation explanation;
    Remote remote(explanation);
    Context context{tree, parsed, console, world.environment, *world.clock, remote, explanation};
    auto outcome = run_command(*parsed.command, context);
    if (console.is_output_gone()) return static_cast<int>(Exit::failure); // the reader knows that it left
    if (outcome.ok() && console.output_error()) outcome = *console.output_error();
    if (outcome.ok()) return static_cast<int>(Exit::ok);
    const Exit exit = explanation.exit.value_or(Exit::failure);
    print_failure(console, parsed.json, outcome.error(), explanation, exit);
    return static_cast<int>(exit);
}

int run_usage(const Parsed& parsed, Console& console) {
    const std::string topic = parsed.path.empty() ? "" : " " + parsed.path;
    const Explanation explanation{Exit::usage, "hone help" + topic, ""};
    print_failure(console, parsed.json, invalid(*parsed.problem), explanation, Exit::usage);
    return static_cast<int>(Exit::usage);
}

} // namespace

int run_client(const std::vector<std::string>& arguments, std::span<const LocalCommand> local, const World& world) {
    Console console(world.in, world.out, world.err, world.environment);
    const Tree tree = make_tree(local);
    if (arguments.size() >= 2 && arguments[0] == "completion" && arguments[1] == "words") {
        console.print(print_candidates(complete(tree, {arguments.begin() + 2, arguments.end()})));
        return 0;
    }
    Parsed parsed = parse(tree, arguments);
    if (parsed.has("--no-color")) console.disable_colour();
    if (parsed.problem) return run_usage(parsed, console);
    if (parsed.help || parsed.command == nullptr) {
        console.print(help_page(tree, parsed.path, console).value());
        return 0;
    }
    return run_parsed(tree, parsed, console, world);
}

int run(int argc, char** argv) {
    // A reader that leaves (`| head`) is seen as a failed write.
    std::signal(SIGPIPE, SIG_IGN);
    std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
    const SystemClock clock;
    World world;
    world.clock = &clock;
    world.environment = [](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr ? std::nullopt : std::optional<std::string>(value);
    };
    try {
        return run_client(arguments, local_commands, world);
    } catch (const std::exception& broken) {
        std::fprintf(stderr, "error: %s\n", safe_line(broken.what()).c_str());
        return static_cast<int>(Exit::failure);
    }
}

} // namespace hone::cli
