#include "run/managed/plan.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr size_t most_hosts = 16; // of one variable in a vault
constexpr std::string_view forge_host = "github.com";

// The provider knows hosts, nothing finer.
Result<std::string> bare_host(const skill::HostRule& rule, const std::string& origin) {
    const bool is_fine = rule.path_prefix != "/" || !rule.methods.empty() || rule.websocket;
    if (is_fine)
        return invalid(fmt::format("{} limits {} to paths or methods, which provider claude-managed cannot keep: use "
                                   "a skill whose rule is the host alone, or another provider",
                                   origin, rule.host));
    if (rule.port != 443 || !rule.tls)
        return invalid(fmt::format("{} opens {}:{}, and provider claude-managed reaches port 443 with TLS only", origin,
                                   rule.host, rule.port));
    return rule.host;
}

bool is_of_forge(const skill::HostRule& rule) {
    return rule.host == forge_host || rule.host.ends_with("." + std::string(forge_host)) ||
           rule.host.ends_with(".githubusercontent.com");
}

void add_once(std::vector<std::string>& hosts, const std::string& host) {
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
}

Result<skill::ModelEndpoint> endpoint_of(const skill::Grant& grant) {
    for (const skill::ModelEndpoint& endpoint : grant.models) {
        if (endpoint.protocol != "anthropic") continue;
        if (endpoint.secret_id.empty())
            return invalid("the model skill of provider claude-managed needs an API key: the provider has no sessions "
                           "without one");
        skill::ModelEndpoint found = endpoint;
        while (found.base_url.ends_with('/')) found.base_url.pop_back();
        return found;
    }
    return invalid("provider claude-managed needs a model skill with an endpoint of type anthropic: its base URL and "
                   "its API key are those of the provider");
}

Result<> add_credentials(const skill::Grant& grant, bool has_repositories, ManagedPlan& plan) {
    for (const skill::Credential& credential : grant.credentials) {
        // The token of the repositories stays with the provider's git proxy; the agent has no variable with it.
        if (!credential.hosts.empty() && std::ranges::all_of(credential.hosts, is_of_forge)) {
            if (!has_repositories) continue;
            plan.repository_secret = credential.secret_id;
            plan.repository_secret_name = credential.secret_name;
            continue;
        }
        if (!credential.brokered)
            return invalid(fmt::format("the skill with {} puts its value into the environment, and provider "
                                       "claude-managed has secrets with hosts only: set its exposure to brokered",
                                       credential.variable));
        VaultVariable variable{credential.variable, credential.secret_id, credential.secret_name, {}};
        for (const skill::HostRule& rule : credential.hosts)
            add_once(variable.hosts, TRY(bare_host(rule, "the skill with " + credential.variable)));
        if (variable.hosts.empty() || variable.hosts.size() > most_hosts)
            return invalid(
                fmt::format("the secret {} must be bound to 1 to {} hosts", credential.variable, most_hosts));
        for (const std::string& host : variable.hosts) add_once(plan.environment.hosts, host);
        plan.variables.push_back(std::move(variable));
    }
    return {};
}

Result<managed::RepositorySpec> repository_of(const RepoSettings& repo) {
    constexpr std::string_view begin = "https://github.com/";
    if (!repo.url.starts_with(begin) || std::ranges::count(repo.url.substr(begin.size()), '/') != 1)
        return invalid("repos: provider claude-managed clones from https://github.com/OWNER/NAME only");
    if (!repo.path.value.empty() || *repo.depth != 0)
        return invalid("repos: provider claude-managed clones whole repositories; leave path and depth empty");
    managed::RepositorySpec made;
    made.url = repo.url;
    const bool is_commit =
        repo.ref.value.size() == 40 && repo.ref.value.find_first_not_of("0123456789abcdef") == std::string::npos;
    (is_commit ? made.commit : made.branch) = *repo.ref;
    return made;
}

} // namespace

Result<ManagedPlan> plan_managed(const Settings& settings, const skill::Grant& grant) {
    ManagedPlan plan;
    plan.endpoint = TRY(endpoint_of(grant));
    for (const RepoSettings& repo : *settings.repos) plan.repositories.push_back(TRY(repository_of(repo)));
    plan.environment.label = "hone";
    plan.environment.open = *settings.sandbox.value.network == broker::EgressMode::open;
    TRY(add_credentials(grant, !plan.repositories.empty(), plan));
    for (const skill::HostRule& rule : grant.allow)
        if (!is_of_forge(rule)) add_once(plan.environment.hosts, TRY(bare_host(rule, "a skill")));
    for (const std::string& host : *settings.sandbox.value.allow_hosts) {
        const skill::HostRule rule = TRY(parse_allowed_host(host));
        add_once(plan.environment.hosts, TRY(bare_host(rule, "sandbox.allow_hosts")));
    }
    if (*settings.sandbox.value.network == broker::EgressMode::none && !plan.environment.hosts.empty())
        return invalid("sandbox.network is none, and skills or sandbox.allow_hosts name hosts: choose allowlist, or "
                       "leave them out");
    std::ranges::sort(plan.environment.hosts);
    if (plan.environment.open) plan.environment.hosts.clear();
    return plan;
}

std::vector<std::string> what_leaves(const ManagedPlan& plan) {
    std::vector<std::string> lines{
        "To " + plan.endpoint.base_url + ": the system prompt, the texts of its skills, the prompt and all follow-ups.",
        "Results of Hone's tools that the agent calls: spans, evals and other data of the project that it can read."};
    for (const managed::RepositorySpec& repository : plan.repositories)
        lines.push_back("The repository " + repository.url + ", which the provider clones" +
                        (plan.repository_secret_name.empty() ? std::string(".")
                                                             : " with the secret " + plan.repository_secret_name +
                                                                   "; it must be one that only reads."));
    for (const VaultVariable& variable : plan.variables)
        lines.push_back(fmt::format("The value of the secret {} ({}), into a vault that is deleted with the run; the "
                                    "provider adds it to requests to {}.",
                                    variable.secret_name, variable.name, fmt::join(variable.hosts, ", ")));
    return lines;
}

std::vector<std::string> what_can_leave() {
    return {"The system prompt, the texts of skills, prompts and follow-ups.",
            "Results of Hone's tools that the agent calls: spans, evals and other data of its project.",
            "Repositories of github.com that the preset names, and the token that reads them.",
            "Values of secrets of the preset's skills, into a vault of the provider that is deleted with the run.",
            "What the agent itself writes: messages, commands, files. The provider stores the history of the session."};
}

std::vector<std::string> what_is_not_kept() {
    return {"Requests of the agent do not pass the broker: no rules with paths or methods, no log of requests.",
            "No images, init scripts, setup or prepared layers; no limits of memory, processors, processes or disk.",
            "No isolation tier of this server: the provider isolates its machines in its own way.",
            "No installation without internet access, unless the provider's server is one of your own.",
            "No automations, experiments, evaluators or Signal: only people start sessions."};
}

} // namespace hone::run
