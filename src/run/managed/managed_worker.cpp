#include "run/managed/managed_worker.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr Duration look_period = std::chrono::seconds(1); // commands of other servers, limits
constexpr Duration space_budget_period = std::chrono::seconds(5);
constexpr Duration stop_patience = std::chrono::seconds(5);
constexpr Duration files_delay = std::chrono::seconds(4); // after a turn
constexpr size_t most_files = 50;
constexpr size_t most_file_bytes = 5 << 20;
constexpr size_t most_bundle_bytes = 32 << 20;

int64_t tokens_of(const managed::Progress& progress) {
    const managed::ModelUsage& usage = progress.usage;
    return usage.input + usage.output + usage.cache_read + usage.cache_write;
}

} // namespace

// Records events, and sends spans of what is recorded.
class ManagedWorker::RunJournal final : public managed::Journal {
public:
    explicit RunJournal(ManagedWorker& worker) : m_worker(worker) {}

    Result<managed::Progress> load() override { return m_worker.m_services.sessions.progress(m_worker.m_id); }
    Result<managed::Appended> append(const managed::Event& event, const managed::Progress& after) override {
        // A server that was frozen meanwhile records and serves nothing more.
        if (TRY(m_worker.m_services.store.is_taken_over(m_worker.m_id)))
            return conflict("another server has the run now");
        const std::string& model = *m_worker.settings().model;
        const auto made = transcript_event(event, m_last_message);
        const Time now = m_worker.m_services.clock.now();
        const auto appended = TRY(m_worker.m_services.sessions.append(
            m_worker.m_id, event, after, made, cost_micro_usd(after, model, m_worker.m_services.prices, now)));
        if (appended != managed::Appended::recorded) return appended;
        if (event.kind == managed::EventKind::message) m_last_message = event.text;
        if (event.kind == managed::EventKind::model_request_end) count(event, now);
        if (made) m_worker.m_spans->happened(*made);
        if (event.kind == managed::EventKind::model_request_end &&
            *m_worker.settings().capture != broker::Capture::none)
            m_worker.m_spans->model_called({event.id, model, made->usage.value_or(harness::Usage{})});
        const Lock lock(m_worker.m_mutex);
        m_worker.m_progress = after; // its limits are checked once a second
        return appended;
    }
    const std::string& last_message() const { return m_last_message; }

private:
    // For the usage of the space: one row for each call of the model, by the id of its event.
    void count(const managed::Event& event, Time now) {
        const Run& run = m_worker.m_record.run;
        broker::UsageRow row;
        row.id = "call_" + to_hex(crypto::hash(run.id.text() + " " + event.id).substr(0, 13));
        row.space_id = run.space_id.text();
        row.project_id = run.project_id.text();
        row.run_id = run.id.text();
        row.day = broker::day_of(now);
        row.started = now;
        row.model = *m_worker.settings().model;
        row.status = 200;
        row.tokens.input = event.usage.input;
        row.tokens.output = event.usage.output;
        row.tokens.cache_read = event.usage.cache_read;
        row.tokens.cache_write = event.usage.cache_write;
        if (const telemetry::Price* price = m_worker.m_services.prices.find(row.model, now))
            row.cost_nano_usd = telemetry::cost_nano_usd(*price, row.tokens);
        row.complete = true;
        m_worker.m_services.ledger.record(std::move(row));
    }

    ManagedWorker& m_worker;
    std::string m_last_message;
};

struct ManagedWorker::Followed {
    Followed(ManagedWorker& worker, int64_t wanted)
        : messages(wanted),
          journal(worker),
          tools(worker.make_tools(cancel)),
          follower(*worker.m_api, worker.m_session->session_id, journal, tools),
          thread([this, &worker] {
              result = follower.follow(messages, cancel);
              is_done = true;
              worker.wake();
          }) {}

    const int64_t messages;
    net::Cancel cancel;
    RunJournal journal;
    SessionTools tools;
    managed::Follower follower;
    std::optional<Result<managed::Progress>> result; // once `is_done`
    std::atomic<bool> is_done{false};
    std::jthread thread; // last
};

