// The program `hone-engine`. The functions of the C library below are its own, also for the engine's library, which
// commits parts whose files could not be written: on a full disk (chdb 26.7.3) an insert was confirmed, and merged
// parts replaced whole ones, with empty files. So this process ends at the first write or sync of the data that fails,
// which is before the part gets its name. The next process finds the parts that are whole, and what was not confirmed
// is sent again.
#include "telemetry/engine/engine.h"
#include "base/log.h"

#include <cerrno>
#include <cstring>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

bool is_of_the_disk(int problem) {
    return problem == ENOSPC || problem == EDQUOT || problem == EIO || problem == EFBIG || problem == EROFS;
}

// In the engine's directory, which it works in. Not temporary files of queries: these fail by themselves.
bool is_data(std::string_view path) {
    char directory[4096];
    if (::getcwd(directory, sizeof directory) == nullptr) return true;
    const std::string data = std::string(directory) + "/data/";
    return path.starts_with(data) && !path.starts_with(data + "tmp/");
}

// The result of a system call, or the end of the process.
long unless_data_are_lost(long result, int descriptor) {
    if (result >= 0 || !is_of_the_disk(errno)) return result;
    const int problem = errno;
    char path[4096];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = ::readlink(link.c_str(), path, sizeof path);
    const std::string_view file(path, length > 0 ? static_cast<size_t>(length) : 0);
    if (is_data(file)) {
        hone::log(hone::Level::error, "the engine ends, so that nothing is stored in part: a write failed",
                  {{"file", file}, {"why", std::strerror(problem)}});
        ::_exit(1);
    }
    errno = problem;
    return result;
}

} // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
    return unless_data_are_lost(::syscall(SYS_write, descriptor, bytes, size), descriptor);
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
    return unless_data_are_lost(::syscall(SYS_writev, descriptor, pieces, count), descriptor);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    return unless_data_are_lost(::syscall(SYS_pwrite64, descriptor, bytes, size, offset), descriptor);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
    return pwrite(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
    return static_cast<int>(unless_data_are_lost(::syscall(SYS_fsync, descriptor), descriptor));
}

int fdatasync(int descriptor) {
    return static_cast<int>(unless_data_are_lost(::syscall(SYS_fdatasync, descriptor), descriptor));
}

} // extern "C"

int main(int argc, char** argv) {
    return hone::telemetry::engine_main(argc, argv);
}
