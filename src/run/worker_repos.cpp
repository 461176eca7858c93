// A worker's repositories: opened for the run by forge/, cloned inside the sandbox from the gateway, so that neither
// the forge's address nor a credential is ever needed there.
#include "base/text.h"
#include "forge/supply.h"
#include "run/worker.h"

#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr std::string_view gateway = "http://127.0.0.1:3129/git/";
constexpr int64_t clone_timeout_ms = 10 * 60 * 1000;

// $1 address, $2 folder, $3 path scope, $4 branch to work on, $5 commits of history or nothing. A thread's later
// sandboxes find their clone as they left it. Of a scope only what is looked at is brought. Nobody waits until a clone
// is on the disk, but it gets there.
constexpr std::string_view clone_script = R"(
set -e
if [ -d "$2/.git" ]; then exit 0; fi
git -c core.fsync=none clone --quiet --no-checkout ${3:+--filter=blob:none} ${5:+--depth "$5"} -c push.default=current -c push.autoSetupRemote=true -c user.name='Hone worker' \
    -c user.email=worker@hone.invalid -c advice.detachedHead=false "$1" "$2"
cd "$2"
if [ -n "$3" ]; then git sparse-checkout set --cone "$3"; fi
git checkout --quiet -b "$4"
sync -f . > /dev/null 2>&1 &
)";

} // namespace

std::string Worker::branch_prefix() const {
    return "hone/" + m_id.text() + "/";
}

Result<> Worker::prepare_repos() {
    TRY(await_inside("provision", 0)); // the sandbox's first command, which makes the home
    const Settings& settings = m_work.manifest.settings;
    m_work.manifest.repos.value.clear();
    if (settings.repos.value.empty()) return {};
    if (m_means.supply == nullptr) return unavailable("this server has no repositories for workers");
    TRY(write_steps());
    for (const RepoSettings& wanted : *settings.repos) {
        const forge::Supplied supplied =
            TRY(m_means.supply->supply({m_work.run.space_id, m_id.text(), wanted.url, *wanted.ref, *settings.skills,
                                        [this] { return m_released || cancelled().has_value(); }}));
        const std::string& name = supplied.checkout.name;
        const std::string folder = "/workspace/" + name;
        const std::string scope = wanted.path.value.empty() ? supplied.repo.path_scope : *wanted.path;
        TRY(run_inside("clone",
                       {"/bin/sh", "-c", std::string(clone_script), "clone", std::string(gateway) + name, folder, scope,
                        branch_prefix() + "work", *wanted.depth == 0 ? "" : std::to_string(*wanted.depth)},
                       clone_timeout_ms));
        m_work.manifest.repos.value.push_back({wanted.url, supplied.checkout.base_commit});
        TRY(m_means.book.step(m_id, "clone",
                              fmt::format("{} at {} is in {}{}.", supplied.repo.url,
                                          supplied.checkout.base_commit.empty()
                                              ? "no commit"
                                              : supplied.checkout.base_commit.substr(0, 12),
                                          folder, scope.empty() ? "" : ", only " + scope)));
        if (!supplied.warning.empty()) TRY(m_means.book.step(m_id, "clone", supplied.warning));
    }
    return m_means.book.set_manifest(m_id, m_work.manifest);
}

} // namespace hone::run
