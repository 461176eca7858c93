#include "run/worker/network.h"

#include "run/build_network.h"
#include "run/worker/chart_style.h"
#include "run/worker/harness_setup.h"
#include "run/worker/run_key.h"

#include <fcntl.h>
#include <sys/stat.h>

namespace hone::run {

namespace {

constexpr std::string_view own_programs = "/hone/bin:/opt/harness/node_modules/.bin:";

broker::SpendingLimit limit_of(const Budget& budget) {
    broker::SpendingLimit limit;
    limit.tokens = budget.tokens;
    if (budget.cost_micro_usd) limit.cost_nano_usd = *budget.cost_micro_usd * 1000;
    limit.soft_percent = *budget.soft_percent;
    return limit;
}

// The key of a hone skill must be one of the person who started the run: so a run never reads more than its starter.
// And every message of the conversation must be of that person: otherwise others would read through the worker.
// Called on the gateway's threads, so it has copies of what it needs.
std::function<Result<>(std::string_view key)> skill_key_check(const LiveRun& live) {
    const access::NewRunKey starter = new_run_key(live.record, {});
    return [&keys = live.services.access.keys, &store = live.services.store, id = live.id, user = starter.user,
            starter_key = starter.key, space = live.record.run.space_id,
            run = live.id.text()](std::string_view key) -> Result<> {
        const auto caller = keys.authenticate(key, "worker", run);
        if (!caller.ok()) return forbidden("the key of the hone skill is unknown, expired or revoked");
        if (!user || caller.value().user != *user)
            return forbidden("the key of the hone skill is not a personal key of the person who started this run");
        if (TRY(store.is_shared(id)))
            return forbidden("another person has written a message in this session: the key of the hone skill is only "
                             "used while all messages are of the person who started the run");
        if (!caller.value().role_in(space)) return forbidden("the key of the hone skill belongs to another space");
        if (!starter_key) return {};
        const auto own = keys.find(*starter_key);
        const auto scope = own.ok() ? access::scope_of(own.value().scopes) : Result<access::PermissionSet>(own.error());
        if (!scope.ok() || own.value().state != access::KeyState::active ||
            !scope.value().contains(caller.value().scope))
            return forbidden("the key of the hone skill has more permissions than the key that started this run");
        return {};
    };
}

// For the gateway: the accounts of the run's calls, and where their spans go.
broker::GatewayRun gateway_run(LiveRun& live, const RunIdentity& identity, const Budget& budget) {
    const Run& run = live.record.run;
    const Settings& settings = live.settings();
    broker::GatewayRun known;
    known.account.space_id = run.space_id.text();
    known.account.run_id = live.id.text();
    known.account.automation_id = run.automation_id.value_or("");
    known.account.run = limit_of(budget);
    if (const auto& per_day = live.record.manifest.automation_budget) known.account.automation_day = limit_of(*per_day);
    known.place = {run.space_id.text(), std::string(runs_project), live.id.text(),
                   run.trace_id,        root_span_id(live.id),     live.id.text()};
    known.capture = *settings.capture;
    known.run_key = crypto::SecretBytes(*identity.key.key);
    known.check_key = skill_key_check(live);
    known.tool_timeout = std::chrono::seconds(*settings.sandbox.value.tool_seconds);
    known.budget_stopped = [&live](broker::BudgetScope, const std::string& message) { live.stop_for_budget(message); };
    return known;
}

bool reads_packages(const LiveRun& live) {
    const SandboxSettings& wanted = *live.settings().sandbox;
    return *wanted.network != broker::EgressMode::none && !wanted.packages.value.empty();
}

// For the broker: the hosts that the run may reach, and with which secrets.
Result<broker::RunAccess> broker_access(const LiveRun& live, const RunIdentity& identity) {
    const Run& run = live.record.run;
    const SandboxSettings& wanted = *live.settings().sandbox;
    broker::RunAccess access;
    access.run_id = live.id.text();
    access.space_id = run.space_id.text();
    access.project_id = run.project_id.text();
    access.mode = *wanted.network;
    access.grant = live.grant;
    for (const std::string& host : *wanted.allow_hosts)
        access.rules.push_back({TRY(parse_allowed_host(host)), false, "preset"});
    if (live.services.networks != nullptr && reads_packages(live))
        for (broker::PolicyRule& rule : TRY(live.services.networks->mirrors().rules(*wanted.packages)))
            access.rules.push_back(std::move(rule));
    access.forges = TRY(live.services.skills.forges(run.space_id, repository_urls(live.settings())));
    access.decisions = live.services.egress.of(run.space_id, live.id);
    access.secrets = live.services.skills.opener(run.space_id, live.id);
    access.seed = identity.seed;
    return access;
}

} // namespace

std::vector<std::string> repository_urls(const Settings& settings) {
    std::vector<std::string> urls;
    for (const auto& repo : *settings.repos) urls.push_back(repo.url);
    return urls;
}

Result<> fill_file(const std::string& path, std::string_view content) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file.is_open()) return system_error("open " + path, errno);
    TRY(write_all(file.get(), content));
    if (::fchmod(file.get(), 0644) != 0) return system_error("chmod " + path, errno);
    return {};
}

