#include "cli/remote/progress.h"

#include "cli/terminal/console.h"

#include <algorithm>

namespace hone::cli {

Progress::Progress(const Context& context, std::string_view unit, std::function<std::string(uint64_t)> show)
    : m_context(context),
      m_unit(unit),
      m_show(std::move(show)),
      m_shown(context.console.is_error_terminal() && !context.json()),
      m_start(context.clock.steady()) {}

void Progress::add(uint64_t amount) {
    m_amount += amount;
    const Duration now = m_context.clock.steady();
    if (!m_shown || now - m_last < std::chrono::milliseconds(200)) return;
    m_last = now;
    m_has_line = true;
    const double seconds = std::max(0.001, std::chrono::duration<double>(now - m_start).count());
    const auto rate = static_cast<uint64_t>(static_cast<double>(m_amount) / seconds);
    std::string line = "\r\x1b[K" + m_show(m_amount);
    if (m_whole && *m_whole > 0)
        line += " of " + m_show(*m_whole) + " (" + std::to_string(std::min<uint64_t>(100, m_amount * 100 / *m_whole)) +
                " %)";
    m_context.console.note(line + m_unit + ", " + m_show(rate) + "/s");
}

void Progress::finish() {
    if (std::exchange(m_has_line, false)) m_context.console.note("\r\x1b[K");
}

} // namespace hone::cli
