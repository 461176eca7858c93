#include "review/branch/flags.h"

#include "base/text.h"
#include "review/branch/closing_words.h"
#include "review/branch/secret_forms.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace hone::review {

namespace {

constexpr size_t most_flags = 500;
// Larger changes are not read carefully.
constexpr int64_t many_lines = 2'000;
constexpr size_t many_files = 100;
constexpr int64_t head_lines = 20; // where a license stands

// What decides how code is built, checked, released and reviewed.
constexpr std::string_view built_in_protected[] = {
    ".github/",
    ".gitlab-ci.yml",
    ".gitlab/",
    ".gitea/",
    ".forgejo/",
    ".circleci/",
    ".buildkite/",
    ".travis.yml",
    ".cirrus.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".woodpecker/",
    ".woodpecker.yml",
    "CODEOWNERS",
    ".gitattributes",
    ".gitmodules",
    ".hone/",
    ".husky/",
    ".pre-commit-config.yaml",
    // What runs on the machine of a person who opens the branch.
    ".vscode/",
    ".idea/",
    ".devcontainer/",
    ".claude/",
    ".mcp.json",
    ".envrc",
};
constexpr std::string_view lock_files[] = {
    "package-lock.json", "npm-shrinkwrap.json",
    "yarn.lock",         "pnpm-lock.yaml",
    "Cargo.lock",        "go.sum",
    "poetry.lock",       "uv.lock",
    "Pipfile.lock",      "Gemfile.lock",
    "composer.lock",     "flake.lock",
    "mix.lock",          "bun.lockb",
    "bun.lock",          "deno.lock",
    "pdm.lock",          "pubspec.lock",
    "Podfile.lock",      "Package.resolved",
    "gradle.lockfile",   "packages.lock.json",
    "go.work.sum",       ".terraform.lock.hcl",
};
constexpr std::string_view lfs_version = "version https://git-lfs.github.com/spec/";

// Characters that change how text is read without being seen: the bidirectional controls, zero width ones, tags.
std::string_view unseen(std::string_view line) {
    for (size_t at = 0; at + 2 < line.size(); ++at) {
        const auto byte = [&](size_t offset) { return static_cast<unsigned char>(line[at + offset]); };
        if (byte(0) == 0xE2 && byte(1) == 0x80) {
            if ((byte(2) >= 0xAA && byte(2) <= 0xAE) || byte(2) == 0x8E || byte(2) == 0x8F)
                return "a character that turns the direction of text around";
            if (byte(2) >= 0x8B && byte(2) <= 0x8D) return "a character without width";
        }
        if (byte(0) == 0xE2 && byte(1) == 0x81) {
            if (byte(2) >= 0xA6 && byte(2) <= 0xA9) return "a character that turns the direction of text around";
            if (byte(2) >= 0xA0 && byte(2) <= 0xA4) return "an invisible character";
        }
        if (byte(0) == 0xEF && byte(1) == 0xBB && byte(2) == 0xBF) return "a byte order mark";
        if (byte(0) == 0xF3 && byte(1) == 0xA0 && (byte(2) == 0x80 || byte(2) == 0x81)) return "invisible tag letters";
    }
    for (const char c : line)
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r' && c != '\f') || c == 0x7f)
            return "a control character";
    return {};
}

bool is_license_line(std::string_view line) {
    const std::string lower = lowercase_ascii(line);
    return lower.find("spdx-license-identifier") != std::string::npos || lower.find("copyright") != std::string::npos ||
           lower.find("licensed under") != std::string::npos;
}

bool is_license_file(std::string_view name) {
    const std::string stem = lowercase_ascii(name.substr(0, name.find('.')));
    return stem == "license" || stem == "licence" || stem == "copying" || stem == "notice";
}

class Finder {
public:
    Finder(const ReviewPolicy& policy, const std::vector<std::string>& alike) : m_policy(policy) {
        for (const std::string& path : alike) m_names.emplace(lowercase_ascii(path), path);
    }

    void check_file(const FileDiff& entry) {
        check_names(entry.file);
        check_modes(entry.file);
        check_lines(entry);
    }

