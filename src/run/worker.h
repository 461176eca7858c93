// One worker: takes one run from `preparing` to its end on a thread of its own. It owns the sandbox, the harness's
// driver and what stands between them; everything it does is written down in the WorkBook first or together, so that
// another server process can take the run up where this one was killed.
#pragma once

#include "base/mutex.h"
#include "broker/gateway/gateway.h"
#include "harness/catalog.h"
#include "run/egress.h"
#include "run/harness_store.h"
#include "run/run_spans.h"
#include "run/work.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <atomic>
#include <deque>
#include <thread>

namespace hone::forge {
class Supply;
}

namespace hone::run {

// A custom skill's folder, as it is put before the worker.
struct SkillFolder {
    struct File {
        std::string path;
        std::string content;
        bool executable = false;
    };
    std::string name;
    std::vector<File> files;
};

// What a run gets from its skills. The server implements it over skill/ and secret/.
class SkillSource {
public:
    virtual ~SkillSource() = default;
    virtual Result<skill::Grant> grant(const access::SpaceId& space, const std::vector<std::string>& skills) = 0;
    virtual Result<std::vector<SkillFolder>> folders(const access::SpaceId& space,
                                                     const std::vector<std::string>& skills) = 0;
    virtual std::shared_ptr<broker::SecretOpener> opener(const access::SpaceId& space, const RunId& run) = 0;
    // The seed of the run's authority and placeholders: the same, also after a restart, until it is forgotten.
    virtual Result<std::shared_ptr<const crypto::SecretBytes>> seed(const access::SpaceId& space, const RunId& run) = 0;
    virtual void forget_seed(const RunId& run) = 0;
};

// Everything workers use; all of it outlives them.
struct Means {
    const Clock& clock;
    access::Access& access;
    WorkBook& book;
    sandbox::Provider& provider;
    const sandbox::Store& store; // of the provider: layers, threads
    broker::Broker& broker;
    broker::Gateway& gateway;
    broker::UsageLedger& ledger;
    SkillSource& skills;
    Egress& egress;
    SpanSink& spans;
    const HarnessStore& harnesses;
    std::string data_directory;
    std::string tool_program;        // the `hone` command for sandboxes; empty: not found
    std::string playbooks;           // folder of playbooks; empty: not found
    bool mounts_volumes = true;      // the spawner is root
    forge::Supply* supply = nullptr; // null: no repositories
};

class Worker {
public:
    Worker(Means& means, RunId id) : m_means(means), m_id(std::move(id)) {}
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    // The thread's work; returns when the run is over, or when `release` was called.
    void run();
    // Something about the run changed: look. Any thread.
    void nudge();
    // The server goes down: let the sandbox live and return soon. Any thread.
    void release();
    bool finished() const { return m_finished; }

private:
    // Why the run ends.
    struct End {
        State state;
        std::string reason;
    };
    // A piece of output, or its end.
    struct Piece {
        sandbox::Stream stream = sandbox::Stream::out;
        std::string bytes;
        int64_t next = 0;
        bool last = false;
    };

    std::optional<End> prepare();
    std::optional<End> take_up();
    Result<> prepare_skills();
    Result<> prepare_sandbox();
    std::string folder() const;
    Result<> fork_volume();
    sandbox::SandboxSpec wanted_sandbox() const;
    Result<> mount_programs(sandbox::SandboxSpec& spec);
    Result<> mount_harness(sandbox::SandboxSpec& spec);
    Result<std::vector<harness::Setup::SkillFolder>> write_skills();
    Result<> note_sandbox();
    Result<std::unique_ptr<sandbox::Sandbox>> start_sandbox(const sandbox::SandboxSpec& spec);
    Result<> remove_earlier_sandboxes();
    Result<> prepare_layer(sandbox::SandboxSpec& spec);
    Result<> prepare_network();
    broker::GatewayRun at_gateway();
    Result<broker::RunAccess> at_broker();
    // What the run is to others, made while its sandbox starts.
    struct Identity {
        access::Key key;
        std::shared_ptr<const crypto::SecretBytes> seed;
    };
    Result<Identity> make_identity();
    // A step that is done: written down with the next transaction, or by `write_steps` before something takes long.
    void note(std::string_view step, std::string text, bool failed = false);
    Result<> write_steps();
    Result<> prepare_repos();
    std::string branch_prefix() const;
    Result<> start_harness();
    void open_input();
    Result<harness::Setup> setup_of();
    std::string context() const;
    Result<> choose_playbook(harness::Setup& setup) const;
    Result<> choose_agent(harness::Setup& setup) const;
    Result<> write_files(const harness::Launch& launch, sandbox::SandboxSpec& spec);
    Result<> run_inside(std::string_view step, const std::vector<std::string>& argv, int64_t timeout_ms);
    Result<> await_inside(std::string_view step, int64_t number);
    std::optional<End> cancelled();

    std::optional<End> work();
    std::optional<End> work_once();
    bool wait_for_news();
    bool has_untold() const;
    Result<> hear(std::vector<Piece> pieces);
    std::optional<End> harness_ended();
    std::optional<End> answer_wishes();
    Result<> tell_inputs();
    std::optional<End> turn_over();
    Result<> carry_out(harness::Output output, int64_t offset);
    void write_input();
    End how_it_ended();
    static End by_wall_clock() { return {State::timed_out, "the wall clock ran out"}; }
    void finish(const End& end);
    void tear_down();
    void count_usage();

    void start_reading();
    void stop_reading();
    void read_output(const std::stop_token& stop, int64_t command, int64_t offset);

    Means& m_means;
    const RunId m_id;
    Work m_work;
    State m_state = State::preparing;
    const harness::Harness* m_harness = nullptr;
    std::unique_ptr<harness::Driver> m_driver;
    harness::Launch m_launch;
    skill::Grant m_grant;
    std::unique_ptr<sandbox::Sandbox> m_sandbox;
    std::shared_ptr<broker::AttachedRun> m_session;
    std::optional<RunSpans> m_spans;
    std::map<std::string, std::string> m_environment; // of every command
    std::vector<RunEvent> m_steps;                    // not written down yet
    std::optional<Identity> m_identity;               // until the broker has it
    bool m_known_to_gateway = false;
    int64_t m_command = 0;
    int64_t m_offset = 0;                      // output up to here was read
    std::pair<int64_t, std::string> m_written; // offset and session of the harness as they are written down
    Fd m_input;
    std::string m_pending_input;
    bool m_close_input = false;
    std::string m_errors; // end of stderr
    std::string m_answer; // last result
    std::string m_crash;  // how the harness ended in the middle of a turn
    Duration m_waiting_since{};
    Duration m_looked_at{};
    std::optional<Duration> m_closing_since;

    Mutex m_mutex;
    Condition m_news;
    std::deque<Piece> m_pieces GUARDED_BY(m_mutex);
    size_t m_pieces_bytes GUARDED_BY(m_mutex) = 0;
    bool m_nudged GUARDED_BY(m_mutex) = false;
    std::string m_budget_message GUARDED_BY(m_mutex);
    std::atomic<bool> m_released{false};
    std::atomic<bool> m_finished{false};
    std::jthread m_reader; // last: it uses what stands above
};

} // namespace hone::run
