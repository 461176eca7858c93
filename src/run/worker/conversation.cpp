#include "run/worker/conversation.h"

#include "base/log.h"
#include "base/text.h"
#include "run/worker/harness_setup.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr size_t kept_errors = 8 << 10;
constexpr Duration closing_time = std::chrono::seconds(10);
constexpr Duration usage_period = std::chrono::seconds(2); // so that people see what a run costs while it runs

RunEvent run_event_of(const harness::Event& from) {
    RunEvent event;
    event.kind = from.kind;
    event.text = from.text;
    if (!from.tool.empty()) event.tool = from.tool;
    if (!from.call_id.empty()) event.call_id = from.call_id;
    if (!from.input.empty()) event.input = from.input;
    event.usage = from.usage;
    event.failed = from.failed;
    return event;
}

bool is_from_model(harness::EventKind kind) {
    using enum harness::EventKind;
    return kind == message || kind == thinking || kind == tool_call || kind == result;
}

} // namespace

// --- start ---------------------------------------------------------------------------------------------------------

std::optional<RunEnd> Conversation::start() {
    return m_run.run_step("harness", [this] { return start_process(); });
}

Result<> Conversation::start_process() {
    sandbox::Command command;
    command.argv = m_run.launch.argv;
    command.env = m_run.environment;
    for (const auto& [name, value] : m_run.launch.env) command.env.value[name] = value;
    command.open_stdin = m_run.launch.open_stdin;
    m_command = TRY(m_run.sandbox->execute(command));
    m_offset = 0;
    m_run.note("harness", std::string(m_run.harness->title) + " started.");
    TRY(m_run.harness_started(m_command));
    m_written = {0, m_run.record.harness_session};
    m_pending_input.clear();
    m_close_input = false;
    m_has_input = m_run.launch.open_stdin;
    m_reader.start(m_run.provider(), m_run.sandbox->id(), m_command, m_offset);
    harness::Output output;
    m_run.driver->begin(output);
    TRY(apply(std::move(output), 0));
    return send_inputs();
}

Result<> Conversation::resume() {
    m_command = *m_run.record.sandbox_command;
    TRY(replay_output());
    m_offset = m_run.record.spool_offset;
    m_has_input = m_run.launch.open_stdin;
    m_reader.start(m_run.provider(), m_run.sandbox->id(), m_command, m_offset);
    m_run.note("harness", "The server was restarted; the run continues.");
    return m_run.write_steps();
}

Result<> Conversation::replay_output() {
    harness::Output dropped; // it was written and sent before
    m_run.driver->begin(dropped);
    const auto inputs = TRY(m_run.services.store.inputs(m_run.id));
    const int64_t end = m_run.record.spool_offset;
    size_t sent = 0;
    int64_t offset = 0;
    const auto send_until = [&](int64_t place) {
        while (sent < inputs.size() && inputs[sent].sent_at_offset && *inputs[sent].sent_at_offset <= place)
            m_run.driver->send(inputs[sent++].text, dropped);
    };
    send_until(0);
    while (offset < end) {
        const sandbox::Output output = TRY(m_run.sandbox->output(m_command, offset, 0));
        if (output.parts.empty()) break;
        for (const sandbox::Output::Part& part : output.parts) {
            if (offset >= end) break;
            offset += static_cast<int64_t>(sandbox::frame_header_bytes + part.bytes.size());
            if (part.stream == sandbox::Stream::out) m_run.driver->read(part.bytes, dropped);
            send_until(offset);
        }
    }
    return {};
}

// --- the loop ------------------------------------------------------------------------------------------------------

std::optional<RunEnd> Conversation::converse() {
    for (;;) {
        if (m_run.is_released()) return std::nullopt;
        if (auto end = converse_once()) return end;
    }
}

