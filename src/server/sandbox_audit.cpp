#include "server/sandbox_audit.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"

#include <sys/stat.h>

namespace hone::server {

SandboxAudit::SandboxAudit(const access::AuditLog& log, std::string directory)
    : m_log(log),
      m_directory(std::move(directory)),
      m_offset(stored_offset()) {}

// Where the last server stopped. A log that is shorter than that is another one.
int64_t SandboxAudit::stored_offset() const {
    const auto text = read_file(m_directory + "/audit.offset", 64);
    const auto number = text.ok() ? parse_integer(trim(text.value())) : Result<int64_t>(int64_t{0});
    struct stat status {};
    if (!number.ok() || ::stat((m_directory + "/audit.jsonl").c_str(), &status) != 0) return 0;
    return number.value() <= status.st_size ? number.value() : 0;
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
    // A crash between this entry and the offset's file gives the same event again: equal offsets tell.
    entry.details["log_offset"] = next;
    TRY(m_log.record(access::Caller::system(), std::move(entry)));
    m_offset = next;
    return {};
}

Result<> SandboxAudit::step() {
    const int64_t before = m_offset;
    const auto drained = sandbox::drain_events(m_directory + "/audit.jsonl", m_offset, *this);
    if (drained.ok()) m_offset = drained.value(); // over damaged lines too
    if (m_offset != before) TRY(write_file(m_directory + "/audit.offset", std::to_string(m_offset) + "\n"));
    if (!drained.ok()) return drained.error();
    return {};
}

void SandboxAudit::start(std::chrono::seconds every) {
    m_thread = std::jthread([this, every](const std::stop_token& stop) { run(stop, every); });
}

void SandboxAudit::run(const std::stop_token& stop, std::chrono::seconds every) {
    for (;;) {
        if (const auto outcome = step(); !outcome.ok())
            log(Level::warning, "sandbox events not taken over", {{"why", outcome.error().message}});
        if (stop.stop_requested()) return; // after a last look
        std::unique_lock lock(m_mutex);
        m_woken.wait_for(lock, stop, every, [] { return false; });
    }
}

std::unique_ptr<sandbox::Provider> open_sandboxes(const std::string& data_dir, int64_t ready, std::string& why) {
    sandbox::LocalOptions options;
    options.data_directory = data_dir;
    options.ready = static_cast<size_t>(ready);
    auto opened = sandbox::open_local_provider(options);
    if (opened.ok()) return std::move(opened).value();
    why = opened.error().message;
    log(Level::warning, "this machine runs no sandboxes", {{"why", why}, {"advice", "hone check"}});
    return nullptr;
}

} // namespace hone::server
