#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace hone {

void Fd::reset() {
    if (m_descriptor >= 0) ::close(std::exchange(m_descriptor, -1));
}

Result<std::string> read_file(const std::string& path, size_t limit) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("read " + path, errno);
    std::string content;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("read " + path, errno);
        if (count == 0) return content;
        content.append(buffer, static_cast<size_t>(count));
        if (content.size() > limit) return too_large(path + " is larger than " + std::to_string(limit) + " bytes");
    }
}

Result<> write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t count = ::write(descriptor, content.data(), content.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return system_error("write", errno);
        content.remove_prefix(static_cast<size_t>(count));
    }
    return {};
}

Result<> write_file(const std::string& path, std::string_view content, mode_t mode) {
    // A name of its own: two writers of the same file each publish a whole one.
    std::string beside = path + ".XXXXXX.new";
    Fd file(::mkostemps(beside.data(), 4, O_CLOEXEC));
    if (!file.is_open()) return system_error("write " + path, errno);
    auto written = write_all(file.get(), content);
    if (written.ok() && (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0))
        written = system_error("write " + path, errno);
    file.reset();
    if (written.ok() && ::rename(beside.c_str(), path.c_str()) != 0) written = system_error("rename to " + path, errno);
    if (!written.ok()) {
        ::unlink(beside.c_str());
        return written;
    }
    return sync_directory(std::filesystem::path(path).parent_path().string());
}

Result<> sync_directory(const std::string& path) {
    const Fd directory(::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.get()) != 0) return system_error("sync " + path, errno);
    return {};
}

Result<> sync_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() || ::fsync(file.get()) != 0) return system_error("sync " + path, errno);
    return {};
}

Result<> sync_file_system(const std::string& path) {
    const Fd opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened.is_open() || ::syncfs(opened.get()) != 0) return system_error("sync " + path, errno);
    return {};
}

Result<> make_directories(const std::string& path, mode_t mode) {
    // Most often all is there, or all but the last.
    const bool done = ::mkdir(path.c_str(), mode) == 0 || errno == EEXIST;
    std::string prefix;
    for (size_t end = done ? std::string::npos : 0; end != std::string::npos;) {
        end = path.find('/', end + 1);
        prefix = path.substr(0, end);
        if (::mkdir(prefix.c_str(), mode) != 0 && errno != EEXIST) return system_error("create " + prefix, errno);
    }
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return system_error("open " + path, errno);
    if (!S_ISDIR(status.st_mode)) return conflict(path + " exists and is not a directory");
    return {};
}

bool file_exists(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0;
}

} // namespace hone
