// What a worker is made of: harness, model, sandbox, skills, repositories, prompt, policies, budget. A preset is a
// named, versioned one; a session may bring its own. Declared once: API, files in git, docs and UI read these lists.
// Values only; any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "broker/egress/packages.h"
#include "broker/egress/policy.h"
#include "broker/spending/model_call.h"
#include "review/policy.h"
#include "run/settings/provider.h"
#include "sandbox/provider/spec.h"
#include "json/json.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::run {

using json::Defaulted;

enum class InitFailure { abort, degrade };
constexpr auto enum_names(InitFailure) {
    return std::array{EnumName{InitFailure::abort, "abort"}, EnumName{InitFailure::degrade, "degrade"}};
}

// Whether an output waits for a person.
enum class OutputPolicy { automatic, review };
constexpr auto enum_names(OutputPolicy) {
    return std::array{EnumName{OutputPolicy::automatic, "auto"}, EnumName{OutputPolicy::review, "review"}};
}

struct SandboxSettings {
    Defaulted<std::string> image = std::string("host");
    Defaulted<std::string> init_script;
    Defaulted<InitFailure> init_failure = InitFailure::abort;
    Defaulted<int64_t> init_seconds = int64_t{120};
    Defaulted<std::map<std::string, std::string>> env;
    Defaulted<std::map<std::string, std::string>> secret_env;
    Defaulted<int64_t> memory_bytes = int64_t{2} << 30;
    Defaulted<double> cpus = 2.0;
    Defaulted<int64_t> pids = int64_t{512};
    Defaulted<int64_t> disk_bytes = int64_t{4} << 30;
    Defaulted<int64_t> wall_clock_minutes = int64_t{60};
    Defaulted<int64_t> idle_minutes = int64_t{10};
    Defaulted<int64_t> tool_seconds = int64_t{30};
    Defaulted<broker::EgressMode> network = broker::EgressMode::allowlist;
    Defaulted<std::vector<std::string>> allow_hosts;
    Defaulted<std::vector<broker::PackageKind>> packages;
    Defaulted<std::vector<std::string>> setup_hosts;
    Defaulted<std::string> setup;
    Defaulted<sandbox::Tier> minimum_tier = sandbox::Tier::ns;
    static constexpr Pack fields{
        Field{"image", &SandboxSettings::image, "`host` (the machine's /usr, read-only) or the name of an image."},
        Field{
            "init_script", &SandboxSettings::init_script,
            "Shell script that prepares the root file system, or the home of a pod; its result is cached by content."},
        Field{"init_failure", &SandboxSettings::init_failure, "How a failed init script or setup affects the run."},
        Field{"init_seconds", &SandboxSettings::init_seconds, "Time limit of the init script, and of setup."},
        Field{"env", &SandboxSettings::env, "Environment variables; not for secrets."},
        Field{"secret_env", &SandboxSettings::secret_env,
              "Environment variables that are secrets: stored encrypted and shown as ********; saving ******** keeps "
              "the value. The worker can read them; a skill keeps a secret outside the sandbox."},
        Field{"memory_bytes", &SandboxSettings::memory_bytes, "Memory of all processes."},
        Field{"cpus", &SandboxSettings::cpus, "Number of processors."},
        Field{"pids", &SandboxSettings::pids, "Processes and threads at the same time."},
        Field{"disk_bytes", &SandboxSettings::disk_bytes, "Size of the workspace."},
        Field{"wall_clock_minutes", &SandboxSettings::wall_clock_minutes, "Time limit of one sandbox; at most 1440."},
        Field{"idle_minutes", &SandboxSettings::idle_minutes,
              "The sandbox of a waiting session is stopped after this time."},
        Field{"tool_seconds", &SandboxSettings::tool_seconds,
              "Time limit of one call of Hone's own tools (the MCP server, and `hone TOOL` inside)."},
        Field{"network", &SandboxSettings::network, "Hosts that it can reach besides the gateway."},
        Field{"allow_hosts", &SandboxSettings::allow_hosts, "Further hosts: `host` or `host:port`, `*.example.com`."},
        Field{"packages", &SandboxSettings::packages,
              "Package mirrors of the installation that can be read: by the init script, setup and verification, and "
              "by the worker unless its network is `none`."},
        Field{"setup_hosts", &SandboxSettings::setup_hosts,
              "Hosts that the init script, setup and verification can reach, and the worker cannot."},
        Field{"setup", &SandboxSettings::setup,
              "Installs what a repository needs, once for each content of its lock files: `auto` (its .hone/setup.sh, "
              "the postCreateCommand of its devcontainer, or its lock files), or a shell script. Empty: nothing."},
        Field{"minimum_tier", &SandboxSettings::minimum_tier, "Weakest isolation tier that is accepted."},
    };
};

struct RepoSettings {
    std::string url;
    Defaulted<std::string> ref = {};
    Defaulted<std::string> path = {};
    Defaulted<int64_t> depth = int64_t{0};
    static constexpr Pack fields{
        Field{"url", &RepoSettings::url, "Address to clone from: https, or file for one on the server."},
        Field{"ref", &RepoSettings::ref, "Branch, tag or commit; empty: the default branch."},
        Field{"path", &RepoSettings::path, "Folder of a large repository that the worker needs."},
        Field{"depth", &RepoSettings::depth, "Number of commits to clone; 0: all."},
    };
};

