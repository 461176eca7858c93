// What a reviewer must not overlook in a branch: protected paths, secrets, modes, submodules, links, strange names,
// characters that cannot be seen. Pure functions over a diff and the commits' messages, any thread.
#pragma once

#include "review/branch/diff.h"
#include "review/policy.h"

namespace hone::review {

enum class FlagKind {
    protected_path,
    lock_file,
    secret,
    invisible_text,
    odd_name,
    name_collision,
    symlink,
    submodule,
    lfs_pointer,
    mode_change,
    binary,
    license,
    closes_issue,
    size,
};
constexpr auto enum_names(FlagKind) {
    return std::array{EnumName{FlagKind::protected_path, "protected_path"},
                      EnumName{FlagKind::lock_file, "lock_file"},
                      EnumName{FlagKind::secret, "secret"},
                      EnumName{FlagKind::invisible_text, "invisible_text"},
                      EnumName{FlagKind::odd_name, "odd_name"},
                      EnumName{FlagKind::name_collision, "name_collision"},
                      EnumName{FlagKind::symlink, "symlink"},
                      EnumName{FlagKind::submodule, "submodule"},
                      EnumName{FlagKind::lfs_pointer, "lfs_pointer"},
                      EnumName{FlagKind::mode_change, "mode_change"},
                      EnumName{FlagKind::binary, "binary"},
                      EnumName{FlagKind::license, "license"},
                      EnumName{FlagKind::closes_issue, "closes_issue"},
                      EnumName{FlagKind::size, "size"}};
}

struct Flag {
    FlagKind kind = FlagKind::size;
    bool blocking = false;
    std::string path;
    std::optional<int64_t> line;
    std::string message;
    static constexpr Pack fields{
        Field{"kind", &Flag::kind, "Kind of the flag."},
        Field{"blocking", &Flag::blocking, "An approval must allow it explicitly."},
        Field{"path", &Flag::path, "File; empty: the whole branch or a commit message."},
        Field{"line", &Flag::line, "Line of the new file."},
        Field{"message", &Flag::message, "Explanation; it never contains a secret."},
    };
};

struct Commit {
    std::string id;
    std::string author;
    std::string message;
    static constexpr Pack fields{
        Field{"id", &Commit::id, "Hash."},
        Field{"author", &Commit::author, "Name and mail address, as the worker wrote them."},
        Field{"message", &Commit::message, "Subject and body."},
    };
};

// What git reports about a branch.
struct Inspected {
    std::string title{};
    std::vector<Commit> commits{}; // oldest first
    bool commits_left_out = false; // there are more, or longer ones
    Diff diff{};
    std::string diff_text{};
    std::string patch{};              // commit by commit; empty: too large to be kept
    std::vector<std::string> alike{}; // paths of the whole tree that differ only in upper and lower case
};

// At most 500, blocking ones first, then in the order of the files.
std::vector<Flag> find_flags(const Inspected& found, const ReviewPolicy& policy);

} // namespace hone::review
