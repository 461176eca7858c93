// Files and descriptors: an owning Fd, whole-file reads, durable atomic writes. Any thread.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>

namespace hone {

// Owns a file descriptor.
class Fd {
public:
    Fd() = default;
    explicit Fd(int descriptor) : m_descriptor(descriptor) {}
    Fd(Fd&& other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) {
            reset();
            m_descriptor = std::exchange(other.m_descriptor, -1);
        }
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    int get() const { return m_descriptor; }
    bool is_open() const { return m_descriptor >= 0; }
    int release() { return std::exchange(m_descriptor, -1); }
    void reset();

private:
    int m_descriptor = -1;
};

// The whole file; refuses more than `limit` bytes.
Result<std::string> read_file(const std::string& path, size_t limit = 64 << 20);
// Writes beside, syncs, renames, syncs the directory: after a crash the old or the new content is there, never a mix.
Result<> write_file(const std::string& path, std::string_view content, mode_t mode = 0600);
// Makes the names in a directory durable: those that were created, renamed or removed in it.
Result<> sync_directory(const std::string& path);
// Makes a file's content durable.
Result<> sync_file(const std::string& path);
// Makes all files of the file system durable on which the path is: for trees of many files.
Result<> sync_file_system(const std::string& path);
// Writes all bytes to the descriptor, through interruptions and short writes.
Result<> write_all(int descriptor, std::string_view content);
// Creates the directory and its parents; existing ones are fine.
Result<> make_directories(const std::string& path, mode_t mode = 0700);
bool file_exists(const std::string& path);

} // namespace hone
