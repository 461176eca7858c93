// `hone-server`: the commands of `hone` that need the server's code. Run by `hone` (main.cpp) with the same arguments.
#include "server/commands/commands.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    using namespace hone;
    const std::string_view name = argc > 1 ? argv[1] : "";
    struct Command {
        std::string_view name;
        int (*run)(int, char**);
    };
    static constexpr Command commands[] = {
        {"serve", server::serve_main},           {"demo", server::demo_main},
        {"harness", server::harness_main},       {"check", server::check_main},
        {"restore", server::restore_main},       {"migrate", server::migrate_main},
        {"clickhouse", server::clickhouse_main}, {"user-reset-password", server::reset_password_main},
        {"print", server::print_main},
    };
    for (const Command& command : commands)
        if (command.name == name) return command.run(argc - 1, argv + 1);
    std::fputs("hone-server is run by hone: see `hone --help`\n", stderr);
    return 2;
}
