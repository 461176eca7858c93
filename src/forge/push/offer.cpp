// Branches that an agent wrote as a bundle or patch instead of pushing them. A bundle is a list of refs and a pack,
// as a push is: it is taken by the same exchange, with the same checks. A patch is made into a bundle first, in a
// sandbox, without a working tree: nothing that it names is ever a file of this machine.
#include "base/text.h"
#include "forge/push/bundle.h"
#include "forge/push/quarantine.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr size_t longest_reason = 1000;
constexpr int64_t refused_by_script = 3;
constexpr std::string_view base_line = "\nbase-commit: "; // as `git format-patch --base` writes it
constexpr std::string_view no_object = "0000000000000000000000000000000000000000";

// $1 commit to start from, $2 full name of the branch, $3 message of a patch without one, $4 most commits. Exit code 3:
// the patch is at fault, and the reason is on stderr.
constexpr std::string_view patch_script = R"sh(
set -eu
refuse() { echo "$1" >&2; exit 3; }
cat > patch
git init -q --bare --template= r
cp "$HONE_ROOT"/quarantine/HEAD "$HONE_ROOT"/quarantine/packed-refs r/
echo "$HONE_ROOT"/quarantine/objects > r/objects/info/alternates
export GIT_DIR="$HONE_ROOT"/workspace/r GIT_INDEX_FILE="$HONE_ROOT"/workspace/index
export GIT_COMMITTER_NAME='Hone worker' GIT_COMMITTER_EMAIL=worker@hone.invalid
git cat-file -e "$1^{commit}" 2> /dev/null || refuse "the repository has no commit $1"
git read-tree "$1"
mkdir mails
if [ "$(head -c 5 patch)" = "From " ]; then
    git mailsplit -omails patch > /dev/null 2> why || refuse "$(head -c 500 why)"
else
    { printf 'From: Hone worker <worker@hone.invalid>\nSubject: %s\n\n---\n' "$3"; cat patch; } > mails/1
