#include "run/worker/worker_context.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::run {

namespace {

constexpr size_t most_named_hosts = 40;

std::string joined(const std::set<std::string>& words, std::string_view between) {
    std::string out;
    for (const std::string& word : words) out += (out.empty() ? "" : std::string(between)) + word;
    return out;
}

std::string address_of(const skill::HostRule& rule) {
    const bool is_usual = rule.port == (rule.tls ? 443 : 80);
    return (rule.tls ? "https://" : "http://") + rule.host + (is_usual ? "" : ":" + std::to_string(rule.port));
}

// What a host is reached with: methods if not all, and the variables whose secrets are added on the way.
struct HostReach {
    std::set<std::string> methods;
    std::set<std::string> variables;
    bool all_methods = false;
};

void add_rule(std::map<std::string, HostReach>& hosts, const skill::HostRule& rule, const std::string& variable) {
    HostReach& reach = hosts[address_of(rule)];
    if (rule.methods.empty()) reach.all_methods = true;
    reach.methods.insert(rule.methods.begin(), rule.methods.end());
    if (!variable.empty()) reach.variables.insert(variable);
}

std::string line_of(const std::string& address, const HostReach& reach) {
    std::string line = "- " + address;
    if (!reach.all_methods) line += " (" + joined(reach.methods, ", ") + ")";
    if (!reach.variables.empty()) line += " with " + joined(reach.variables, ", ");
    return line + "\n";
}

} // namespace

std::string describe_reach(const Settings& settings, const skill::Grant& grant,
                           const std::vector<harness::Setup::SkillFolder>& skills) {
    std::string text;
    if (!skills.empty()) {
        text += "Instructions of your skills, one file each; read it before you use what it is about:\n";
        for (const auto& skill : skills) text += "- /hone/skills/" + skill.name + "/SKILL.md\n";
    }
    std::map<std::string, HostReach> hosts;
    if (*settings.sandbox.value.network == broker::EgressMode::none)
        return text + "This run has no network: it reaches Hone's gateway alone.\n";
    if (*settings.sandbox.value.network == broker::EgressMode::open) text += "You can reach every public host. ";
    for (const skill::Credential& credential : grant.credentials)
        for (const skill::HostRule& rule : credential.hosts) add_rule(hosts, rule, credential.variable);
    for (const skill::HostRule& rule : grant.allow) add_rule(hosts, rule, "");
    for (const std::string& host : *settings.sandbox.value.allow_hosts) hosts["https://" + host].all_methods = true;
    if (hosts.empty()) return text + "No other host than Hone's gateway is set up for you.\n";
    text += "Hosts that are set up for you. A variable named with a host holds a placeholder: send it as you would "
            "send the "
            "secret, and it is replaced on the way to that host, nowhere else.\n";
    size_t shown = 0;
    for (const auto& [address, reach] : hosts) {
        if (++shown > most_named_hosts) {
            text += "- and " + std::to_string(hosts.size() - most_named_hosts) + " more\n";
            break;
        }
        text += line_of(address, reach);
    }
    return text;
}

} // namespace hone::run
