// Files beside the database that a backup holds: what runs left (artifacts), what they pushed (quarantine) and what
// that stands on (mirrors). Linked at one moment, so that what is replaced or removed later stays readable until the
// backup is written. One thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::server {

class FileSnapshot {
public:
    struct File {
        std::string name; // "artifacts/ab/abcd…"
        std::string path; // of the link
        int64_t bytes = 0;
    };

    // `links`: a new directory on the same file system; removed with the object.
    static Result<FileSnapshot> take(const std::string& data_dir, const std::string& links);
    FileSnapshot() = default;
    FileSnapshot(FileSnapshot&& other) noexcept : m_links(std::move(other.m_links)), m_files(std::move(other.m_files)) {
        other.m_links.clear();
    }
    FileSnapshot& operator=(FileSnapshot&& other) noexcept {
        std::swap(m_links, other.m_links);
        std::swap(m_files, other.m_files);
        return *this;
    }
    ~FileSnapshot();

    const std::vector<File>& files() const { return m_files; }

private:
    std::string m_links;
    std::vector<File> m_files;
};

// Whether a backup may hold a file of this name: below one of the three folders, and nothing but plain names.
bool is_kept_file_name(std::string_view name);
// Moves the folders from where they were unpacked, with the modes and empty folders that git needs.
Result<> move_kept_files(const std::string& from, const std::string& data_dir);

} // namespace hone::server
