// One worker of a managed session: makes the session at the provider, sends messages of people, follows its events,
// ends it. Each step is in the database before or together with what it does, so another server process resumes the run
// where this one was killed; the session itself continues at the provider meanwhile.
#pragma once

#include "base/mutex.h"
#include "broker/spending/budget.h"
#include "run/managed/branch_tools.h"
#include "run/managed/consents.h"
#include "run/managed/plan.h"
#include "run/managed/session_tools.h"
#include "run/run_spans.h"
#include "run/worker/run_worker.h"
#include "run/worker/worker_services.h"

#include <thread>

namespace hone::run {

// What leaves through; server/ implements it.
class ManagedLinks {
public:
    virtual ~ManagedLinks() = default;
    // Requests with the key of this endpoint.
    virtual std::unique_ptr<managed::Transport> transport(const access::SpaceId& space, const RunId& run,
                                                          const skill::ModelEndpoint& endpoint) = 0;
    virtual std::unique_ptr<ToolCaller> tools(const std::string& run_key, Duration timeout) = 0;
};

struct ManagedServices {
    const Clock& clock;
    access::Access& access;
    RunStore& store;
    SessionStore& sessions;
    WorkerSkills& skills;
    SpanSink& spans;
    const telemetry::Prices& prices;
    broker::Budgets& budgets;
    broker::UsageLedger& ledger;
    const Consents& consents;
    ManagedLinks& links;
    std::string process;     // unique to this server process
    forge::Supply* supply;   // takes branches; null: this server cannot isolate git
    managed::Pace pace = {}; // tests use a quicker one
};

class ManagedWorker final : public RunWorker {
public:
    ManagedWorker(ManagedServices& services, RunId id);
    ~ManagedWorker() override;

    void run() override;
    void wake() override;
    void release() override;
    bool is_finished() const override { return m_is_finished; }

private:
    struct Followed;  // a follower on its own thread
    class RunJournal; // managed::Journal of the run

    // None: released.
    std::optional<RunEnd> work();
    Result<> open();
    Result<> connect();
    Result<> prepare();
    Result<> make_vault();
    Result<managed::NewSession> new_session();
    Result<managed::AgentSpec> agent_spec();
    std::optional<RunEnd> converse();
    std::optional<RunEnd> handle_commands();
    std::optional<RunEnd> check_limits() const;
    // The budget of the space for this day, read now and then.
    std::optional<RunEnd> check_space_budget();
    Result<> send_inputs();
    void follow();
    // What the follower of so many messages returned.
    std::optional<RunEnd> turn_ended(const Result<managed::Progress>& result, int64_t followed);
    std::optional<RunEnd> end_when_idle() const;
    // Files that the agent wrote for people become artifacts; the provider lists them some seconds after the turn.
    void collect_files(net::Cancel& cancel);
    // Why it was not saved; empty: it was.
    std::string save_file(SessionTools& tools, const managed::SessionFile& file, net::Cancel& cancel);
    SessionTools make_tools(net::Cancel& cancel);
    void finish(const RunEnd& end);
    // Archives the session and deletes its vault, unless follow-ups may use it again.
    Result<> stop_session(const RunEnd& end);
    void stop_following();
    Result<> move(State to, const std::string& text, const std::string& reason = "");
    const Settings& settings() const { return m_record.manifest.settings; }

    ManagedServices& m_services;
    const RunId m_id;
    RunRecord m_record;
    std::optional<RunSpans> m_spans;
    std::optional<ManagedPlan> m_plan;
    std::optional<ManagedSession> m_session;
    std::unique_ptr<managed::Transport> m_transport;
    std::optional<managed::Api> m_api;
    std::optional<crypto::SecretBytes> m_repository_token;
    std::unique_ptr<ToolCaller> m_tool_caller;
    net::Cancel m_cancel;  // of requests of the worker's thread
    int64_t m_sent = 0;    // messages of the session
    int64_t m_settled = 0; // those whose turn has ended
    std::optional<Duration> m_files_due;
    Duration m_space_budget_read_at{};
    std::string m_budget_message; // not empty: the run has used up its turns
    std::string m_last_result;
    bool m_last_failed = false;
    mutable Mutex m_mutex;
    Condition m_changed;
    bool m_woken GUARDED_BY(m_mutex) = false;
    managed::Progress m_progress GUARDED_BY(m_mutex);
    std::atomic<bool> m_released{false};
    std::atomic<bool> m_is_stopping{false}; // the follower is
    std::atomic<bool> m_is_finished{false};
    std::unique_ptr<Followed> m_followed; // last: its thread uses what stands above
};

} // namespace hone::run
