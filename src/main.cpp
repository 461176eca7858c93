// `hone`, the program that people start: the sandbox commands, which must start quickly. Everything else is in a
// program of its own in the same folder, which takes this process over: hone-client for requests to a server,
// hone-server for the server. The libraries that those need take longer to load than a sandbox takes to start.
#include "cli/table/local_command.h"
#include "sandbox/local/command_line.h"
#include "sandbox/wall/program.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

int continue_in(std::string_view name, const std::vector<char*>& arguments) {
    const auto program = hone::sandbox::find_beside(std::string(name));
    if (!program.ok()) {
        std::fprintf(stderr, "hone: %s: put it beside this program\n", program.error().message.c_str());
        return 1;
    }
    ::execv(program.value().c_str(), arguments.data());
    std::fprintf(stderr, "hone: cannot run %s: %s\n", program.value().c_str(), std::strerror(errno));
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    using namespace hone;
    const std::string_view name = argc > 1 ? argv[1] : "";
    if (argc == 2 && name == "--version") { // of this program; `version` queries the server too
        std::puts("hone " HONE_VERSION);
        return std::fflush(stdout) == 0 ? 0 : 1;
    }
    if (name == "sandbox" || name == "image") return sandbox::sandbox_cli_main(argc, argv);
    if (name == "spawner") return sandbox::spawner_main(argc, argv);
    if (name == "shim") return sandbox::shim_main(argc, argv);
    std::vector<char*> arguments(argv, argv + argc);
    arguments.push_back(nullptr);
    // A command of the server that also works on a data directory, without a server.
    char reset_password[] = "user-reset-password";
    const auto is_data_directory = [](const char* word) { return std::string_view(word) == "--data-dir"; };
    if (argc > 2 && name == "user" && std::string_view(argv[2]) == "reset-password" &&
        std::any_of(argv + 3, argv + argc, is_data_directory)) {
        arguments.erase(arguments.begin() + 1);
        arguments[1] = reset_password;
    }
    for (const cli::LocalCommand& command : cli::local_commands)
        if (argc > 1 && command.name == arguments[1]) return continue_in(command.program, arguments);
    return continue_in("hone-client", arguments);
}