ManagedWorker::ManagedWorker(ManagedServices& services, RunId id) : m_services(services), m_id(std::move(id)) {}

ManagedWorker::~ManagedWorker() {
    stop_following();
}

// --- signals -------------------------------------------------------------------------------------------------------

void ManagedWorker::wake() {
    const Lock lock(m_mutex);
    m_woken = true;
    m_changed.notify_all();
}

void ManagedWorker::release() {
    m_released = true;
    m_cancel.cancel();
    wake();
}

// --- the whole -----------------------------------------------------------------------------------------------------

void ManagedWorker::run() {
    if (const auto opened = open(); !opened.ok())
        log(Level::error, "run cannot be read", {{"run", m_id.text()}, {"why", opened.error().message}});
    else if (const auto end = work())
        finish(*end);
    stop_following();
    m_is_finished = true;
}

Result<> ManagedWorker::open() {
    m_record = TRY(m_services.store.read(m_id));
    m_spans.emplace(m_services.spans, m_services.clock, m_record.run);
    m_session = TRY(m_services.sessions.find(m_id));
    return {};
}

std::optional<RunEnd> ManagedWorker::work() {
    if (m_record.ending) return m_record.ending; // a server was killed while it ended the run
    const bool is_new = m_record.run.state == State::preparing;
    const auto ready = [&]() -> Result<> {
        TRY(connect());
        if (is_new) TRY(prepare());
        return {};
    }();
    if (m_released) return std::nullopt;
    if (!ready.ok()) {
        (void)m_services.store.add_step(m_id, "provision", ready.error().message, true);
        return RunEnd{State::failed, ready.error().message};
    }
    return converse();
}

// --- conversation --------------------------------------------------------------------------------------------------

std::optional<RunEnd> ManagedWorker::converse() {
    m_sent = 0;
    const auto inputs = m_services.sessions.inputs(m_id);
    if (!inputs.ok()) return RunEnd{State::failed, inputs.error().message};
    for (const RunInput& input : inputs.value()) m_sent += input.sent_at_offset.has_value();
    m_settled = m_record.run.state == State::waiting ? m_sent : 0;
    for (;;) {
        if (m_released) return std::nullopt;
        if (m_followed && m_followed->is_done) {
            m_followed->thread.join();
            m_last_result = m_followed->journal.last_message();
            const auto result = *std::exchange(m_followed->result, std::nullopt);
            const int64_t followed = m_followed->messages;
            m_followed.reset();
            if (m_released) return std::nullopt;
            if (auto end = turn_ended(result, followed)) return end;
        }
        if (auto end = handle_commands()) return end;
        if (auto end = check_limits()) return end;
        if (auto end = check_space_budget()) return end;
        if (const auto sent = send_inputs(); !sent.ok()) {
            if (m_released) return std::nullopt;
            return RunEnd{State::failed, sent.error().message};
        }
        if (!m_budget_message.empty()) return RunEnd{State::budget_stopped, m_budget_message};
        if (!m_followed && m_sent > m_settled) follow();
        if (m_files_due && m_services.clock.steady() >= *m_files_due) collect_files(m_cancel);
        if (auto end = end_when_idle()) return end;
        const Lock lock(m_mutex);
        if (!m_woken && !m_released) m_changed.wait_for(m_mutex, look_period);
        m_woken = false;
    }
}

std::optional<RunEnd> ManagedWorker::handle_commands() {
    const auto command = m_services.store.take_command(m_id);
    if (const auto consent = m_services.consents.require(m_record.run.space_id, m_session->base_url);
        !consent.ok() && consent.error().code == Code::forbidden)
        return RunEnd{State::failed, "the consent to send data to the provider was withdrawn"};
    if (!command.ok() || command.value() == RunCommand::none) return std::nullopt;
    if (command.value() == RunCommand::cancel) return RunEnd{State::cancelled, ""};
    if (m_record.run.state != State::running) return std::nullopt;
    const auto interrupted = managed::Launch(*m_api).interrupt(m_session->session_id, m_cancel);
    (void)m_services.store.add_step(m_id, "interrupt",
                                    interrupted.ok() ? "The turn was interrupted."
                                                     : "Not interrupted: " + interrupted.error().message,
                                    !interrupted.ok());
    return std::nullopt;
}

