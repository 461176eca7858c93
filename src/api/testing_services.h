// For tests and fuzzing of the API: the complete set of services on a real database. Nothing runs by itself; there is
// no span engine and nothing is isolated, so what needs them is unavailable. Not part of the product.
#pragma once

#include "api/core/call.h"
#include "automation/automations.h"
#include "automation/scheduler.h"
#include "broker/spending/budget.h"
#include "evaluate/evaluate.h"
#include "forge/catalog.h"
#include "forge/hooks.h"
#include "identity/identity.h"
#include "monitor/monitors.h"
#include "notice/sender.h"
#include "run/outputs/outputs.h"
#include "run/storage/storage.h"
#include "signal/replay/fix_replays.h"
#include "signal/signal.h"
#include "skill/skills.h"
#include "telemetry/spans.h"

namespace hone::api::testing {

template <class T>
T must_make(Result<T> result) {
    CHECK_OR_ABORT(result.ok());
    return std::move(result).value();
}

// Lets every worker's settings pass: there are no skills here.
class AnySettings final : public run::SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const run::Settings&) override { return {}; }
};

inline std::unique_ptr<secret::MasterKeys> master_keys_in(const std::string& directory) {
    secret::MasterKeyOptions options;
    options.file = directory + "/master.key";
    options.create_file = true;
    return must_make(secret::MasterKeys::open(std::move(options)));
}

// Takes spans and keeps them in its log; there is no engine to load them into, so queries are unavailable.
inline std::unique_ptr<telemetry::Telemetry> telemetry_in(const std::string& directory,
                                                          telemetry::ProjectDirectory& projects, const Clock& clock) {
    telemetry::TelemetryOptions options;
    options.directory = directory + "/telemetry";
    options.engine.program = {directory + "/no-engine"};
    return must_make(telemetry::Telemetry::open(std::move(options), projects, clock));
}

class StoredSeries final : public monitor::SeriesSource {
public:
    explicit StoredSeries(telemetry::Telemetry& telemetry) : m_telemetry(telemetry) {}
    Result<std::vector<telemetry::SeriesPoint>> series(const telemetry::Series& request) override {
        auto* store = TRY(m_telemetry.store());
        return store->series(request);
    }

private:
    telemetry::Telemetry& m_telemetry;
};

struct ServiceSet {
    ServiceSet(sql::Database& given_database, const Clock& given_clock, access::Access& given_access,
               std::string directory)
        : database(given_database),
          clock(given_clock),
          access(given_access),
          folder(std::move(directory)),
          master_keys(master_keys_in(folder)),
          telemetry(telemetry_in(folder, trace_projects, clock)) {}

    Services services(Installation& installation) {
        return {.access = access,
                .clock = clock,
                .installation = installation,
                .identities = identities,
                .spans = spans,
                .run = runs,
                .review = reviews,
                .outputs = outputs,
                .storage = storage,
                .skills = skills,
                .vault = vault,
                .usage = ledger,
                .budgets = budgets,
                .automations = automations,
                .scheduler = scheduler,
                .monitors = monitors,
                .notices = notices,
                .destinations = destinations,
                .sender = sender,
                .signal = signal,
                .fix_replays = fix_replays,
                .evaluate = evaluate,
                .repos = catalog,
                .forge_hooks = forge_hooks};
    }

    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    const std::string folder;
    AnySettings any_settings;
    std::unique_ptr<secret::MasterKeys> master_keys;
    secret::Vault vault{database, clock, access.audit, *master_keys};
    identity::Identities identities{database, clock, access, vault};
    skill::Skills skills{database, clock, access, vault};
    telemetry::TraceProjects trace_projects{access, database, clock, 90};
    std::unique_ptr<telemetry::Telemetry> telemetry;
    telemetry::Spans spans{*telemetry, trace_projects, access, clock};
    run::Providers providers;
    run::SpacePolicies policies{database, clock, access.audit, {}};
    run::RunServices runs{database, clock, access, any_settings, policies, providers, folder};
    // Without mirrors and without a forge: nothing is isolated here.
    forge::Repos repos{database, clock, access, skills, folder + "/repos"};
    forge::Catalog catalog{repos, clock};
    forge::Hooks forge_hooks{database, access, vault, repos};
    run::ReviewServices reviews{database, clock, access, runs};
    run::Outputs outputs{runs, reviews};
    run::Storage storage{{database, clock, access, runs.artifacts, runs.uploads, policies, folder}};
    broker::UsageLedger ledger{database};
    broker::Budgets budgets{database, ledger, access.audit, clock};
    automation::Automations automations{database, clock, access, runs.presets, *master_keys};
    automation::Firing firing{database, clock, access, runs.runs, ledger, automations};
    automation::Scheduler scheduler{database, clock, firing, *master_keys, {}}; // not started
    notice::Notices notices{database, clock};
    notice::Destinations destinations{database, clock, access, vault, false};
    notice::Sender sender{database, clock, destinations, {}}; // not started
    StoredSeries series{*telemetry};
    monitor::Monitors monitors{database, clock, access, series, notices};
    evaluate::Evaluate evaluate{database, clock, access};
    signal::Signal signal{
        {database, clock, access, runs.runs, runs.presets, runs.artifacts, telemetry.get(), &notices, &automations}};
    signal::FixReplays fix_replays{{database, clock, access, evaluate, signal.evaluators, signal.issues, runs.artifacts,
                                    reviews.branches, reviews, &spans}};
};

} // namespace hone::api::testing
