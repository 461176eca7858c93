#include "server/evaluation/task_sources.h"

#include "base/id.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <sys/stat.h>

namespace hone::server {

namespace {

constexpr int64_t largest_checkout = int64_t{64} << 20;

// $1: branch, tag or commit; $2: the repository. A branch goes before a tag of the same name, as for workers.
constexpr std::string_view pack_commit = R"sh(set -u
mkdir -p "$HONE_ROOT"/workspace/out
commit=
for name in "refs/heads/$1" "refs/tags/$1" "$1"; do
  commit=$(git --git-dir="$2" rev-parse -q --verify "$name^{commit}") && break
done
[ -n "$commit" ] || exit 3
git --git-dir="$2" archive --format=tar "$commit" | head -c 67108865 > "$HONE_ROOT"/workspace/out/files.tar
printf %s "$commit" > "$HONE_ROOT"/workspace/out/commit
)sh";

struct TaskScratch {
    std::string path;
    ~TaskScratch() { static_cast<void>(sandbox::remove_tree(path)); }
};

} // namespace

Result<std::string> ExperimentSources::find_repo(const access::Caller& caller, const access::SpaceId& space,
                                                 const std::string& id_or_name) {
    if (m_mirrors == nullptr || m_git == nullptr)
        return unavailable("this machine cannot isolate git, so no repository is fetched; `hone check` states why");
    return TRY(m_repos.find(caller, space, id_or_name)).id.text();
}

Result<std::string> ExperimentSources::write_archive(const access::SpaceId& space, const std::string& repo,
                                                     const std::string& ref, const std::string& file) {
    if (m_mirrors == nullptr || m_git == nullptr) return unavailable("this machine cannot isolate git");
    forge::Repo known = TRY(m_repos.find(access::Caller::system(), space, repo));
    forge::GitJob job;
    job.script = pack_commit;
    if (ref.starts_with(evaluate::pushed_prefix)) {
        const std::string named = ref.substr(evaluate::pushed_prefix.size());
        const size_t colon = named.find(':');
        if (colon == std::string::npos || m_quarantine == nullptr) return not_found("commit of a pushed branch");
        const forge::RunRepo pushed = TRY(m_quarantine->find(named.substr(0, colon), known.id));
        job.arguments = {named.substr(colon + 1), "/quarantine"};
        job.mounts = m_quarantine->mounts(pushed);
        return pack(job, "commit " + job.arguments.front() + " of " + known.name, file);
    }
    // Without the forge, what an earlier fetch brought is used.
    const auto fetched = m_mirrors->fetch_if_old(known);
    if (!fetched.ok() && !known.fetched_at) return fetched.error();
    if (fetched.ok()) known = fetched.value();
    const std::string wanted = !ref.empty() ? ref : !known.default_ref.empty() ? known.default_ref : known.head_ref;
    job.arguments = {wanted, "/mirror"};
    job.mounts = {{m_mirrors->path(known.id), "/mirror"}};
    return pack(job, "branch, tag or commit " + (wanted.empty() ? "HEAD" : wanted) + " of " + known.name, file);
}

Result<std::string> ExperimentSources::pack(const forge::GitJob& wanted, const std::string& what,
                                            const std::string& file) {
    TRY(make_directories(m_directory, 0755));
    const TaskScratch scratch{m_directory + "/task-" + make_ulid(SystemClock().now())};
    forge::GitJob job = wanted;
    job.export_to = scratch.path;
    const forge::GitOutput output = TRY(m_git->run(job));
    if (output.exit_code == 3) return not_found(what);
    if (output.exit_code != 0) return internal("git failed: " + repair_utf8(truncate_utf8(trim(output.err), 300)));
    const std::string commit = TRY(read_file(scratch.path + "/commit", 100));
    if (!forge::is_object_name(commit)) return internal("git named no commit");
    struct stat packed {};
    if (::stat((scratch.path + "/files.tar").c_str(), &packed) != 0) return internal("git wrote no archive");
    if (packed.st_size > largest_checkout) return too_large("the files of " + what + " have more than 64 MiB");
    TRY(sandbox::copy_file(scratch.path + "/files.tar", file));
    if (::chmod(file.c_str(), 0644) != 0) return internal("the archive cannot be made readable");
    return commit;
}

bool ExperimentSources::allows_private(const std::string& host, int64_t port) {
    for (const broker::PrivateHost& allowed : m_private_hosts)
        if (allowed.skill_id.empty() && allowed.place.host == host && allowed.place.port == port) return true;
    return false;
}

} // namespace hone::server
