#include "kubernetes/link/bundle.h"

#include "base/file.h"
#include "kubernetes/link/link_frames.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::kubernetes {

namespace {

constexpr size_t bundle_header_bytes = 17;
constexpr size_t longest_bundle_path = 4096;
constexpr size_t bundle_piece = 64 << 10;

struct BundleHeader {
    BundleKind kind = BundleKind::end;
    uint32_t mode = 0;
    size_t path_bytes = 0;
    uint64_t content_bytes = 0;
};

std::string header_text(BundleKind kind, mode_t mode, size_t path_bytes, uint64_t content_bytes) {
    std::string text(1, static_cast<char>(kind));
    append_u64(text, static_cast<uint64_t>(mode & 0777) | static_cast<uint64_t>(path_bytes) << 32);
    append_u64(text, content_bytes);
    return text;
}

BundleHeader read_header(std::string_view text) {
    const uint64_t numbers = read_u64(text.substr(1));
    return {static_cast<BundleKind>(text[0]), static_cast<uint32_t>(numbers & 0777), numbers >> 32,
            read_u64(text.substr(9))};
}

Result<> send_content(const std::string& source, uint64_t bytes, const BundleSink& sink) {
    const Fd file(::open(source.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file.is_open()) return system_error("open " + source, errno);
    std::string piece(bundle_piece, '\0');
    while (bytes > 0) {
        const ssize_t got = ::read(file.get(), piece.data(), std::min<uint64_t>(piece.size(), bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return unavailable(source + " became shorter while it was sent");
        TRY(sink(std::string_view(piece.data(), static_cast<size_t>(got))));
        bytes -= static_cast<uint64_t>(got);
    }
    return {};
}

Result<> read_exactly(int from, char* into, size_t bytes) {
    while (bytes > 0) {
        const ssize_t got = ::read(from, into, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error("read the files", errno);
        if (got == 0) return unavailable("the files ended early");
        into += got;
        bytes -= static_cast<size_t>(got);
    }
    return {};
}

// Overwrites in place: the file may be mounted elsewhere.
Result<> receive_file(int from, const std::string& path, const BundleHeader& header) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file.is_open()) return system_error("create " + path, errno);
    std::string piece(bundle_piece, '\0');
    for (uint64_t left = header.content_bytes; left > 0;) {
        const size_t count = std::min<uint64_t>(piece.size(), left);
        TRY(read_exactly(from, piece.data(), count));
        TRY(write_all(file.get(), std::string_view(piece.data(), count)));
        left -= count;
    }
    if (::fchmod(file.get(), header.mode) != 0) return system_error("chmod " + path, errno);
    return {};
}

Result<> receive_link(int from, const std::string& path, const BundleHeader& header) {
    if (header.content_bytes > longest_bundle_path) return corrupt("a link is too long");
    std::string to(header.content_bytes, '\0');
    TRY(read_exactly(from, to.data(), to.size()));
    ::unlink(path.c_str());
    if (::symlink(to.c_str(), path.c_str()) != 0) return system_error("link " + path, errno);
    return {};
}

} // namespace

Result<> write_bundle(const std::string& source, const std::string& target, const BundleSink& sink) {
    struct stat status {};
    if (::lstat(source.c_str(), &status) != 0) return system_error("read " + source, errno);
    const auto begin = [&](BundleKind kind, uint64_t bytes) {
        return sink(header_text(kind, status.st_mode, target.size(), bytes) + target);
    };
    if (S_ISREG(status.st_mode)) {
        TRY(begin(BundleKind::file, static_cast<uint64_t>(status.st_size)));
        return send_content(source, static_cast<uint64_t>(status.st_size), sink);
    }
    std::error_code failed;
    if (S_ISLNK(status.st_mode)) {
        const std::string to = std::filesystem::read_symlink(source, failed).string();
        if (failed) return system_error("read " + source, failed.value());
        TRY(begin(BundleKind::link, to.size()));
        return sink(to);
    }
    if (!S_ISDIR(status.st_mode)) return {};
    TRY(begin(BundleKind::folder, 0));
    std::vector<std::string> names;
    for (auto entry = std::filesystem::directory_iterator(source, failed);
         !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed))
        names.push_back(entry->path().filename().string());
    if (failed) return system_error("read " + source, failed.value());
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) TRY(write_bundle(source + "/" + name, target + "/" + name, sink));
    return {};
}

Result<> end_bundle(const BundleSink& sink) {
    return sink(header_text(BundleKind::end, 0, 0, 0));
}

Result<> read_bundle(int from, const std::function<Result<std::string>(const std::string&)>& place) {
    for (;;) {
        char text[bundle_header_bytes];
        TRY(read_exactly(from, text, sizeof text));
        const BundleHeader header = read_header(std::string_view(text, sizeof text));
        if (header.kind == BundleKind::end) return {};
        if (header.path_bytes > longest_bundle_path) return corrupt("a path is too long");
        std::string target(header.path_bytes, '\0');
        TRY(read_exactly(from, target.data(), target.size()));
        const std::string path = TRY(place(target));
        switch (header.kind) {
        case BundleKind::folder:
            if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_error("create " + path, errno);
            ::chmod(path.c_str(), header.mode | 0700); // more files of it follow
            break;
        case BundleKind::file:
            TRY(receive_file(from, path, header));
            break;
        case BundleKind::link:
            TRY(receive_link(from, path, header));
            break;
        case BundleKind::end:
        default:
            return corrupt("not a file of a bundle");
        }
    }
}

} // namespace hone::kubernetes
