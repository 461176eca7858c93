#include "run/settings/settings.h"

#include "base/text.h"
#include "forge/setup/plan.h"
#include "harness/catalog.h"
#include "review/branch/secret_forms.h"
#include "run/harnesses/harness_store.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

size_t characters(std::string_view text) {
    size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

Result<> check_range(std::string_view name, int64_t value, int64_t least, int64_t most) {
    if (value < least || value > most) return invalid(fmt::format("{} must be between {} and {}", name, least, most));
    return {};
}

Result<> check_variable(const std::string& where, const std::string& name, const std::string& value) {
    if (!sandbox::is_environment_name(name))
        return invalid(where + ": " + std::string(truncate_utf8(name, 60)) +
                       " is not a name: letters, digits and _, at most 128 characters, no digit first");
    if (value.size() > 32 * 1024) return invalid(where + "." + name + " is longer than 32 KiB");
    if (value.find('\0') != std::string::npos) return invalid(where + "." + name + " holds a NUL");
    return {};
}

Result<> check_setup(const SandboxSettings& sandbox) {
    if (sandbox.setup.value.size() > forge::largest_setup_script) return invalid("sandbox.setup is larger than 64 KiB");
    TRY(check_prompt("sandbox.setup", *sandbox.setup));
    if (*sandbox.minimum_tier == sandbox::Tier::gvisor && !trim(*sandbox.setup).empty())
        return invalid("sandbox.setup does not run in tier gvisor: put its result into an image (hone image build) "
                       "and name that as sandbox.image");
    if (sandbox.packages.value.size() > 6) return invalid("sandbox.packages has an entry twice");
    if (sandbox.setup_hosts.value.size() > 200) return invalid("sandbox.setup_hosts has more than 200 hosts");
    for (const std::string& host : sandbox.setup_hosts.value) TRY(parse_allowed_host("sandbox.setup_hosts", host));
    return {};
}

Result<> check_sandbox(const SandboxSettings& sandbox) {
    TRY(check_range("sandbox.init_seconds", sandbox.init_seconds, 1, 3600));
    TRY(check_range("sandbox.memory_bytes", sandbox.memory_bytes, int64_t{64} << 20, int64_t{1} << 42));
    TRY(check_range("sandbox.pids", sandbox.pids, 8, 1'000'000));
    TRY(check_range("sandbox.disk_bytes", sandbox.disk_bytes, int64_t{1} << 20, int64_t{1} << 42));
    TRY(check_range("sandbox.wall_clock_minutes", sandbox.wall_clock_minutes, 1, 1440));
    TRY(check_range("sandbox.idle_minutes", sandbox.idle_minutes, 1, 1440));
    TRY(check_range("sandbox.tool_seconds", sandbox.tool_seconds, 1, 600));
    if (!(*sandbox.cpus >= 0.05 && *sandbox.cpus <= 1024)) return invalid("sandbox.cpus must be between 0.05 and 1024");
    if (*sandbox.image != "host" && !sandbox::is_plain_name(*sandbox.image))
        return invalid("sandbox.image must be `host` or the name of an image (`hone image list` shows them)");
    if (*sandbox.minimum_tier == sandbox::Tier::gvisor && !trim(*sandbox.init_script).empty())
        return invalid("sandbox.init_script does not run in tier gvisor: put its result into an image (hone image add) "
                       "and name that as sandbox.image");
    if (sandbox.init_script.value.size() > 256 * 1024) return invalid("sandbox.init_script is larger than 256 KiB");
    if (sandbox.env.value.size() + sandbox.secret_env.value.size() > 200)
        return invalid("sandbox.env and sandbox.secret_env have more than 200 variables");
    for (const auto& [name, value] : sandbox.env.value) {
        TRY(check_variable("sandbox.env", name, value));
        TRY(check_prompt("sandbox.env." + name, value));
    }
    for (const auto& [name, value] : sandbox.secret_env.value) {
        TRY(check_variable("sandbox.secret_env", name, value));
        if (!is_valid_utf8(value)) return invalid("sandbox.secret_env." + name + " is not valid UTF-8");
        if (sandbox.env.value.contains(name))
            return invalid("sandbox.secret_env." + name + " is also in sandbox.env: remove it there");
    }
    if (sandbox.allow_hosts.value.size() > 200) return invalid("sandbox.allow_hosts has more than 200 hosts");
    for (const std::string& host : sandbox.allow_hosts.value) TRY(parse_allowed_host(host));
    return check_setup(sandbox);
}

// forge/ checks the rest when the run is prepared.
bool is_repo_address(const std::string& url) {
    if (url.size() > 1000 || !is_valid_utf8(url)) return false;
    return url.starts_with("file:///") || (url.starts_with("https://") && is_printable_ascii(url));
}

Result<> check_repos(const std::vector<RepoSettings>& repos) {
    if (repos.size() > 10) return invalid("repos has more than 10 entries");
    for (const RepoSettings& repo : repos) {
        if (!is_repo_address(repo.url)) return invalid("repos: the address must start with https:// or file:///");
        if (repo.url.starts_with("https://") && repo.url.find('@') != std::string::npos)
            return invalid("repos: no user or password in the address; attach a github skill instead");
        if (repo.ref.value.starts_with('-') || repo.ref.value.size() > 250 ||
            (!repo.ref.value.empty() && !is_printable_ascii(*repo.ref)))
            return invalid("repos: that is not a branch, tag or commit");
        if (repo.path.value.starts_with('/') || repo.path.value.find("..") != std::string::npos ||
            repo.path.value.size() > 1000)
            return invalid("repos: path must be a folder below the repository");
        if (*repo.depth < 0 || *repo.depth > 1'000'000)
            return invalid("repos: depth must be 0 (all history) to 1000000");
    }
    return {};
}

} // namespace

