#include "run/worker/ending.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr Duration pause_without_room = std::chrono::seconds(30);
constexpr Duration pause_without_database = std::chrono::seconds(1);

} // namespace

void Ending::finish(const RunEnd& end) {
    RunStore& store = m_run.services.store;
    auto noted = store.begin_ending(m_run.id, end.state, end.reason);
    if (!noted.ok() && sql::is_away(noted.error()) && m_run.state() != State::preparing) {
        leave(); // nothing of it works while its end waits
        noted = m_run.persist([&] { return store.begin_ending(m_run.id, end.state, end.reason); });
    }
    if (!noted.ok())
        log(Level::warning, "end of a run not recorded", {{"run", m_run.id.text()}, {"why", noted.error().message}});
    if (const auto taken = store.is_taken_over(m_run.id); taken.ok() && taken.value()) {
        // Its key and its record are of the other server; only what is on this machine is removed.
        log(Level::warning, "the run is not of this server any more", {{"run", m_run.id.text()}});
        return leave();
    }
    tear_down();
    m_run.count_usage();
    if (end.state != State::queued) write_outcome(end);
    (void)store.sandbox_ended(m_run.id);
    move_to_end(end);
}

// The sandbox first: whatever else takes time, the harness is dead by then.
void Ending::leave() {
    m_conversation.close_input();
    destroy_sandbox();
    m_conversation.stop_reading();
    m_run.disconnect();
    (void)sandbox::remove_tree(m_run.folder());
}

void Ending::tear_down() {
    leave();
    if (const auto ended = m_run.services.access.keys.end_for_run(m_run.id.text()); !ended.ok())
        log(Level::error, "run key cannot be ended", {{"run", m_run.id.text()}, {"why", ended.error().message}});
    m_run.services.skills.delete_seed(m_run.id);
}

void Ending::destroy_sandbox() {
    if (m_is_destroyed || (!m_run.record.sandbox_id && !m_run.sandbox)) return;
    const sandbox::SandboxId id = m_run.sandbox ? m_run.sandbox->id() : sandbox::SandboxId(*m_run.record.sandbox_id);
    const auto destroyed = m_run.sandbox ? m_run.sandbox->destroy() : m_run.provider().destroy(id);
    m_is_destroyed = destroyed.ok();
    if (!destroyed.ok())
        log(Level::error, "sandbox cannot be destroyed",
            {{"run", m_run.id.text()}, {"sandbox", id.text()}, {"why", destroyed.error().message}});
}

void Ending::write_outcome(const RunEnd& end) {
    const bool is_success = end.state == State::succeeded;
    if (!is_success && !m_conversation.errors().empty()) {
        RunEvent errors;
        errors.text = "stderr: " + repair_utf8(m_conversation.errors());
        (void)m_run.services.store.progress(m_run.id, {errors}, 0, m_run.record.harness_session);
    }
    m_run.spans->turn_ended(m_conversation.result(), !is_success);
    m_run.spans->run_ended(end.state, m_conversation.result());
}

void Ending::move_to_end(const RunEnd& end) {
    RunStore& store = m_run.services.store;
    const auto now = m_run.persist([&] { return store.read(m_run.id); });
    if (!now.ok()) return;
    const State from = now.value().run.state;
    if (is_over(from)) return;
    const std::string reason = end.state == State::cancelled ? now.value().run.reason : end.reason;
    State to = end.state;
    if (to == State::queued)
        (void)store.postpone(m_run.id, m_run.no_room ? pause_without_room : pause_without_database);
    if (from == State::preparing && to == State::lost && !m_run.record.sandbox_command) to = State::queued;
    if (!may_move(from, to)) to = State::failed;
    const std::string text = fmt::format("{}{}{}", name_of(to), reason.empty() ? "" : ": ", reason);
    const auto moved = m_run.persist([&] { return store.move(m_run.id, from, to, reason, text); });
    if (!moved.ok())
        log(Level::error, "run cannot be ended", {{"run", m_run.id.text()}, {"why", moved.error().message}});
    log(Level::info, "run ended", {{"run", m_run.id.text()}, {"state", std::string(name_of(to))}});
    // An input that arrived during the end goes to the next sandbox. A run whose harness never ran is not retried.
    const bool had_harness = from == State::running || from == State::waiting;
    if (had_harness && (to == State::succeeded || to == State::failed) && store.has_unsent_input(m_run.id))
        (void)store.move(m_run.id, to, State::queued, "", "Queued again: a follow-up arrived.");
}

} // namespace hone::run
