#include "run/harnesses/harness_installer.h"

#include "base/log.h"
#include "base/text.h"
#include "harness/catalog.h"

#include <fmt/format.h>

namespace hone::run {

using access::Caller, access::Permission;

namespace {

constexpr size_t most_steps = 100;
constexpr size_t most_error_bytes = 4000;

Result<> require_installable(const std::string& name, const std::string& version) {
    const harness::Harness* known = harness::find(name);
    if (known == nullptr || known->package.empty())
        return invalid("\"" + std::string(truncate_utf8(name, 100)) +
                       "\" is not a harness that can be installed; GET /v1/harnesses lists those that can");
    if (!version.empty() && !is_harness_version(version))
        return invalid("\"" + std::string(truncate_utf8(version, 100)) + "\" is not a version");
    return {};
}

} // namespace

HarnessInstaller::~HarnessInstaller() {
    m_cancelled = true;
    if (m_thread.joinable()) m_thread.join();
}

void HarnessInstaller::connect(sandbox::Provider& provider, Others others) {
    m_provider = &provider;
    m_others = std::move(others);
}

// Where an installation from here could not be used, the error states what to do instead.
Result<> HarnessInstaller::require_ready() const {
    if (m_provider == nullptr)
        return unavailable("this machine cannot isolate programs, so no harness can be installed or run on it: "
                           "hone check explains what is missing");
    if (m_others && !TRY(m_others()).empty())
        return unavailable("several servers share the database, and each has harnesses of its own: run hone harness "
                           "install NAME --data-dir DIR on each of them");
    return {};
}

Result<HarnessInstallation> HarnessInstaller::start(const Caller& caller, const std::string& harness,
                                                    const std::string& version) {
    TRY(caller.require(Permission::user_manage));
    TRY(require_installable(harness, version));
    TRY(require_ready());
    const Lock starting(m_start);
    HarnessInstallation made;
    made.harness = harness;
    made.version = version;
    made.started_by = caller.name;
    made.started_at = m_clock.now();
    {
        const Lock lock(m_mutex);
        if (!m_running.empty()) return conflict(m_running + " is being installed: wait until it is done, or cancel it");
    }
    // What cannot be recorded is not done.
    TRY(m_audit.record(caller, {"harness_install", {}, harness, {{"version", version}}}));
    if (m_thread.joinable()) m_thread.join(); // of an installation that has ended
    m_cancelled = false;
    {
        const Lock lock(m_mutex);
        m_running = harness;
        m_installations[harness] = made;
    }
    m_thread = std::thread([this, harness, version] { run(harness, version); });
    return made;
}

void HarnessInstaller::run(const std::string& harness, const std::string& version) {
    const auto note = [&](const std::string& line) {
        const Lock lock(m_mutex);
        std::vector<InstallStep>& steps = m_installations[harness].steps;
        if (steps.size() < most_steps)
            steps.push_back({m_clock.now(), repair_utf8(truncate_utf8(line, most_error_bytes))});
    };
    try {
        finish(harness, m_store.install(*m_provider, harness, version, "", m_clock,
                                        {note, [this] { return m_cancelled.load(); }}));
    } catch (const std::exception& error) {
        finish(harness, unavailable(error.what()));
    }
}

void HarnessInstaller::finish(const std::string& harness, const Result<InstalledHarness>& outcome) {
    using enum InstallState;
    const InstallState state = outcome.ok() ? succeeded : m_cancelled ? cancelled : failed;
    const std::string error = outcome.ok() ? "" : repair_utf8(truncate_utf8(outcome.error().message, most_error_bytes));
    const auto recorded = m_audit.record(
        Caller::system(), {"harness_install_end",
                           {},
                           harness,
                           {{"state", name_of(state)}, {"version", outcome.ok() ? outcome.value().version : ""}}});
    if (!recorded.ok()) log(Level::error, "audit entry lost", {{"error", recorded.error().message}});
    log(outcome.ok() ? Level::info : Level::warning, "harness installation ended",
        {{"harness", harness}, {"state", name_of(state)}, {"error", error}});
    const Lock lock(m_mutex);
    HarnessInstallation& ended = m_installations[harness];
    ended.state = state;
    if (outcome.ok()) ended.version = outcome.value().version;
    if (state == failed) ended.error = error;
    ended.ended_at = m_clock.now();
    m_running.clear();
}

Result<HarnessInstallation> HarnessInstaller::cancel(const Caller& caller, const std::string& harness) {
    TRY(caller.require(Permission::user_manage));
    const Lock lock(m_mutex);
    if (m_running.empty() || m_running != harness)
        return not_found("an installation of " + std::string(truncate_utf8(harness, 100)) + " that runs");
    m_cancelled = true;
    return m_installations[harness];
}

Result<std::vector<HarnessInstallation>> HarnessInstaller::list(const Caller& caller) const {
    TRY(caller.require(Permission::user_manage));
    const Lock lock(m_mutex);
    std::vector<HarnessInstallation> all;
    for (const auto& [name, one] : m_installations) all.push_back(one);
    return all;
}

} // namespace hone::run
