#include "run/worker/clone.h"

#include "base/text.h"
#include "forge/setup/setup.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr std::string_view gateway = "http://127.0.0.1:3129/git/";
constexpr int64_t clone_timeout_ms = 10 * 60 * 1000;

// $1 address, $2 folder, $3 path scope, $4 branch to work on, $5 commits of history or nothing, $6 name. A thread's
// later sandboxes find their clone as they left it. Of a scope only what is checked out is fetched. The clone is
// flushed to the disk after the script has ended.
constexpr std::string_view clone_script = R"(
set -e
if [ -d "$2/.git" ]; then exit 0; fi
if ! command -v git > /dev/null; then echo "the image of the sandbox has no git; add the line PACKAGES git to its list"; exit 1; fi
git -c core.fsync=none clone --quiet --no-checkout ${3:+--filter=blob:none} ${5:+--depth "$5"} -c push.default=current -c push.autoSetupRemote=true -c user.name='Hone worker' \
    -c user.email=worker@hone.invalid -c advice.detachedHead=false "$1" "$2"
cd "$2"
if [ -n "$3" ]; then git sparse-checkout set --cone "$3"; fi
folder="$2" name="$6"
)";
constexpr std::string_view checkout_script = R"(git checkout --quiet --force -b "$4"
sync -f . > /dev/null 2>&1 &
)";

Result<> await_command(LiveRun& run, std::string_view step, int64_t number) {
    for (;;) {
        const auto ended = run.sandbox->wait(number, 200);
        if (!ended.ok() && ended.error().code != Code::busy) return ended.error();
        if (!ended.ok()) {
            if (run.cancelled()) return conflict("cancelled");
            TRY(run.write_steps());
            continue;
        }
        if (ended.value().exit_code == 0) return {};
        std::string text;
        if (const auto output = run.sandbox->output(number, 0, 0); output.ok())
            for (const auto& part : output.value().parts) text += part.bytes;
        return invalid(fmt::format("{} failed: {}", step, trim(harmless(truncate_utf8(repair_utf8(text), 4000)))));
    }
}

// A step's own command; its output is shown only when it fails.
Result<> run_inside(LiveRun& run, std::string_view step, const std::vector<std::string>& argv, int64_t timeout_ms) {
    sandbox::Command command;
    command.argv = argv;
    command.env = run.environment;
    command.timeout_ms = timeout_ms;
    return await_command(run, step, TRY(run.sandbox->execute(command)));
}

Result<> clone_repo(LiveRun& run, const RepoSettings& wanted, const forge::Supplied& supplied) {
    const std::string& name = supplied.checkout.name;
    const std::string folder = "/workspace/" + name;
    const std::string scope = wanted.path.value.empty() ? supplied.repo.path_scope : *wanted.path;
    const std::string script =
        std::string(clone_script) + std::string(forge::use_setup_script) + std::string(checkout_script);
    TRY(run_inside(run, "clone",
                   {"/bin/sh", "-c", script, "clone", std::string(gateway) + name, folder, scope,
                    run.branch_prefix() + "work", *wanted.depth == 0 ? "" : std::to_string(*wanted.depth), name},
                   clone_timeout_ms));
    run.record.manifest.repos.value.push_back({wanted.url, supplied.checkout.base_commit});
    TRY(run.services.store.add_step(
        run.id, "clone",
        fmt::format("{} at {} is in {}{}.", supplied.repo.url,
                    supplied.checkout.base_commit.empty() ? "no commit" : supplied.checkout.base_commit.substr(0, 12),
                    folder, scope.empty() ? "" : ", only " + scope)));
    if (!supplied.warning.empty()) TRY(run.services.store.add_step(run.id, "clone", supplied.warning));
    return {};
}

} // namespace

Result<std::vector<forge::Supplied>> supply_repos(LiveRun& run) {
    std::vector<forge::Supplied> supplied;
    if (run.settings().repos.value.empty()) return supplied;
    if (run.services.supply == nullptr) return unavailable("this server has no repositories for workers");
    TRY(run.write_steps());
    for (const RepoSettings& wanted : *run.settings().repos)
        supplied.push_back(TRY(run.services.supply->supply(
            {run.record.run.space_id, run.id.text(), wanted.url, *wanted.ref, *run.settings().skills,
             [&run] { return run.is_released() || run.cancelled().has_value(); }})));
    return supplied;
}

Result<> clone_repos(LiveRun& run, const std::vector<forge::Supplied>& supplied) {
    constexpr int64_t first_command = 0; // makes the home (Preparation::provision)
    TRY(await_command(run, "provision", first_command));
    run.record.manifest.repos.value.clear();
    if (supplied.empty()) return {};
    TRY(run.write_steps());
    const auto& repos = *run.settings().repos;
    for (size_t i = 0; i < repos.size(); ++i) TRY(clone_repo(run, repos[i], supplied[i]));
    return run.services.store.set_manifest(run.id, run.record.manifest);
}

} // namespace hone::run