Result<skill::HostRule> parse_allowed_host(std::string_view field, std::string_view text) {
    skill::HostRule rule;
    std::string_view host = text;
    const bool wildcard = host.starts_with("*.");
    if (wildcard) host.remove_prefix(2);
    auto parsed = broker::parse_host_port(host, 443);
    if (!parsed.ok() || (wildcard && (parsed.value().is_address || host.find('.') == std::string_view::npos)))
        return invalid(std::string(field) + ": \"" + std::string(truncate_utf8(text, 100)) +
                       "\" is not a host: write api.example.com, api.example.com:8443 or *.example.com");
    rule.host = (wildcard ? "*." : "") + parsed.value().host;
    rule.port = parsed.value().port;
    rule.tls = rule.port != 80;
    return rule;
}

Result<> refuse_secrets(std::string_view what, std::string_view text) {
    if (const std::string_view found = review::seeming_secret(text); !found.empty())
        return invalid(fmt::format("{} seems to hold {}. Put it on a skill instead: the worker then uses it without "
                                   "ever seeing it",
                                   what, found));
    return {};
}

Result<> check_prompt(std::string_view what, std::string_view text) {
    if (!is_valid_utf8(text)) return invalid(std::string(what) + " is not valid UTF-8");
    if (text.find('\0') != std::string_view::npos) return invalid(std::string(what) + " holds a NUL character");
    if (characters(text) > largest_prompt)
        return invalid(fmt::format("{} is longer than {} characters", what, largest_prompt));
    return refuse_secrets(what, text);
}

Result<> validate(const Settings& settings) {
    const harness::Harness* harness = harness::find(settings.harness);
    if (harness == nullptr) {
        std::string names;
        for (const harness::Harness& known : harness::catalog())
            names += (names.empty() ? "" : ", ") + std::string(known.name);
        return invalid("harness must be one of " + names);
    }
    if (!settings.harness_version.value.empty() &&
        (harness->package.empty() || !is_harness_version(*settings.harness_version)))
        return invalid(harness->package.empty() ? "harness_version belongs to harnesses that are installed"
                                                : "harness_version is not a version");
    if (!harness->protocols.empty() && settings.model.value.empty())
        return invalid(fmt::format("harness {} needs a model: its name, as the provider of the model skill has it",
                                   harness->name));
    if (settings.model.value.size() > 200 || (!settings.model.value.empty() && !is_printable_ascii(*settings.model)) ||
        settings.model.value.starts_with('-'))
        return invalid("model is not a model's name");
    if (harness->name == "command" && settings.command.value.empty())
        return invalid("harness command needs `command`: the program and its arguments");
    if (harness->name != "command" && harness->name != "playbook" && !settings.command.value.empty())
        return invalid(
            fmt::format("`command` belongs to the harnesses command and playbook, not to {}", harness->name));
    if (settings.command.value.size() > 200) return invalid("command has more than 200 arguments");
    for (const std::string& argument : settings.command.value)
        if (argument.size() > 32 * 1024 || argument.find('\0') != std::string::npos || !is_valid_utf8(argument))
            return invalid("command: an argument is too long or not text");
    TRY(check_provider(settings));
    for (const std::string& id : {*settings.managed.value.agent, *settings.managed.value.environment})
        if (id.size() > 100 ||
            id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
                std::string::npos)
            return invalid("managed: that is not an id of the provider");
    TRY(check_prompt("system_prompt", *settings.system_prompt));
    if (settings.skills.value.size() > 50) return invalid("skills has more than 50 entries");
    TRY(check_repos(*settings.repos));
    TRY(check_sandbox(*settings.sandbox));
    TRY(check_range("budget.soft_percent", settings.budget.value.soft_percent, 1, 100));
    if (settings.budget.value.tokens)
        TRY(check_range("budget.tokens", *settings.budget.value.tokens, 1, int64_t{1} << 50));
    if (settings.budget.value.steps) TRY(check_range("budget.steps", *settings.budget.value.steps, 1, 1'000'000));
    if (settings.budget.value.turns) TRY(check_range("budget.turns", *settings.budget.value.turns, 1, 1'000'000));
    TRY(review::validate(*settings.review));
    if (settings.budget.value.cost_micro_usd)
        TRY(check_range("budget.cost_micro_usd", *settings.budget.value.cost_micro_usd, 1, int64_t{1} << 50));
    return {};
}

} // namespace hone::run
