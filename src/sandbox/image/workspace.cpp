#include "sandbox/image/workspace.h"

#include "base/text.h"
#include "sandbox/image/tar_writer.h"
#include "sandbox/wall/kernel.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr size_t longest_workspace_path = 1000;
constexpr size_t longest_part = 255;
constexpr size_t most_folders = 32;

Error path_error(std::string_view doing, const std::string& path, int number) {
    if (number == ENOENT) return not_found("file " + path + " of the workspace");
    if (number == ELOOP || number == EXDEV || number == ENOTDIR)
        return conflict(fmt::format("could not {} {}: a part of the path is a link or not a folder", doing, path));
    if (number == EACCES || number == EPERM)
        return conflict(fmt::format("could not {} {}: the worker made it unreadable", doing, path));
    if (number == EISDIR) return conflict(path + " is a folder");
    return system_error(std::string(doing) + " " + path, number);
}

Fd open_below(int workspace, const std::string& path, int flags) {
    Fd opened = kernel::open_beneath(workspace, path.c_str(), static_cast<uint64_t>(flags));
    if (!opened.is_open() && errno == ENOSYS) return open_by_parts(workspace, path, flags); // gVisor
    return opened;
}

Result<Fd> open_folder(int workspace, const std::string& path) {
    Fd folder = open_below(workspace, path.empty() ? "." : path, O_RDONLY | O_DIRECTORY);
    if (!folder.is_open()) return path_error("read", path.empty() ? "the workspace" : path, errno);
    return folder;
}

bool is_plain_text(std::string_view name) {
    if (!is_valid_utf8(name)) return false;
    return std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string shown_name(std::string_view name) {
    std::string text = repair_utf8(name);
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return text;
}

FileKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return FileKind::file;
    if (S_ISDIR(mode)) return FileKind::folder;
    return S_ISLNK(mode) ? FileKind::link : FileKind::other;
}

class DirectoryFiles final : public Files {
public:
    DirectoryFiles(Fd directory, std::shared_ptr<void> kept)
        : m_kept(std::move(kept)),
          m_directory(std::move(directory)) {}

    Result<std::vector<FileEntry>> list(const std::string& path, const FileLimits& limits) override {
        return list_folder(m_directory.get(), path, limits);
    }
    Result<int64_t> copy(const std::string& path, int into, const FileLimits& limits) override {
        return copy_workspace_file(m_directory.get(), path, into, limits);
    }
    Result<int64_t> archive(const std::string& path, int into, const FileLimits& limits) override {
        return archive_folder(m_directory.get(), path, into, limits);
    }

private:
    const std::shared_ptr<void> m_kept;
    const Fd m_directory;
};

// `bytes` at most: a file that grows meanwhile is cut.
Result<int64_t> copy_bytes(int from, int into, int64_t bytes) {
    int64_t copied = 0;
    while (copied < bytes) {
        const ssize_t sent =
            ::sendfile(into, from, nullptr, static_cast<size_t>(std::min<int64_t>(bytes - copied, 1 << 20)));
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return system_error("copy a file", errno);
        if (sent == 0) break;
        copied += sent;
    }
    return copied;
}

// Goes through the folder without recursion into descriptors: each level is opened by its path below the workspace.
class ArchiveWriter {
public:
    ArchiveWriter(int workspace, int into, const FileLimits& limits)
        : m_workspace(workspace),
          m_tar(into),
          m_limits(limits) {}

    Result<int64_t> write(const std::string& top) {
        std::vector<std::string> folders{top};
        while (!folders.empty()) {
            const std::string folder = std::move(folders.back());
            folders.pop_back();
            for (const FileEntry& entry : TRY(list_folder(m_workspace, folder, m_limits))) {
                if (entry.path.empty()) continue;
                if (++m_files > m_limits.most_archive_files)
                    return too_large(fmt::format("the folder has more than {} files", m_limits.most_archive_files));
                const std::string name = top.empty() ? entry.path : entry.path.substr(top.size() + 1);
                if (entry.kind == FileKind::folder) {
                    TRY(m_tar.folder(name, entry.modified_at));
                    if (std::ranges::count(entry.path, '/') < static_cast<long>(most_folders))
                        folders.push_back(entry.path);
                } else if (entry.kind == FileKind::file) {
                    TRY(add(name, entry));
                }
            }
        }
        return m_tar.end();
    }

private:
    Result<> add(const std::string& name, const FileEntry& entry) {
        const auto opened = open_workspace_file(m_workspace, entry.path);
        if (!opened.ok()) return {}; // it is gone by now, or it became something else
        struct stat status {};
        if (::fstat(opened.value().get(), &status) != 0) return system_error("read " + entry.path, errno);
        m_bytes += status.st_size;
        if (m_bytes > m_limits.most_archive_bytes)
            return too_large(
                fmt::format("the folder is larger than {} MiB: download its parts", m_limits.most_archive_bytes >> 20));
        return m_tar.file(name, opened.value().get(), status.st_size, entry.modified_at);
    }