fi
[ "$(ls mails | wc -l)" -le "$4" ] || refuse "a patch has at most $4 commits"
parent=$1
for mail in mails/*; do
    git mailinfo -u --no-scissors message diff < "$mail" > info 2> why || refuse "$(head -c 500 why)"
    grep -q -a -e '^diff ' -e '^--- ' diff || continue
    git apply --cached --whitespace=nowarn diff 2> why || refuse "$(head -c 500 why)"
    { sed -n 's/^Subject: //p' info | head -n 1; echo; cat message; } > text
    name=$(sed -n 's/^Author: //p' info | head -n 1) email=$(sed -n 's/^Email: //p' info | head -n 1)
    tree=$(git write-tree)
    parent=$(GIT_AUTHOR_NAME="${name:-Hone worker}" GIT_AUTHOR_EMAIL="${email:-worker@hone.invalid}" \
        git commit-tree "$tree" -p "$parent" -F text 2> why) || refuse "$(head -c 500 why)"
done
[ "$(git rev-parse "$parent^{tree}")" != "$(git rev-parse "$1^{tree}")" ] || refuse "the patch changes nothing"
git update-ref "$2" "$parent"
git bundle create -q - "$2" --not "$1"
)sh";

// The commit that the patch names; empty: none.
std::string base_of_patch(std::string_view patch) {
    const size_t at = patch.rfind(base_line);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = patch.substr(at + base_line.size());
    const std::string_view commit = trim(rest.substr(0, rest.find('\n')));
    return is_object_name(commit) ? std::string(commit) : std::string();
}

std::string reason_of(std::string_view text) {
    return std::string(truncate_utf8(repair_utf8(trim(text)), longest_reason));
}

std::string push_of(const std::vector<BundleRef>& branches, const std::vector<Ref>& there) {
    std::string head;
    for (const BundleRef& branch : branches) {
        const Ref* const before = find_ref(there, branch.name);
        std::string line =
            fmt::format("{} {} {}", before == nullptr ? no_object : before->object, branch.object, branch.name);
        if (head.empty()) line += std::string(1, '\0') + " report-status side-band-64k atomic";
        head += packet(line);
    }
    return head + "0000";
}

Result<std::string> outcome_of(const PushReport& report) {
    if (report.unpacked == "ok" && report.refused.empty() && !report.taken.empty()) {
        if (!report.messages.empty()) return report.messages;
        return fmt::format("{} taken.", fmt::join(report.taken, ", "));
    }
    std::string reason = report.unpacked == "ok" ? std::string() : report.unpacked;
    for (const auto& [ref, why] : report.refused)
        if (reason.find(why) == std::string::npos) reason += (reason.empty() ? "" : "; ") + why;
    if (!report.messages.empty()) reason += ": " + report.messages;
    return invalid("the branch was refused: " + reason_of(reason));
}

} // namespace

// What the branch left is found with the newest commit that the mirror has: the agent cloned from the forge itself.
RunRepo Quarantine::with_newest_base(RunRepo repo) const {
    const auto refs = m_mirrors.refs(repo.repo_id);
    if (!refs.ok()) return repo;
    if (const Ref* newest = find_ref(refs.value(), repo.base_ref)) repo.base_commit = newest->commit;
    return repo;
}

Result<> Quarantine::require_commits(const RunRepo& repo, const std::vector<std::string>& commits,
                                     const std::function<bool()>& stopped) const {
    if (commits.empty()) return {};
    GitJob job;
    job.arguments = {"--git-dir=/quarantine", "cat-file", "--batch-check=%(objectname) %(objecttype)"};
    job.mounts = mounts(repo);
    job.stopped = stopped;
    for (const std::string& commit : commits) job.input += commit + "\n";
    const GitOutput output = TRY(m_git.run(job));
    if (output.exit_code != 0) return unavailable("git failed: " + reason_of(output.err));
    for (const std::string_view line : split(output.out, '\n'))
        if (!line.empty() && !line.ends_with(" commit"))
            return invalid(fmt::format("the bundle needs commit {}, which repository {} does not have. Start from a "
                                       "commit of the repository, such as origin/HEAD..BRANCH",
                                       line.substr(0, line.find(' ')), repo.name));
    return {};
}

Result<std::string> Quarantine::take_bundle(const RunRepo& repo, std::string_view bundle,
                                            const std::function<bool()>& stopped) {
    const BundleHead head = TRY(read_bundle_head(bundle));
    std::vector<BundleRef> branches = TRY(branches_of(head, prefix(repo.run_id)));
    TRY(require_commits(repo, head.needed, stopped));
    const std::string packed = TRY(read_file(path(repo.run_id, repo.repo_id) + "/packed-refs", 32 << 20));
    const std::vector<Ref> there = TRY(parse_packed_refs(packed));
    std::erase_if(branches, [&](const BundleRef& branch) {
        const Ref* const before = find_ref(there, branch.name);
        return before != nullptr && before->object == branch.object;
    });
    if (branches.empty()) return std::string("It is the branch that waits for review already.");
    GitRequest request{repo.run_id, repo.name, GitService::receive_pack};
    request.stopped = stopped;
    const auto exchange = make_push_exchange(with_newest_base(repo), job_of(repo, request));
    TRY(exchange->write(push_of(branches, there)));
    TRY(exchange->write(bundle.substr(head.used)));
    TRY(exchange->finish());
    return outcome_of(read_push_report(TRY(exchange->read())));
}

Result<std::string> Quarantine::take_patch(const RunRepo& repo, const Patch& patch,
                                           const std::function<bool()>& stopped) {
    const std::string branch = prefix(repo.run_id) + patch.branch;
    if (patch.branch.empty() || !is_ref_name(branch)) return invalid("that is not the name of a branch");
    std::string base = base_of_patch(patch.text);
    if (base.empty()) base = with_newest_base(repo).base_commit;
    std::string message = patch.message;
    std::ranges::replace_if(
        message, [](unsigned char c) { return c < 0x20; }, ' ');
    GitJob job;
    job.script = patch_script;
    job.arguments = {base, branch, message.empty() ? "Change of a session" : message,
                     std::to_string(most_patch_commits)};
    job.mounts = mounts(repo);
    job.input = patch.text.empty() ? "\n" : patch.text;
    job.stopped = stopped;
    job.limits.time = m_options.push_time;
    job.limits.output_bytes = m_options.push_bytes;
    job.limits.disk_bytes = 3 * m_options.push_bytes;
    const GitOutput output = TRY(m_git.run(job));
    if (output.exit_code == refused_by_script)
        return invalid(fmt::format("the patch does not apply to {}: {}", base.substr(0, 12), reason_of(output.err)));
    if (output.exit_code != 0) return unavailable("git could not take the patch: " + reason_of(output.err));
    return take_bundle(repo, output.out, stopped);
}

} // namespace hone::forge
