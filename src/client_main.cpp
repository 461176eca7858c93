// `hone-client`: the commands of `hone` that send requests to a server. Run by `hone` (src/main.cpp) with the same
// arguments.
#include "cli/cli.h"

int main(int argc, char** argv) {
    return hone::cli::run(argc, argv);
}
