#include "run/build_network.h"

#include "base/text.h"
#include "run/worker/network.h"
#include "sandbox/image/tree.h"

#include <filesystem>

namespace hone::run {

namespace {
constexpr std::string_view build_prefix = "build-"; // no run's folder begins with it
}

// One sandbox's network, with the folder that it sees as /hone.
class BrokeredBuild final : public sandbox::BuildNetwork {
public:
    BrokeredBuild(const BuildNetworks& networks, access::SpaceId space, RunId run, Settings settings)
        : m_networks(networks),
          m_space(std::move(space)),
          m_run(std::move(run)),
          m_settings(std::move(settings)),
          m_id(m_run.text() + "/build-" + make_ulid(networks.m_clock.now())),
          m_folder(networks.m_directory + "/" + std::string(build_prefix) + m_id.substr(m_id.rfind('-') + 1)) {}
    ~BrokeredBuild() override {
        m_networks.m_broker.detach(m_id);
        (void)sandbox::remove_tree(m_folder);
    }

    Result<> make_folder() const {
        TRY(make_directories(m_folder + "/hone", 0755));
        TRY(fill_file(m_folder + "/trust", ""));
        return write_package_files(m_networks.m_mirrors, *m_settings.sandbox.value.packages, m_folder + "/hone");
    }

    std::vector<sandbox::Mount> mounts() const override {
        return {{m_folder + "/hone", "/hone", true}, {m_folder + "/trust", std::string(system_trust_file), true}};
    }

    std::string prelude() const override { return std::string(broker::package_prelude()); }

    Result<std::map<std::string, std::string>> connect(std::vector<Fd> listeners) override {
        if (listeners.size() != 2) return internal("the sandbox has no listeners");
        const SandboxSettings& wanted = *m_settings.sandbox;
        broker::RunAccess access;
        access.run_id = m_id;
        access.space_id = m_space.text();
        access.rules = TRY(build_rules(m_networks.m_mirrors, wanted));
        access.forges = TRY(m_networks.m_skills.forges(m_space, repository_urls(m_settings)));
        access.decisions = m_networks.m_egress.of(m_space, m_run);
        const auto attached = TRY(m_networks.m_broker.attach(access, {std::move(listeners[0]), Fd()}));
        const broker::SandboxEnvironment environment = TRY(broker::sandbox_environment(*attached));
        for (const broker::MountedFile& file : environment.files)
            TRY(fill_file(m_folder + (file.path == system_trust_file ? "/trust" : file.path), file.content));
        auto variables = m_networks.m_mirrors.variables(*wanted.packages);
        for (const auto& [name, value] : environment.variables) variables[name] = value;
        variables.erase("HONE_GATEWAY_URL");
        return variables;
    }

private:
    const BuildNetworks& m_networks;
    const access::SpaceId m_space;
    const RunId m_run;
    const Settings m_settings;
    const std::string m_id;
    const std::string m_folder;
};

sandbox::MakeBuildNetwork BuildNetworks::of(const access::SpaceId& space, const RunId& run,
                                            const Settings& settings) const {
    if (settings.sandbox.value.packages.value.empty() && settings.sandbox.value.setup_hosts.value.empty()) return {};
    return [this, space, run, settings]() -> Result<std::unique_ptr<sandbox::BuildNetwork>> {
        auto build = std::make_unique<BrokeredBuild>(*this, space, run, settings);
        TRY(build->make_folder());
        std::unique_ptr<sandbox::BuildNetwork> made = std::move(build);
        return made;
    };
}

void BuildNetworks::remove_leftovers() const {
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(m_directory, failed))
        if (entry.path().filename().string().starts_with(build_prefix))
            (void)sandbox::remove_tree(entry.path().string());
}

std::string BuildNetworks::description(const Settings& settings) const {
    std::string text = m_mirrors.description(*settings.sandbox.value.packages);
    for (const std::string& host : *settings.sandbox.value.setup_hosts) text += host + ";";
    return text;
}

Result<std::vector<broker::PolicyRule>> build_rules(const broker::PackageMirrors& mirrors,
                                                    const SandboxSettings& wanted) {
    std::vector<broker::PolicyRule> rules = TRY(mirrors.rules(*wanted.packages));
    for (const std::string& host : *wanted.setup_hosts)
        rules.push_back({TRY(parse_allowed_host("sandbox.setup_hosts", host)), false, "setup_hosts"});
    return rules;
}

Result<> write_package_files(const broker::PackageMirrors& mirrors, const std::vector<broker::PackageKind>& kinds,
                             const std::string& folder) {
    if (kinds.empty()) return {};
    TRY(make_directories(folder + "/packages", 0755));
    for (const broker::PackageFile& file : mirrors.files(kinds))
        TRY(fill_file(folder + "/packages/" + file.name, file.content));
    return {};
}

} // namespace hone::run
