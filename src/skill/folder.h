// A skill's folder: SKILL.md with its front matter and the files beside it, from a tar.gz or from a list of files.
// Everything is outside input: sizes, counts and paths are bounded, links and devices are refused. Pure functions.
#pragma once

#include "base/result.h"
#include "skill/setup.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::skill {

struct FolderFile {
    std::string path;
    std::string content;
    bool executable = false;
};

constexpr size_t largest_folder = 4 << 20;
constexpr size_t largest_file = 1 << 20;
constexpr size_t most_files = 256;

struct FrontMatter {
    std::string name;
    std::string description;
};
// What stands between the first two lines `---` of SKILL.md: `name` and `description` are needed, `license`, `version`,
// `allowed-tools`, `compatibility` and `metadata` are known, anything else is an error that names its line.
Result<FrontMatter> parse_front_matter(std::string_view skill_md);

Result<std::vector<FolderFile>> read_tar(std::string_view bytes);
Result<std::vector<FolderFile>> read_tar_gz(std::string_view bytes);

// Checks and sorts the files, takes one common top folder away, finds SKILL.md and gives the hash.
Result<FolderInfo> check_folder(std::vector<FolderFile>& files);

} // namespace hone::skill
