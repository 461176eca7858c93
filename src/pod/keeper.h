// The first process of a sandbox's pod: keeps its commands, their output and its deadline, and serves one server at a
// time through a link (kubernetes/link). A server may be away: nothing here waits for it. One thread.
#pragma once

#include "kubernetes/link/calls.h"
#include "kubernetes/link/link.h"
#include "kubernetes/link/mount_table.h"
#include "pod/process.h"
#include "sandbox/shim/running_command.h"

#include <list>
#include <poll.h>

namespace hone::pod {

constexpr const char* state_folder = "/hone-state";
constexpr const char* channel_socket = "/hone-state/channel";

struct KeeperOptions {
    std::string sandbox;
    std::vector<kubernetes::TargetMount> mounts;
};

class Keeper {
public:
    explicit Keeper(KeeperOptions options);
    // Returns when it cannot continue.
    Result<> run();

private:
    // A stream of the link with one end of a socket: a connection to the broker, or a helper.
    struct Pump {
        uint32_t stream = 0;
        Fd socket;
        std::string to_link, to_socket;
        bool is_helper = false;
        bool socket_ended = false, link_ended = false, end_sent = false, is_shut = false;
    };
    struct Running {
        sandbox::RunningCommand command;
        pid_t pid = 0;
        Fd outcome; // while it is not known whether it was executed
        std::string input;
        bool close_input = false;
    };
    struct Candidate { // a channel whose first frame has not arrived
        Fd socket;
        std::string first;
    };
    struct Waiting { // a call whose reply is late
        int64_t id = 0;
        sandbox::ShimRequest request;
        Duration until{}; // 0: without a limit
    };
    struct Probe {
        pid_t pid = 0;
        Fd socket;
        std::optional<int64_t> call; // none: one of the regular ones
        Duration until{};            // of a call: how long the network may stay open
    };

    Result<> open();
    Result<> listen_on(uint16_t port, Fd& into);
    void step();
    int milliseconds_to_wait() const;
    void keep_time();

    // --- the channel ---
    void accept_channel();
    void read_candidate(Candidate& candidate);
    void read_channel();
    void write_channel();
    void lose_channel();
    // False: there were none.
    bool take_events();

    // --- streams ---
    void accept_connection(uint16_t port, const Fd& listener);
    void open_stream(uint32_t stream, const kubernetes::StreamOpen& open);
    // False: it is done.
    bool move(Pump& pump);

    // --- calls ---
    void read_calls();
    void serve(const kubernetes::PodCall& call, const std::string& bytes);
    Result<sandbox::ShimReply> act(const sandbox::ShimRequest& request, const std::string& bytes);
    Result<sandbox::ShimReply> claim(const sandbox::SandboxSpec& spec);
    bool reply_when_ready(const Waiting& waiting, bool is_late);
    void reply_pending();
    void reply(int64_t id, const sandbox::ShimReply& reply, std::string_view bytes = {});

    // --- commands ---
    Result<int64_t> execute(const sandbox::Command& command);
    Result<Running*> find(const std::optional<int64_t>& number);
    void take_output(Running& running, sandbox::Stream stream);
    void report_start(Running& running);
    void write_input(Running& running);
    void reap();
    void end(Running& running);
    void stop(std::optional<sandbox::LimitHit> why, const std::string& error = {});
    void note_memory();
    sandbox::SandboxView view();

    // --- the network ---
    void start_probe(std::optional<int64_t> call, Duration until);
    void finish_probe();

    const KeeperOptions m_options;
    const SystemClock m_clock;
    Fd m_signals, m_channels, m_proxy, m_gateway;
    kubernetes::Link m_link;
    Fd m_channel;
    std::string m_channel_output;
    Duration m_channel_lost{};
    std::list<Candidate> m_candidates;
    std::list<Pump> m_pumps;
    kubernetes::CallReader m_calls;
    std::string m_replies;
    std::list<Waiting> m_waiting;
    std::optional<sandbox::SandboxSpec> m_spec; // once claimed
    std::optional<Walls> m_walls;
    std::list<Running> m_commands;
    sandbox::SandboxView m_view;
    Duration m_deadline{};
    std::optional<Probe> m_probe;
    std::vector<std::string> m_probe_addresses;
    Duration m_next_probe{};
    int m_open_probes = 0;     // in a row
    bool m_was_closed = false; // by the last probe
};

} // namespace hone::pod
