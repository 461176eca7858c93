#include "sandbox/command_line.h"
#include <string_view>
int main(int argc, char** argv) {
    const std::string_view role = argc > 1 ? argv[1] : "";
    if (role == "spawner") return hone::sandbox::spawner_main(argc, argv);
    if (role == "shim") return hone::sandbox::shim_main(argc, argv);
    return hone::sandbox::sandbox_cli_main(argc, argv);
}