std::optional<RunEnd> Conversation::converse_once() {
    const bool is_woken =
        m_run.wait(m_pending_input.empty() ? Duration(std::chrono::seconds(5)) : std::chrono::milliseconds(20));
    const std::vector<OutputChunk> chunks = m_reader.take();
    if (m_run.is_released()) return std::nullopt; // the next server reads again what was not written
    const bool has_ended = !chunks.empty() && chunks.back().is_last;
    if (const auto done = chunks.empty() ? Result<>() : read_output(chunks); !done.ok()) {
        if (m_run.is_released()) return std::nullopt; // while it waited for the database
        log(Level::error, "run cannot be written", {{"run", m_run.id.text()}, {"why", done.error().message}});
        return RunEnd{State::failed, "the server could not record what happened: " + done.error().message};
    }
    write_input();
    // Commands and inputs are read after a wake, while no turn runs, and once a second; not with every line of output.
    const Duration now = m_run.services.clock.steady();
    const bool is_due =
        is_woken || has_ended || !m_run.driver->busy() || now - m_commands_read_at >= std::chrono::seconds(1);
    if (!is_due) return std::nullopt;
    m_commands_read_at = now;
    if (now - m_usage_counted_at >= usage_period && m_run.driver->busy()) {
        m_usage_counted_at = now;
        m_run.count_usage();
    }
    if (auto end = handle_commands()) return end;
    if (has_ended) return end_process();
    if (const auto done = send_inputs(); !done.ok()) return RunEnd{State::failed, done.error().message};
    return finish_turn();
}

Result<> Conversation::read_output(const std::vector<OutputChunk>& chunks) {
    harness::Output output;
    for (const OutputChunk& chunk : chunks) {
        m_offset = chunk.next;
        if (chunk.stream == sandbox::Stream::out) {
            m_run.driver->read(chunk.bytes, output);
        } else {
            m_errors += chunk.bytes;
            if (m_errors.size() > 2 * kept_errors) m_errors.erase(0, m_errors.size() - kept_errors);
        }
    }
    return apply(std::move(output), m_offset);
}

Result<> Conversation::apply(harness::Output output, int64_t offset) {
    RunRecord& record = m_run.record;
    std::vector<RunEvent> events;
    for (const harness::Event& happened : output.events) {
        events.push_back(run_event_of(happened));
        m_run.spans->happened(events.back());
        // Once its model has responded, the harness has stored the conversation: it can be resumed from here on,
        // however it ends.
        if (is_from_model(happened.kind)) record.harness_session = m_run.driver->harness_session();
        if (happened.kind == harness::EventKind::tool_call) count_step();
        if (happened.kind != harness::EventKind::result) continue;
        m_result = happened.text;
        m_run.spans->turn_ended(happened.text, happened.failed);
        m_run.spans->run_ended(m_run.state(), happened.text);
    }
    const bool is_new = !events.empty() || m_written != std::pair(offset, record.harness_session);
    if (is_new) TRY(write_progress(events, offset));
    m_written = {offset, record.harness_session};
    m_pending_input += output.input;
    m_close_input = m_close_input || output.close_input;
    write_input();
    return {};
}

// Once, also when the database disconnects meanwhile: the harness works on, and its output waits.
Result<> Conversation::write_progress(const std::vector<RunEvent>& events, int64_t offset) {
    RunStore& store = m_run.services.store;
    const auto write = [&] { return store.progress(m_run.id, events, offset, m_run.record.harness_session); };
    if (offset == m_written.first) return m_run.persist(write); // nothing shows whether it was written
    return m_run.persist_once(write,
                              [&]() -> Result<bool> { return TRY(store.read(m_run.id)).spool_offset == offset; });
}

void Conversation::count_step() {
    const auto& most = m_run.settings().budget.value.steps;
    if (++m_run.record.run.steps > most.value_or(INT64_MAX))
        m_run.stop_for_budget(fmt::format("it made {} tool calls, the limit of its budget (budget.steps)", *most));
}

// As much as the command accepts; the rest with the next round.
void Conversation::write_input() {
    if (!m_has_input) m_pending_input.clear(); // nothing reads it
    while (!m_pending_input.empty()) {
        const auto accepted = m_run.sandbox->write_input(m_command, m_pending_input, 0);
        if (!accepted.ok()) { // nothing reads it any more; the end of the output follows
            m_pending_input.clear();
            break;
        }
        if (accepted.value() == 0) return;
        m_pending_input.erase(0, accepted.value());
    }
    if (!m_close_input || !m_pending_input.empty() || !m_has_input) return;
    m_has_input = false;
    (void)m_run.sandbox->close_input(m_command);
}

