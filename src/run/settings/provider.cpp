#include "run/settings/provider.h"

#include "run/settings/settings.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr std::string_view no_sandbox = "the agent works on machines of the provider, not in a sandbox of this server";
constexpr std::string_view no_limits = "the provider decides how large its machines are";
constexpr std::string_view no_layers = "nothing can be prepared on machines of the provider";

constexpr Lack managed_lacks[] = {
    {capability::automations, "only people start its sessions"},
    {capability::fork, no_sandbox},
    {capability::workspace, no_sandbox},
    {capability::uploads, no_sandbox},
    {capability::network, "its requests do not pass the broker of this server"},
    {"harness_version", "the provider chooses the version of its agent"},
    {"command", "the provider runs its own agent"},
    {"sandbox.image", no_layers},
    {"sandbox.init_script", no_layers},
    {"sandbox.setup", no_layers},
    {"sandbox.setup_hosts", no_layers},
    {"sandbox.packages", "machines of the provider do not reach the package mirrors of this installation"},
    {"sandbox.env", "the provider has no variables but those of skills"},
    {"sandbox.secret_env", "a secret in clear would leave this server; bind it to hosts with a skill"},
    {"sandbox.memory_bytes", no_limits},
    {"sandbox.cpus", no_limits},
    {"sandbox.pids", no_limits},
    {"sandbox.disk_bytes", no_limits},
    {"sandbox.minimum_tier", "the provider isolates its machines in its own way"},
};

constexpr std::string_view own_objects = "only provider claude-managed has agents and environments";
constexpr Lack sandbox_lacks[] = {
    {"managed.agent", own_objects},
    {"managed.environment", own_objects},
};

constexpr Lack pod_lacks[] = {
    {capability::fork, "the volume of a session in a cluster is not copied"},
    {"sandbox.image", "the installation has one image for its pods (kubernetes_image)"},
    {"managed.agent", own_objects},
    {"managed.environment", own_objects},
};

constexpr ProviderInfo providers[] = {
    {RunProvider::local, "This machine", "A sandbox of this server.", "", "", sandbox_lacks},
    {RunProvider::kubernetes, "Kubernetes", "A pod of a cluster that this server is connected to.",
     "connect this server to a cluster first: set kubernetes_kubeconfig and kubernetes_image", "", pod_lacks},
    {RunProvider::claude_managed, "Claude Managed Agents",
     "Machines of Anthropic, or of a server of one's own with the same API.", "this server cannot start sessions there",
     "claude-managed", managed_lacks},
};

// The value at a path of names with dots; null: there is none.
const json::Value* value_at(const json::Value& value, std::string_view path) {
    const json::Value* at = &value;
    for (size_t begin = 0; at != nullptr && begin <= path.size();) {
        const size_t dot = std::min(path.find('.', begin), path.size());
        at = at->is_object() ? at->get_object().if_contains(path.substr(begin, dot - begin)) : nullptr;
        begin = dot + 1;
    }
    return at;
}

bool is_default(const json::Value& settings, const json::Value& defaults, std::string_view path) {
    const json::Value* given = value_at(settings, path);
    const json::Value* usual = value_at(defaults, path);
    if (given == nullptr || usual == nullptr) return true; // a capability, not a setting
    return *given == *usual;
}

Error lacking(RunProvider provider, const Lack& lack) {
    return invalid(fmt::format("provider {} does not have {}: {}", name_of(provider), lack.name, lack.reason));
}

Result<> check_lacks(const Settings& settings, std::span<const Lack> lacks) {
    if (lacks.empty()) return {};
    const json::Value given = json::to_value(settings), defaults = json::to_value(Settings{});
    for (const Lack& lack : lacks)
        if (!is_default(given, defaults, lack.name)) return lacking(*settings.provider, lack);
    return {};
}

} // namespace

const ProviderInfo& info_of(RunProvider provider) {
    return providers[static_cast<size_t>(provider)];
}

std::optional<RunProvider> owner_of_harness(std::string_view harness) {
    const auto found = std::ranges::find(providers, harness, &ProviderInfo::harness);
    if (harness.empty() || found == std::end(providers)) return std::nullopt;
    return found->provider;
}

const Lack* find_lack(RunProvider provider, std::string_view name) {
    const auto& lacks = info_of(provider).lacks;
    const auto found = std::ranges::find(lacks, name, &Lack::name);
    return found == lacks.end() ? nullptr : &*found;
}

Result<> require_capability(RunProvider provider, std::string_view name) {
    if (const Lack* lack = find_lack(provider, name)) return lacking(provider, *lack);
    return {};
}

Result<> check_provider(const Settings& settings) {
    const RunProvider provider = *settings.provider;
    const ProviderInfo& info = info_of(provider);
    if (!info.harness.empty() && settings.harness != info.harness)
        return invalid(
            fmt::format("provider {} runs its own agent: harness must be {}", name_of(provider), info.harness));
    if (const auto owner = owner_of_harness(settings.harness); owner && *owner != provider)
        return invalid(fmt::format("harness {} needs provider {}", settings.harness, name_of(*owner)));
    return check_lacks(settings, info.lacks);
}

Result<> Providers::require(RunProvider provider) const {
    if (has(provider)) return {};
    return invalid(
        fmt::format("this installation does not have provider {}: {}", name_of(provider), info_of(provider).advice));
}

Result<> Providers::check(const Settings& settings) const {
    TRY(require(*settings.provider));
    return check_lacks(settings, m_available.at(*settings.provider));
}

std::vector<ProviderView> Providers::list() const {
    std::vector<ProviderView> list;
    for (const ProviderInfo& info : providers) {
        ProviderView view;
        view.name = info.provider;
        view.title = info.title;
        view.text = info.text;
        view.available = has(info.provider);
        view.allowed = true;
        if (!view.available) view.advice = info.advice;
        view.harness = info.harness;
        for (const Lack& lack : info.lacks) view.lacks.push_back({std::string(lack.name), std::string(lack.reason)});
        if (const auto found = m_available.find(info.provider); found != m_available.end())
            for (const Lack& lack : found->second)
                view.lacks.push_back({std::string(lack.name), std::string(lack.reason)});
        list.push_back(std::move(view));
    }
    return list;
}

} // namespace hone::run
