#include "pod/user_kernel.h"

#include <string_view>
#include <sys/klog.h>
#include <vector>

namespace hone::pod {

namespace {

constexpr int read_all = 3; // SYSLOG_ACTION_READ_ALL
constexpr int most_bytes = 1 << 20;

bool begins_as_gvisor() {
    std::vector<char> log(most_bytes);
    const int size = ::klogctl(read_all, log.data(), most_bytes);
    if (size <= 0) return false; // also a node's kernel, which refuses it to a container
    // "<6>[    0.000000] Starting gVisor..." is its first line, always.
    const std::string_view text(log.data(), static_cast<size_t>(size));
    const std::string_view line = text.substr(0, text.find('\n'));
    return line.starts_with("<6>[") && line.ends_with("] Starting gVisor...");
}

} // namespace

bool is_gvisor() {
    static const bool known = begins_as_gvisor();
    return known;
}

} // namespace hone::pod
