#include "server/adapters/skill_source.h"

#include "base/file.h"
#include "base/id.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

namespace hone::server {

namespace {

constexpr Duration longest_wait = std::chrono::seconds(50); // below the timeout of clients
constexpr size_t largest_archive = 8 << 20;                 // a skill's 4 MiB, and what tar adds

// $1: branch, tag or commit; $2: folder, or empty. A branch goes before a tag of the same name, as for workers.
constexpr std::string_view pack_up = R"sh(set -u
mkdir -p "$HONE_ROOT"/workspace/out
commit=
for name in "refs/heads/$1" "refs/tags/$1" "$1"; do
  commit=$(git --git-dir="$HONE_ROOT"/mirror rev-parse -q --verify "$name^{commit}") && break
done
[ -n "$commit" ] || exit 3
[ "$(git --git-dir="$HONE_ROOT"/mirror cat-file -t "$commit:$2" 2>/dev/null)" = tree ] || exit 4
git --git-dir="$HONE_ROOT"/mirror archive --format=tar "$commit:$2" | head -c 9000000 > "$HONE_ROOT"/workspace/out/skill.tar
printf %s "$commit" > "$HONE_ROOT"/workspace/out/commit
)sh";

// Removes what a job left, however this ends.
struct Scratch {
    std::string path;
    ~Scratch() { static_cast<void>(sandbox::remove_tree(path)); }
};

} // namespace

Result<skill::FetchedFolder> GitSkillSource::fetch(const access::Caller& caller, const access::SpaceId& space,
                                                   const skill::GitSource& source, const std::string& skill_id) {
    // Naming a repository here reads it and makes the server fetch it.
    TRY(caller.require(access::Permission::repo_write, space));
    if (m_mirrors == nullptr || m_git == nullptr)
        return unavailable("this machine cannot isolate git, so nothing is fetched; upload the folder instead");
    const forge::Repo repo = TRY(m_repos.find_or_create(space, source.url, std::nullopt, skill_id));
    const auto until = std::chrono::steady_clock::now() + longest_wait;
    const auto fetched = m_mirrors->fetch(repo.id, [&] { return std::chrono::steady_clock::now() > until; });
    if (!fetched.ok() && fetched.error().code == Code::busy)
        return busy("the repository " + repo.name + " is still being fetched; try again in a minute");
    if (!fetched.ok()) return fetched.error();
    return unpack(fetched.value(), source);
}

Result<skill::FetchedFolder> GitSkillSource::unpack(const forge::Repo& repo, const skill::GitSource& source) {
    TRY(make_directories(m_directory, 0755)); // git's own short-lived files are there too
    const Scratch scratch{m_directory + "/skill-" + make_ulid(SystemClock().now())};
    const std::string ref = !source.ref.value.empty()   ? *source.ref
                            : !repo.default_ref.empty() ? repo.default_ref
                                                        : repo.head_ref;
    forge::GitJob job;
    job.script = pack_up;
    job.arguments = {ref, *source.path};
    job.mounts = {{m_mirrors->path(repo.id), "/mirror"}};
    job.export_to = scratch.path;
    const forge::GitOutput output = TRY(m_git->run(job));
    if (output.exit_code == 3)
        return not_found("branch, tag or commit " + (ref.empty() ? "HEAD" : ref) + " of " + repo.name);
    if (output.exit_code == 4)
        return not_found("folder " + (source.path.value.empty() ? "/" : *source.path) + " of " + repo.name + " at " +
                         ref);
    if (output.exit_code != 0) return internal("git failed: " + repair_utf8(truncate_utf8(trim(output.err), 300)));
    skill::FetchedFolder folder;
    folder.commit = TRY(read_file(scratch.path + "/commit", 100));
    if (!forge::is_object_name(folder.commit)) return internal("git named no commit");
    const auto archive = read_file(scratch.path + "/skill.tar", largest_archive);
    if (!archive.ok())
        return archive.error().code == Code::too_large
                   ? too_large("the folder is larger than 4 MiB; name the folder of the skill with git.path")
                   : archive.error();
    folder.files = TRY(skill::read_tar(archive.value()));
    return folder;
}

} // namespace hone::server
