#include "run/settings/space_policy.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

using access::Caller, access::Permission, access::SpaceId;

namespace {

constexpr std::string_view by_space = "this space's policy (see hone space policy)";
constexpr std::string_view by_installation = "this installation";

// The same value as in the field's own unit, and in one that people read.
std::string shown_bytes(int64_t bytes) {
    if (bytes >= 1 << 30 && bytes % (1 << 30) == 0) return fmt::format("{} GiB", bytes >> 30);
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
    return fmt::format("{} bytes", bytes);
}

Error over(std::string_view field, const std::string& wanted, const std::string& most, std::string_view by) {
    return forbidden(fmt::format("{} is {}; {} allows at most {}", field, wanted, by, most));
}

template <class Number>
Result<> check_most(std::string_view field, Number wanted, const std::optional<Number>& most, std::string_view by) {
    if (!most || wanted <= *most) return {};
    return over(field, fmt::format("{}", wanted), fmt::format("{}", *most), by);
}

Result<> check_bytes(std::string_view field, int64_t wanted, const std::optional<int64_t>& most, std::string_view by) {
    if (!most || wanted <= *most) return {};
    return over(field, shown_bytes(wanted), shown_bytes(*most), by);
}

struct SandboxMost {
    std::optional<int64_t> memory_bytes;
    std::optional<double> cpus;
    std::optional<int64_t> pids;
    std::optional<int64_t> disk_bytes;
    std::optional<int64_t> wall_clock_minutes;
};

Result<> check_sandbox_most(const SandboxMost& most, const SandboxSettings& sandbox, std::string_view by) {
    TRY(check_bytes("sandbox.memory_bytes", *sandbox.memory_bytes, most.memory_bytes, by));
    TRY(check_most<double>("sandbox.cpus", *sandbox.cpus, most.cpus, by));
    TRY(check_most<int64_t>("sandbox.pids", *sandbox.pids, most.pids, by));
    TRY(check_bytes("sandbox.disk_bytes", *sandbox.disk_bytes, most.disk_bytes, by));
    TRY(check_most<int64_t>("sandbox.wall_clock_minutes", *sandbox.wall_clock_minutes, most.wall_clock_minutes, by));
    // The init script runs in a sandbox of the same size; it may not outlive what a sandbox may.
    if (most.wall_clock_minutes)
        TRY(check_most<int64_t>("sandbox.init_seconds", *sandbox.init_seconds,
                                std::optional(*most.wall_clock_minutes * 60), by));
    return {};
}

std::string shown_host(const skill::HostRule& rule) {
    return rule.port == 443 ? rule.host : fmt::format("{}:{}", rule.host, rule.port);
}

// The host of an address; none when it has none, as file:///.
Result<std::optional<skill::HostRule>> host_of(std::string_view url) {
    constexpr std::string_view secure = "https://", plain = "http://";
    const bool tls = url.starts_with(secure);
    if (!tls && !url.starts_with(plain)) return std::optional<skill::HostRule>();
    url.remove_prefix(tls ? secure.size() : plain.size());
    const auto parsed = TRY(broker::parse_host_port(url.substr(0, url.find_first_of("/?#")), tls ? 443 : 80));
    skill::HostRule rule;
    rule.host = parsed.host;
    rule.port = parsed.port;
    rule.tls = tls;
    return std::optional(rule);
}

Result<> check_hosts(const std::vector<std::string>& hosts, const Settings& settings, const skill::Grant& grant,
                     const broker::PackageMirrors& mirrors) {
    std::vector<skill::HostRule> patterns;
    for (const std::string& host : hosts) patterns.push_back(TRY(parse_allowed_host(host)));
    const auto check = [&](const skill::HostRule& rule, const std::string& origin) -> Result<> {
        if (std::any_of(patterns.begin(), patterns.end(), [&](const auto& pattern) { return covers(pattern, rule); }))
            return {};
        return forbidden(fmt::format("{} opens {}, which is not among the hosts of {}", origin,
                                     truncate_utf8(shown_host(rule), 200), by_space));
    };
    for (const std::string& host : *settings.sandbox.value.allow_hosts) {
        const skill::HostRule rule = TRY(parse_allowed_host(host));
        TRY(check(rule, "sandbox.allow_hosts"));
    }
    for (const std::string& host : *settings.sandbox.value.setup_hosts) {
        const skill::HostRule rule = TRY(parse_allowed_host("sandbox.setup_hosts", host));
        TRY(check(rule, "sandbox.setup_hosts"));
    }
    for (const broker::PolicyRule& rule : TRY(mirrors.rules(*settings.sandbox.value.packages)))
        TRY(check(rule.host, "sandbox.packages"));
    for (const skill::HostRule& rule : grant.allow) TRY(check(rule, "a skill"));
    for (const skill::Credential& credential : grant.credentials)
        for (const skill::HostRule& rule : credential.hosts) TRY(check(rule, "the skill with " + credential.variable));
    for (const RepoSettings& repo : *settings.repos)
        if (const auto rule = TRY(host_of(repo.url))) TRY(check(*rule, "repos"));
    for (const skill::ModelEndpoint& endpoint : grant.models)
        if (const auto rule = TRY(host_of(endpoint.base_url)))
            TRY(check(*rule, "the model skill " + endpoint.skill_id));
    return {};
}

Result<> check_policy_number(std::string_view field, const std::optional<int64_t>& value, int64_t least, int64_t most) {
    if (!value || (*value >= least && *value <= most)) return {};
    return invalid(fmt::format("{} must be between {} and {}", field, least, most));
}

// What the settings themselves could never be is no policy.
Result<> validate_policy(const SpacePolicy& policy) {
    constexpr int64_t largest = int64_t{1} << 50;
    TRY(check_policy_number("memory_bytes", policy.memory_bytes, int64_t{64} << 20, largest));
    TRY(check_policy_number("pids", policy.pids, 8, 1'000'000));
    TRY(check_policy_number("disk_bytes", policy.disk_bytes, int64_t{1} << 20, largest));
    TRY(check_policy_number("wall_clock_minutes", policy.wall_clock_minutes, 1, 1440));
    TRY(check_policy_number("tokens", policy.tokens, 1, largest));
    TRY(check_policy_number("cost_micro_usd", policy.cost_micro_usd, 1, largest));
    TRY(check_policy_number("run_days", policy.run_days, 1, 36'500));
    TRY(check_policy_number("workspace_days", policy.workspace_days, 1, 36'500));
    if (policy.cpus && !(*policy.cpus >= 0.05 && *policy.cpus <= 1024))
        return invalid("cpus must be between 0.05 and 1024");
    if (policy.providers && (policy.providers->empty() || policy.providers->size() > 10))
        return invalid("providers needs at least one provider; leave it out to allow all");
    if (policy.hosts && policy.hosts->size() > 500) return invalid("hosts has more than 500 entries");
    if (policy.hosts)
        for (const std::string& host : *policy.hosts)
            if (!parse_allowed_host(host).ok())
                return invalid("hosts: \"" + std::string(truncate_utf8(host, 100)) +
                               "\" is not a host: write api.example.com, api.example.com:8443 or *.example.com");
    return {};
}

} // namespace

bool allows(const SpacePolicy& policy, RunProvider provider) {
    return !policy.providers || std::ranges::find(*policy.providers, provider) != policy.providers->end();
}

bool covers(const skill::HostRule& pattern, const skill::HostRule& rule) {
    if (pattern.port != rule.port) return false;
    if (pattern.host == rule.host) return true;
    if (!pattern.host.starts_with("*.")) return false;
    const std::string_view below = std::string_view(pattern.host).substr(1); // ".example.com"
    std::string_view host = rule.host;
    if (host.starts_with("*.")) host.remove_prefix(2);
    return host.size() > below.size() && host.ends_with(below);
}

Result<> check_ceilings(const Ceilings& ceilings, const Settings& settings) {
    return check_sandbox_most(
        {ceilings.memory_bytes, ceilings.cpus, ceilings.pids, ceilings.disk_bytes, ceilings.wall_clock_minutes},
        *settings.sandbox, by_installation);
}

Result<> check_policy(const SpacePolicy& policy, const Settings& settings, const skill::Grant& grant,
                      const broker::PackageMirrors& mirrors) {
    const SandboxSettings& sandbox = *settings.sandbox;
    if (!allows(policy, *settings.provider))
        return forbidden(fmt::format("provider is {}, which {} does not allow", name_of(*settings.provider), by_space));
    TRY(check_sandbox_most(
        {policy.memory_bytes, policy.cpus, policy.pids, policy.disk_bytes, policy.wall_clock_minutes}, sandbox,
        by_space));
    if (*sandbox.network == broker::EgressMode::open && (!*policy.open_network || policy.hosts))
        return forbidden(fmt::format("sandbox.network is open, which {} does not allow", by_space));
    if (policy.hosts) TRY(check_hosts(*policy.hosts, settings, grant, mirrors));
    if (*sandbox.minimum_tier < *policy.minimum_tier)
        return forbidden(fmt::format("sandbox.minimum_tier is {}; {} requires {}", name_of(*sandbox.minimum_tier),
                                     by_space, name_of(*policy.minimum_tier)));
    if (!*policy.env_secrets && !sandbox.secret_env.value.empty())
        return forbidden(fmt::format("sandbox.secret_env puts the value of {} into the environment, which {} does not "
                                     "allow: use a skill with a brokered secret",
                                     truncate_utf8(sandbox.secret_env.value.begin()->first, 100), by_space));
    if (!*policy.env_secrets)
        for (const skill::Credential& credential : grant.credentials)
            if (!credential.brokered)
                return forbidden(fmt::format("a skill puts the value of {} into the environment, which {} does not "
                                             "allow: set its exposure to brokered",
                                             credential.variable, by_space));
    const Budget& budget = *settings.budget;
    if (budget.tokens) TRY(check_most<int64_t>("budget.tokens", *budget.tokens, policy.tokens, by_space));
    if (budget.cost_micro_usd)
        TRY(check_most<int64_t>("budget.cost_micro_usd", *budget.cost_micro_usd, policy.cost_micro_usd, by_space));
    return {};
}

Result<SpacePolicy> SpacePolicies::read(const SpaceId& space) const {
    const auto rows = TRY(m_database.query("SELECT policy FROM space_policies WHERE space_id = ?", space));
    if (rows.empty()) return SpacePolicy{};
    return json::read<SpacePolicy>(rows.front().text(0));
}

Result<std::map<std::string, SpacePolicy>> SpacePolicies::all() const {
    std::map<std::string, SpacePolicy> policies;
    for (const auto& row : TRY(m_database.query("SELECT space_id, policy FROM space_policies")))
        policies[row.text(0)] = TRY(json::read<SpacePolicy>(row.text(1)));
    return policies;
}

Result<SpacePolicyView> SpacePolicies::find(const Caller& caller, const SpaceId& space) const {
    TRY(caller.require(Permission::space_read, space));
    return SpacePolicyView{TRY(read(space)), m_ceilings};
}

Result<SpacePolicyView> SpacePolicies::set(const Caller& caller, const SpaceId& space, const SpacePolicy& policy) {
    TRY(caller.require(Permission::space_update, space));
    TRY(validate_policy(policy));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO space_policies (space_id, policy, updated_by, updated_at) VALUES (?, ?, ?, ?) ON CONFLICT "
            "(space_id) DO UPDATE SET policy = excluded.policy, updated_by = excluded.updated_by, updated_at = "
            "excluded.updated_at",
            space, json::write(policy), caller.name, m_clock.now()));
        return m_audit.record(transaction, caller,
                              {.action = "space_policy_update",
                               .space = space,
                               .target = space.text(),
                               .details = json::to_value(policy).as_object()});
    }));
    return SpacePolicyView{policy, m_ceilings};
}

Result<> SpacePolicies::check(const SpaceId& space, const Settings& settings, const skill::Grant& grant) const {
    TRY(check_ceilings(m_ceilings, settings));
    TRY(m_mirrors.rules(*settings.sandbox.value.packages)); // those that the installation has
    const SpacePolicy policy = TRY(read(space));
    return check_policy(policy, settings, grant, m_mirrors);
}

Result<Budget> SpacePolicies::budget_of(const SpaceId& space, const Budget& wanted) const {
    const SpacePolicy policy = TRY(read(space));
    Budget budget = wanted;
    const bool names_none = !budget.tokens && !budget.cost_micro_usd;
    const auto lower = [](std::optional<int64_t>& own, const std::optional<int64_t>& most) {
        if (most) own = std::min(own.value_or(*most), *most);
    };
    lower(budget.tokens, policy.tokens);
    lower(budget.cost_micro_usd, policy.cost_micro_usd);
    if (names_none && !budget.tokens && !budget.cost_micro_usd && m_ceilings.default_tokens > 0)
        budget.tokens = m_ceilings.default_tokens;
    return budget;
}

} // namespace hone::run
