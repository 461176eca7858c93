// The inside of a shim: one object with one loop that owns everything of its sandbox. shim.cpp starts and ends it,
// shim_requests.cpp replies, shim_limits.cpp watches the clock and the limits and writes the audit lines. One thread.
#pragma once

#include "sandbox/image/tree.h"
#include "sandbox/provider/audit.h"
#include "sandbox/shim/body.h"
#include "sandbox/shim/protocol.h"
#include "sandbox/shim/shim.h"
#include "sandbox/shim/slot.h"

#include <list>

namespace hone::sandbox {

constexpr Duration watch_every = std::chrono::milliseconds(250);

// Runs on while the machine sleeps, and cannot be set.
Duration boot_time();
int64_t milliseconds(Duration duration);

struct Connection {
    Channel channel;
    std::optional<ShimRequest> pending; // waits for its reply
    Duration pending_until{};           // 0: without a limit
    bool creator = false;
    bool gone = false;
};

// What a place takes of the disk that the kernel does not cap.
struct WatchedUse {
    TreeSize size;               // with files that have no name any more
    bool may_hide_files = false; // a process, or the queue of a socket, cannot be inspected
};

class Shim final : public BodyListener {
public:
    // `slot` is what was prepared before the spec was known, if anything was.
    Shim(ShimStart start_info, std::optional<Slot> slot)
        : m_start(std::move(start_info)),
          m_spec(*m_start.spec),
          m_created(boot_time()),
          m_slot(std::move(slot)) {
        m_view.id = m_start.journal.id;
        m_view.created = m_start.journal.created;
        m_view.deadline = m_view.created + std::chrono::milliseconds(*m_spec.limits.value.wall_clock_ms);
        m_view.tier = m_start.tier;
        m_view.without_namespaces = m_start.is_helper;
        m_view.limits_by = m_start.is_helper ? LimitKeeper::rlimit : m_start.machine->cgroups.keeper();
        if (m_view.limits_by == LimitKeeper::rlimit) m_view.not_limited = {"cpus"};
        if (m_view.tier == Tier::gvisor) m_view.not_limited.emplace_back("disk_inodes");
        m_view.host_uid = m_start.host_uid;
        m_view.thread = m_spec.thread;
        m_view.labels = *m_spec.labels;
        m_connections.push_back({std::move(m_start.creator), std::nullopt, {}, true, false});
    }

    // Everything up to the first command; then the creator gets its reply.
    Result<> start();
    // Until it is over and no client is left.
    void serve();
    void refuse(const Error& error);

private:
    Result<> begin();
    Result<> open_listener();
    Result<> open_places();
    Result<> set_limits();

    // BodyListener
    void command_started(int64_t number, Fd terminal) override;
    void command_failed(int64_t number, const Error& why) override;
    void command_ended(int64_t number, int wait_status) override;
    void body_ended(int64_t cpu_ns, int64_t written_bytes) override;

    Result<int64_t> execute(const Command& command);
    void take_output(RunningCommand& command, Stream stream);
    void finish(RunningCommand& command);
    void close_if_done(RunningCommand& command);
    void stop();
    void leave();
    bool alive() const { return m_view.state == State::running || m_view.state == State::frozen; }

    // Requests
    void accept_connection();
    void forget_connections();
    void receive_request(Connection& connection);
    void serve_request(Connection& connection, const ShimRequest& request);
    bool reply_when_ready(Connection& connection, const ShimRequest& request);
    void reply_pending();
    Result<ShimReply> act(const ShimRequest& request, std::vector<int>& descriptors, std::vector<Fd>& made);
    Result<RunningCommand*> find(const std::optional<int64_t>& number);
    void send(Connection& connection, const ShimReply& reply, const std::vector<int>& descriptors = {});

    // Time
    Duration next_deadline() const;
    void keep_time();
    void watch_limits();
    void measure();
    void measure_watched();
    WatchedUse read_watched(int place, bool running) const;
    bool needs_stillness(const WatchedUse& use, int64_t free) const;
    bool is_over(const WatchedUse& use, int64_t free) const;
    void note_free_space();
    std::vector<dev_t> memory_devices() const;
    void measure_tree_use();
    // Whether what the sandbox writes, apart from a volume, is in a folder of the disk.
    bool is_on_disk() const { return m_spec.capture.has_value() || m_start.is_helper; }
    bool is_watched() const { return (m_volume && !m_volume->directory.empty()) || is_on_disk(); }
    void remove_groups();
    void release();
    void release_slowly();
    bool ends_with(const RunningCommand& command) const;

    void hit(LimitHit limit);
    void hit(RunningCommand& command, LimitHit limit);
    // The lines of what happens at the same time are written together: what is collected, with what is noted next.
    void collect_note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error = std::nullopt);
    Result<> note(EventKind kind, const RunningCommand* command, const std::optional<Error>& error = std::nullopt);
    Result<> write_notes();
    const SandboxView& view();

    ShimStart m_start;
    const SandboxSpec& m_spec;
    const Duration m_created;
    SystemClock m_clock;
    SandboxView m_view;
    std::optional<Slot> m_slot; // until the body has it
    Cgroup m_cgroup;
    std::optional<Volume> m_volume;
    std::optional<SpareVolume> m_spare; // of a slot, when it was not needed
    std::unique_ptr<Body> m_body;
    std::list<RunningCommand> m_commands;
    std::vector<SandboxEvent> m_notes; // not in the audit log yet
    std::list<Connection> m_connections;
    std::vector<Fd> m_held; // locks on layers and the image: they must not go while they are mounted
    Fd m_listener;
    Duration m_next_watch{};
    int64_t m_memory_bytes = 0;  // at the last measurement, where no cgroup counts
    int64_t m_free_at_start = 0; // of the watched place's file system
    int64_t m_still_bytes = 0;   // in the watched place, when it was last measured with all processes stopped
    int64_t m_free_when_still = 0;
    Duration m_next_still{}; // when to measure so again at the latest
    Duration m_still_took{};
    Duration m_stopped{};
    bool m_stopping = false;
    bool m_groups_removed = false;
    bool m_slow_left = false;
    bool m_orphaned = false;
    bool m_leaving = false;
};

} // namespace hone::sandbox
