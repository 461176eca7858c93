#include "run/worker/worker.h"

#include "base/log.h"
#include "run/files/uploads.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

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
        if (auto end = m_run.run_step("pins", [this] { return check_pins(); })) return end;
        if (auto end = m_run.run_step("files", [this] { return place_uploads(); })) return end;
        if (auto end = m_conversation.start()) return end;
    } else if (auto end = resume()) {
        return end;
    }
    return m_conversation.converse();
}

// A pinned rerun has what the first run had, or does not begin.
Result<> Worker::check_pins() const {
    const Manifest& manifest = m_run.record.manifest;
    if (!manifest.pins || m_run.record.run.turns > 0) return {};
    const auto listed = [](const std::vector<std::string>& skills) {
        return skills.empty() ? std::string("none") : fmt::format("{}", fmt::join(skills, ", "));
    };
    const std::string advice = "; `hone session rerun RUN --latest` uses what there is now";
    const Pins& pins = *manifest.pins;
    if (*pins.harness_version != *manifest.harness_version)
        return conflict(fmt::format("the run is pinned to version {} of the harness, and version {} is installed{}",
                                    *pins.harness_version, *manifest.harness_version, advice));
    if (*pins.skills != *manifest.skills)
        return conflict(fmt::format("the run is pinned to the skills {}, and now they are {}{}", listed(*pins.skills),
                                    listed(*manifest.skills), advice));
    return {};
}

// Before the first turn of each sandbox: what people gave to the run while it had none.
Result<> Worker::place_uploads() {
    const Uploads* uploads = m_run.services.uploads;
    if (uploads == nullptr) return {};
    bool any = false;
    for (const Upload& upload : TRY(uploads->of_run(m_run.id))) any = any || !upload.placed_at;
    if (!any) return {};
    for (const Upload& upload : TRY(uploads->place(m_run.id, *m_run.sandbox)))
        m_run.note("files", fmt::format("{} is in the workspace ({} bytes).", upload.path, upload.bytes));
    return {};
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
