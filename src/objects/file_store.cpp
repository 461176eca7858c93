#include "objects/file_store.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::objects {

namespace {

constexpr size_t read_piece = 256 << 10;
constexpr std::string_view unfinished_ending = ".new"; // as base/file.h names what it writes beside

Time changed_at(const struct stat& status) {
    return from_ns(int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec);
}

// Creates the directory, and makes the names of new ones durable.
Result<> make_durable_directories(const std::string& path) {
    if (file_exists(path)) return {};
    const std::string parent = std::filesystem::path(path).parent_path().string();
    if (!parent.empty() && parent != path) TRY(make_durable_directories(parent));
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("create " + path, errno);
    return sync_directory(parent);
}

struct NamedEntry {
    std::string name; // of directories with a slash at the end: the order is then that of the keys
    bool is_directory = false;
};

// Files and directories in the order of their keys; links and everything else are no objects.
Result<std::vector<NamedEntry>> entries_of(const std::string& directory) {
    std::vector<NamedEntry> entries;
    const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
    if (!open) {
        if (errno == ENOENT || errno == ENOTDIR) return entries;
        return system_error("open " + directory, errno);
    }
    while (const dirent* entry = ::readdir(open.get())) {
        const std::string name = entry->d_name;
        if (name.starts_with('.')) continue;
        struct stat status {};
        if (::lstat((directory + "/" + name).c_str(), &status) != 0) continue; // removed meanwhile
        if (S_ISDIR(status.st_mode)) entries.push_back({name + "/", true});
        if (S_ISREG(status.st_mode)) entries.push_back({name, false});
    }
    std::sort(entries.begin(), entries.end(), [](const NamedEntry& a, const NamedEntry& b) { return a.name < b.name; });
    return entries;
}

// Calls `visit` with the key of each file below `folder` ("artifacts/") in order, until it returns false.
Result<bool> walk(const std::string& root, const std::string& folder,
                  const std::function<bool(std::string_view)>& enter,
                  const std::function<Result<bool>(const std::string&)>& visit) {
    for (const NamedEntry& entry : TRY(entries_of(root + "/" + folder))) {
        const std::string key = folder + entry.name;
        if (entry.is_directory && !enter(key)) continue;
        if (!TRY(entry.is_directory ? walk(root, key, enter, visit) : visit(key))) return false;
    }
    return true;
}

// Reads exactly the bytes [first, end) to the sink.
Result<> read_range(int file, int64_t first, int64_t end, const std::string& key, const Sink& sink) {
    std::string piece(read_piece, '\0');
    for (int64_t at = first; at < end;) {
        const auto wanted = static_cast<size_t>(std::min<int64_t>(end - at, read_piece));
        const ssize_t count = ::pread(file, piece.data(), wanted, at);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("read " + key, errno);
        if (count == 0) return corrupt(key + " became shorter while it was read");
        TRY(sink(std::string_view(piece).substr(0, static_cast<size_t>(count))));
        at += count;
    }
    return {};
}

// Writes all pieces to the descriptor.
Result<Stored> write_pieces(int file, const Pieces& pieces) {
    crypto::Sha256 hash;
    Stored stored;
    for (;;) {
        const std::string piece = TRY(pieces());
        if (piece.empty()) break;
        hash.add(piece);
        TRY(write_all(file, piece));
        stored.bytes += static_cast<int64_t>(piece.size());
    }
    stored.sha256 = to_hex(hash.finish());
    return stored;
}

} // namespace

Result<std::string> FileStore::path_of(const std::string& key) const {
    TRY(check_key(key));
    return m_directory + "/" + key;
}

Result<Stored> FileStore::put(const std::string& key, const Pieces& pieces, const std::optional<std::string>& sha256) {
    const std::string path = TRY(path_of(key));
    const std::string directory = path.substr(0, path.rfind('/'));
    TRY(make_durable_directories(directory));
    std::string beside = path + ".XXXXXX.new";
    Fd file(::mkostemps(beside.data(), 4, O_CLOEXEC));
    if (!file.is_open()) return system_error("write " + path, errno);
    Result<Stored> stored = write_pieces(file.get(), pieces);
    if (stored.ok() && sha256 && *sha256 != stored.value().sha256)
        stored = corrupt(key + " has another SHA-256 than announced; it was not stored");
    if (stored.ok() && ::fsync(file.get()) != 0) stored = system_error("write " + path, errno);
    file.reset();
    if (stored.ok() && ::rename(beside.c_str(), path.c_str()) != 0) stored = system_error("rename to " + path, errno);
    if (!stored.ok()) {
        ::unlink(beside.c_str());
        return stored;
    }
    TRY(sync_directory(directory));
    return stored;
}