    const int m_workspace;
    TarWriter m_tar;
    const FileLimits m_limits;
    int64_t m_files = 0;
    int64_t m_bytes = 0;
};

} // namespace

Fd open_by_parts(int workspace, const std::string& path, int flags) {
    const auto parts = split(path, '/');
    Fd folder(::fcntl(workspace, F_DUPFD_CLOEXEC, 0));
    for (size_t i = 0; i < parts.size() && folder.is_open(); ++i) {
        if (parts[i] == "..") {
            errno = EXDEV;
            return Fd();
        }
        const bool is_last = i + 1 == parts.size();
        folder = Fd(::openat(folder.get(), std::string(parts[i]).c_str(),
                             (is_last ? flags : O_PATH | O_DIRECTORY) | O_NOFOLLOW | O_CLOEXEC));
    }
    return folder;
}

Result<std::string> checked_workspace_path(std::string_view path) {
    if (path.empty()) return invalid("the path is empty");
    if (path.size() > longest_workspace_path) return invalid("the path is longer than 1,000 bytes");
    if (!is_plain_text(path)) return invalid("the path is not text, or has control characters");
    if (path.front() == '/') return invalid("the path must be relative to the workspace: leave out the first /");
    if (path.find('\\') != std::string_view::npos)
        return invalid("the path has a backslash; folders are separated by /");
    const auto parts = split(path, '/');
    if (parts.size() > most_folders) return invalid("the path has more than 32 folders");
    for (const std::string_view part : parts) {
        if (part.empty() || part == "." || part == "..") return invalid("the path has an empty part, `.` or `..`");
        if (part.size() > longest_part) return invalid("a name in the path is longer than 255 bytes");
    }
    return std::string(path);
}

Result<std::vector<FileEntry>> list_folder(int workspace, const std::string& path, const FileLimits& limits) {
    Fd folder = TRY(open_folder(workspace, path));
    const int descriptor = folder.release();
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(descriptor), ::closedir);
    if (!stream) return system_error("read the folder", errno);
    std::vector<FileEntry> entries;
    while (const dirent* found = ::readdir(stream.get())) {
        const std::string_view name = found->d_name;
        if (name == "." || name == "..") continue;
        if (static_cast<int64_t>(entries.size()) >= limits.most_entries)
            return too_large(
                fmt::format("the folder has more than {} entries: download it as an archive", limits.most_entries));
        struct stat status {};
        if (::fstatat(descriptor, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue; // gone meanwhile
        FileEntry entry;
        entry.name = shown_name(name);
        entry.kind = kind_of(status.st_mode);
        const std::string full = path.empty() ? std::string(name) : path + "/" + std::string(name);
        if (checked_workspace_path(full).ok()) entry.path = full;
        entry.bytes = entry.kind == FileKind::file ? status.st_size : 0;
        entry.modified_at = from_ns(status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec);
        entries.push_back(std::move(entry));
    }
    std::ranges::sort(entries, [](const FileEntry& a, const FileEntry& b) {
        const bool a_folder = a.kind == FileKind::folder, b_folder = b.kind == FileKind::folder;
        return a_folder != b_folder ? a_folder : a.name < b.name;
    });
    return entries;
}

// Without waiting: a worker may have made a pipe of that name.
Result<Fd> open_workspace_file(int workspace, const std::string& path) {
    Fd file = open_below(workspace, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file.is_open()) return path_error("read", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return system_error("read " + path, errno);
    if (S_ISDIR(status.st_mode)) return conflict(path + " is a folder");
    if (!S_ISREG(status.st_mode)) return conflict(path + " is not a file");
    return file;
}

Result<int64_t> copy_workspace_file(int workspace, const std::string& path, int into, const FileLimits& limits) {
    const Fd file = TRY(open_workspace_file(workspace, path));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return system_error("read " + path, errno);
    if (status.st_size > limits.most_file_bytes)
        return too_large(fmt::format("{} is larger than {} MiB", path, limits.most_file_bytes >> 20));
    return copy_bytes(file.get(), into, status.st_size);
}

Result<int64_t> archive_folder(int workspace, const std::string& path, int into, const FileLimits& limits) {
    return ArchiveWriter(workspace, into, limits).write(path);
}

std::unique_ptr<Files> files_of(Fd directory, std::shared_ptr<void> kept) {
    return std::make_unique<DirectoryFiles>(std::move(directory), std::move(kept));
}

} // namespace hone::sandbox