struct OutputPolicies {
    Defaulted<OutputPolicy> investigation = OutputPolicy::automatic;
    Defaulted<OutputPolicy> labels = OutputPolicy::review;
    Defaulted<OutputPolicy> file = OutputPolicy::automatic;
    Defaulted<OutputPolicy> branch = OutputPolicy::review;
    static constexpr Pack fields{
        Field{"investigation", &OutputPolicies::investigation, "Investigations."},
        Field{"labels", &OutputPolicies::labels, "Eval labels: `auto` publishes them immediately."},
        Field{"file", &OutputPolicies::file, "Files."},
        Field{"branch", &OutputPolicies::branch, "Branches."},
    };
};

struct Budget {
    std::optional<int64_t> tokens;
    std::optional<int64_t> cost_micro_usd;
    Defaulted<int64_t> soft_percent = int64_t{80};
    std::optional<int64_t> steps{};
    std::optional<int64_t> turns{};
    static constexpr Pack fields{
        Field{"tokens", &Budget::tokens, "Tokens of all model calls of one run; none: no limit."},
        Field{"cost_micro_usd", &Budget::cost_micro_usd, "Cost of one run in millionths of a US dollar."},
        Field{"soft_percent", &Budget::soft_percent, "From this percentage on, requests carry a notice to finish."},
        Field{"steps", &Budget::steps, "Tool calls of one run; none: no limit."},
        Field{"turns", &Budget::turns, "Turns of one session, follow-ups included; none: no limit."},
    };
};

// Of provider claude-managed: objects that exist at the provider, instead of those that Hone makes.
struct ManagedSettings {
    Defaulted<std::string> agent;
    Defaulted<std::string> environment;
    static constexpr Pack fields{
        Field{"agent", &ManagedSettings::agent,
              "Id of an agent: its model, system prompt and tools are used, and Hone's tools only if it has them. "
              "Empty: Hone makes one for this content and uses it again."},
        Field{"environment", &ManagedSettings::environment,
              "Id of an environment: its network is used. Empty: Hone makes one from sandbox.network and the skills."},
    };
};

struct Settings {
    Defaulted<RunProvider> provider = RunProvider::local;
    std::string harness;
    Defaulted<std::string> harness_version;
    Defaulted<std::string> model;
    Defaulted<std::vector<std::string>> command;
    Defaulted<std::string> system_prompt;
    Defaulted<std::vector<std::string>> skills;
    Defaulted<std::vector<RepoSettings>> repos;
    Defaulted<SandboxSettings> sandbox;
    Defaulted<OutputPolicies> outputs;
    Defaulted<review::ReviewPolicy> review;
    Defaulted<Budget> budget;
    Defaulted<broker::Capture> capture = broker::Capture::full;
    Defaulted<ManagedSettings> managed = {};
    static constexpr Pack fields{
        Field{"provider", &Settings::provider,
              "Where its runs work: `local` (a sandbox of this server), `kubernetes` or `claude-managed`."},
        Field{"harness", &Settings::harness,
              "claude-code, codex, opencode, gemini, qwen, copilot, command, playbook or, with its provider, "
              "claude-managed."},
        Field{"harness_version", &Settings::harness_version,
              "Installed version of the harness's program; empty: the one that was installed last."},
        Field{"model", &Settings::model, "Model name, as the provider of the model skill calls it."},
        Field{"command", &Settings::command, "Program and arguments of the harness `command`, or name of a playbook."},
        Field{"system_prompt", &Settings::system_prompt,
              "Added to the system prompt of the harness; at most 100,000 characters."},
        Field{"skills", &Settings::skills, "Ids of skills."},
        Field{"repos", &Settings::repos, "Repositories cloned into the workspace."},
        Field{"sandbox", &Settings::sandbox, "The sandbox."},
        Field{"outputs", &Settings::outputs, "Kinds of artifacts that need a review."},
        Field{"review", &Settings::review, "Review, verification and delivery of branches."},
        Field{"budget", &Settings::budget, "Budget of one run."},
        Field{"capture", &Settings::capture,
              "Content of spans of model calls: full, metadata (no text) or none (no spans). The space can reduce it."},
        Field{"managed", &Settings::managed, "Of provider claude-managed: agent and environment that exist there."},
    };
};

constexpr size_t largest_prompt = 100'000; // characters

// Checks what needs no database: names, ranges, hosts, sizes; errors name the field and state
// what to do.
Result<> validate(const Settings& settings);
// Refuses what looks like a token of a well-known service, with advice; never repeats it.
Result<> refuse_secrets(std::string_view what, std::string_view text);
// A prompt must be text, not too long, and must not hold what looks like a secret.
Result<> check_prompt(std::string_view what, std::string_view text);
// "api.example.com:8443" → a rule; the port is 443 when absent. `field`: for the error.
Result<skill::HostRule> parse_allowed_host(std::string_view field, std::string_view text);
inline Result<skill::HostRule> parse_allowed_host(std::string_view text) {
    return parse_allowed_host("sandbox.allow_hosts", text);
}

} // namespace hone::run
