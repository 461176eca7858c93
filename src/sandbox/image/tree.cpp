#include "sandbox/image/tree.h"

#include "sandbox/wall/kernel.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <memory>
#include <set>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace hone::sandbox {

namespace {

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

// A stream over a directory that keeps its own descriptor.
Directory open_stream(Fd directory) {
    DIR* stream = ::fdopendir(directory.get());
    if (stream != nullptr) (void)directory.release();
    return {stream, ::closedir};
}

const dirent* next_entry(DIR* stream) {
    for (;;) {
        const dirent* entry = ::readdir(stream);
        if (entry == nullptr) return nullptr;
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") return entry;
    }
}

Fd open_directory(int parent, const char* name) {
    Fd directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory.is_open() || errno != EACCES) return directory;
    // Overlay leaves work directories without permissions, and a worker may do the same.
    if (::fchmodat(parent, name, 0700, 0) != 0) return {};
    return Fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Empties `name` below `top`: files go, directories in it move up to `top` under new names, to be emptied in their
// turn.
int empty_directory(int top, const std::string& name, int64_t& serial, std::vector<std::string>& waiting) {
    Fd opened = open_directory(top, name.c_str());
    if (!opened.is_open()) return errno;
    struct stat status {};
    if (::fstat(opened.get(), &status) == 0 && (status.st_mode & 0700) != 0700) ::fchmod(opened.get(), 0700);
    const int directory = opened.get();
    const Directory stream = open_stream(std::move(opened));
    if (!stream) return errno;
    while (const dirent* entry = next_entry(stream.get())) {
        if (::unlinkat(directory, entry->d_name, 0) == 0 || errno == ENOENT) continue;
        if (errno != EISDIR && errno != EPERM) return errno;
        if (::unlinkat(directory, entry->d_name, AT_REMOVEDIR) == 0) continue;
        const std::string moved = ".hone-" + std::to_string(serial++);
        // Moving a directory rewrites its "..": it needs to be writable itself.
        if (::renameat(directory, entry->d_name, top, moved.c_str()) != 0) {
            if (::fchmodat(directory, entry->d_name, 0700, 0) != 0 ||
                ::renameat(directory, entry->d_name, top, moved.c_str()) != 0)
                return errno;
        }
        waiting.push_back(moved);
    }
    return ::unlinkat(top, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ? 0 : errno;
}

} // namespace

Result<> remove_tree(const std::string& path) {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
    const Fd top = open_directory(AT_FDCWD, path.c_str());
    if (!top.is_open()) return system_error("open " + path, errno);
    ::fchmod(top.get(), 0700);
    int64_t serial = 0;
    std::vector<std::string> waiting;
    Fd again(::openat(top.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const Directory stream = open_stream(std::move(again));
    if (!stream) return system_error("read " + path, errno);
    while (const dirent* entry = next_entry(stream.get())) {
        if (::unlinkat(top.get(), entry->d_name, 0) == 0) continue;
        waiting.emplace_back(entry->d_name);
        while (!waiting.empty()) {
            const std::string name = std::move(waiting.back());
            waiting.pop_back();
            if (const int failed = empty_directory(top.get(), name, serial, waiting); failed != 0 && failed != ENOENT)
                return system_error("remove " + path + "/" + name, failed);
        }
    }
    if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return system_error("remove " + path, errno);
    return {};
}

namespace {

// Directories that are open at the same time on the way down. Those further up are closed and opened again on the way
// back.
constexpr size_t most_open_levels = 100;

// An entry that another process removed or replaced after it was listed.
bool has_vanished(int error_number) {
    return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP;
}

class TreeMeter {
public:
    TreeMeter(int64_t most_files, Unreadable unreadable) : m_most_files(most_files), m_unreadable(unreadable) {}

    TreeSize measure(int directory) {
        enter(directory, ".");
        while (!m_levels.empty() && m_size.files <= m_most_files) {
            DIR* stream = m_levels.back().stream.get();
            if (const dirent* entry = next_entry(stream); entry != nullptr)
                count(::dirfd(stream), entry->d_name);
            else
                leave();
        }
        if (m_size.files > m_most_files) m_size.complete = false;
        return m_size;
    }

private:
    struct Level {
        Directory stream{nullptr, ::closedir};
        std::pair<dev_t, ino_t> identity;
        long position = 0; // while it is closed
    };

    // The parent of the directory that was read to its end is where it was, or the tree was changed on purpose.
    void leave() {
        const Level left = std::move(m_levels.back());
        m_levels.pop_back();
        if (m_levels.empty() || m_levels.back().stream) return;
        Level& parent = m_levels.back();
        Fd opened(::openat(::dirfd(left.stream.get()), "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct stat status {};
        const bool same = opened.is_open() && ::fstat(opened.get(), &status) == 0 &&
                          parent.identity == std::pair(status.st_dev, status.st_ino);
        if (same) parent.stream = open_stream(std::move(opened));
        if (parent.stream) return ::seekdir(parent.stream.get(), parent.position);
        if (!opened.is_open() && errno == EACCES) m_size.denied = true;
        m_size.complete = false;
        m_levels.clear();
    }

    void miss(int error_number) {
        if (has_vanished(error_number)) {
            m_size.changed = true;
            return;
        }
        m_size.complete = false;
        if (error_number == EACCES) m_size.denied = true;
    }

    void count(int directory, const char* name) {
        struct stat status {};
        if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return miss(errno);
        ++m_size.files;
        const bool is_directory = S_ISDIR(status.st_mode);
        if (!is_directory && status.st_nlink > 1 && !m_linked.emplace(status.st_dev, status.st_ino).second) return;
        m_size.bytes += status.st_blocks * 512;
        if (is_directory) enter(directory, name);
    }

    // By descriptor: a name that became a link to elsewhere in the meantime is not followed.
    static bool allow_owner(int parent, const char* name) {
        const Fd directory(::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        return directory.is_open() && ::chmod(("/proc/self/fd/" + std::to_string(directory.get())).c_str(), 0700) == 0;
    }

    void enter(int parent, const char* name) {
        // Listing needs the right to read, and reading the entries' state the right to search.
        if (m_unreadable == Unreadable::open && ::faccessat(parent, name, R_OK | X_OK, AT_EACCESS) != 0 &&
            !allow_owner(parent, name))
            return miss(errno);
        Fd opened(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!opened.is_open()) return miss(errno);
        struct stat status {};
        Level level;
        if (::fstat(opened.get(), &status) == 0) level.identity = {status.st_dev, status.st_ino};
        level.stream = open_stream(std::move(opened));
        if (!level.stream) return miss(errno);
        m_levels.push_back(std::move(level));
        if (m_levels.size() <= most_open_levels) return;
        Level& far = m_levels[m_levels.size() - 1 - most_open_levels];
        if (!far.stream) return; // closed before, on the way down to a sibling
        far.position = ::telldir(far.stream.get());
        far.stream.reset();
    }

    const int64_t m_most_files;
    const Unreadable m_unreadable;
    TreeSize m_size;
    std::set<std::pair<dev_t, ino_t>> m_linked;
    std::vector<Level> m_levels;
};

} // namespace

TreeSize measure_tree(int directory, int64_t most_files, Unreadable unreadable) {
    return TreeMeter(most_files, unreadable).measure(directory);
}

namespace {

class Exporter {
public:
    Exporter(const ExportLimits& limits, ExportReport& report) : m_limits(limits), m_report(report) {}

    // Depth is bounded, so recursion is too.
    Result<> copy(int from, const std::string& to, int depth) {
        if (::mkdir(to.c_str(), 0700) != 0) return system_error("create " + to, errno);
        Fd again(::openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const Directory stream = open_stream(std::move(again));
        if (!stream) return {};
        while (const dirent* entry = next_entry(stream.get())) {
            const std::string target = to + "/" + entry->d_name;
            // Non-blocking: opening a pipe must not wait. No links, no way up, no other file system.
            const Fd child = kernel::open_beneath(from, entry->d_name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
            struct stat status {};
            const bool known = child.is_open() && ::fstat(child.get(), &status) == 0;
            if (known && S_ISDIR(status.st_mode) && depth < m_limits.most_depth)
                TRY(copy(child.get(), target, depth + 1));
            else if (known && S_ISREG(status.st_mode) && fits(status.st_size))
                TRY(copy_file(child.get(), target));
            else
                ++m_report.skipped;
        }
        return {};
    }

private:
    bool fits(int64_t bytes) const {
        return m_report.files < m_limits.most_files && bytes <= m_limits.most_file_bytes &&
               m_report.bytes + bytes <= m_limits.most_bytes;
    }

    Result<> copy_file(int from, const std::string& to) {
        const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!out.is_open()) return system_error("create " + to, errno);
        char buffer[65536];
        int64_t copied = 0;
        for (;;) {
            const ssize_t count = ::read(from, buffer, sizeof buffer);
            if (count <= 0) break;
            // The worker may still be writing: the limit holds for what is read, not for what was promised.
            if (!fits(copied + count)) {
                ++m_report.skipped;
                ::unlink(to.c_str());
                return {};
            }
            TRY(write_all(out.get(), std::string_view(buffer, static_cast<size_t>(count))));
            copied += count;
        }
        ++m_report.files;
        m_report.bytes += copied;
        return {};
    }

    const ExportLimits& m_limits;
    ExportReport& m_report;
};

Result<> copy_contents(int from, const struct stat& status, const Fd& to) {
    if (::ioctl(to.get(), FICLONE, from) == 0) return {};
    off_t at = 0;
    while (at < status.st_size) {
        const off_t data = ::lseek(from, at, SEEK_DATA);
        if (data < 0) break;
        const off_t hole = ::lseek(from, data, SEEK_HOLE);
        off_t read_at = data, write_at = data;
        while (read_at < hole) {
            const ssize_t count =
                ::copy_file_range(from, &read_at, to.get(), &write_at, static_cast<size_t>(hole - read_at), 0);
            if (count < 0) return system_error("copy a file", errno);
            if (count == 0) break;
        }
        at = hole;
    }
    if (::ftruncate(to.get(), status.st_size) != 0) return system_error("copy a file", errno);
    return {};
}

} // namespace

Result<ExportReport> export_tree(int directory, const std::string& destination, const ExportLimits& limits) {
    ExportReport report;
    TRY(Exporter(limits, report).copy(directory, destination, 0));
    return report;
}

Result<> copy_file(const std::string& from, const std::string& to) {
    const Fd in(::open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const Fd out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    struct stat status {};
    if (!in.is_open() || !out.is_open() || ::fstat(in.get(), &status) != 0) return system_error("copy " + from, errno);
    return copy_contents(in.get(), status, out);
}

Result<> copy_tree(const std::string& from, const std::string& to) {
    struct Pair {
        Fd from, to;
    };
    std::vector<Pair> waiting;
    if (::mkdir(to.c_str(), 0700) != 0) return system_error("create " + to, errno);
    waiting.push_back({open_directory(AT_FDCWD, from.c_str()), open_directory(AT_FDCWD, to.c_str())});
    while (!waiting.empty()) {
        Pair pair = std::move(waiting.back());
        waiting.pop_back();
        const int source = pair.from.get();
        const Directory stream = open_stream(std::move(pair.from));
        if (!stream) return system_error("read " + from, errno);
        while (const dirent* entry = next_entry(stream.get())) {
            struct stat status {};
            if (::fstatat(source, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
                return system_error("copy " + from, errno);
            if (S_ISDIR(status.st_mode)) {
                if (waiting.size() > 4000) return too_large(from + " has too many open branches");
                if (::mkdirat(pair.to.get(), entry->d_name, 0700) != 0) return system_error("copy " + from, errno);
                Fd inner = open_directory(source, entry->d_name);
                if (!inner.is_open() && errno == EACCES)
                    continue; // as the kernel's own in the work folder of an overlay
                waiting.push_back({std::move(inner), open_directory(pair.to.get(), entry->d_name)});
            } else if (S_ISLNK(status.st_mode)) {
                char link[4096];
                const ssize_t length = ::readlinkat(source, entry->d_name, link, sizeof link - 1);
                if (length < 0) return system_error("copy " + from, errno);
                link[length] = 0;
                if (::symlinkat(link, pair.to.get(), entry->d_name) != 0) return system_error("copy " + from, errno);
            } else if (S_ISREG(status.st_mode)) {
                const Fd in(::openat(source, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
                const Fd out(::openat(pair.to.get(), entry->d_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                                      status.st_mode & 0777));
                if (!in.is_open() || !out.is_open()) return system_error("copy " + from, errno);
                TRY(copy_contents(in.get(), status, out));
                if (::fchmod(out.get(), status.st_mode & 0777) != 0) return system_error("copy " + from, errno);
            }
        }
    }
    return {};
}

} // namespace hone::sandbox
