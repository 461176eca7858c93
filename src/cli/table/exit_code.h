// What the program's exit code means to a script. Part of the command line's contract: never change the meaning of one.
#pragma once

#include <array>
#include <string_view>

namespace hone::cli {

enum class Exit {
    ok = 0,
    failure = 1,
    usage = 2,
    unauthorized = 3,
    forbidden = 4,
    not_found = 5,
    conflict = 6,
    unavailable = 7,
    refused = 8,
    busy = 9,
    gate_failed = 10,
};

struct ExitMeaning {
    Exit exit;
    std::string_view meaning;
};
inline constexpr std::array exit_meanings{
    ExitMeaning{Exit::ok, "Success."},
    ExitMeaning{Exit::failure, "Failed for another reason; see the message."},
    ExitMeaning{Exit::usage, "The command line is wrong, or a confirmation is missing."},
    ExitMeaning{Exit::unauthorized, "Not logged in, or the API key is wrong, expired or revoked."},
    ExitMeaning{Exit::forbidden, "Logged in, but not allowed to do this."},
    ExitMeaning{Exit::not_found, "It does not exist, or is not visible to you."},
    ExitMeaning{Exit::conflict, "The current state does not allow it, such as a name that is already used."},
    ExitMeaning{Exit::unavailable, "The server cannot be reached, or cannot serve now."},
    ExitMeaning{Exit::refused, "The server rejected the input as invalid."},
    ExitMeaning{Exit::busy, "Too many requests; try again later."},
    ExitMeaning{Exit::gate_failed, "A comparison found a regression (--fail-on)."},
};

} // namespace hone::cli
