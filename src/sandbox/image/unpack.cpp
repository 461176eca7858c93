#include "sandbox/image/unpack.h"

#include "base/text.h"
#include "sandbox/image/decompress.h"
#include "sandbox/image/tree.h"
#include "sandbox/wall/kernel.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr std::string_view whiteout_prefix = ".wh.";
constexpr std::string_view opaque_name = ".wh..wh..opq";

// Links on the way are followed as a process with this root would: layers may come through /lib → usr/lib.
Fd open_in_root(int root, const std::string& path, uint64_t flags) {
    open_how how{};
    how.flags = flags | O_CLOEXEC;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
    return Fd(static_cast<int>(::syscall(SYS_openat2, root, path.empty() ? "." : path.c_str(), &how, sizeof how)));
}

std::string describe_unpacking(const TarEntry& entry) {
    return quote_json(truncate_utf8(entry.path, 80));
}

Result<> remove_at(int parent, const std::string& name) {
    if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return system_error("remove an entry of a lower layer", errno);
    return remove_tree("/proc/self/fd/" + std::to_string(parent) + "/" + name);
}

} // namespace

Result<Unpacker::Place> Unpacker::open_parent(const std::string& path, bool create) {
    const size_t slash = path.rfind('/');
    Place place;
    place.name = slash == std::string::npos ? path : path.substr(slash + 1);
    const std::string directory = slash == std::string::npos ? "" : path.substr(0, slash);
    place.parent = open_in_root(m_root.get(), directory, O_PATH | O_DIRECTORY);
    if (place.parent.is_open() || !create) return place;
    std::string prefix;
    for (const std::string_view part : split(directory, '/')) {
        const Fd above = open_in_root(m_root.get(), prefix, O_PATH | O_DIRECTORY);
        if (::mkdirat(above.get(), std::string(part).c_str(), 0755) != 0 && errno != EEXIST)
            return system_error("create a directory of the archive", errno);
        prefix += (prefix.empty() ? "" : "/") + std::string(part);
    }
    place.parent = open_in_root(m_root.get(), directory, O_PATH | O_DIRECTORY);
    if (!place.parent.is_open()) return system_error("open a directory of the archive", errno);
    return place;
}

// An entry replaces what lower layers, or the archive itself, had there; directories are joined.
Result<> Unpacker::make_room(const Place& place, const TarEntry& entry) {
    struct stat status {};
    if (::fstatat(place.parent.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
    if (S_ISDIR(status.st_mode) && entry.kind == TarEntry::directory) return {};
    return remove_at(place.parent.get(), place.name);
}

Result<> Unpacker::make_hard_link(const Place& place, const TarEntry& entry) {
    if (entry.target == entry.path) return {};
    const Place source = TRY(open_parent(entry.target, false));
    if (source.parent.is_open() &&
        ::linkat(source.parent.get(), source.name.c_str(), place.parent.get(), place.name.c_str(), 0) == 0) {
        ++m_report.entries;
        return {};
    }
    ++m_report.skipped;
    return {};
}

Result<> Unpacker::make(const Place& place, const TarEntry& entry) {
    const int parent = place.parent.get();
    const char* name = place.name.c_str();
    bool good = true;
    switch (entry.kind) {
    case TarEntry::directory:
        good = ::mkdirat(parent, name, 0700) == 0 || errno == EEXIST;
        // The owner keeps every right: no other user is in the sandbox, and a later layer must get in.
        good = good && ::fchmodat(parent, name, entry.mode | 0700, 0) == 0;
        break;
    case TarEntry::file:
        m_file = Fd(::openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        good = m_file.is_open() && ::fchmod(m_file.get(), entry.mode | 0600) == 0;
        m_seconds = entry.seconds;
        break;
    case TarEntry::symbolic_link:
        good = ::symlinkat(entry.target.c_str(), parent, name) == 0;
        break;
    case TarEntry::hard_link:
        return make_hard_link(place, entry);
    case TarEntry::other:
        ++m_report.skipped;
        return {};
    }
    if (!good) return system_error("create " + describe_unpacking(entry), errno);
    ++m_report.entries;
    return {};
}

Result<> Unpacker::begin(const TarEntry& entry) {
    if (entry.path.empty()) return {}; // the root itself
    if (m_whiteouts && TRY(take_whiteout(entry))) return {};
    const Place place = TRY(open_parent(entry.path, true));
    TRY(make_room(place, entry));
    TRY(make(place, entry));
    if (!m_whiteouts) return {};
    // With every directory above it: they have something of this layer in them.
    std::string path = entry.path;
    while (m_made.insert(path).second) {
        const size_t slash = path.rfind('/');
        if (slash == std::string::npos) break;
        path.resize(slash);
    }
    return {};
}

Result<> Unpacker::data(std::string_view bytes) {
    if (!m_file.is_open()) return {};
    TRY(write_all(m_file.get(), bytes));
    m_report.bytes += static_cast<int64_t>(bytes.size());
    return {};
}

Result<> Unpacker::end() {
    if (!m_file.is_open()) return {};
    const timespec times[2] = {{m_seconds, 0}, {m_seconds, 0}};
    ::futimens(m_file.get(), times);
    m_file.reset();
    return {};
}

// ".wh.NAME" takes NAME of the layers below away, ".wh..wh..opq" everything of them in its directory.
Result<bool> Unpacker::take_whiteout(const TarEntry& entry) {
    const size_t slash = entry.path.rfind('/');
    const std::string directory = slash == std::string::npos ? "" : entry.path.substr(0, slash);
    const std::string name = slash == std::string::npos ? entry.path : entry.path.substr(slash + 1);
    if (!name.starts_with(whiteout_prefix)) return false;
    if (name == opaque_name) {
        TRY(hide_lower(directory));
        return true;
    }
    const std::string hidden = name.substr(whiteout_prefix.size());
    if (hidden.empty() || hidden == "." || hidden == ".." || hidden.starts_with(whiteout_prefix)) return true;
    const Place place = TRY(open_parent(directory.empty() ? hidden : directory + "/" + hidden, false));
    if (place.parent.is_open()) TRY(remove_at(place.parent.get(), place.name));
    return true;
}

Result<> Unpacker::hide_lower(const std::string& directory) {
    Fd opened = open_in_root(m_root.get(), directory, O_RDONLY | O_DIRECTORY);
    if (!opened.is_open()) return {};
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(opened.release()), ::closedir);
    std::vector<std::string> lower;
    while (const dirent* item = ::readdir(stream.get())) {
        const std::string name = item->d_name;
        if (name == "." || name == ".." || m_made.contains(directory.empty() ? name : directory + "/" + name)) continue;
        lower.push_back(name);
    }
    for (const std::string& name : lower) TRY(remove_at(::dirfd(stream.get()), name));
    return {};
}

Result<UnpackReport> unpack_stream(int input, Fd directory, bool whiteouts, const TarLimits& limits) {
    Unpacker unpacker(std::move(directory), whiteouts);
    TarReader reader(unpacker, limits);
    Decompressor plain([&](std::string_view bytes) { return reader.feed(bytes); });
    std::vector<char> buffer(256 << 10);
    for (;;) {
        const ssize_t count = ::read(input, buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("read the archive", errno);
        if (count == 0) break;
        TRY(plain.feed({buffer.data(), static_cast<size_t>(count)}));
    }
    TRY(plain.finish());
    TRY(reader.finish());
    return unpacker.report();
}

} // namespace hone::sandbox
