// What this machine offers for sandboxes, one line per primitive, for `hone check`. Starts short-lived processes.
#pragma once

#include <string>
#include <vector>

namespace hone::sandbox {

struct CheckLine {
    std::string name;
    enum { ok, missing, warning } state = ok;
    std::string detail;
    std::string advice;
};

// `program` is the hone binary for the self-test; empty: this executable. The self-test uses a temporary data
// directory. `data_directory`: for the tools of its image `default`; may be empty.
std::vector<CheckLine> check(const std::string& program = "", const std::string& data_directory = "");

} // namespace hone::sandbox
