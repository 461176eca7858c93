#include "review/branch/verifier.h"

#include "base/log.h"
#include "base/text.h"
#include "review/branch/secret_forms.h"
#include "sandbox/image/layer.h"

#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr size_t kept_output = 16 << 10;
constexpr int64_t checkout_ms = 120'000;

// Not a clone: git refuses a repository of another user, and copies nothing this way.
// $1 repository, $2 commit, $3 name.
constexpr std::string_view checkout_script = R"(set -e
name="$3" folder="/workspace/$3"
git init --quiet "$folder"
echo "$1/objects" > "$folder/.git/objects/info/alternates"
)";
constexpr std::string_view files_script =
    R"(git -C "$folder" -c core.hooksPath=/dev/null checkout --quiet --force --detach "$2")";

// The end of a command's output, fit to be shown.
std::string shown(std::string_view output) {
    if (output.size() > kept_output) output.remove_prefix(output.size() - kept_output);
    std::string kept;
    for (const std::string_view line : split(output, '\n')) {
        if (!kept.empty()) kept += '\n';
        kept += seeming_secret(line).empty() ? repair_utf8(line) : "(a line that seems to hold a secret was left out)";
    }
    std::erase(kept, '\0');
    return kept;
}

Result<VerificationRun> run_command(sandbox::Sandbox& box, const std::vector<std::string>& argv, const std::string& cwd,
                                    const std::map<std::string, std::string>& env, int64_t timeout_ms) {
    sandbox::Command command;
    command.argv = argv;
    command.cwd = cwd;
    command.env = env; // home and search path are those of every sandbox
    command.timeout_ms = timeout_ms;
    const int64_t number = TRY(box.execute(command));
    VerificationRun run;
    std::string said;
    for (int64_t offset = 0;;) {
        const sandbox::Output output = TRY(box.output(number, offset, 1000));
        for (const auto& part : output.parts) said += part.bytes;
        if (said.size() > 4 * kept_output) said.erase(0, said.size() - 2 * kept_output);
        offset = output.next;
        if (output.finished) break;
    }
    const sandbox::CommandResult ended = TRY(box.wait(number, -1));
    run.exit_code = ended.exit_code;
    run.duration_ms = ended.duration_ms;
    for (const sandbox::LimitHit hit : ended.limits_hit) {
        run.timed_out = run.timed_out || hit == sandbox::LimitHit::timeout;
        said += "\n(limit: " + std::string(name_of(hit)) + ")";
    }
    if (run.timed_out) run.exit_code.reset();
    if (ended.error) said += "\n" + *ended.error;
    run.output = shown(said);
    return run;
}

bool is_green(const VerificationRun& run) {
    return run.exit_code == 0;
}

} // namespace

forge::SetupWanted Verifier::setup_of(const Branch& branch, const RunFacts& facts, const RepoPlace& place,
                                      const std::string& commit) const {
    forge::SetupWanted wanted;
    wanted.space = facts.space;
    wanted.repo = branch.repo_id;
    wanted.name = branch.repo_name;
    wanted.commit = commit;
    wanted.mounts = place.mounts;
    wanted.directory = place.directory;
    wanted.setup = trim(facts.setup);
    wanted.image = facts.image;
    wanted.env = facts.env;
    wanted.seconds = facts.init_seconds;
    wanted.limits = facts.limits;
    wanted.network = facts.network;
    wanted.network_description = facts.network_description;
    return wanted;
}

Result<std::optional<VerificationRun>> Verifier::add_layers(const Side& side, const Branch& branch,
                                                            const RunFacts& facts, const RepoPlace& place,
                                                            sandbox::SandboxSpec& spec) const {
    if (!trim(facts.init_script).empty()) {
        sandbox::Preparation preparation;
        preparation.space = facts.space.text();
        preparation.root = facts.image;
        preparation.script = facts.init_script;
        preparation.env = facts.env;
        preparation.timeout_ms = facts.init_seconds * 1000;
        preparation.limits = facts.limits;
        if (facts.network) {
            preparation.network = sandbox::NetworkMode::broker;
            preparation.inputs.value["network"] = facts.network_description;
        }
        sandbox::BuildOptions options;
        options.network = facts.network;
        spec.layers.value.push_back(TRY(sandbox::prepare_layer(m_provider, m_store, preparation, options)).key);
    }
    if (m_setup == nullptr || side.plan.script.empty()) return std::optional<VerificationRun>();
    forge::SetupWanted wanted = setup_of(branch, facts, place, side.setup_commit);
    wanted.origin = side.origin;
    wanted.layers = *spec.layers;
    const auto made = m_setup->prepare(wanted, side.plan);
    VerificationRun setup;
    if (made.ok()) {
        spec.layers.value.push_back(made.value().key);
        setup.exit_code = 0;
        setup.duration_ms = made.value().took_ms;
        setup.output = made.value().built ? shown(made.value().log) : "(a prepared layer was used)";
    } else if (made.error().code == Code::conflict) { // a result, as a command that failed
        setup.exit_code = 1;
        setup.output = shown(made.error().message);
    } else {
        return made.error();
    }
    return std::optional(std::move(setup));
}

