#include "sandbox/provider/audit.h"

#include "base/log.h"
#include "base/text.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::sandbox {

namespace {

bool is_file_at(int descriptor, const std::string& path) {
    struct stat opened {
    }, found{};
    return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &found) == 0 && opened.st_ino == found.st_ino &&
           opened.st_dev == found.st_dev;
}

// The log, locked against being moved. One that was moved between opening and locking is left for the new one.
Result<Fd> open_log(const std::string& path) {
    for (;;) {
        Fd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
        if (!file.is_open()) return system_error("open the audit log", errno);
        while (::flock(file.get(), LOCK_SH) != 0)
            if (errno != EINTR) return system_error("lock the audit log", errno);
        if (is_file_at(file.get(), path)) return file;
    }
}

} // namespace

Result<> append_events(const std::string& path, std::span<const SandboxEvent> events) {
    std::string text;
    for (const SandboxEvent& event : events) {
        // Absent facts are left out: a line holds what its kind has.
        json::Object line = json::to_value(event).as_object();
        for (auto entry = line.begin(); entry != line.end();)
            entry = entry->value().is_null() ? line.erase(entry) : entry + 1;
        text += json::print(line) + "\n";
    }
    const Fd file = TRY(open_log(path));
    const ssize_t count = ::write(file.get(), text.data(), text.size());
    if (count < 0) return system_error("write the audit log", errno);
    if (static_cast<size_t>(count) != text.size()) return unavailable("the audit log is full");
    return {};
}

Result<Fd> hold_events(const std::string& path) {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("open the audit log", errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    if (errno == EWOULDBLOCK) return Fd();
    return system_error("lock the audit log", errno);
}

Result<int64_t> drain_events(const std::string& path, int64_t offset, Auditor& auditor) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open() && errno == ENOENT) return offset;
    if (!file.is_open()) return system_error("open the audit log", errno);
    std::string rest;
    char buffer[65536];
    for (;;) {
        const ssize_t count = ::pread(file.get(), buffer, sizeof buffer, offset + static_cast<int64_t>(rest.size()));
        if (count < 0) return system_error("read the audit log", errno);
        rest.append(buffer, static_cast<size_t>(count));
        size_t start = 0;
        for (size_t end; (end = rest.find('\n', start)) != std::string::npos; start = end + 1) {
            const auto event = json::read<SandboxEvent>(std::string_view(rest).substr(start, end - start));
            if (event.ok())
                TRY(auditor.record(event.value(), offset + static_cast<int64_t>(end) + 1));
            else
                log(Level::error, "damaged audit line skipped",
                    {{"offset", offset + static_cast<int64_t>(start)}, {"error", event.error().message}});
        }
        offset += static_cast<int64_t>(start);
        rest.erase(0, start);
        if (count == 0) return offset;
    }
}

std::vector<std::string> shorten(const std::vector<std::string>& argv) {
    std::vector<std::string> kept;
    size_t room = 4096;
    for (const std::string& argument : argv) {
        const std::string_view part = truncate_utf8(argument, std::min<size_t>(room, 1024));
        kept.push_back(std::string(part) + (part.size() < argument.size() ? "…" : ""));
        if (room < part.size() + 8 || kept.size() >= 256) break;
        room -= part.size() + 8;
    }
    return kept;
}

} // namespace hone::sandbox
