// Starts, watches and ends the engine process. It is started by the first use, restarted when it dies or hangs, and
// stopped when idle. Thread-safe; one per server.
#pragma once

#include "base/duty.h"
#include "base/file.h"
#include "base/result.h"
#include "base/time.h"
#include "net/client/client.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace hone::telemetry {

struct EngineProcessOptions {
    std::vector<std::string> program; // empty: HONE_ENGINE_PROGRAM, or hone-engine beside us
    std::string directory;
    std::string socket;
    std::string library; // empty: found by the engine
    int64_t memory_bytes = int64_t{2} << 30;
    bool reads_files = false; // queries may read files of its directory; for one that holds no spans of others
    bool unconfined = false;  // start even where the kernel cannot confine it
    Duration idle_stop{600'000'000'000}; // zero: never
    Duration start_timeout{30'000'000'000};
    Duration ping_interval{5'000'000'000};
    Duration hang_timeout{20'000'000'000}; // without a response to a ping
};

class EngineProcess {
public:
    explicit EngineProcess(EngineProcessOptions options);
    ~EngineProcess(); // ends the engine

    // While it lives the engine is not stopped for idleness.
    class Use {
    public:
        explicit Use(EngineProcess& process) : m_process(&process) {}
        Use(Use&& other) noexcept : m_process(std::exchange(other.m_process, nullptr)) {}
        Use& operator=(Use&&) = delete;
        ~Use() {
            if (m_process) m_process->end_use();
        }

    private:
        EngineProcess* m_process;
    };
    // Starts it if need be and waits until it responds. unavailable: it does not start; retried after a pause.
    Result<Use> use();

    // Its address for this process; short, whatever the directory is called.
    const std::string& socket() const { return m_address; }
    const std::string& directory() const { return m_options.directory; }
    // These three never wait, also while the engine starts: /metrics reads them.
    int pid() const { return m_pid; }
    uint64_t starts() const { return m_starts; }
    bool is_running() const { return m_pid > 0; }
    void stop();

private:
    void end_use();
    Result<> start() REQUIRES_LOCK(m_mutex);
    void reap(bool kill) REQUIRES_LOCK(m_mutex);
    bool ping(Duration timeout);
    Result<> wait_until_ready(int report) REQUIRES_LOCK(m_mutex);
    Error not_started(std::string why) REQUIRES_LOCK(m_mutex);
    // Stops an idle engine and kills one that hangs.
    Result<> watch();

    EngineProcessOptions m_options;
    Fd m_folder; // of the socket
    std::string m_address;
    net::HttpClient m_client;
    mutable Mutex m_mutex;
    std::atomic<int> m_pid = 0;        // changed with the mutex held
    Fd m_lifeline GUARDED_BY(m_mutex); // the engine's standard input
    size_t m_uses GUARDED_BY(m_mutex) = 0;
    std::atomic<uint64_t> m_starts = 0;
    std::chrono::steady_clock::time_point m_last_use GUARDED_BY(m_mutex){};
    std::chrono::steady_clock::time_point m_not_before GUARDED_BY(m_mutex){}; // after a failed start
    std::string m_why_not GUARDED_BY(m_mutex);                                // why that start failed
    std::chrono::steady_clock::time_point m_silent_since =
        std::chrono::steady_clock::time_point::max(); // watch()'s own
    Duty m_watcher;                                   // last
};

} // namespace hone::telemetry