Result<Verifier::Ran> Verifier::run_on(const Side& side, const Branch& branch, const RunFacts& facts,
                                       const RepoPlace& place) const {
    sandbox::SandboxSpec spec;
    spec.root = facts.image;
    spec.limits = facts.limits;
    spec.minimum_tier = facts.minimum_tier;
    spec.keep = true;
    spec.labels.value = {{"verification", side.commit.substr(0, 12)}};
    for (const forge::GitMount& mount : place.mounts) spec.mounts.value.push_back({mount.source, mount.target, true});
    Ran ran;
    ran.setup = TRY(add_layers(side, branch, facts, place, spec));
    std::unique_ptr<sandbox::BuildNetwork> network;
    if (facts.network) network = TRY(facts.network());
    if (network) {
        spec.network = sandbox::NetworkMode::broker;
        for (const sandbox::Mount& mount : network->mounts()) spec.mounts.value.push_back(mount);
    }
    const std::unique_ptr<sandbox::Sandbox> box = TRY(m_provider.start(spec));
    const auto done = [&]() -> Result<> {
        std::map<std::string, std::string> environment = facts.env;
        if (network)
            for (const auto& [name, value] : TRY(network->connect(TRY(box->listeners())))) environment[name] = value;
        const VerificationRun checkout = TRY(run_command(
            *box,
            {"/bin/sh", "-c",
             std::string(checkout_script) + std::string(forge::use_setup_script) + std::string(files_script),
             "checkout", place.directory, side.commit, branch.repo_name},
            "/workspace", {}, checkout_ms));
        if (!is_green(checkout)) return unavailable("the commit could not be checked out: " + checkout.output);
        for (const VerificationCommand& command : *facts.policy.verification)
            ran.commands.push_back(
                TRY(run_command(*box, {"/bin/sh", "-c", command.command}, "/workspace/" + branch.repo_name, environment,
                                *command.timeout_seconds * 1000)));
        return {};
    }();
    network.reset();
    const auto destroyed = box->destroy();
    if (!destroyed.ok())
        log(Level::warning, "sandbox of a verification not removed", {{"why", destroyed.error().message}});
    if (!done.ok()) return done.error();
    return ran;
}

// A branch that changes what setup depends on has a layer of its own, which nothing else uses: what a worker pushed
// never becomes what later runs begin with. Otherwise both sides use the layer of the base, built from the base.
Result<std::vector<VerificationResult>> Verifier::verify(const Branch& branch, const Revision& revision) const {
    const RunFacts facts = TRY(m_runs.facts(branch.run_id));
    const RepoPlace place = TRY(m_repos.place(branch.run_id, branch.repo_id));
    Side base{revision.base_commit, revision.base_commit, "", {}};
    Side head{revision.head_commit, revision.base_commit, "", {}};
    std::optional<VerificationRun> unusable; // the branch's files name no setup that could run
    if (m_setup != nullptr && !trim(facts.setup).empty()) {
        if (auto plan = m_setup->plan(setup_of(branch, facts, place, base.commit)); plan.ok())
            base.plan = std::move(plan).value();
        auto plan = m_setup->plan(setup_of(branch, facts, place, head.commit));
        if (plan.ok())
            head.plan = std::move(plan).value();
        else
            unusable = VerificationRun{1, false, 0, shown(plan.error().message)};
        if (head.plan != base.plan) {
            head.setup_commit = head.commit;
            head.origin = branch.run_id + " " + branch.branch;
        }
    }
    Ran before = TRY(run_on(base, branch, facts, place));
    Ran after = TRY(run_on(head, branch, facts, place));
    if (unusable) after.setup = std::move(unusable);
    std::vector<VerificationResult> results;
    if (before.setup || after.setup)
        results.push_back({"setup", head.plan.source, std::move(before.setup), std::move(after.setup)});
    for (size_t i = 0; i < facts.policy.verification.value.size(); ++i) {
        const VerificationCommand& command = facts.policy.verification.value[i];
        results.push_back({command.name, command.command, before.commands[i], after.commands[i]});
    }
    return results;
}

// The database may be away when a verification ends: the branch is verified again when it is back.
Result<bool> Verifier::step() {
    if (m_has_failed) TRY(m_branches.verify_again());
    m_has_failed = true;
    const bool has_verified = TRY(verify_next());
    m_has_failed = false;
    return has_verified;
}

Result<bool> Verifier::verify_next() {
    const auto waiting = TRY(m_branches.next_unverified());
    if (!waiting) return false;
    TRY(m_branches.verifying(*waiting));
    const Branch branch = TRY(m_branches.find(waiting->artifact));
    const Revision revision = TRY(m_branches.revision(waiting->artifact, waiting->revision));
    const auto verified = verify(branch, revision);
    if (!verified.ok()) {
        VerificationResult failed;
        failed.name = "verification";
        failed.branch = VerificationRun{std::nullopt, false, 0, shown(verified.error().message)};
        TRY(m_branches.verified(*waiting, VerificationState::failed, {failed}));
        return true;
    }
    bool green = true;
    for (const VerificationResult& result : verified.value())
        green = green && (!result.branch || is_green(*result.branch));
    TRY(m_branches.verified(*waiting, green ? VerificationState::green : VerificationState::red, verified.value()));
    return true;
}

} // namespace hone::review
