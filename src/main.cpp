// Picks the subcommand; nothing else.
#include "cli/cli.h"
#include "sandbox/local/command_line.h"
#include "server/commands/commands.h"
#include "telemetry/engine/engine.h"

namespace {

// The sandbox's commands take the program's whole argument list; a local command is given the part after it.
template <int (*command)(int, char**)>
int whole(int argc, char** argv) {
    return command(argc + 1, argv - 1);
}

} // namespace

int main(int argc, char** argv) {
    using namespace hone;
    static constexpr cli::LocalCommand local[] = {
        {"serve", "Run the server: API, web UI and everything behind them", server::serve_main},
        {"demo", "Run the server with a generated project and an investigation of it", server::demo_main},
        {"harness", "Install, list and remove harness programs", server::harness_main},
        {"check", "Report what this machine offers, with advice", server::check_main},
        {"restore", "Unpack a backup into a new data directory", server::restore_main},
        {"sandbox", "Run commands in sandboxes of this machine, without a server", whole<sandbox::sandbox_cli_main>},
        {"image", "Add, list and remove root images for sandboxes", whole<sandbox::sandbox_cli_main>},
        {"user-reset-password", "Sets a temporary password in a data directory", server::reset_password_main, true},
        {"print", "Print a document made from the program itself", server::print_main, true},
        {"engine", "Holds the spans of a server", telemetry::engine_main, true},
        {"spawner", "Creates and destroys sandboxes on request", whole<sandbox::spawner_main>, true},
        {"shim", "Owns one live sandbox", whole<sandbox::shim_main>, true},
    };
    return cli::run(argc, argv, local);
}
