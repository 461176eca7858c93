// The client commands alone, for the tests of this folder.
#include "cli/cli.h"

int main(int argc, char** argv) {
    return hone::cli::run(argc, argv, {});
}
