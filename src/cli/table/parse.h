// Words of a command line → a command and the values of its arguments and options. Pure, any thread.
#pragma once

#include "cli/table/command.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct Parsed {
    std::string path; // the command as far as it was understood: "project", "project create"
    const Command* command = nullptr;
    bool help = false;
    bool json = false; // also when something else is wrong, so that the error can be JSON
    std::optional<std::string> problem;
    // Under "--role" for options, "PROJECT" for arguments.
    std::map<std::string, std::vector<std::string>, std::less<>> values;

    bool has(std::string_view name) const { return values.find(name) != values.end(); }
    // Of the last time it was given; empty when it was not.
    std::optional<std::string> value(std::string_view name) const;
    std::vector<std::string> all(std::string_view name) const;
};

// Global options may stand anywhere, also before the command; "--" ends the options.
Parsed parse(const Tree& tree, const std::vector<std::string>& words);

} // namespace hone::cli
