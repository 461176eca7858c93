// Installs harnesses on this server when an installation owner requests it: one at a time, on a thread of its own, with
// lines of progress. What happened to each harness last is kept until the server ends. Thread-safe.
#pragma once

#include "access/access.h"
#include "base/mutex.h"
#include "run/harnesses/harness_store.h"

#include <atomic>
#include <map>
#include <thread>

namespace hone::run {

enum class InstallState { running, succeeded, failed, cancelled };
constexpr auto enum_names(InstallState) {
    using enum InstallState;
    return std::array{EnumName{running, "running"}, EnumName{succeeded, "succeeded"}, EnumName{failed, "failed"},
                      EnumName{cancelled, "cancelled"}};
}

struct InstallStep {
    Time time{};
    std::string text;
    static constexpr Pack fields{
        Field{"time", &InstallStep::time, "When it began."},
        Field{"text", &InstallStep::text, "What is done."},
    };
};

struct HarnessInstallation {
    std::string harness;
    std::string version;
    InstallState state = InstallState::running;
    std::string error;
    std::vector<InstallStep> steps;
    std::string started_by;
    Time started_at{};
    std::optional<Time> ended_at;
    static constexpr Pack fields{
        Field{"harness", &HarnessInstallation::harness, "Name of the harness."},
        Field{"version", &HarnessInstallation::version,
              "Requested version, empty for the newest; the installed one after its end."},
        Field{"state", &HarnessInstallation::state, "running, succeeded, failed or cancelled."},
        Field{"error", &HarnessInstallation::error, "Why it failed, and what to do."},
        Field{"steps", &HarnessInstallation::steps, "Steps so far, the last one is under way."},
        Field{"started_by", &HarnessInstallation::started_by, "Who requested it."},
        Field{"started_at", &HarnessInstallation::started_at, "When it was requested."},
        Field{"ended_at", &HarnessInstallation::ended_at, "null while it runs."},
    };
};

class HarnessInstaller {
public:
    HarnessInstaller(const HarnessStore& store, const Clock& clock, const access::AuditLog& audit)
        : m_store(store),
          m_clock(clock),
          m_audit(audit) {}
    // Cancels what runs.
    ~HarnessInstaller();
    HarnessInstaller(const HarnessInstaller&) = delete;
    HarnessInstaller& operator=(const HarnessInstaller&) = delete;

    // Before requests come: code of the packages runs only in sandboxes of `provider`. Without one nothing is
    // installed. `others`: names of the other servers that share the database; empty: there can be none.
    using Others = std::function<Result<std::vector<std::string>>()>;
    void connect(sandbox::Provider& provider, Others others);

    // All need user_manage. conflict: one is being installed.
    Result<HarnessInstallation> start(const access::Caller& caller, const std::string& harness,
                                      const std::string& version);
    Result<HarnessInstallation> cancel(const access::Caller& caller, const std::string& harness);
    Result<std::vector<HarnessInstallation>> list(const access::Caller& caller) const;

private:
    Result<> require_ready() const;
    void run(const std::string& harness, const std::string& version);
    void finish(const std::string& harness, const Result<InstalledHarness>& outcome);

    const HarnessStore& m_store;
    const Clock& m_clock;
    const access::AuditLog& m_audit;
    sandbox::Provider* m_provider = nullptr; // unchanged after `connect`
    Others m_others;
    mutable Mutex m_mutex;
    std::map<std::string, HarnessInstallation> m_installations GUARDED_BY(m_mutex);
    std::string m_running GUARDED_BY(m_mutex); // harness; empty: none
    std::atomic<bool> m_cancelled{false};
    std::thread m_thread; // started and joined by `start` and the destructor, one after the other
    Mutex m_start;        // held while a request starts one
};

} // namespace hone::run