Result<> FileStore::get(const std::string& key, const Range& range, const Sink& sink) {
    const std::string path = TRY(path_of(key));
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open() && (errno == ENOENT || errno == ENOTDIR)) return not_found("object " + key);
    if (!file.is_open()) return system_error("open " + path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return system_error("open " + path, errno);
    if (!S_ISREG(status.st_mode)) return not_found("object " + key);
    const int64_t size = status.st_size;
    if (range.first < 0 || (range.count && *range.count < 1) || (range.first > 0 && range.first >= size) ||
        (range.count && size == 0))
        return invalid(key + " has " + std::to_string(size) + " bytes: the range is outside of them");
    const int64_t end = range.count && *range.count < size - range.first ? range.first + *range.count : size;
    return read_range(file.get(), range.first, end, key, sink);
}

Result<std::optional<ObjectInfo>> FileStore::head(const std::string& key) {
    const std::string path = TRY(path_of(key));
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT || errno == ENOTDIR) return std::optional<ObjectInfo>();
        return system_error("open " + path, errno);
    }
    if (!S_ISREG(status.st_mode)) return std::optional<ObjectInfo>();
    return std::optional<ObjectInfo>({key, status.st_size, changed_at(status)});
}

Result<ObjectPage> FileStore::list(const std::string& prefix, const std::string& cursor, int limit) {
    TRY(check_prefix(prefix));
    TRY(check_list_limit(limit));
    if (!cursor.empty()) TRY(check_key(cursor));
    ObjectPage page;
    // A directory is read when keys in it can have the prefix and can come after the cursor.
    const auto enter = [&](std::string_view folder) {
        const bool has_prefix = folder.starts_with(prefix) || std::string_view(prefix).starts_with(folder);
        return has_prefix && (folder >= cursor || std::string_view(cursor).starts_with(folder));
    };
    const auto visit = [&](const std::string& key) -> Result<bool> {
        if (!key.starts_with(prefix) || key <= cursor || !check_key(key).ok()) return true;
        if (page.objects.size() == static_cast<size_t>(limit)) {
            page.next = page.objects.back().key;
            return false;
        }
        if (auto found = TRY(head(key))) page.objects.push_back(std::move(*found));
        return true;
    };
    TRY(walk(m_directory, prefix.substr(0, prefix.rfind('/') + 1), enter, visit));
    return page;
}

Result<> FileStore::remove(const std::string& key) {
    const std::string path = TRY(path_of(key));
    if (::unlink(path.c_str()) == 0) return sync_directory(path.substr(0, path.rfind('/')));
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return system_error("remove " + path, errno);
}

Result<std::optional<std::string>> FileStore::presigned_get(const std::string& key, Duration, const std::string&) {
    TRY(check_key(key));
    return std::optional<std::string>();
}

Result<> FileStore::reach(Duration) {
    TRY(list("check/", "", 1));
    return {};
}

Result<int64_t> FileStore::discard_unfinished(Duration older_than) {
    const Time before = SystemClock().now() - older_than; // files carry the system's time
    int64_t discarded = 0;
    const auto visit = [&](const std::string& key) -> Result<bool> {
        struct stat status {};
        const std::string path = m_directory + "/" + key;
        if (!key.ends_with(unfinished_ending) || ::lstat(path.c_str(), &status) != 0) return true;
        if (changed_at(status) < before && ::unlink(path.c_str()) == 0) ++discarded;
        return true;
    };
    for (const std::string_view area : areas)
        TRY(walk(
            m_directory, std::string(area) + "/", [](std::string_view) { return true; }, visit));
    return discarded;
}

} // namespace hone::objects