std::optional<RunEnd> ManagedWorker::check_limits() const {
    const Budget& budget = *settings().budget;
    managed::Progress progress;
    {
        const Lock lock(m_mutex);
        progress = m_progress;
    }
    if (budget.tokens && tokens_of(progress) > *budget.tokens)
        return RunEnd{State::budget_stopped, fmt::format("it used {} tokens, and its budget is {} (budget.tokens)",
                                                         tokens_of(progress), *budget.tokens)};
    const auto cost = cost_micro_usd(progress, *settings().model, m_services.prices, m_services.clock.now());
    if (budget.cost_micro_usd && cost.value_or(0) > *budget.cost_micro_usd)
        return RunEnd{State::budget_stopped, "the cost budget of the run is used up (budget.cost_micro_usd)"};
    if (budget.steps) {
        const auto now = m_services.store.read(m_id);
        if (now.ok() && now.value().run.steps > *budget.steps)
            return RunEnd{State::budget_stopped,
                          fmt::format("it made {} tool calls, the limit of its budget (budget.steps)", *budget.steps)};
    }
    const auto most = std::chrono::minutes(*settings().sandbox.value.wall_clock_minutes);
    const bool works = m_record.run.state == State::running;
    if (works && m_services.clock.now() - m_session->active_since > most) return RunEnd::by_wall_clock();
    return std::nullopt;
}

std::optional<RunEnd> ManagedWorker::check_space_budget() {
    const Duration now = m_services.clock.steady();
    if (!m_followed || now - m_space_budget_read_at < space_budget_period) return std::nullopt;
    m_space_budget_read_at = now;
    const access::SpaceId& space = m_record.run.space_id;
    const auto budget = m_services.budgets.space_budget(access::Caller::system(), space);
    const auto spent = m_services.ledger.spent_by_space(space.text(), broker::day_of(m_services.clock.now()));
    if (!budget.ok() || !spent.ok()) return std::nullopt;
    const auto& [tokens, cost, soft, capture] = budget.value();
    const bool is_used_up =
        (tokens && spent.value().tokens > *tokens) || (cost && spent.value().cost_nano_usd > *cost * 1000);
    if (!is_used_up) return std::nullopt;
    return RunEnd{State::budget_stopped, "the budget of the space for this day is used up"};
}

// The first one is in the session since it was made; each later one is sent by its number.
Result<> ManagedWorker::send_inputs() {
    for (const RunInput& input : TRY(m_services.sessions.inputs(m_id))) {
        if (input.sent_at_offset) continue;
        const bool opens_turn = !m_followed;
        if (const auto& most = settings().budget.value.turns; opens_turn && most && m_record.run.turns >= *most) {
            m_budget_message = fmt::format("it had {} turns, the limit of its budget (budget.turns)", *most);
            return {};
        }
        if (m_sent > 0) TRY(managed::Launch(*m_api).message(m_session->session_id, m_sent + 1, input.text, m_cancel));
        if (m_record.run.state == State::waiting) {
            TRY(move(State::running, "Running."));
            TRY(m_services.sessions.set_session(m_id, m_session->session_id)); // the wall clock begins again
            m_session = TRY(m_services.sessions.find(m_id));
        }
        TRY(m_services.store.mark_input_sent(m_id, input.seq, m_session->session_id, m_sent, opens_turn));
        ++m_sent;
        if (opens_turn) m_spans->turn_started(++m_record.run.turns, input.text);
        if (opens_turn) follow();
    }
    return {};
}

void ManagedWorker::follow() {
    m_followed = std::make_unique<Followed>(*this, m_sent);
}

