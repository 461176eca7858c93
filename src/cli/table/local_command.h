// The commands of `hone` that need this machine's own parts, and the program that has each: `hone` (main.cpp) runs it,
// the client describes it in its help and completes its name.
#pragma once

#include <string_view>

namespace hone::cli {

struct LocalCommand {
    std::string_view name;
    std::string_view summary;
    std::string_view program; // empty: hone itself
    bool hidden = false;
};

inline constexpr LocalCommand local_commands[] = {
    {"serve", "Run the server: API, web UI and everything behind them", "hone-server"},
    {"demo", "Run the server with a generated project and an investigation of it", "hone-server"},
    {"harness", "Install, list and remove harness programs", "hone-server"},
    {"check", "Report what this machine offers, with advice", "hone-server"},
    {"restore", "Unpack a backup into a new data directory", "hone-server"},
    {"migrate", "Copy the spans of a data directory into a ClickHouse", "hone-server"},
    {"clickhouse", "Make and verify the users and rights that a ClickHouse needs", "hone-server"},
    {"sandbox", "Run commands in sandboxes of this machine, without a server", ""},
    {"image", "Add, list and remove root images for sandboxes", ""},
    {"user-reset-password", "Sets a temporary password in a data directory", "hone-server", true},
    {"print", "Print a document made from the program itself", "hone-server", true},
    {"spawner", "Creates and destroys sandboxes on request", "", true},
    {"shim", "Owns one live sandbox", "", true},
};

} // namespace hone::cli
