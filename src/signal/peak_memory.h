// The most memory that another process of ours holds while something is done. Linux counts it; where it cannot be
// readable, it is unknown. One thread.
#pragma once

#include "base/file.h"
#include "base/text.h"

#include <fcntl.h>
#include <string>

namespace hone::signal {

class PeakMemory {
public:
    // From now on. 0: there is no such process.
    explicit PeakMemory(int pid) : m_pid(pid) {
        if (pid <= 0) return;
        const Fd door(::open(("/proc/" + std::to_string(pid) + "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC));
        // The kernel forgets the peak so far.
        m_is_known = door.get() >= 0 && write_all(door.get(), "5").ok();
    }
    // 0: not known, also when the process is another one by now.
    int64_t bytes(int pid) const {
        if (!m_is_known || pid != m_pid) return 0;
        const auto status = read_file("/proc/" + std::to_string(pid) + "/status", 1 << 16);
        if (!status.ok()) return 0;
        for (const std::string_view line : split(status.value(), '\n')) {
            if (!line.starts_with("VmHWM:")) continue;
            const std::string_view number = trim(line.substr(6));
            const auto kilobytes = parse_integer(number.substr(0, number.find(' ')));
            return kilobytes.ok() ? kilobytes.value() * 1024 : 0;
        }
        return 0;
    }

private:
    int m_pid;
    bool m_is_known = false;
};

} // namespace hone::signal
