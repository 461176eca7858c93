#include "server/adapters/sandbox_audit.h"

#include "base/log.h"

#include <unistd.h>

namespace hone::server {

SandboxAudit::SandboxAudit(const access::AuditLog& log, std::string directory)
    : m_log(log),
      m_tail(std::move(directory)),
      m_duty({"sandbox audit", std::chrono::seconds(5)}, [this] { return step(); }) {}

SandboxAudit::~SandboxAudit() {
    m_duty.stop();
    if (const auto last = step(); !last.ok()) // what happened since the last one
        log(Level::warning, "sandbox events not copied to the audit log", {{"why", last.error().message}});
}

Result<> SandboxAudit::record(const sandbox::SandboxEvent& event, int64_t next) {
    access::AuditRecord entry;
    const std::string action = "sandbox_" + std::string(name_of(event.kind));
    entry.action = action;
    entry.target = event.sandbox.text();
    const json::Object all = json::to_value(event).as_object();
    for (const auto& fact : all)
        if (!fact.value().is_null() && fact.key() != "kind" && fact.key() != "sandbox")
            entry.details[fact.key()] = fact.value();
    entry.details["log_offset"] = next;
    // A server that was killed between an entry and the offset's file left entries that the file does not count. They
    // are the first ones of this server: from the first event without an entry on, none has one.
    if (m_maybe_recorded) {
        m_maybe_recorded = TRY(is_recorded(entry));
        if (m_maybe_recorded) return {};
    }
    TRY(m_log.record(access::Caller::system(), std::move(entry)));
    return {};
}

Result<bool> SandboxAudit::is_recorded(const access::AuditRecord& entry) const {
    const access::AuditFilter same{.action = std::string(entry.action), .target = entry.target};
    int64_t seq = 0;
    for (;;) { // a sandbox can have many commands
        const auto entries = TRY(m_log.entries_after(access::Caller::system(), std::nullopt, seq, 500, same));
        for (const access::AuditEntry& each : entries) {
            const json::Object& details = each.details.as_object();
            const auto* offset = details.if_contains("log_offset");
            if (offset != nullptr && *offset == entry.details.at("log_offset")) return true;
            seq = each.seq;
        }
        if (entries.empty()) return false;
    }
}

Result<> SandboxAudit::step() {
    return m_tail.step(*this);
}

Result<std::unique_ptr<sandbox::Provider>> open_sandboxes(const std::string& data_dir, int64_t ready,
                                                          std::string& why) {
    sandbox::LocalOptions options;
    options.data_directory = data_dir;
    options.ready = static_cast<size_t>(ready);
    if (::geteuid() == 0) {
        options.launcher = TRY(sandbox::Launcher::open(data_dir));
        TRY(sandbox::drop_unneeded_capabilities());
    }
    auto opened = sandbox::open_local_provider(options);
    if (opened.ok()) {
        const auto namespaces = opened.value()->makes_namespaces();
        if (namespaces.ok() && !namespaces.value())
            log(Level::warning, "this machine makes no namespaces: git runs behind other walls, and workers not at all",
                {{"advice", "hone check"}});
        return opened;
    }
    why = opened.error().message;
    log(Level::warning, "this machine runs no sandboxes", {{"why", why}, {"advice", "hone check"}});
    return std::unique_ptr<sandbox::Provider>();
}

} // namespace hone::server