// --- people --------------------------------------------------------------------------------------------------------

std::optional<RunEnd> Conversation::handle_commands() {
    if (std::string message = m_run.budget_message(); !message.empty())
        return RunEnd{State::budget_stopped, std::move(message)};
    const auto command = m_run.services.store.take_command(m_run.id);
    if (!command.ok()) return std::nullopt;
    switch (command.value()) {
    case RunCommand::none:
        break;
    case RunCommand::cancel:
        return RunEnd{State::cancelled, ""};
    case RunCommand::interrupt:
        if (m_run.driver->busy()) interrupt();
        break;
    }
    return std::nullopt;
}

void Conversation::interrupt() {
    harness::Output output;
    m_interrupted = true;
    m_run.driver->interrupt(output);
    const bool has_message = !output.input.empty();
    (void)apply(std::move(output), m_offset);
    // A harness whose protocol has no message for it gets the signal that a terminal would send.
    if (!has_message) (void)m_run.sandbox->signal(m_command, SIGINT);
    (void)m_run.services.store.add_step(m_run.id, "interrupt", "The turn was interrupted.");
}

Result<> Conversation::send_inputs() {
    if (m_close_input || m_closing_since) return {};
    const auto inputs = m_run.services.store.inputs(m_run.id);
    if (!inputs.ok() && sql::is_away(inputs.error())) return {}; // with the next round
    for (const RunInput& input : TRY(inputs)) {
        if (input.sent_at_offset) continue;
        // One that takes a prompt only at its start gets the next one in its next process.
        if (!m_run.harness->live_follow_up && m_run.driver->busy()) return {};
        const bool opens_turn = !m_run.driver->busy();
        const auto& most = m_run.settings().budget.value.turns;
        if (opens_turn && m_run.record.run.turns >= most.value_or(INT64_MAX)) {
            m_run.stop_for_budget(fmt::format("it had {} turns, the limit of its budget (budget.turns)", *most));
            return {};
        }
        if (m_run.state() == State::waiting) TRY(m_run.move(State::running, "Running."));
        TRY(mark_sent(input.seq, opens_turn));
        if (opens_turn) m_run.spans->turn_started(++m_run.record.run.turns, input.text);
        harness::Output output;
        m_run.driver->send(input.text, output);
        TRY(apply(std::move(output), m_offset));
    }
    return {};
}

Result<> Conversation::mark_sent(int64_t seq, bool opens_turn) {
    RunStore& store = m_run.services.store;
    return m_run.persist_once(
        [&] { return store.mark_input_sent(m_run.id, seq, m_run.sandbox->id().text(), m_offset, opens_turn); },
        [&]() -> Result<bool> {
            const auto inputs = TRY(store.inputs(m_run.id));
            return std::ranges::any_of(
                inputs, [&](const RunInput& each) { return each.seq == seq && each.sent_at_offset.has_value(); });
        });
}

std::optional<RunEnd> Conversation::finish_turn() {
    if (m_run.driver->busy()) return std::nullopt;
    const Duration now = m_run.services.clock.steady();
    if (m_closing_since) {
        if (now - *m_closing_since < closing_time) return std::nullopt;
        return outcome(); // its input was closed and it did not end
    }
    if (m_run.state() == State::running && m_run.record.run.turns > 0 && m_run.harness->live_follow_up) {
        if (m_run.record.run.origin == Origin::session) {
            const bool interrupted = std::exchange(m_interrupted, false);
            const std::string reason = m_run.driver->succeeded() || interrupted ? "" : "the last turn failed";
            if (!m_run.move(State::waiting, "Waiting for a follow-up.", reason).ok()) return std::nullopt;
            m_waiting_since = now;
            m_run.count_usage();
        } else {
            harness::Output output;
            m_run.driver->close(output);
            (void)apply(std::move(output), m_offset);
            m_closing_since = now;
        }
    }
    return m_run.state() == State::waiting ? end_when_idle(now) : std::nullopt;
}

