// Shell completion: the scripts that `hone completion SHELL` prints, and the words they request. The scripts call the
// program back, so that they never fall behind the command table. Pure, any thread.
#pragma once

#include "cli/table/command.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::cli {

struct Candidate {
    std::string word;
    std::string doc;
};
struct Candidates {
    std::vector<Candidate> words;
    bool files = false; // the shell should offer file names
};

// `words` are those after the program's name; the last one is being typed and may be empty.
Candidates complete(const Tree& tree, const std::vector<std::string>& words);
// One candidate per line, its doc after a tab; the line ":files" requests file names.
std::string print_candidates(const Candidates& candidates);

std::string_view completion_script(std::string_view shell);

} // namespace hone::cli
