#include "run/worker/live_run.h"

#include "base/log.h"

namespace hone::run {

Result<> LiveRun::open() {
    record = TRY(services.store.read(id));
    m_state = record.run.state;
    spans.emplace(services.spans, services.clock, record.run);
    return {};
}

// --- signals -------------------------------------------------------------------------------------------------------

void LiveRun::wake() {
    {
        const Lock lock(m_mutex);
        m_woken = true;
    }
    m_changed.notify_all();
}

void LiveRun::release() {
    m_released = true;
    wake();
}

void LiveRun::notify_output() {
    {
        const Lock lock(m_mutex);
        m_has_output = true;
    }
    m_changed.notify_all();
}

void LiveRun::stop_for_budget(const std::string& message) {
    {
        const Lock lock(m_mutex);
        m_budget_message = message;
        m_woken = true;
    }
    m_changed.notify_all();
}

bool LiveRun::wait(Duration longest) {
    const Lock lock(m_mutex);
    if (!m_has_output && !m_woken && !m_released) m_changed.wait_for(m_mutex, longest);
    m_has_output = false;
    return std::exchange(m_woken, false);
}

bool LiveRun::await_database(bool is_first) {
    if (is_first) log(Level::warning, "a run waits for the database", {{"run", id.text()}});
    const Lock lock(m_mutex);
    // A signal ends one of these waits, not the pause.
    for (int i = 0; i < 10 && !m_released; ++i) m_changed.wait_for(m_mutex, std::chrono::milliseconds(100));
    return !m_released;
}

std::string LiveRun::budget_message() const {
    const Lock lock(m_mutex);
    return m_budget_message;
}

std::optional<RunEnd> LiveRun::cancelled() {
    const auto command = services.store.take_command(id);
    if (command.ok() && command.value() == RunCommand::cancel) return RunEnd{State::cancelled, ""};
    return std::nullopt;
}

// --- steps and states ----------------------------------------------------------------------------------------------

void LiveRun::note(std::string_view step, std::string text, bool failed) {
    RunEvent event;
    event.time = services.clock.now();
    event.step = std::string(step);
    event.text = std::move(text);
    event.failed = failed;
    m_steps.push_back(std::move(event));
}

Result<> LiveRun::write_steps() {
    return services.store.add_steps(id, take_steps());
}

std::optional<RunEnd> LiveRun::run_step(std::string_view name, const std::function<Result<>()>& step) {
    const auto stopped = [this]() -> std::optional<RunEnd> {
        if (auto end = cancelled()) {
            (void)write_steps();
            return end;
        }
        // The server stops: nothing of an unfinished preparation is kept, the next server begins again.
        if (m_released) return RunEnd{State::lost, "the server ended"};
        return std::nullopt;
    };
    if (auto end = stopped()) return end;
    const auto done = step();
    if (done.ok()) return std::nullopt;
    if (auto end = stopped()) return end;
    if (no_room) {
        (void)write_steps();
        return RunEnd{State::queued, *no_room};
    }
    // Nothing has run yet: it is prepared again when the database is back.
    if (sql::is_away(done.error()) || sql::is_outcome_unknown(done.error()))
        return RunEnd{State::queued, done.error().message};
    note(name, done.error().message, true);
    (void)write_steps();
    log(Level::warning, "run could not be prepared",
        {{"run", id.text()},
         {"step", std::string(name)},
         {"why", done.error().message},
         {"trail", done.error().trail}});
    return RunEnd{State::failed, done.error().message};
}

Result<> LiveRun::move(State to, const std::string& text, const std::string& reason) {
    TRY(persist_once([&] { return services.store.move(id, m_state, to, reason, text); },
                     [&]() -> Result<bool> { return TRY(services.store.read(id)).run.state == to; }));
    m_state = to;
    return {};
}

Result<> LiveRun::harness_started(int64_t command) {
    const std::vector<RunEvent> steps = take_steps();
    TRY(persist_once([&] { return services.store.harness_started(id, command, m_state, steps); },
                     [&]() -> Result<bool> { return TRY(services.store.read(id)).sandbox_command == command; }));
    m_state = State::running;
    return {};
}

void LiveRun::count_usage() {
    (void)services.ledger.flush();
    broker::UsageQuery query;
    query.from_day = broker::day_of(record.run.created_at);
    query.to_day = broker::day_of(services.clock.now());
    query.group_by = broker::UsageGroup::run;
    query.run_id = id.text();
    const auto sums = services.ledger.report(access::Caller::system(), record.run.space_id, query);
    if (!sums.ok() || sums.value().empty()) return;
    const broker::UsageSum& sum = sums.value().front();
    const telemetry::Tokens& tokens = sum.tokens;
    std::optional<int64_t> cost;
    if (sum.unpriced_calls == 0) cost = sum.cost_nano_usd / 1000;
    const harness::Usage usage{tokens.input, tokens.cache_read, tokens.cache_write, tokens.output, tokens.reasoning};
    if (usage == record.run.usage && cost == record.run.cost_micro_usd) return;
    if (!services.store.set_usage(id, usage, cost).ok()) return;
    record.run.usage = usage;
    record.run.cost_micro_usd = cost;
}

void LiveRun::disconnect() {
    if (attached) services.broker.detach(id.text());
    attached.reset();
    if (is_at_gateway) services.gateway.remove_run(id.text());
    is_at_gateway = false;
}

} // namespace hone::run
