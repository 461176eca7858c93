#include "sandbox/wall/event_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace hone::sandbox {

EventFile::EventFile(const std::string& path) : m_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    (void)read();
}

std::string EventFile::read() const {
    char buffer[4096];
    const ssize_t count = m_file.is_open() ? ::pread(m_file.get(), buffer, sizeof buffer, 0) : 0;
    return std::string(buffer, count > 0 ? static_cast<size_t>(count) : 0);
}

} // namespace hone::sandbox
