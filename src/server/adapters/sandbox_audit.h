// Copies the events that shims and the spawner recorded about sandboxes into the installation's hash-chained audit log:
// every start, command, end and clean-up, also of the time when no server ran; each once, also when the server is
// killed. One thread; step() is what tests call.
#pragma once

#include "access/audit/audit.h"
#include "base/duty.h"
#include "sandbox/local/event_tail.h"
#include "sandbox/local/local_provider.h"

namespace hone::server {

class SandboxAudit final : private sandbox::Auditor {
public:
    // `directory` is DIR/sandbox, which holds audit.jsonl.
    SandboxAudit(const access::AuditLog& log, std::string directory);

    ~SandboxAudit() override;

    // Copies the events that are new.
    Result<> step();
    void start() { m_duty.start(); }

private:
    Result<> record(const sandbox::SandboxEvent& event, int64_t next) override;

    Result<bool> is_recorded(const access::AuditRecord& entry) const;

    const access::AuditLog& m_log;
    bool m_maybe_recorded = true; // the next event can have an entry of a server that was killed
    sandbox::EventTail m_tail;
    Duty m_duty; // the last member: its thread ends before what it uses is destroyed
};

// The provider of this machine's sandboxes. A machine that cannot have any is no error: null, and `why` states what is
// missing. As root, the capabilities that the server does not need are dropped, so call it before the first thread.
Result<std::unique_ptr<sandbox::Provider>> open_sandboxes(const std::string& data_dir, int64_t ready, std::string& why);

} // namespace hone::server
