#include "run/worker/worker.h"

#include "base/log.h"

namespace hone::run {

void Worker::run() {
    if (const auto opened = m_run.open(); !opened.ok()) {
        log(Level::error, "run cannot be read", {{"run", m_run.id.text()}, {"why", opened.error().message}});
    } else if (const auto end = work()) {
        m_ending.finish(*end);
    } else {
        m_conversation.stop_reading();
        m_run.disconnect();
    }
    m_is_finished = true;
}

std::optional<RunEnd> Worker::work() {
    if (m_run.record.ending) return m_run.record.ending; // a server was killed while it ended the run
    const bool is_new = m_run.state() == State::preparing && !m_run.record.sandbox_command;
    if (is_new) {
        if (auto end = m_preparation.prepare()) return end;
        if (auto end = m_conversation.start()) return end;
    } else if (auto end = resume()) {
        return end;
    }
    return m_conversation.converse();
}

std::optional<RunEnd> Worker::resume() {
    const auto resumed = [this]() -> Result<> {
        TRY(m_preparation.resume());
        return m_conversation.resume();
    }();
    if (resumed.ok()) return std::nullopt;
    if (m_preparation.has_timed_out()) return RunEnd::by_wall_clock();
    log(Level::warning, "run could not be resumed", {{"run", m_run.id.text()}, {"why", resumed.error().message}});
    return RunEnd{State::lost, "its sandbox did not survive: " + resumed.error().message};
}

} // namespace hone::run
