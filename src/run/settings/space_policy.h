// What presets, sessions and automations of a space may request at most. The installation's owner sets ceilings for all
// spaces (hone.toml), the owner of a space its policy below them. Both are checked when settings are saved and again
// when a run starts, so that a policy that became stricter also holds for what was saved before. Thread-safe.
#pragma once

#include "access/access.h"
#include "run/settings/settings.h"
#include "skill/grant.h"

#include <map>

namespace hone::run {

// Of the installation: no policy and no setting of a space goes beyond them.
struct Ceilings {
    int64_t memory_bytes = int64_t{16} << 30;
    double cpus = 16;
    int64_t pids = 8192;
    int64_t disk_bytes = int64_t{64} << 30;
    int64_t wall_clock_minutes = 1440;
    int64_t default_tokens = 5'000'000;
    static constexpr Pack fields{
        Field{"memory_bytes", &Ceilings::memory_bytes, "Most memory of one sandbox."},
        Field{"cpus", &Ceilings::cpus, "Most processors of one sandbox."},
        Field{"pids", &Ceilings::pids, "Most processes and threads of one sandbox."},
        Field{"disk_bytes", &Ceilings::disk_bytes, "Largest workspace."},
        Field{"wall_clock_minutes", &Ceilings::wall_clock_minutes, "Longest time limit of one sandbox."},
        Field{"default_tokens", &Ceilings::default_tokens,
              "Token budget of a run whose settings have no budget; 0: none."},
    };
};

struct SpacePolicy {
    Defaulted<bool> open_network = true;
    std::optional<std::vector<std::string>> hosts;
    Defaulted<bool> env_secrets = true;
    Defaulted<sandbox::Tier> minimum_tier = sandbox::Tier::ns;
    std::optional<std::vector<RunProvider>> providers;
    std::optional<int64_t> memory_bytes;
    std::optional<double> cpus;
    std::optional<int64_t> pids;
    std::optional<int64_t> disk_bytes;
    std::optional<int64_t> wall_clock_minutes;
    std::optional<int64_t> tokens;
    std::optional<int64_t> cost_micro_usd;
    std::optional<int64_t> run_days;
    std::optional<int64_t> workspace_days;
    static constexpr Pack fields{
        Field{"open_network", &SpacePolicy::open_network, "Whether the network mode `open` is allowed."},
        Field{"hosts", &SpacePolicy::hosts,
              "Hosts that presets and skills may open, with those of repositories and of model skills: `host`, "
              "`host:port`, `*.example.com`; none: any. A list also excludes the network mode `open`."},
        Field{"env_secrets", &SpacePolicy::env_secrets,
              "Whether secret values may be in the environment of workers: skills with exposure `env`, and "
              "`sandbox.secret_env`."},
        Field{"minimum_tier", &SpacePolicy::minimum_tier, "Weakest isolation tier that is allowed."},
        Field{"providers", &SpacePolicy::providers, "Providers that are allowed; none: all that the installation has."},
        Field{"memory_bytes", &SpacePolicy::memory_bytes, "Most memory of one sandbox; none: the installation's."},
        Field{"cpus", &SpacePolicy::cpus, "Most processors of one sandbox; none: the installation's."},
        Field{"pids", &SpacePolicy::pids, "Most processes and threads of one sandbox; none: the installation's."},
        Field{"disk_bytes", &SpacePolicy::disk_bytes, "Largest workspace; none: the installation's."},
        Field{"wall_clock_minutes", &SpacePolicy::wall_clock_minutes,
              "Longest time limit of one sandbox; none: the installation's."},
        Field{"tokens", &SpacePolicy::tokens,
              "Largest token budget of one run, and the budget of runs without one; none: no limit."},
        Field{"cost_micro_usd", &SpacePolicy::cost_micro_usd,
              "Largest cost budget of one run in millionths of a US dollar, and the budget of runs without one; none: "
              "no limit."},
        Field{"run_days", &SpacePolicy::run_days,
              "Days that ended runs with their transcripts and artifacts are kept, if less than the installation's."},
        Field{"workspace_days", &SpacePolicy::workspace_days,
              "Days that the workspace of an ended run is kept for follow-ups, if less than the installation's."},
    };
};

struct SpacePolicyView {
    SpacePolicy policy;
    Ceilings installation;
    static constexpr Pack fields{
        Field{"policy", &SpacePolicyView::policy, "Policy of the space."},
        Field{"installation", &SpacePolicyView::installation, "Limits of the installation; they apply as well."},
    };
};

class SpacePolicies {
public:
    SpacePolicies(sql::Database& database, const Clock& clock, const access::AuditLog& audit, const Ceilings& ceilings)
        : m_database(database),
          m_clock(clock),
          m_audit(audit),
          m_ceilings(ceilings) {}

    Result<SpacePolicyView> find(const access::Caller& caller, const access::SpaceId& space) const;
    // Replaces it. What was saved before and goes beyond it stays saved and does not start any more.
    Result<SpacePolicyView> set(const access::Caller& caller, const access::SpaceId& space, const SpacePolicy& policy);
    // Code::forbidden names the field, its value, the limit and its source.
    Result<> check(const access::SpaceId& space, const Settings& settings, const skill::Grant& grant) const;
    // Where the installation's package mirrors are; before requests come.
    void set_mirrors(broker::PackageMirrors mirrors) { m_mirrors = std::move(mirrors); }
    const broker::PackageMirrors& mirrors() const { return m_mirrors; }
    // By the id of the space; spaces without a policy are not in it.
    Result<std::map<std::string, SpacePolicy>> all() const;
    // The budget that a run gets: the lower of its own and the policy's, or else the installation's default.
    Result<Budget> budget_of(const access::SpaceId& space, const Budget& wanted) const;

private:
    Result<SpacePolicy> read(const access::SpaceId& space) const;

    sql::Database& m_database;
    const Clock& m_clock;
    const access::AuditLog& m_audit;
    const Ceilings m_ceilings;
    broker::PackageMirrors m_mirrors;
};

bool allows(const SpacePolicy& policy, RunProvider provider);

// Whether `pattern` (a host of a policy) covers every host that `rule` names.
bool covers(const skill::HostRule& pattern, const skill::HostRule& rule);

// The parts of `check` that need no database.
Result<> check_ceilings(const Ceilings& ceilings, const Settings& settings);
Result<> check_policy(const SpacePolicy& policy, const Settings& settings, const skill::Grant& grant,
                      const broker::PackageMirrors& mirrors = {});

} // namespace hone::run
