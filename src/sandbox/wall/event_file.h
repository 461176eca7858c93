// A file of a version 2 cgroup that reports when it changes, like memory.events. The kernel calls it changed from the
// moment it is opened until it is read through the same descriptor: a process that polls must read here, or would spin.
// One thread.
#pragma once

#include "base/file.h"

#include <string>

namespace hone::sandbox {

class EventFile {
public:
    EventFile() = default;
    // A missing file is a closed one, which never changes.
    explicit EventFile(const std::string& path);

    // Has an urgent event (POLLPRI) when the content changed since `read`; -1 when closed.
    int descriptor() const { return m_file.get(); }
    std::string read() const;
    void close() { m_file.reset(); }

private:
    Fd m_file;
};

} // namespace hone::sandbox