std::optional<RunEnd> Conversation::end_when_idle(Duration now) {
    const Duration idle = std::chrono::minutes(*m_run.settings().sandbox.value.idle_minutes);
    if (m_waiting_since == Duration{}) { // it waits since an earlier server process
        const Time today = m_run.services.clock.now();
        m_waiting_since = now - std::max(Duration{}, today - m_run.record.waiting_since.value_or(today));
    }
    if (now - m_waiting_since < idle) return std::nullopt;
    RunEnd end = outcome();
    if (end.reason.empty())
        end.reason = fmt::format(
            "no follow-up for {}",
            idle == std::chrono::minutes(1)
                ? "a minute"
                : fmt::format("{} minutes", std::chrono::duration_cast<std::chrono::minutes>(idle).count()));
    return end;
}

// --- the end of the process ----------------------------------------------------------------------------------------

// The process is gone, by itself or with its sandbox.
std::optional<RunEnd> Conversation::end_process() {
    harness::Exit exit;
    if (const auto result = m_run.sandbox->wait(m_command, 2000); result.ok()) {
        exit.code = result.value().exit_code.value_or(result.value().signal.value_or(1));
        exit.by_signal = result.value().signal.has_value();
        if (result.value().error) m_errors += *result.value().error;
    } else {
        exit = {.code = 9, .by_signal = true};
    }
    const bool was_busy = m_run.driver->busy();
    harness::Output output;
    m_run.driver->end(exit, output);
    for (const harness::Event& event : output.events)
        if (event.kind == harness::EventKind::error || (event.kind == harness::EventKind::result && event.failed))
            m_crash = event.text;
    (void)apply(std::move(output), m_offset);
    m_has_input = false;
    const RunEnd end = outcome();
    // A harness that takes one prompt per process ends after each; another one that ends in its turn has crashed.
    const bool is_in_order = !m_run.harness->live_follow_up || !was_busy;
    const bool can_go_on = (end.state == State::succeeded || end.state == State::failed) && is_in_order;
    if (can_go_on && m_run.services.store.has_unsent_input(m_run.id) && restart_process()) return std::nullopt;
    return end;
}

// For an input that arrived meanwhile: the next process gets it.
bool Conversation::restart_process() {
    const auto view = m_run.sandbox->view();
    if (!view.ok() || view.value().state != sandbox::State::running) return false;
    m_reader.stop();
    const auto setup = make_harness_setup(m_run);
    m_run.driver = harness::make_driver(*m_run.harness);
    return setup.ok() && m_run.driver->launch(setup.value()).ok() && start_process().ok();
}

RunEnd Conversation::outcome() const {
    const auto view = m_run.sandbox->view();
    if (view.ok())
        for (const sandbox::LimitHit hit : view.value().limits_hit) {
            if (hit == sandbox::LimitHit::timeout) return RunEnd::by_wall_clock();
            if (hit == sandbox::LimitHit::oom) return {State::failed, "the sandbox ran out of memory"};
            if (hit == sandbox::LimitHit::disk && !m_run.driver->succeeded())
                return {State::failed, "the workspace is full"};
            if (hit == sandbox::LimitHit::output)
                return {State::failed, "the harness wrote more than its output limit"};
        }
    if (view.ok() && view.value().error)
        return {view.value().pid == 0 ? State::lost : State::failed, *view.value().error};
    if (m_run.driver->succeeded()) return {State::succeeded, ""};
    // A result before a crash belongs to an earlier turn.
    const bool has_result = m_crash.empty() && !m_result.empty();
    std::string reason = has_result ? m_result : m_crash.empty() ? "the harness ended without a result" : m_crash;
    if (const std::string errors(trim(harmless(m_errors))); !errors.empty() && !has_result)
        reason = reason.substr(0, reason.find_last_not_of('.') + 1) + ": " +
                 errors.substr(errors.size() > 1000 ? errors.size() - 1000 : 0);
    return {State::failed, harmless(truncate_utf8(reason, 2000))};
}

} // namespace hone::run
