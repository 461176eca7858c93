// Picks the subcommand; nothing else.
#include "cli/cli.h"
#include "server/server.h"

int main(int argc, char** argv) {
    using namespace hone;
    static constexpr cli::LocalCommand local[] = {
        {"serve", "Run the server: API, web UI and everything behind them", server::serve_main},
        {"check", "Report what this machine offers, with advice", server::check_main},
        {"restore", "Unpack a backup into a new data directory", server::restore_main},
        {"print", "Print a document made from the program itself", server::print_main, true},
    };
    return cli::run(argc, argv, local);
}
