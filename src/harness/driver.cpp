#include "harness/driver.h"

#include <fmt/format.h>

namespace hone::harness {

void Driver::end_turns(Exit exit, Output& output) {
    if (m_turns_open == 0) return;
    m_turns_open = 0;
    m_succeeded = false;
    const std::string how =
        exit.by_signal ? fmt::format("signal {}", exit.code) : fmt::format("exit code {}", exit.code);
    output.events.push_back({.kind = EventKind::error,
                             .text = "The harness ended before its turn was over (" + how + ").",
                             .failed = true});
}

} // namespace hone::harness
