// `hone`: the client and the sandbox commands. Everything that needs the server's code is in the program hone-server,
// in the same folder, which takes this process over: loading it takes longer than most commands run.
#include "cli/cli.h"
#include "sandbox/local/command_line.h"
#include "sandbox/wall/program.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

// Local commands are given the arguments from the command's name on; these take the program's whole argument list.
template <int (*command)(int, char**)>
int whole(int argc, char** argv) {
    return command(argc + 1, argv - 1);
}

template <const char* name>
int run_server_program(int argc, char** argv) {
    const auto program = hone::sandbox::find_beside("hone-server");
    if (!program.ok()) {
        std::fprintf(stderr, "hone: %s: put it beside this program\n", program.error().message.c_str());
        return 1;
    }
    char hone[] = "hone";
    std::string command = name;
    std::vector<char*> arguments{hone, command.data()};
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    arguments.push_back(nullptr);
    ::execv(program.value().c_str(), arguments.data());
    std::fprintf(stderr, "hone: cannot run %s: %s\n", program.value().c_str(), std::strerror(errno));
    return 1;
}

constexpr char serve[] = "serve", demo[] = "demo", harness[] = "harness", check[] = "check", restore[] = "restore",
               reset_password[] = "user-reset-password", print[] = "print", engine[] = "engine";

} // namespace

int main(int argc, char** argv) {
    using namespace hone;
    static constexpr cli::LocalCommand local[] = {
        {"serve", "Run the server: API, web UI and everything behind them", run_server_program<serve>},
        {"demo", "Run the server with a generated project and an investigation of it", run_server_program<demo>},
        {"harness", "Install, list and remove harness programs", run_server_program<harness>},
        {"check", "Report what this machine offers, with advice", run_server_program<check>},
        {"restore", "Unpack a backup into a new data directory", run_server_program<restore>},
        {"sandbox", "Run commands in sandboxes of this machine, without a server", whole<sandbox::sandbox_cli_main>},
        {"image", "Add, list and remove root images for sandboxes", whole<sandbox::sandbox_cli_main>},
        {"user-reset-password", "Sets a temporary password in a data directory", run_server_program<reset_password>,
         true},
        {"print", "Print a document made from the program itself", run_server_program<print>, true},
        {"engine", "Holds the spans of a server", run_server_program<engine>, true},
        {"spawner", "Creates and destroys sandboxes on request", whole<sandbox::spawner_main>, true},
        {"shim", "Owns one live sandbox", whole<sandbox::shim_main>, true},
    };
    return cli::run(argc, argv, local);
}
