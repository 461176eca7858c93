// What a repository needs installed before it can be tested, as far as its files say: a script of its own, a
// devcontainer, or lock files. Everything here is hostile: names and texts of a repository become data and shell words
// for a sandbox, never more. Pure, any thread.
//   parse_tree → find_devcontainer → plan_setup
#pragma once

#include "base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hone::forge {

// One file, as `git ls-tree -r -z` prints it.
struct TreeEntry {
    std::string mode; // 100644, 100755, 120000 (a link), 160000 (another repository)
    std::string object;
    std::string path;
};

constexpr size_t most_setup_files = 2000;
constexpr size_t largest_devcontainer = 64 << 10;
constexpr size_t largest_setup_script = 64 << 10;

// What a preset writes for `setup` when the repository decides.
constexpr std::string_view automatic_setup = "auto";

// Names of the files that a plan depends on, as one extended regular expression over lines of `git ls-tree`.
std::string setup_file_pattern();

// Too_large: more than `most_setup_files`.
Result<std::vector<TreeEntry>> parse_tree(std::string_view listing);

struct SetupPlan {
    std::string source; // "the preset", ".hone/setup.sh", "package-lock.json, requirements.txt"; empty: nothing to do
    std::string script; // for /bin/sh -e, at the top of the checkout
    std::map<std::string, std::string> inputs; // what the result depends on: paths and objects
    friend bool operator==(const SetupPlan&, const SetupPlan&) = default;
};

// The devcontainer whose text `plan_setup` needs; null: none, or another source comes first.
const TreeEntry* find_devcontainer(std::string_view setup, const std::vector<TreeEntry>& files);

// `setup`: `auto`, or a script. `devcontainer`: the text of `find_devcontainer`. Invalid: a file that cannot be used,
// such as a script that is a link.
Result<SetupPlan> plan_setup(std::string_view setup, const std::vector<TreeEntry>& files,
                             std::string_view devcontainer);

// The command of a devcontainer.json (which may have comments) as shell text; empty: it has none.
Result<std::string> post_create_command(std::string_view text);
// JSON with comments and commas before closing brackets, as plain JSON.
std::string without_comments(std::string_view text);

} // namespace hone::forge