std::optional<RunEnd> ManagedWorker::turn_ended(const Result<managed::Progress>& result, int64_t followed) {
    if (!result.ok()) return RunEnd{State::failed, result.error().message};
    const managed::Progress& progress = result.value();
    m_settled = followed;
    const bool has_more = m_sent > followed && managed::is_at_rest(progress.phase) && !managed::is_over(progress.phase);
    if (has_more && progress.phase != managed::Phase::budget_stopped) return std::nullopt; // it is followed on
    m_last_failed = false;
    const auto wait = [&](const std::string& reason) -> std::optional<RunEnd> {
        m_last_failed = !reason.empty();
        m_spans->turn_ended(m_last_result, m_last_failed);
        m_spans->run_ended(State::waiting, m_last_result);
        m_files_due = m_services.clock.steady() + files_delay;
        if (const auto moved = move(State::waiting, "Waiting for a follow-up.", reason); !moved.ok())
            return RunEnd{State::failed, moved.error().message};
        return std::nullopt;
    };
    switch (progress.phase) {
    case managed::Phase::waiting:
        if (progress.messages < followed) return wait("the provider discarded a message");
        return wait("");
    case managed::Phase::turn_failed:
        return wait(progress.reason);
    case managed::Phase::budget_stopped:
        return RunEnd{State::budget_stopped, progress.reason};
    case managed::Phase::preparation_failed:
    case managed::Phase::failed:
        return RunEnd{State::failed, progress.reason};
    case managed::Phase::lost:
        return RunEnd{State::lost, progress.reason};
    case managed::Phase::working:
        break;
    }
    m_settled = 0; // not at rest: it is followed again
    return std::nullopt;
}

SessionTools ManagedWorker::make_tools(net::Cancel& cancel) {
    const auto patience = std::chrono::seconds(*settings().sandbox.value.tool_seconds + 5);
    return {m_services.sessions, m_id, *m_tool_caller, m_services.process, m_services.clock, patience, cancel};
}

// Each file once: it is a call of a tool by the id of the file.
void ManagedWorker::collect_files(net::Cancel& cancel) {
    m_files_due.reset();
    const auto files = m_api->files(m_session->session_id, cancel);
    if (!files.ok()) {
        if (!cancel.is_cancelled()) (void)m_services.store.add_step(m_id, "files", files.error().message, true);
        return;
    }
    SessionTools tools = make_tools(cancel);
    size_t count = 0;
    for (const managed::SessionFile& file : files.value()) {
        if (++count > most_files) break;
        if (const auto known = m_services.sessions.has_call(m_id, "file " + file.id); !known.ok() || known.value())
            continue;
        const std::string why = save_file(tools, file, cancel);
        if (!why.empty() && !cancel.is_cancelled()) (void)m_services.store.add_step(m_id, "files", why, true);
    }
}

std::string ManagedWorker::save_file(SessionTools& tools, const managed::SessionFile& file, net::Cancel& cancel) {
    const std::string name = file.name.substr(file.name.find_last_of('/') + 1);
    const bool takes_branches = m_services.supply != nullptr;
    const auto content = m_api->download(file.id, is_bundle(name) ? most_bundle_bytes : most_file_bytes, cancel);
    if (!content.ok()) return name + " was not saved: " + content.error().message;
    const auto call = [&](std::string_view id, const char* tool, const std::string& input) -> std::string {
        const auto saved = tools.run({std::string(id) + " " + file.id, tool, input, true});
        return !saved.ok() ? saved.error().message : saved.value().is_error ? saved.value().text : "";
    };
    std::string refused;
    if (const auto branch = branch_of_file(*settings().repos, name, content.value()); branch && takes_branches) {
        refused = call("file", "save_branch", *branch);
        if (refused.empty()) return "";
        refused = name + " is not a branch: " + refused;
        // The secret scan does not see what a bundle contains: it is not kept in another way.
        if (is_bundle(name)) return refused;
    }
    const json::Object input{{"name", name}, {"base64", to_base64(content.value())}};
    const std::string why = call(refused.empty() ? "file" : "copy", "save_file", json::print(input));
    if (!why.empty()) return name + " was not saved: " + why;
    return refused.empty() ? "" : refused + " It is saved as a file.";
}