    // The history goes to the forge too: what a commit adds and a later one takes away, and what is longer than the
    // lines that are shown.
    void check_patch(std::string_view patch) {
        std::string commit, told;
        for (const std::string_view line : split(patch, '\n')) {
            if (line.starts_with("From ")) commit = repair_utf8(line.substr(5, 10));
            if (!line.starts_with('+') || commit == told) continue;
            const std::string_view what = seeming_secret(line);
            if (what.empty() || m_secret_lines.contains(std::string(line.substr(1)))) continue;
            told = commit;
            add(FlagKind::secret, true, "", std::nullopt,
                fmt::format("Commit {} seems to hold {} in a line that the diff does not show.", commit, what));
        }
    }

    void add(FlagKind kind, bool blocking, std::string path, std::optional<int64_t> line, std::string message) {
        if (m_flags.size() < most_flags * 2)
            m_flags.push_back({kind, blocking, std::move(path), line, std::move(message)});
    }

    std::vector<Flag> take() {
        std::stable_sort(m_flags.begin(), m_flags.end(),
                         [](const Flag& a, const Flag& b) { return a.blocking && !b.blocking; });
        if (m_flags.size() > most_flags) m_flags.resize(most_flags);
        return std::move(m_flags);
    }

private:
    void check_names(const FileChange& file) {
        for (const std::string* path : {&file.path, &file.old_path}) {
            if (path == &file.old_path && file.old_path == file.path) continue;
            if (is_protected(*path))
                add(FlagKind::protected_path, true, *path, std::nullopt,
                    "It decides how code is built, checked or reviewed.");
            const std::string_view name = std::string_view(*path).substr(path->rfind('/') + 1);
            if (std::find(std::begin(lock_files), std::end(lock_files), name) != std::end(lock_files))
                add(FlagKind::lock_file, m_policy.protect_lock_files, *path, std::nullopt,
                    "Versions of dependencies change.");
            if (is_license_file(name) && file.change != ChangeKind::added)
                add(FlagKind::license, true, *path, std::nullopt, "The license itself changes.");
            if (const std::string_view what = unseen(*path); !what.empty())
                add(FlagKind::odd_name, true, *path, std::nullopt, "The name holds " + std::string(what) + ".");
        }
        if (file.odd_name)
            add(FlagKind::odd_name, true, file.path, std::nullopt,
                "The name is not UTF-8 or holds control characters.");
        if (file.change != ChangeKind::deleted) look_for_twin(file);
    }

    // A name that existed before is not part of this change.
    void look_for_twin(const FileChange& file) {
        const std::string folded = lowercase_ascii(file.path);
        const auto [from, to] = m_names.equal_range(folded);
        const auto twin = std::find_if(from, to, [&](const auto& known) { return known.second != file.path; });
        if (twin != to && file.change != ChangeKind::modified)
            add(FlagKind::name_collision, true, file.path, std::nullopt,
                "Differs from " + twin->second + " only in upper and lower case.");
        m_names.emplace(folded, file.path);
    }

    bool is_protected(std::string_view path) const {
        for (const std::string_view pattern : built_in_protected)
            if (matches_path(pattern, path)) return true;
        for (const std::string& pattern : *m_policy.protected_paths)
            if (matches_path(pattern, path)) return true;
        return false;
    }

    void check_modes(const FileChange& file) {
        if (file.submodule)
            add(FlagKind::submodule, true, file.path, std::nullopt, "Points at a commit of another repository.");
        if (file.symlink && file.change != ChangeKind::deleted)
            add(FlagKind::symlink, true, file.path, std::nullopt, "Is a symbolic link.");
        if (file.binary) add(FlagKind::binary, false, file.path, std::nullopt, "Is not text; its change is not shown.");
        if (file.too_large) add(FlagKind::size, true, file.path, std::nullopt, "Is too large to be shown in full.");
        if (file.old_mode == file.new_mode || file.submodule || file.symlink) return;
        if (file.new_mode == "100755")
            add(FlagKind::mode_change, false, file.path, std::nullopt,
                file.old_mode.empty() ? "Is new and can be executed." : "Can be executed now.");
        else if (!file.old_mode.empty() && !file.new_mode.empty())
            add(FlagKind::mode_change, false, file.path, std::nullopt,
                "Mode changes from " + file.old_mode + " to " + file.new_mode + ".");
    }

