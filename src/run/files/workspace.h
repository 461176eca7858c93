// The files of a workspace, which a worker may change at the same time: listed and read through one open directory,
// never through a link and never outside of it. Names of workers are data. Any thread.
#pragma once

#include "base/fields.h"
#include "base/file.h"
#include "base/result.h"
#include "base/time.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::run {

enum class FileKind { file, folder, link, other };
constexpr auto enum_names(FileKind) {
    return std::array{EnumName{FileKind::file, "file"}, EnumName{FileKind::folder, "folder"},
                      EnumName{FileKind::link, "link"}, EnumName{FileKind::other, "other"}};
}

struct FileEntry {
    std::string name;
    std::string path;
    FileKind kind = FileKind::file;
    int64_t bytes = 0;
    Time modified_at{};
    static constexpr std::tuple fields{
        Field{"name", &FileEntry::name, "Name; characters that are not text are replaced."},
        Field{"path", &FileEntry::path, "Path in the workspace; empty when its name is not text: it cannot be opened."},
        Field{"kind", &FileEntry::kind, "file, folder, link (is not followed) or other."},
        Field{"bytes", &FileEntry::bytes, "Size of a file."},
        Field{"modified_at", &FileEntry::modified_at, "Last change."},
    };
};

// "data/in.csv": relative; no empty part, no "." and no "..", no control characters, valid UTF-8. At most 1,000 bytes
// and 32 folders.
Result<std::string> checked_workspace_path(std::string_view path);

struct FileLimits {
    int64_t most_entries = 5'000;                  // of one folder's list
    int64_t most_file_bytes = int64_t{512} << 20;  // of one download
    int64_t most_archive_bytes = int64_t{1} << 30; // of one archive
    int64_t most_archive_files = 20'000;
};

// Folders first, then by name. `path` empty: the workspace itself.
Result<std::vector<FileEntry>> list_folder(int workspace, const std::string& path, const FileLimits& limits = {});
// A regular file, for reading.
Result<Fd> open_workspace_file(int workspace, const std::string& path);
// Copies the file to `into`.
Result<int64_t> copy_workspace_file(int workspace, const std::string& path, int into, const FileLimits& limits = {});
// A folder as a tar of its regular files and folders; links and other things are left out.
Result<int64_t> archive_folder(int workspace, const std::string& path, int into, const FileLimits& limits = {});

} // namespace hone::run