std::optional<RunEnd> ManagedWorker::end_when_idle() const {
    if (m_record.run.state != State::waiting) return std::nullopt;
    const auto now = m_services.store.read(m_id);
    if (!now.ok() || !now.value().waiting_since) return std::nullopt;
    const auto minutes = *settings().sandbox.value.idle_minutes;
    if (m_services.clock.now() - *now.value().waiting_since < std::chrono::minutes(minutes)) return std::nullopt;
    if (!now.value().run.reason.empty()) return RunEnd{State::failed, now.value().run.reason};
    return RunEnd{State::succeeded, fmt::format("no follow-up for {} minutes", minutes)};
}

// --- the end -------------------------------------------------------------------------------------------------------

void ManagedWorker::finish(const RunEnd& end) {
    if (const auto taken = m_services.store.is_taken_over(m_id); taken.ok() && taken.value()) {
        // Its session works on for that server.
        log(Level::warning, "the run is not of this server any more", {{"run", m_id.text()}});
        return;
    }
    if (const auto noted = m_services.store.begin_ending(m_id, end.state, end.reason); !noted.ok())
        log(Level::warning, "end of a run not recorded", {{"run", m_id.text()}, {"why", noted.error().message}});
    if (const auto stopped = stop_session(end); !stopped.ok())
        log(Level::warning, "managed session not stopped; it is retried",
            {{"run", m_id.text()}, {"why", stopped.error().message}});
    stop_following(); // its thread uses the spans
    if (const auto ended = m_services.access.keys.end_for_run(m_id.text()); !ended.ok())
        log(Level::error, "run key cannot be ended", {{"run", m_id.text()}, {"why", ended.error().message}});
    m_spans->turn_ended(m_last_result, end.state != State::succeeded);
    m_spans->run_ended(end.state, m_last_result);
    const auto now = m_services.store.read(m_id);
    if (!now.ok() || is_over(now.value().run.state)) return;
    const State from = now.value().run.state;
    const std::string reason = end.state == State::cancelled ? now.value().run.reason : end.reason;
    const State to = may_move(from, end.state) ? end.state : State::failed;
    const std::string text = fmt::format("{}{}{}", name_of(to), reason.empty() ? "" : ": ", reason);
    if (const auto moved = m_services.store.move(m_id, from, to, reason, text); !moved.ok())
        log(Level::error, "run cannot be ended", {{"run", m_id.text()}, {"why", moved.error().message}});
    log(Level::info, "run ended", {{"run", m_id.text()}, {"state", std::string(name_of(to))}});
}

Result<> ManagedWorker::stop_session(const RunEnd& end) {
    if (!m_session || m_session->stopped_at) return {};
    const bool is_idle = m_record.run.state == State::waiting;
    const bool takes_more =
        is_idle && m_session->vault_id.empty() && (end.state == State::succeeded || end.state == State::failed);
    if (takes_more) return {};                   // an idle session costs nothing, and a follow-up continues it
    TRY(m_services.sessions.set_stopping(m_id)); // what fails from here on is done by stop_left_over
    if (!m_api) return {};
    net::Cancel never;
    if (m_files_due) collect_files(never);
    if (!m_session->session_id.empty()) TRY(managed::Launch(*m_api).stop(m_session->session_id, never));
    // The events until the stop, so that the transcript and the cost are whole.
    if (m_followed) {
        const Duration deadline = m_services.clock.steady() + stop_patience;
        while (!m_followed->is_done && m_services.clock.steady() < deadline) {
            const Lock lock(m_mutex);
            m_changed.wait_for(m_mutex, std::chrono::milliseconds(100));
        }
    }
    stop_following();
    if (!m_session->vault_id.empty()) TRY(m_api->delete_vault(m_session->vault_id, never));
    return m_services.sessions.set_stopped(m_id);
}

void ManagedWorker::stop_following() {
    if (!m_followed) return;
    m_is_stopping = true;
    m_followed->cancel.cancel();
    if (m_followed->thread.joinable()) m_followed->thread.join();
    m_followed.reset();
}

Result<> ManagedWorker::move(State to, const std::string& text, const std::string& reason) {
    if (m_record.run.state == to) return {};
    TRY(m_services.store.move(m_id, m_record.run.state, to, reason, text));
    m_record.run.state = to;
    return {};
}

} // namespace hone::run
