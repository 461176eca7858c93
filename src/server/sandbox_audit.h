// Takes what shims and the spawner wrote down about sandboxes into the installation's hash-chained audit log: every
// start, command, end and clean-up, also of the time when no server ran. One thread; step() is what tests call.
#pragma once

#include "access/audit.h"
#include "sandbox/local/event_tail.h"
#include "sandbox/local/local_provider.h"

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace hone::server {

class SandboxAudit final : private sandbox::Auditor {
public:
    // `directory` is DIR/sandbox, which holds audit.jsonl.
    SandboxAudit(const access::AuditLog& log, std::string directory);

    // Takes over what is new.
    Result<> step();
    void start(std::chrono::seconds every);

private:
    Result<> record(const sandbox::SandboxEvent& event, int64_t next) override;
    void run(const std::stop_token& stop, std::chrono::seconds every);

    const access::AuditLog& m_log;
    sandbox::EventTail m_tail;
    std::mutex m_mutex;
    std::condition_variable_any m_woken;
    std::jthread m_thread; // the last member: it joins before what it uses is destroyed
};

// The provider of this machine's sandboxes. A machine that cannot have any is no error: null, and `why` says what is
// missing.
std::unique_ptr<sandbox::Provider> open_sandboxes(const std::string& data_dir, int64_t ready, std::string& why);

} // namespace hone::server
