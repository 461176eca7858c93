// The sandbox commands alone, in a small binary: `hone-sandbox sandbox run -- id`. Same arguments as `hone`.
#include "sandbox/local/check.h"
#include "sandbox/local/command_line.h"

#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    using namespace hone::sandbox;
    const std::string_view role = argc > 1 ? argv[1] : "";
    if (role == "spawner") return spawner_main(argc, argv);
    if (role == "shim") return shim_main(argc, argv);
    if (role != "check") return sandbox_cli_main(argc, argv);
    for (const CheckLine& line : check())
        std::printf("%-8s %-28s %s%s%s\n",
                    line.state == CheckLine::ok        ? "ok"
                    : line.state == CheckLine::missing ? "MISSING"
                                                       : "warning",
                    line.name.c_str(), line.detail.c_str(), line.advice.empty() ? "" : " — ", line.advice.c_str());
    return 0;
}
