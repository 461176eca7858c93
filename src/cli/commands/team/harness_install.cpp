// Coding agents of the server: installs one from here, as the page Harnesses does. `hone harness` does it on the
// machine itself, without a server.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"

#include <chrono>
#include <thread>

namespace hone::cli {

namespace {

constexpr std::string_view installations = "/v1/harness_installations";

Columns installation_columns() {
    return {
        {.title = "harness", .field = "harness"},
        {.title = "version", .field = "version", .absent = "newest"},
        {.title = "state", .field = "state"},
        {.title = "started by", .field = "started_by"},
        {.title = "started", .field = "started_at", .kind = Kind::time},
        {.title = "ended", .field = "ended_at", .kind = Kind::time},
        {.title = "error", .field = "error", .only_single = true},
    };
}

// The lines that are new since the last look.
size_t print_steps(const Context& context, const json::Value& installation, size_t shown) {
    const json::Value* steps = member(installation, "steps");
    if (steps == nullptr || !steps->is_array()) return shown;
    for (; shown < steps->get_array().size(); ++shown)
        if (!context.json()) context.console.note(safe_line(text_of(steps->get_array()[shown], "text")) + "\n");
    return shown;
}

Result<json::Value> find_installation(const Context& context, const std::string& harness) {
    const json::Value all = TRY(context.remote.get(std::string(installations)));
    if (all.is_array())
        for (const json::Value& one : all.get_array())
            if (text_of(one, "harness") == harness) return one;
    return context.fail(Exit::failure, "the server was restarted, which cancels an installation",
                        "hone server install " + harness + " starts it again");
}

Result<> install_harness(Context& context) {
    const std::string wanted = context.value_or_empty("HARNESS");
    const size_t at = wanted.find('@');
    const std::string harness = wanted.substr(0, at);
    json::Object body{{"harness", harness}};
    if (at != std::string::npos) body["version"] = wanted.substr(at + 1);
    json::Value one = TRY(context.remote.post(std::string(installations), std::move(body)));
    if (context.parsed.has("--detach"))
        return show_done(context, one, "Installing " + harness + ": hone server installs shows the progress.");
    size_t shown = 0;
    while (text_of(one, "state") == "running") {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        one = TRY(find_installation(context, harness));
        shown = print_steps(context, one, shown);
    }
    if (context.json()) print_json(context, one);
    if (text_of(one, "state") == "succeeded") return {};
    const std::string error = text_of(one, "error");
    return context.fail(Exit::failure, error.empty() ? "the installation of " + harness + " was cancelled"
                                                     : "Could not install " + harness + ": " + error);
}

Result<> list_installations(Context& context) {
    return show_rows(context, TRY(context.remote.get(std::string(installations))), installation_columns(),
                     "Nothing was installed since the server started. Install one:\n  hone server install claude-code");
}

Result<> cancel_installation(Context& context) {
    const std::string harness = context.value_or_empty("HARNESS");
    return show_done(context, TRY(context.remote.remove(path_of(installations, {harness}))),
                     "The installation of " + harness + " is cancelled.");
}

} // namespace

std::vector<Command> install_commands() {
    return {
        {.path = "server install",
         .summary = "Install a coding agent on the server and show the progress.",
         .arguments = {{.name = "HARNESS",
                        .doc = "claude-code, codex, opencode, gemini, qwen or copilot; with @VERSION "
                               "for another than the newest."}},
         .options = {{.name = "--detach", .value = "", .doc = "Do not wait for its end."}},
         .details = "For installation owners. The server gets the packages from npm and runs their code in sandboxes "
                    "only. For a server without a network: hone harness install NAME --from FOLDER --data-dir DIR on "
                    "its machine.",
         .run = install_harness},
        {.path = "server installs",
         .summary = "List the last installation of each coding agent.",
         .run = list_installations},
        {.path = "server cancel-install",
         .summary = "Cancel the installation that runs.",
         .arguments = {{.name = "HARNESS", .doc = "Name of the harness."}},
         .run = cancel_installation},
    };
}

} // namespace hone::cli