    void check_lines(const FileDiff& entry) {
        const std::string& path = entry.file.path;
        std::set<std::string_view> added_licenses, removed_licenses;
        size_t unseen_count = 0;
        bool cut = false;
        for (const Hunk& hunk : entry.hunks)
            for (const DiffLine& line : hunk.lines) {
                cut = cut || (line.cut && line.kind != LineKind::context);
                if (line.kind == LineKind::deleted) {
                    if (line.old_line <= head_lines && is_license_line(line.content))
                        removed_licenses.insert(trim(line.content));
                    continue;
                }
                if (line.new_line == 1 && line.content.starts_with(lfs_version))
                    add(FlagKind::lfs_pointer, true, path, std::nullopt,
                        "Is a Git LFS pointer; the file itself is not here and cannot be checked.");
                if (line.kind != LineKind::added) continue;
                if (const std::string_view what = seeming_secret(line.content); !what.empty()) {
                    add(FlagKind::secret, true, path, line.new_line, "Seems to hold " + std::string(what) + ".");
                    m_secret_lines.insert(line.content);
                }
                if (const std::string_view what = unseen(line.content); !what.empty() && unseen_count++ < 20)
                    add(FlagKind::invisible_text, true, path, line.new_line, "Holds " + std::string(what) + ".");
                if (is_license_line(line.content)) added_licenses.insert(trim(line.content));
            }
        if (cut) add(FlagKind::size, true, path, std::nullopt, "Has lines that are too long to be shown in full.");
        if (!std::includes(added_licenses.begin(), added_licenses.end(), removed_licenses.begin(),
                           removed_licenses.end()))
            add(FlagKind::license, entry.file.change != ChangeKind::deleted, path, std::nullopt,
                "A line about license or copyright is changed or removed.");
    }

    const ReviewPolicy& m_policy;
    std::multimap<std::string, std::string> m_names; // by their lower case
    std::set<std::string> m_secret_lines;            // flagged where they stand
    std::vector<Flag> m_flags;
};

} // namespace

std::vector<Flag> find_flags(const Inspected& found, const ReviewPolicy& policy) {
    const Diff& diff = found.diff;
    Finder finder(policy, found.alike);
    if (diff.truncated)
        finder.add(FlagKind::size, true, "", std::nullopt, "The change is too large: only its first part is shown.");
    if (found.commits_left_out)
        finder.add(FlagKind::size, true, "", std::nullopt,
                   "There are more commits, or longer messages, than are shown.");
    if (found.patch.empty() && found.commits.size() > 1)
        finder.add(FlagKind::size, true, "", std::nullopt,
                   "The commits are too large to be searched one by one; only the whole change was.");
    for (const Commit& commit : found.commits) {
        const std::string short_id = commit.id.substr(0, 10);
        if (const std::string_view what = seeming_secret(commit.message); !what.empty())
            finder.add(FlagKind::secret, true, "", std::nullopt,
                       fmt::format("The message of commit {} seems to hold {}.", short_id, what));
        if (closes_issue(commit.message))
            finder.add(
                FlagKind::closes_issue, false, "", std::nullopt,
                fmt::format("The message of commit {} closes an issue of the forge when it is merged.", short_id));
        bool hidden = false;
        for (const std::string_view line : split(commit.message, '\n')) hidden = hidden || !unseen(line).empty();
        if (hidden || !unseen(commit.author).empty())
            finder.add(FlagKind::invisible_text, true, "", std::nullopt,
                       fmt::format("Commit {} has invisible characters in its message or author.", short_id));
    }
    for (const FileDiff& entry : diff.files) finder.check_file(entry);
    finder.check_patch(found.patch);
    if (diff.additions + diff.deletions > many_lines || diff.files.size() > many_files)
        finder.add(FlagKind::size, false, "", std::nullopt,
                   fmt::format("{} files and {} lines: too large to review in one pass.", diff.files.size(),
                               diff.additions + diff.deletions));
    return finder.take();
}

} // namespace hone::review