Result<RunIdentity> make_run_identity(const LiveRun& live) {
    const Run& run = live.record.run;
    const Time expires_at =
        live.services.clock.now() + std::chrono::minutes(*live.settings().sandbox.value.wall_clock_minutes + 5);
    RunIdentity identity;
    identity.key = TRY(live.services.access.keys.create_for_run(new_run_key(live.record, expires_at)));
    identity.seed = TRY(live.services.skills.seed(run.space_id, live.id));
    return identity;
}

Result<> connect_run(LiveRun& run, const RunIdentity& identity) {
    auto listeners = TRY(run.sandbox->listeners());
    if (listeners.size() != 2) return internal("the sandbox has no listeners");
    // The policy may have become stricter since the run was started.
    Budget budget = *run.settings().budget;
    if (const SpacePolicies* policies = run.services.policies; policies != nullptr)
        budget = TRY(policies->budget_of(run.record.run.space_id, budget));
    TRY(run.services.gateway.add_run(run.id.text(), gateway_run(run, identity, budget)));
    run.is_at_gateway = true;
    auto access = TRY(broker_access(run, identity));
    run.attached =
        TRY(run.services.broker.attach(std::move(access), {std::move(listeners[0]), std::move(listeners[1])}));
    const broker::SandboxEnvironment environment = TRY(broker::sandbox_environment(*run.attached));
    for (const broker::MountedFile& file : environment.files) {
        const bool in_folder = file.path.starts_with("/hone/") && sandbox::is_clean_absolute_path(file.path);
        if (!in_folder && file.path != system_trust_file) return internal("no place for " + file.path);
        const std::string source = run.folder() + (in_folder ? file.path : "/trust");
        TRY(fill_file(source, file.content));
        TRY(run.sandbox->refresh({source, file.path, true}));
    }
    run.environment = {{"PATH", std::string(own_programs) + std::string(sandbox::worker_path)},
                       {"HOME", std::string(home_inside(run.settings()))},
                       {"LANG", "C.UTF-8"},
                       {"MATPLOTLIBRC", std::string(chart_style_path)}};
    if (const BuildNetworks* networks = run.services.networks; networks != nullptr && reads_packages(run)) {
        const auto& packages = *run.settings().sandbox.value.packages;
        for (const auto& [name, value] : networks->mirrors().variables(packages)) run.environment[name] = value;
        TRY(write_package_files(networks->mirrors(), packages, run.folder() + "/hone"));
        TRY(run.sandbox->refresh({run.folder() + "/hone/packages", "/hone/packages", true}));
    }
    for (const auto& [name, value] : *run.settings().sandbox.value.env) run.environment[name] = value;
    // The init script never gets them: its layers are kept and shared.
    for (const auto& [name, mask] : *run.settings().sandbox.value.secret_env) {
        const auto value = TRY(run.services.skills.secret_variable(run.record.run.space_id, run.id,
                                                                   *run.record.manifest.secret_env_of, name));
        run.environment[name] = value.reveal();
    }
    for (const auto& [name, value] : environment.variables) run.environment[name] = value;
    run.note("project", "Bound to the project; its spans and evals can be read.");
    return {};
}

} // namespace hone::run
