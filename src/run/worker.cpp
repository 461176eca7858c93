// A worker's second half: between the harness and the people, until the run is over.
#include "run/worker.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <unistd.h>

namespace hone::run {

namespace {

constexpr size_t most_waiting_bytes = 8 << 20;
constexpr size_t kept_errors = 8 << 10;
constexpr Duration closing_time = std::chrono::seconds(10);

RunEvent worker_event_of(const harness::Event& from) {
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

Worker::~Worker() {
    stop_reading();
}

void Worker::nudge() {
    {
        const Lock lock(m_mutex);
        m_nudged = true;
    }
    m_news.notify_all();
}

void Worker::release() {
    m_released = true;
    nudge();
}

void Worker::run() {
    auto work = m_means.book.read(m_id);
    if (!work.ok()) {
        log(Level::error, "run cannot be read", {{"run", m_id.text()}, {"why", work.error().message}});
        m_finished = true;
        return;
    }
    m_work = std::move(work).value();
    m_state = m_work.run.state;
    m_spans.emplace(m_means.spans, m_means.clock, m_work.run);
    const bool fresh = m_state == State::preparing && !m_work.sandbox_command;
    std::optional<End> end;
    if (const auto ending = m_work.ending())
        end = End{ending->state, ending->reason}; // a server was killed while it took the sandbox down
    else
        end = fresh ? prepare() : take_up();
    if (!end) end = this->work();
    if (end) finish(*end);
    stop_reading();
    if (!end) { // released: the sandbox lives on
        if (m_session) m_means.broker.detach(m_id.text());
        if (m_known_to_gateway) m_means.gateway.remove_run(m_id.text());
    }
    m_finished = true;
}

// --- output of the harness -----------------------------------------------------------------------------------------

void Worker::start_reading() {
    stop_reading();
    m_reader = std::jthread([this, command = m_command, offset = m_offset](const std::stop_token& stop) {
        read_output(stop, command, offset);
    });
}

void Worker::stop_reading() {
    if (!m_reader.joinable()) return;
    m_reader.request_stop();
    m_news.notify_all();
    m_reader.join();
    const Lock lock(m_mutex);
    m_pieces.clear();
    m_pieces_bytes = 0;
}

// On a thread of its own, with its own connection: waiting for output must not keep the worker from anything else.
void Worker::read_output(const std::stop_token& stop, int64_t command, int64_t offset) {
    const auto push = [&](Piece piece) {
        {
            const Lock lock(m_mutex);
            m_pieces_bytes += piece.bytes.size();
            m_pieces.push_back(std::move(piece));
        }
        m_news.notify_all();
    };
    auto connection = m_means.provider.attach(m_sandbox->id());
    while (connection.ok() && !stop.stop_requested()) {
        {
            const Lock lock(m_mutex);
            while (m_pieces_bytes > most_waiting_bytes && !stop.stop_requested())
                m_news.wait_for(m_mutex, std::chrono::milliseconds(100));
        }
        auto output = connection.value()->output(command, offset, 1000);
        if (!output.ok()) {
            if (output.error().code == Code::busy) continue;
            break;
        }
        for (sandbox::Output::Part& part : output.value().parts) {
            offset += static_cast<int64_t>(sandbox::frame_header_bytes + part.bytes.size());
            push({part.stream, std::move(part.bytes), offset, false});
        }
        if (output.value().finished) break;
    }
    if (!stop.stop_requested()) push({sandbox::Stream::out, "", offset, true});
}

Result<> Worker::hear(std::vector<Piece> pieces) {
    harness::Output output;
    for (const Piece& piece : pieces) {
        m_offset = piece.next;
        if (piece.stream == sandbox::Stream::out) {
            m_driver->read(piece.bytes, output);
        } else {
            m_errors += piece.bytes;
            if (m_errors.size() > 2 * kept_errors) m_errors.erase(0, m_errors.size() - kept_errors);
        }
    }
    return carry_out(std::move(output), m_offset);
}

// Writes down what happened, then does what the driver wants.
Result<> Worker::carry_out(harness::Output output, int64_t offset) {
    std::vector<RunEvent> events;
    for (const harness::Event& happened : output.events) {
        events.push_back(worker_event_of(happened));
        m_spans->happened(events.back());
        // Once its model has answered, the harness has written the conversation down: it can be resumed from here on,
        // however it ends.
        if (is_from_model(happened.kind)) m_work.harness_session = m_driver->harness_session();
        if (happened.kind != harness::EventKind::result) continue;
        m_answer = happened.text;
        m_spans->turn_ended(happened.text, happened.failed);
        m_spans->run_ended(m_state, happened.text);
    }
    const bool is_news = !events.empty() || m_written != std::pair(offset, m_work.harness_session);
    if (is_news) TRY(m_means.book.progress(m_id, std::move(events), offset, m_work.harness_session));
    m_written = {offset, m_work.harness_session};
    m_pending_input += output.input;
    m_close_input = m_close_input || output.close_input;
    write_input();
    return {};
}

// As much as the pipe takes; the rest with the next round.
void Worker::write_input() {
    if (!m_input.is_open()) m_pending_input.clear(); // nobody reads
    while (!m_pending_input.empty()) {
        const ssize_t written = ::write(m_input.get(), m_pending_input.data(), m_pending_input.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) return;
        if (written < 0) { // nobody reads any more; the end of the harness will tell
            m_pending_input.clear();
            break;
        }
        m_pending_input.erase(0, static_cast<size_t>(written));
    }
    if (!m_close_input || !m_pending_input.empty() || !m_input.is_open()) return;
    m_input.reset();
    (void)m_sandbox->close_input(m_command);
}

// --- the loop ------------------------------------------------------------------------------------------------------

std::optional<Worker::End> Worker::work() {
    for (;;) {
        if (m_released) return std::nullopt;
        if (auto end = work_once()) return end;
    }
}

bool Worker::wait_for_news() {
    Duration longest = std::chrono::seconds(5);
    if (!m_pending_input.empty()) longest = std::chrono::milliseconds(20);
    const Lock lock(m_mutex);
    if (m_pieces.empty() && !m_nudged && !m_released) m_news.wait_for(m_mutex, longest);
    return std::exchange(m_nudged, false);
}

std::optional<Worker::End> Worker::work_once() {
    const bool nudged = wait_for_news();
    std::vector<Piece> pieces;
    {
        const Lock lock(m_mutex);
        while (!m_pieces.empty()) {
            pieces.push_back(std::move(m_pieces.front()));
            m_pieces.pop_front();
        }
        m_pieces_bytes = 0;
    }
    m_news.notify_all();                 // the reader may wait for room
    if (m_released) return std::nullopt; // what was not written down is read again by the next server
    const bool ended = !pieces.empty() && pieces.back().last;
    const auto step = [&]() -> Result<> {
        if (!pieces.empty()) TRY(hear(std::move(pieces)));
        write_input();
        return {};
    };
    if (const auto done = step(); !done.ok()) {
        log(Level::error, "run cannot be written down", {{"run", m_id.text()}, {"why", done.error().message}});
        return End{State::failed, "the server could not write down what happened: " + done.error().message};
    }
    // People are looked after when somebody says so, when nothing runs, and now and then; not with every line of
    // output.
    const Duration now = m_means.clock.steady();
    const bool look = nudged || ended || !m_driver->busy() || now - m_looked_at >= std::chrono::seconds(1);
    if (!look) return std::nullopt;
    m_looked_at = now;
    if (auto end = answer_wishes()) return end;
    if (ended) return harness_ended();
    if (const auto done = tell_inputs(); !done.ok()) return End{State::failed, done.error().message};
    return turn_over();
}

std::optional<Worker::End> Worker::cancelled() {
    const auto wish = m_means.book.take_wish(m_id);
    if (wish.ok() && wish.value() == "cancel") return End{State::cancelled, ""};
    return std::nullopt;
}

std::optional<Worker::End> Worker::answer_wishes() {
    {
        const Lock lock(m_mutex);
        if (!m_budget_message.empty()) return End{State::budget_stopped, m_budget_message};
    }
    const auto wish = m_means.book.take_wish(m_id);
    if (!wish.ok()) return std::nullopt;
    if (wish.value() == "cancel") return End{State::cancelled, ""};
    if (wish.value() == "interrupt" && m_driver->busy()) {
        harness::Output output;
        m_driver->interrupt(output);
        const bool speaks = !output.input.empty();
        (void)carry_out(std::move(output), m_offset);
        // A harness that knows no polite way gets the signal a terminal would send.
        if (!speaks) (void)m_sandbox->signal(m_command, SIGINT);
        (void)m_means.book.step(m_id, "interrupt", "The turn was interrupted.");
    }
    return std::nullopt;
}

// Tells the harness what people said since.
Result<> Worker::tell_inputs() {
    if (m_close_input || m_closing_since) return {};
    for (const Said& said : TRY(m_means.book.said(m_id))) {
        if (said.told_at_offset) continue;
        // One that takes a prompt only at its start gets the next one in its next process.
        if (!m_harness->live_follow_up && m_driver->busy()) return {};
        const bool opens_turn = !m_driver->busy();
        if (m_state == State::waiting) {
            TRY(m_means.book.move(m_id, State::waiting, State::running, "", "Running."));
            m_state = State::running;
        }
        TRY(m_means.book.told(m_id, said.seq, m_sandbox->id().text(), m_offset, opens_turn));
        if (opens_turn) m_spans->turn_started(++m_work.run.turns, said.text);
        harness::Output output;
        m_driver->say(said.text, output);
        TRY(carry_out(std::move(output), m_offset));
    }
    return {};
}

std::optional<Worker::End> Worker::turn_over() {
    if (m_driver->busy()) return std::nullopt;
    const Duration now = m_means.clock.steady();
    if (m_closing_since) {
        if (now - *m_closing_since < closing_time) return std::nullopt;
        return how_it_ended(); // it was asked to end and did not
    }
    if (m_state == State::running && m_work.run.turns > 0) {
        if (m_work.run.origin == Origin::session && m_harness->live_follow_up) {
            if (!m_means.book.move(m_id, State::running, State::waiting, "", "Waiting for a follow-up.").ok())
                return std::nullopt;
            m_state = State::waiting;
            m_waiting_since = now;
            count_usage();
        } else if (m_harness->live_follow_up) {
            harness::Output output;
            m_driver->close(output);
            (void)carry_out(std::move(output), m_offset);
            m_closing_since = now;
        }
    }
    const Duration idle = std::chrono::minutes(*m_work.manifest.settings.sandbox.value.idle_minutes);
    if (m_state != State::waiting) return std::nullopt;
    // Of a server before this one: it waits since then.
    if (m_waiting_since == Duration{}) {
        const Time today = m_means.clock.now();
        m_waiting_since = now - std::max(Duration{}, today - m_work.waiting_since.value_or(today));
    }
    if (now - m_waiting_since < idle) return std::nullopt;
    End end = how_it_ended();
    if (end.reason.empty())
        end.reason = fmt::format(
            "nobody said anything for {}",
            idle == std::chrono::minutes(1)
                ? "a minute"
                : fmt::format("{} minutes", std::chrono::duration_cast<std::chrono::minutes>(idle).count()));
    return end;
}

// The process is gone, by itself or with its sandbox.
std::optional<Worker::End> Worker::harness_ended() {
    harness::Exit exit;
    if (const auto result = m_sandbox->wait(m_command, 2000); result.ok()) {
        exit.code = result.value().exit_code.value_or(result.value().signal.value_or(1));
        exit.by_signal = result.value().signal.has_value();
        if (result.value().error) m_errors += *result.value().error;
    } else {
        exit = {.code = 9, .by_signal = true};
    }
    const bool was_busy = m_driver->busy();
    harness::Output output;
    m_driver->end(exit, output);
    for (const harness::Event& event : output.events)
        if (event.kind == harness::EventKind::error || (event.kind == harness::EventKind::result && event.failed))
            m_crash = event.text;
    (void)carry_out(std::move(output), m_offset);
    m_input.reset();
    const End end = how_it_ended();
    const bool alive = end.state == State::succeeded || end.state == State::failed;
    // Something was said meanwhile: the next process hears it.
    const bool more = has_untold();
    const auto view = m_sandbox->view();
    // One that takes one prompt per process ends after each; another one that ends in its turn has crashed.
    const bool in_order = !m_harness->live_follow_up || !was_busy;
    if (alive && more && in_order && view.ok() && view.value().state == sandbox::State::running) {
        stop_reading();
        auto setup = setup_of();
        m_driver = harness::make_driver(*m_harness);
        if (setup.ok() && m_driver->launch(setup.value()).ok() && start_harness().ok()) return std::nullopt;
    }
    return end;
}

Worker::End Worker::how_it_ended() {
    const auto view = m_sandbox->view();
    if (view.ok())
        for (const sandbox::LimitHit hit : view.value().limits_hit) {
            if (hit == sandbox::LimitHit::timeout) return by_wall_clock();
            if (hit == sandbox::LimitHit::oom) return {State::failed, "the sandbox ran out of memory"};
            if (hit == sandbox::LimitHit::disk && !m_driver->succeeded())
                return {State::failed, "the workspace is full"};
            if (hit == sandbox::LimitHit::output)
                return {State::failed, "the harness wrote more than its output limit"};
        }
    if (m_driver->succeeded()) return {State::succeeded, ""};
    // An answer that stands before a crash is one to an earlier turn.
    const bool answered = m_crash.empty() && !m_answer.empty();
    std::string reason = answered ? m_answer : m_crash.empty() ? "the harness ended without an answer" : m_crash;
    if (const std::string errors(trim(harmless(m_errors))); !errors.empty() && !answered)
        reason = reason.substr(0, reason.find_last_not_of('.') + 1) + ": " +
                 errors.substr(errors.size() > 1000 ? errors.size() - 1000 : 0);
    return {State::failed, harmless(truncate_utf8(reason, 2000))};
}

// --- the end -------------------------------------------------------------------------------------------------------

void Worker::finish(const End& end) {
    if (const auto noted = m_means.book.ending(m_id, end.state, end.reason); !noted.ok())
        log(Level::warning, "the end of a run cannot be noted", {{"run", m_id.text()}, {"why", noted.error().message}});
    tear_down();
    count_usage();
    if (end.state != State::succeeded && !m_errors.empty()) {
        RunEvent errors;
        errors.text = "stderr: " + repair_utf8(m_errors);
        (void)m_means.book.progress(m_id, {errors}, 0, m_work.harness_session);
    }
    m_spans->turn_ended(m_answer, end.state != State::succeeded);
    m_spans->run_ended(end.state, m_answer);
    (void)m_means.book.sandbox_ended(m_id);
    // The state is read again: a person may have cancelled while we were busy.
    const auto now = m_means.book.read(m_id);
    if (!now.ok()) return;
    const State from = now.value().run.state;
    if (is_over(from)) return;
    std::string reason = end.reason;
    if (end.state == State::cancelled) reason = now.value().run.reason;
    State to = end.state;
    if (from == State::preparing && to == State::lost && !m_work.sandbox_command) to = State::queued;
    if (!may_move(from, to)) to = State::failed;
    const std::string text = fmt::format("{}{}{}", name_of(to), reason.empty() ? "" : ": ", reason);
    if (const auto moved = m_means.book.move(m_id, from, to, reason, text); !moved.ok())
        log(Level::error, "run cannot be ended", {{"run", m_id.text()}, {"why", moved.error().message}});
    log(Level::info, "run ended", {{"run", m_id.text()}, {"state", std::string(name_of(to))}});
    // Said while it was ending: the next sandbox hears it. A run that never came to its first word is not tried again.
    const bool came_to_work = from == State::running || from == State::waiting;
    if (came_to_work && (to == State::succeeded || to == State::failed) && has_untold())
        (void)m_means.book.move(m_id, to, State::queued, "", "Queued again: something was said.");
}

bool Worker::has_untold() const {
    const auto said = m_means.book.said(m_id);
    return said.ok() &&
           std::any_of(said.value().begin(), said.value().end(), [](const Said& one) { return !one.told_at_offset; });
}

// The sandbox first: whatever else takes time, the worker is dead by then.
void Worker::tear_down() {
    m_input.reset();
    if (m_work.sandbox_id || m_sandbox) {
        const sandbox::SandboxId id = m_sandbox ? m_sandbox->id() : sandbox::SandboxId(*m_work.sandbox_id);
        const auto gone = m_sandbox ? m_sandbox->destroy() : m_means.provider.destroy(id);
        if (!gone.ok())
            log(Level::error, "sandbox cannot be destroyed",
                {{"run", m_id.text()}, {"sandbox", id.text()}, {"why", gone.error().message}});
    }
    stop_reading();
    if (m_session) m_means.broker.detach(m_id.text());
    m_session.reset();
    if (m_known_to_gateway) m_means.gateway.remove_run(m_id.text());
    m_known_to_gateway = false;
    if (const auto ended = m_means.access.keys.end_for_run(m_id.text()); !ended.ok())
        log(Level::error, "run key cannot be ended", {{"run", m_id.text()}, {"why", ended.error().message}});
    (void)sandbox::remove_tree(folder());
    m_means.skills.forget_seed(m_id);
}

// The gateway's numbers are the run's numbers.
void Worker::count_usage() {
    (void)m_means.ledger.flush();
    broker::UsageQuery query;
    query.from_day = broker::day_of(m_work.run.created_at);
    query.to_day = broker::day_of(m_means.clock.now());
    query.group_by = broker::UsageGroup::run;
    query.run_id = m_id.text();
    const auto sums = m_means.ledger.report(access::Caller::system(), m_work.run.space_id, query);
    if (!sums.ok() || sums.value().empty()) return;
    const broker::UsageSum& sum = sums.value().front();
    const telemetry::Tokens& tokens = sum.tokens;
    std::optional<int64_t> cost;
    if (sum.unpriced_calls == 0) cost = sum.cost_nano_usd / 1000;
    (void)m_means.book.set_usage(
        m_id, {tokens.input, tokens.cache_read, tokens.cache_write, tokens.output, tokens.reasoning}, cost);
}

} // namespace hone::run
