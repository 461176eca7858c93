// Where a run works: a sandbox of this machine, a pod of a cluster, or a session of an agent provider. Declared once:
// what each provider lacks, with the reason, for the check of settings, the API and the UI. Values; any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "json/json.h"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::run {

struct Settings;

enum class RunProvider { local, kubernetes, claude_managed };
constexpr auto enum_names(RunProvider) {
    return std::array{EnumName{RunProvider::local, "local"}, EnumName{RunProvider::kubernetes, "kubernetes"},
                      EnumName{RunProvider::claude_managed, "claude-managed"}};
}

// What a provider does not have: a setting by its path ("sandbox.image"), or one of the capabilities below.
struct Lack {
    std::string_view name;
    std::string_view reason;
};
namespace capability {
constexpr std::string_view automations = "automations"; // also experiments, evaluators and Signal
constexpr std::string_view fork = "fork";
constexpr std::string_view workspace = "workspace";           // to browse and download
constexpr std::string_view kept_workspace = "kept_workspace"; // the same after the run, and for its follow-ups
constexpr std::string_view uploads = "uploads";
constexpr std::string_view network = "network"; // the log of requests, and their explanation
} // namespace capability

struct ProviderInfo {
    RunProvider provider;
    std::string_view title;
    std::string_view text;    // where its runs work
    std::string_view advice;  // for a server that does not have it
    std::string_view harness; // the only one that it runs; empty: those of the harness list
    std::span<const Lack> lacks;
};

const ProviderInfo& info_of(RunProvider provider);
// The provider that alone runs a harness; none: those with sandboxes run it.
std::optional<RunProvider> owner_of_harness(std::string_view harness);
// Null: the provider has it.
const Lack* find_lack(RunProvider provider, std::string_view name);
// The error that explains the lack; nothing when the provider has it.
Result<> require_capability(RunProvider provider, std::string_view name);
// Settings that the provider lacks must have their defaults, and the harness must be one that it runs.
Result<> check_provider(const Settings& settings);

struct LackView {
    std::string name;
    std::string reason;
    static constexpr Pack fields{
        Field{"name", &LackView::name,
              "Path of a setting, such as `sandbox.image`; or automations, fork, workspace, kept_workspace, uploads, "
              "network."},
        Field{"reason", &LackView::reason, "Why the provider does not have it."},
    };
};

struct ProviderView {
    RunProvider name = RunProvider::local;
    std::string title;
    std::string text;
    bool available = false;
    bool allowed = false;
    std::string advice;
    std::string harness;
    std::vector<LackView> lacks;
    static constexpr Pack fields{
        Field{"name", &ProviderView::name, "Value of the setting `provider`."},
        Field{"title", &ProviderView::title, "Name for people."},
        Field{"text", &ProviderView::text, "Where its runs work."},
        Field{"available", &ProviderView::available, "Whether this installation has it."},
        Field{"allowed", &ProviderView::allowed, "Whether the policy of the space allows it."},
        Field{"advice", &ProviderView::advice, "What to do if it is not available or not allowed; otherwise empty."},
        Field{"harness", &ProviderView::harness, "The only harness that it runs; empty: any of the harness list."},
        Field{"lacks", &ProviderView::lacks, "Settings and capabilities that it does not have."},
    };
};

// Those of this installation. Filled before requests come, then unchanged; any thread.
class Providers {
public:
    // `lacks`: what it does not have in this installation, beside what it never has.
    void add(RunProvider provider, std::vector<Lack> lacks = {}) { m_available[provider] = std::move(lacks); }
    bool has(RunProvider provider) const { return m_available.contains(provider); }
    // The error states what to do.
    Result<> require(RunProvider provider) const;
    // That the installation has the provider of the settings, and that it has what they need of it.
    Result<> check(const Settings& settings) const;
    // All that this version knows, also those that the installation does not have; `allowed` is true.
    std::vector<ProviderView> list() const;

private:
    std::map<RunProvider, std::vector<Lack>> m_available{{RunProvider::local, {}}};
};

} // namespace hone::run
