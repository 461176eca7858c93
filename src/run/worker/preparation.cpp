#include "run/worker/preparation.h"

#include "base/text.h"
#include "forge/setup/setup.h"
#include "run/build_network.h"
#include "run/worker/chart_style.h"
#include "run/worker/clone.h"
#include "run/worker/harness_setup.h"
#include "run/worker/worker_context.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <sys/stat.h>
#include <thread>

namespace hone::run {

namespace {

constexpr std::string_view config_mount = "/hone";
constexpr std::string_view place_of_scripts = "In a pod a script can write to /home/worker, /workspace and /tmp, and "
                                              "only /home/worker is kept; all else is the "
                                              "image of the cluster, which is read-only.";

std::string parent_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

} // namespace

std::optional<RunEnd> Preparation::prepare() {
    if (auto end = m_run.run_step("provider", [this] { return check_connected(); })) return end;
    if (auto end = m_run.run_step("skills", [this] { return grant_skills(); })) return end;
    if (auto end = m_run.run_step("clone", [this]() -> Result<> {
            m_repos = TRY(supply_repos(m_run));
            return {};
        }))
        return end;
    if (auto end = m_run.run_step("provision", [this] { return provision(); })) return end;
    if (auto end = m_run.run_step("project", [this] { return connect(); })) return end;
    return m_run.run_step("clone", [this] { return clone_repos(m_run, m_repos); });
}

Result<> Preparation::resume() {
    const RunRecord& record = m_run.record;
    if (!record.sandbox_id || !record.sandbox_command) return not_found("sandbox");
    m_run.sandbox = TRY(m_run.provider().attach(sandbox::SandboxId(*record.sandbox_id)));
    const sandbox::SandboxView view = TRY(m_run.sandbox->view());
    m_has_timed_out = std::ranges::count(view.limits_hit, sandbox::LimitHit::timeout) > 0;
    if (view.state == sandbox::State::stopped) return not_found("sandbox");
    m_run.grant = TRY(
        m_run.services.skills.grant(record.run.space_id, *m_run.settings().skills, repository_urls(m_run.settings())));
    const harness::Setup setup = TRY(make_harness_setup(m_run));
    m_run.driver = harness::make_driver(*m_run.harness);
    m_run.launch = TRY(m_run.driver->launch(setup));
    return connect();
}

Result<> Preparation::check_connected() const {
    if (*m_run.settings().provider != RunProvider::kubernetes || m_run.services.pods != nullptr) return {};
    return unavailable("this server is not connected to a cluster (kubernetes_kubeconfig)");
}

Result<> Preparation::grant_skills() {
    m_run.grant = TRY(m_run.services.skills.grant(m_run.record.run.space_id, *m_run.settings().skills,
                                                  repository_urls(m_run.settings())));
    // Again, because the policy may have become stricter since the settings were saved.
    const SpacePolicies* policies = m_run.services.policies;
    if (policies != nullptr) TRY(policies->check(m_run.record.run.space_id, m_run.settings(), m_run.grant));
    Manifest& manifest = m_run.record.manifest;
    manifest.skills = m_run.grant.skill_versions;
    auto& names = manifest.secrets.value;
    names.clear();
    for (const skill::Credential& credential : m_run.grant.credentials) // one secret may have several
        if (std::find(names.begin(), names.end(), credential.secret_name) == names.end())
            names.push_back(credential.secret_name);
    for (const skill::ModelEndpoint& endpoint : m_run.grant.models)
        if (!endpoint.secret_name.empty()) names.push_back(endpoint.secret_name);
    m_run.note("skills", fmt::format("Skills: {}; secrets kept outside: {}.", m_run.settings().skills.value.size(),
                                     names.size()));
    return {};
}

// --- the sandbox ---------------------------------------------------------------------------------------------------

Result<> Preparation::provision() {
    TRY(make_folder());
    TRY(fork_volume());
    sandbox::SandboxSpec spec = make_spec();
    TRY(mount_programs(spec));
    harness::Setup setup = TRY(make_harness_setup(m_run));
    TRY(mount_harness(spec));
    // The conversation was in the home of the earlier sandbox, and ended with it.
    if (!m_run.provider().capabilities().threads) setup.resume.clear();
    setup.skills = TRY(write_skills());
    setup.context += describe_reach(m_run.settings(), m_run.grant, setup.skills);
    const auto& trigger = m_run.record.manifest.trigger;
    if (trigger) TRY(fill_file(m_run.folder() + std::string(trigger_file), json::print_pretty(*trigger)));
    // An earlier sandbox ended before there was a conversation to resume: the new one gets every input again.
    if (m_run.harness->resumes && setup.resume.empty()) TRY(m_run.services.store.mark_inputs_unsent(m_run.id));
    m_run.driver = harness::make_driver(*m_run.harness);
    m_run.launch = TRY(m_run.driver->launch(setup));
    TRY(mount_files(spec));
    spec.command.emplace().argv = {"/bin/mkdir", "-p",
                                   std::string(home_inside(m_run.settings()))}; // clone_repos() waits for its end
    const sandbox::SandboxSpec without_layers = spec;
    TRY(prepare_layers(spec));
    auto identity = std::async(std::launch::async, [this] { return make_run_identity(m_run); });
    auto started = start_sandbox(spec);
    if (!started.ok() && started.error().code == Code::corrupt && !spec.layers.value.empty()) {
        // Damaged since it was built, and removed when that was found: it is built again, once.
        m_run.note("layers", started.error().message, true);
        spec = without_layers;
        TRY(prepare_layers(spec));
        started = start_sandbox(spec);
    }
    m_run.sandbox = TRY(std::move(started));
    TRY(note_sandbox());
    m_identity = TRY(identity.get());
    return {};
}

Result<> Preparation::make_folder() const {
    (void)sandbox::remove_tree(m_run.folder());
    for (const char* part : {"", "/hone", "/hone/bin", "/hone/skills", "/files"})
        TRY(make_directories(m_run.folder() + part, 0755));
    return {};
}

// The first sandbox of a fork begins with a copy of what the other session left.
Result<> Preparation::fork_volume() const {
    const RunRecord& record = m_run.record;
    if (!record.fork_of || record.run.turns > 0) return {};
    const RunRecord origin = TRY(m_run.services.store.read(*record.fork_of));
    const auto copied = m_run.provider().fork_thread(origin.thread, record.thread);
    if (!copied.ok() && copied.error().code != Code::conflict) return copied.error();
    return {};
}

sandbox::SandboxSpec Preparation::make_spec() const {
    const SandboxSettings& wanted = *m_run.settings().sandbox;
    sandbox::SandboxSpec spec;
    spec.root = *wanted.image;
    spec.limits.value.memory_bytes = *wanted.memory_bytes;
    spec.limits.value.cpus = *wanted.cpus;
    spec.limits.value.pids = *wanted.pids;
    spec.limits.value.disk_bytes = *wanted.disk_bytes;
    spec.limits.value.wall_clock_ms = *wanted.wall_clock_minutes * 60'000;
    spec.network = sandbox::NetworkMode::broker;
    spec.minimum_tier = *wanted.minimum_tier;
    spec.thread = m_run.record.thread;
    spec.keep_home = *wanted.minimum_tier == sandbox::Tier::ns;
    spec.keep = true;
    spec.detached = true;
    spec.labels.value = {{"run", m_run.id.text()}, {"space", m_run.record.run.space_id.text()}};
    return spec;
}

// The command `hone`, the style of charts, and a place for the authorities that the broker will name.
Result<> Preparation::mount_programs(sandbox::SandboxSpec& spec) const {
    const std::string& tool = m_run.services.tool_program;
    if (tool.empty()) return invalid("hone-inside is missing: it belongs beside the program hone");
    TRY(fill_file(m_run.folder() + "/hone/bin/hone", ""));
    TRY(fill_file(m_run.folder() + std::string(chart_style_path), chart_style));
    TRY(fill_file(m_run.folder() + "/trust", ""));
    spec.mounts.value.push_back({m_run.folder() + "/hone", std::string(config_mount), true});
    spec.mounts.value.push_back({tool, "/hone/bin/hone", true});
    spec.mounts.value.push_back({m_run.folder() + "/trust", std::string(system_trust_file), true});
    return {};
}

Result<> Preparation::mount_harness(sandbox::SandboxSpec& spec) {
    if (m_run.settings().harness == "playbook")
        spec.mounts.value.push_back({m_run.services.playbooks, "/opt/playbooks", true});
    if (m_run.harness->package.empty()) return {};
    std::string version = *m_run.settings().harness_version;
    if (const auto& pins = m_run.record.manifest.pins; pins && !pins->harness_version.value.empty())
        version = *pins->harness_version;
    const InstalledHarness installed = TRY(m_run.services.harnesses.find(m_run.harness->name, version));
    m_run.record.manifest.harness_version = installed.version;
    spec.mounts.value.push_back({m_run.services.harnesses.directory(installed), std::string(harness_mount), true});
    return {};
}

Result<std::vector<harness::Setup::SkillFolder>> Preparation::write_skills() const {
    std::vector<harness::Setup::SkillFolder> mounts;
    const auto& wanted = *m_run.settings().skills;
    for (const SkillFolder& skill : TRY(m_run.services.skills.folders(m_run.record.run.space_id, wanted))) {
        const std::string place = m_run.folder() + "/hone/skills/" + skill.name;
        for (const SkillFolder::File& file : skill.files) {
            TRY(make_directories(parent_of(place + "/" + file.path), 0755));
            TRY(fill_file(place + "/" + file.path, file.content));
            if (file.executable) ::chmod((place + "/" + file.path).c_str(), 0755);
        }
        mounts.push_back({skill.name, "/hone/skills/" + skill.name});
    }
    return mounts;
}

// Files below /hone are in the run's folder; others are mounted one by one over the place where the harness reads them.
Result<> Preparation::mount_files(sandbox::SandboxSpec& spec) const {
    int number = 0;
    for (const harness::ConfigFile& file : m_run.launch.files) {
        if (file.path.starts_with("/hone/")) {
            TRY(fill_file(m_run.folder() + file.path, file.content));
            continue;
        }
        const std::string path = m_run.folder() + "/files/" + std::to_string(number++);
        TRY(fill_file(path, file.content));
        spec.mounts.value.push_back({path, file.path, true});
    }
    for (const harness::ConfigFolder& shown : m_run.launch.folders)
        if (shown.path != shown.source) spec.mounts.value.push_back({m_run.folder() + shown.source, shown.path, true});
    return {};
}

Result<> Preparation::prepare_layers(sandbox::SandboxSpec& spec) {
    TRY(prepare_layer(spec));
    return prepare_setup(spec);
}

Result<> Preparation::prepare_layer(sandbox::SandboxSpec& spec) {
    const SandboxSettings& wanted = *m_run.settings().sandbox;
    if (trim(*wanted.init_script).empty()) return {};
    sandbox::Preparation preparation;
    preparation.space = m_run.record.run.space_id.text();
    preparation.root = *wanted.image;
    preparation.script = *wanted.init_script;
    preparation.env = *wanted.env;
    preparation.timeout_ms = *wanted.init_seconds * 1000;
    preparation.on_failure =
        *wanted.init_failure == InitFailure::degrade ? sandbox::OnFailure::degrade : sandbox::OnFailure::abort;
    preparation.limits = *spec.limits;
    sandbox::BuildOptions options = build_options();
    if (m_run.services.networks != nullptr)
        options.network = m_run.services.networks->of(m_run.record.run.space_id, m_run.id, m_run.settings());
    if (options.network) {
        preparation.network = sandbox::NetworkMode::broker;
        preparation.inputs.value["network"] = m_run.services.networks->description(m_run.settings());
    }
    const auto prepared = sandbox::prepare_layer(m_run.provider(), m_run.services.sandbox_store, preparation, options);
    if (!prepared.ok()) return explain_failure(prepared.error());
    const sandbox::PreparedLayer& layer = prepared.value();
    if (layer.degraded) {
        m_run.note("init",
                   "The init script failed; the run continues without it.\n" + layer.log +
                       (is_in_pod() ? "\n" + std::string(place_of_scripts) : ""),
                   true);
        return {};
    }
    spec.layers.value.push_back(layer.key);
    m_run.record.manifest.layers.value = {layer.key};
    const std::string built = is_in_pod() ? "The init script ran in a pod; what it left in the home, the only place of "
                                            "a pod that is kept, is kept for later runs.\n"
                                          : "The init script ran; its result is kept for later runs.\n";
    m_run.note("layers", layer.built ? built + layer.log
                                     : "Prepared layer " + layer.key.substr(0, 12) +
                                           (layer.fetched ? " of another server fetched." : " reused."));
    return {};
}

bool Preparation::is_in_pod() const {
    return *m_run.settings().provider == RunProvider::kubernetes;
}

sandbox::BuildOptions Preparation::build_options() {
    sandbox::BuildOptions options;
    options.cancelled = [this] { return is_cancelled(); };
    if (is_in_pod()) options.start = [this](const sandbox::SandboxSpec& spec) { return start_sandbox(spec); };
    return options;
}

// Of a script that failed by itself: where it could write.
Error Preparation::explain_failure(Error failed) const {
    if (is_in_pod() && failed.code == Code::conflict) failed.message += "\n" + std::string(place_of_scripts);
    return failed;
}

// Called while a script runs, or that of another run with the same content.
bool Preparation::is_cancelled() {
    (void)m_run.write_steps();
    return m_run.is_released() || m_run.cancelled().has_value();
}

Result<> Preparation::prepare_setup(sandbox::SandboxSpec& spec) {
    const SandboxSettings& wanted = *m_run.settings().sandbox;
    if (trim(*wanted.setup).empty() || m_repos.empty()) return {};
    if (m_run.services.setup == nullptr) return unavailable("this server cannot run setup");
    for (const forge::Supplied& repo : m_repos) {
        const auto prepared = prepare_setup_of(repo, spec);
        if (prepared.ok()) continue;
        if (*wanted.init_failure == InitFailure::abort || is_cancelled()) return prepared.error();
        m_run.note("setup", "Setup failed; the run continues without it.\n" + prepared.error().message, true);
    }
    return {};
}

Result<> Preparation::prepare_setup_of(const forge::Supplied& repo, sandbox::SandboxSpec& spec) {
    const SandboxSettings& settings = *m_run.settings().sandbox;
    forge::SetupWanted wanted;
    wanted.space = m_run.record.run.space_id;
    wanted.repo = repo.repo.id.text();
    wanted.name = repo.checkout.name;
    wanted.commit = repo.checkout.base_commit;
    wanted.mounts = repo.mounts;
    wanted.directory = repo.directory;
    wanted.setup = trim(*settings.setup);
    wanted.image = *settings.image;
    wanted.layers = *spec.layers;
    wanted.env = *settings.env;
    wanted.seconds = *settings.init_seconds;
    wanted.limits = *spec.limits;
    if (const BuildNetworks* networks = m_run.services.networks; networks != nullptr) {
        wanted.network = networks->of(wanted.space, m_run.id, m_run.settings());
        wanted.network_description = networks->description(m_run.settings());
    }
    const sandbox::BuildOptions options = build_options();
    wanted.cancelled = options.cancelled;
    wanted.start = options.start;
    if (is_in_pod()) wanted.provider = &m_run.provider();
    const forge::SetupPlan plan = TRY(m_run.services.setup->plan(wanted));
    if (plan.script.empty()) {
        m_run.note("setup", wanted.name + " names nothing to install.");
        return {};
    }
    const auto prepared = m_run.services.setup->prepare(wanted, plan);
    if (!prepared.ok()) return explain_failure(prepared.error());
    const forge::SetupLayer& made = prepared.value();
    spec.layers.value.push_back(made.key);
    m_run.record.manifest.layers = *spec.layers;
    m_run.note("setup", made.built
                            ? fmt::format("{}: setup by {} took {:.1f} s; its result is kept for later runs.\n{}",
                                          wanted.name, made.source, static_cast<double>(made.took_ms) / 1000, made.log)
                            : fmt::format("{}: setup by {}, prepared layer {} reused.", wanted.name, made.source,
                                          made.key.substr(0, 12)));
    return {};
}

// A server that was killed while it prepared this run may have left a sandbox that holds the run's thread: one that is
// in the database, or one that a shim was still starting and that only appears later.
Result<std::unique_ptr<sandbox::Sandbox>> Preparation::start_sandbox(const sandbox::SandboxSpec& spec) {
    sandbox::Provider& provider = m_run.provider();
    // A volume is released within moments. A cluster that has no room for longer gets the run again later.
    const bool is_local = *m_run.settings().provider == RunProvider::local;
    const auto pause = std::chrono::milliseconds(is_local ? 100 : 1000);
    const Duration longest = std::chrono::seconds(is_local ? 5 : 30);
    const Duration began = m_run.services.clock.steady();
    if (m_run.record.sandbox_id) TRY(provider.destroy(sandbox::SandboxId(*m_run.record.sandbox_id)));
    std::string noted;
    const auto note_wait = [&](const std::string& why) {
        if (why.empty() || why == noted) return;
        noted = why;
        m_run.note("provision", "Waiting for the cluster: " + why);
        (void)m_run.write_steps();
    };
    for (;;) {
        auto started = provider.start(spec, [&](const std::string& waits_for) {
            note_wait(waits_for);
            return !is_cancelled();
        });
        if (started.ok() || started.error().code != Code::busy || is_cancelled()) return started;
        if (m_run.services.clock.steady() - began > longest) {
            if (!is_local) m_run.no_room = started.error().message;
            return started;
        }
        if (is_local)
            TRY(remove_earlier_sandboxes());
        else
            note_wait(started.error().message);
        std::this_thread::sleep_for(pause);
    }
}

Result<> Preparation::remove_earlier_sandboxes() const {
    sandbox::Provider& provider = m_run.provider();
    for (const sandbox::SandboxId& id : TRY(provider.list())) {
        auto sandbox = provider.attach(id);
        if (!sandbox.ok()) continue;
        const auto view = sandbox.value()->view();
        if (!view.ok()) continue;
        const auto run = view.value().labels.find("run");
        if (run != view.value().labels.end() && run->second == m_run.id.text()) TRY(provider.destroy(id));
    }
    return {};
}

Result<> Preparation::note_sandbox() {
    const SandboxSettings& wanted = *m_run.settings().sandbox;
    const sandbox::SandboxView view = TRY(m_run.sandbox->view());
    m_run.record.manifest.tier = std::string(name_of(view.tier));
    m_run.record.sandbox_id = m_run.sandbox->id().text();
    m_run.note("provision",
               fmt::format("Sandbox ready: {}tier {}, {} MiB memory, {} CPUs, network {}.",
                           *m_run.settings().provider != RunProvider::kubernetes ? std::string()
                           : view.user_namespace.value_or(false)
                               ? fmt::format("a pod in a user namespace (uid {} of the node), ", view.host_uid)
                               : fmt::format("a pod with uid {} of the node, ", view.host_uid),
                           name_of(view.tier), *wanted.memory_bytes >> 20, *wanted.cpus, name_of(*wanted.network)));
    return m_run.services.store.sandbox_started(m_run.id, *m_run.record.sandbox_id, m_run.record.manifest,
                                                m_run.take_steps());
}

Result<> Preparation::connect() {
    if (!m_identity) m_identity = TRY(make_run_identity(m_run));
    TRY(connect_run(m_run, *m_identity));
    m_identity.reset();
    return {};
}

} // namespace hone::run
