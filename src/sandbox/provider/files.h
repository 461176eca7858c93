// The files of a workspace, wherever its sandbox is. Names of workers are data; nothing is read through a link. Any
// thread; blocks.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

#include <array>
#include <string>
#include <vector>

namespace hone::sandbox {

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
    static constexpr Pack fields{
        Field{"name", &FileEntry::name, "Name; characters that are not text are replaced."},
        Field{"path", &FileEntry::path, "Path in the workspace; empty when its name is not text: it cannot be opened."},
        Field{"kind", &FileEntry::kind, "file, folder, link (is not followed) or other."},
        Field{"bytes", &FileEntry::bytes, "Size of a file."},
        Field{"modified_at", &FileEntry::modified_at, "Last change."},
    };
};

struct FileLimits {
    int64_t most_entries = 5'000;                  // of one folder's list
    int64_t most_file_bytes = int64_t{512} << 20;  // of one download
    int64_t most_archive_bytes = int64_t{1} << 30; // of one archive
    int64_t most_archive_files = 20'000;
};

class Files {
public:
    virtual ~Files() = default;
    // Folders first, then by name. `path` empty: the workspace itself.
    virtual Result<std::vector<FileEntry>> list(const std::string& path, const FileLimits& limits) = 0;
    // Copies a regular file to the descriptor; its size.
    virtual Result<int64_t> copy(const std::string& path, int into, const FileLimits& limits) = 0;
    // A folder as a tar of its regular files and folders; the size of the tar.
    virtual Result<int64_t> archive(const std::string& path, int into, const FileLimits& limits) = 0;
};

} // namespace hone::sandbox
