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
constexpr std::string_view checkout_script = R"(set -e
git init --quiet /workspace/repo
echo "$1/objects" > /workspace/repo/.git/objects/info/alternates
git -C /workspace/repo -c core.hooksPath=/dev/null checkout --quiet --detach "$2"
)";

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
    command.env = env;
    command.env.value.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env.value.emplace("HOME", "/workspace");
    command.env.value.emplace("LANG", "C.UTF-8");
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

Result<std::vector<VerificationRun>> Verifier::run_on(const std::string& commit, const RunFacts& facts,
                                                      const RepoPlace& place) const {
    sandbox::SandboxSpec spec;
    spec.root = facts.image;
    spec.limits = facts.limits;
    spec.minimum_tier = facts.minimum_tier;
    spec.keep = true;
    spec.labels.value = {{"verification", commit.substr(0, 12)}};
    for (const forge::GitMount& mount : place.mounts) spec.mounts.value.push_back({mount.source, mount.target, true});
    if (!trim(facts.init_script).empty()) {
        sandbox::Preparation preparation;
        preparation.space = facts.space.text();
        preparation.root = facts.image;
        preparation.script = facts.init_script;
        preparation.env = facts.env;
        preparation.timeout_ms = facts.init_seconds * 1000;
        preparation.limits = facts.limits;
        spec.layers.value.push_back(TRY(sandbox::prepare_layer(m_provider, m_store, preparation)).key);
    }
    const std::unique_ptr<sandbox::Sandbox> box = TRY(m_provider.start(spec));
    const auto ran = [&]() -> Result<std::vector<VerificationRun>> {
        const VerificationRun checkout =
            TRY(run_command(*box, {"/bin/sh", "-c", std::string(checkout_script), "checkout", place.directory, commit},
                            "/workspace", {}, checkout_ms));
        if (!is_green(checkout)) return unavailable("the commit could not be checked out: " + checkout.output);
        std::vector<VerificationRun> runs;
        for (const VerificationCommand& command : *facts.policy.verification)
            runs.push_back(TRY(run_command(*box, {"/bin/sh", "-c", command.command}, "/workspace/repo", facts.env,
                                           *command.timeout_seconds * 1000)));
        return runs;
    }();
    const auto destroyed = box->destroy();
    if (!destroyed.ok())
        log(Level::warning, "sandbox of a verification not removed", {{"why", destroyed.error().message}});
    return ran;
}

Result<bool> Verifier::step() {
    const auto waiting = TRY(m_branches.next_unverified());
    if (!waiting) return false;
    TRY(m_branches.verifying(*waiting));
    const Branch branch = TRY(m_branches.find(waiting->artifact));
    const Revision revision = TRY(m_branches.revision(waiting->artifact, waiting->revision));
    const auto verified = [&]() -> Result<std::vector<VerificationResult>> {
        const RunFacts facts = TRY(m_runs.facts(branch.run_id));
        const RepoPlace place = TRY(m_repos.place(branch.run_id, branch.repo_id));
        const auto before = TRY(run_on(revision.base_commit, facts, place));
        const auto after = TRY(run_on(revision.head_commit, facts, place));
        std::vector<VerificationResult> results;
        for (size_t i = 0; i < facts.policy.verification.value.size(); ++i) {
            const VerificationCommand& command = facts.policy.verification.value[i];
            results.push_back({command.name, command.command, before[i], after[i]});
        }
        return results;
    }();
    if (!verified.ok()) {
        VerificationResult failed;
        failed.name = "verification";
        failed.branch = VerificationRun{std::nullopt, false, 0, shown(verified.error().message)};
        TRY(m_branches.verified(*waiting, VerificationState::failed, {failed}));
        return true;
    }
    bool green = true;
    for (const VerificationResult& result : verified.value()) green = green && is_green(*result.branch);
    TRY(m_branches.verified(*waiting, green ? VerificationState::green : VerificationState::red, verified.value()));
    return true;
}

} // namespace hone::review
