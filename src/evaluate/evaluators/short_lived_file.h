// Files that a sandbox reads once: readable for its worker, not made durable. Any thread.
#pragma once

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace hone::evaluate {

inline Result<> write_short_lived(const std::string& path, std::string_view content) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file.is_open() || ::fchmod(file.get(), 0644) != 0) return unavailable("could not write " + path);
    return write_all(file.get(), content);
}

inline Result<> make_readable_directory(const std::string& path) {
    TRY(make_directories(path, 0755));
    if (::chmod(path.c_str(), 0755) != 0) return unavailable("could not change the mode of " + path);
    return {};
}

} // namespace hone::evaluate
