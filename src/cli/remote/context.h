// What a running command holds: its parsed words, the console, the server to talk to, and what to say when it fails.
// Lives for one command; one thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "cli/table/command.h"
#include "cli/table/exit_code.h"
#include "cli/table/parse.h"
#include "cli/terminal/console.h"

#include <optional>
#include <string>

namespace hone::cli {

class Remote;

// What is known about a failure beyond its Error: set where it happens, printed by run_client.
struct Explanation {
    std::optional<Exit> exit; // absent: Exit::failure
    std::string hint;
    std::string request_id;
    std::string challenge{}; // the WWW-Authenticate header of a 401
};

struct Context {
    const Tree& tree;
    const Parsed& parsed;
    Console& console;
    const Environment& environment;
    const Clock& clock;
    Remote& remote; // usable when the command needs a server
    Explanation& explanation;

    bool json() const { return parsed.json; }
    std::string value_or_empty(std::string_view name) const { return parsed.value(name).value_or(""); }

    Error fail(Exit exit, std::string message, std::string hint = {}) const;
    Error usage(std::string message) const;
    // A whole number of at least `minimum`; nothing when the option is absent.
    Result<std::optional<int64_t>> integer(std::string_view option, int64_t minimum) const;

    // Requires that the user types `word`, unless --yes was given. Without a terminal it fails.
    Result<> confirm(const std::string& warning, const std::string& word) const;
    // A sentence about what was done; nothing with --json.
    void print(const std::string& sentence) const;
};

} // namespace hone::cli
