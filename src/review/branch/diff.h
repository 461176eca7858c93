// What a branch changes, as reviewers see it: files, hunks, lines. Parsed from the text of `git diff`, which is made
// of a worker's bytes: bounded, and every field is valid UTF-8. Values and pure functions, any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::review {

enum class ChangeKind { added, deleted, modified, renamed, copied };
constexpr auto enum_names(ChangeKind) {
    return std::array{EnumName{ChangeKind::added, "added"}, EnumName{ChangeKind::deleted, "deleted"},
                      EnumName{ChangeKind::modified, "modified"}, EnumName{ChangeKind::renamed, "renamed"},
                      EnumName{ChangeKind::copied, "copied"}};
}

enum class LineKind { context, added, deleted };
constexpr auto enum_names(LineKind) {
    return std::array{EnumName{LineKind::context, "context"}, EnumName{LineKind::added, "added"},
                      EnumName{LineKind::deleted, "deleted"}};
}

struct DiffLine {
    LineKind kind = LineKind::context;
    std::optional<int64_t> old_line;
    std::optional<int64_t> new_line;
    std::string content;
    bool no_newline = false;
    bool cut = false;
    static constexpr Pack fields{
        Field{"kind", &DiffLine::kind, "Context, added or deleted."},
        Field{"old_line", &DiffLine::old_line, "Number in the old file; null for an added line."},
        Field{"new_line", &DiffLine::new_line, "Number in the new file; null for a deleted line."},
        Field{"content", &DiffLine::content, "The line, without its line end."},
        Field{"no_newline", &DiffLine::no_newline, "The file ends here without a line end."},
        Field{"cut", &DiffLine::cut, "The line is longer than the shown text."},
    };
};

struct Hunk {
    int64_t old_start = 0;
    int64_t old_count = 0;
    int64_t new_start = 0;
    int64_t new_count = 0;
    std::string heading;
    std::vector<DiffLine> lines;
    static constexpr Pack fields{
        Field{"old_start", &Hunk::old_start, "First line in the old file."},
        Field{"old_count", &Hunk::old_count, "Lines of the old file."},
        Field{"new_start", &Hunk::new_start, "First line in the new file."},
        Field{"new_count", &Hunk::new_count, "Lines of the new file."},
        Field{"heading", &Hunk::heading, "Function or section that contains it, as git reports it."},
        Field{"lines", &Hunk::lines, "Lines in order."},
    };
};

// One file without its hunks.
struct FileChange {
    std::string path;
    std::string old_path;
    ChangeKind change = ChangeKind::modified;
    std::string old_mode;
    std::string new_mode;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool binary = false;
    bool too_large = false;
    bool submodule = false;
    bool symlink = false;
    bool odd_name = false;
    static constexpr Pack fields{
        Field{"path", &FileChange::path, "Path after the change; one that is not UTF-8 is quoted as git quotes it."},
        Field{"old_path", &FileChange::old_path, "Path before it; differs for a renamed or copied file."},
        Field{"change", &FileChange::change, "Kind of the change."},
        Field{"old_mode", &FileChange::old_mode, "Mode before, such as 100644; empty for an added file."},
        Field{"new_mode", &FileChange::new_mode, "Mode after; empty for a deleted file."},
        Field{"additions", &FileChange::additions, "Added lines."},
        Field{"deletions", &FileChange::deletions, "Deleted lines."},
        Field{"binary", &FileChange::binary, "Not text: no lines are shown."},
        Field{"too_large", &FileChange::too_large, "Only the first part of its lines is stored."},
        Field{"submodule", &FileChange::submodule, "A submodule: a commit of another repository."},
        Field{"symlink", &FileChange::symlink, "A symbolic link."},
        Field{"odd_name", &FileChange::odd_name, "The name is not UTF-8 or has control characters."},
    };
};

struct FileDiff {
    FileChange file;
    std::vector<Hunk> hunks;
    static constexpr Pack fields{
        Field{"file", &FileDiff::file, "Change of the file."},
        Field{"hunks", &FileDiff::hunks, "Changed sections, in order."},
    };
};

struct Diff {
    std::vector<FileDiff> files;
    int64_t additions = 0;
    int64_t deletions = 0;
    bool truncated = false; // there was more than the caps allow
};

struct DiffCaps {
    size_t files = 5'000;
    size_t lines = 300'000;       // of all files together
    size_t file_lines = 20'000;   // of one
    size_t line_bytes = 8 * 1024; // of one
};

// The text of `git diff --no-ext-diff --no-textconv --no-color -M -p` between two commits. A text that ends in the
// middle is what an output cap leaves: the diff is then `truncated`. Anything that git would not write is corrupt.
Result<Diff> parse_diff(std::string_view text, const DiffCaps& caps = {});

} // namespace hone::review
