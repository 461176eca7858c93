#include "review/branch/inspector.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr size_t largest_diff = 12 << 20;
constexpr size_t most_commits = 100;
constexpr size_t longest_message = 20'000;
constexpr size_t largest_log = 2'000'000;

// $1 base, $2 head, $3 bytes of a diff and of a patch, $4 bytes of a log. A git that fails in the middle would leave
// what looks like a smaller change: only a closed pipe (141) is no failure.
constexpr std::string_view opening = R"(set -e
for commit in "$1" "$2"; do git rev-parse --verify --quiet --end-of-options "$commit^{commit}" >/dev/null; done
first() { # BYTES COMMAND…
    most=$1; shift
    { "$@" || [ $? = 141 ] || touch "$HONE_ROOT"/workspace/failed; } | head -c "$most"
    [ ! -e "$HONE_ROOT"/workspace/failed ]
}
changes() {
    git -c diff.renameLimit=2000 diff --no-ext-diff --no-textconv --no-color --no-relative --ignore-submodules=none \
        --submodule=short --src-prefix=a/ --dst-prefix=b/ --find-renames -p --end-of-options "$1" "$2" --
}
)";

// One sandbox for all. Last, the names in the whole tree that differ only in upper and lower case: on some machines
// they are one file.
constexpr std::string_view inspect_script = R"(
mkdir -p "$HONE_ROOT"/workspace/out
cd "$HONE_ROOT"/workspace/out
first "$4" git log -z --no-show-signature --no-color --no-decorate --max-count=101 \
    --format='%H%x1f%an <%ae>%x1f%B' --end-of-options "$1..$2" -- > log
first "$3" changes "$1" "$2" > diff
first "$3" git format-patch --stdout --no-signature --no-color --no-ext-diff --no-textconv --binary --full-index \
    --no-attach --no-thread --end-of-options "$1..$2" > patch
first 50000000 git -c core.quotePath=false ls-tree -r --name-only --full-tree "$2" > ../names
LC_ALL=C sort -f -S 64M -T "$HONE_ROOT"/workspace ../names | LC_ALL=C uniq -D -i | head -c 100000 > alike
)";

constexpr std::string_view interdiff_script = R"(first "$3" changes "$1" "$2")";

forge::GitJob job_of(const RepoPlace& place, std::string_view script, const std::string& base,
                     const std::string& head) {
    forge::GitJob job;
    job.script = std::string(opening) + std::string(script);
    job.arguments = {base, head, std::to_string(largest_diff), std::to_string(largest_log)};
    job.mounts = place.mounts;
    job.environment = {{"GIT_DIR", place.directory}};
    job.limits.output_bytes = static_cast<int64_t>(largest_diff) + (1 << 20);
    return job;
}

Error git_failed(const forge::GitOutput& output) {
    return conflict("git could not read the branch: " + std::string(trim(truncate_utf8(repair_utf8(output.err), 500))));
}

// A short-lived folder for what a job leaves.
class Outbox {
public:
    explicit Outbox(std::string path) : m_path(std::move(path)) {}
    ~Outbox() { (void)sandbox::remove_tree(m_path).ok(); }
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;
    Result<std::string> read(const std::string& name) const {
        const std::string file = m_path + "/" + name;
        if (!file_exists(file)) return std::string();
        return read_file(file, largest_diff + 1);
    }

private:
    const std::string m_path;
};

} // namespace

std::vector<Commit> parse_commits(std::string_view text, size_t most) {
    std::vector<Commit> commits;
    for (const std::string_view entry : split(text, '\0')) {
        const size_t first = entry.find('\x1f');
        const size_t second = first == std::string_view::npos ? first : entry.find('\x1f', first + 1);
        if (second == std::string_view::npos || commits.size() >= most) continue;
        commits.push_back({repair_utf8(truncate_utf8(entry.substr(0, first), 64)),
                           repair_utf8(truncate_utf8(entry.substr(first + 1, second - first - 1), 300)),
                           repair_utf8(truncate_utf8(trim(entry.substr(second + 1)), longest_message))});
    }
    std::reverse(commits.begin(), commits.end());
    return commits;
}

Result<Inspected> Inspector::inspect(const Branch& branch, const Revision& revision) const {
    if (revision.base_commit.empty())
        return invalid("the branch shares no history with the repository that was cloned");
    const RepoPlace place = TRY(m_repos.place(branch.run_id, branch.repo_id));
    forge::GitJob job = job_of(place, inspect_script, revision.base_commit, revision.head_commit);
    TRY(make_directories(m_directory, 0700));
    job.export_to = m_directory + "/" + make_ulid(m_clock.now());
    const Outbox outbox(job.export_to);
    const forge::GitOutput output = TRY(m_git.run(job));
    if (output.exit_code != 0) return git_failed(output);
    Inspected found;
    found.diff_text = TRY(outbox.read("diff"));
    found.diff = TRY(parse_diff(found.diff_text));
    if (found.diff_text.size() >= largest_diff) found.diff.truncated = true;
    found.patch = TRY(outbox.read("patch"));
    if (found.patch.size() >= largest_diff) found.patch.clear();
    const std::string log = TRY(outbox.read("log"));
    found.commits = parse_commits(log, most_commits + 1);
    found.commits_left_out = log.size() >= largest_log || found.commits.size() > most_commits;
    if (found.commits.size() > most_commits) found.commits.erase(found.commits.begin());
    for (const Commit& commit : found.commits) // cut at a character, up to three bytes before
        found.commits_left_out = found.commits_left_out || commit.message.size() + 3 >= longest_message;
    const std::string alike = TRY(outbox.read("alike"));
    for (const std::string_view name : split(alike, '\n'))
        if (!name.empty()) found.alike.push_back(repair_utf8(name));
    if (found.commits.empty()) return invalid("the branch has no commits of its own");
    const std::string& message = found.commits.front().message;
    found.title = truncate_utf8(trim(std::string_view(message).substr(0, message.find('\n'))), 200);
    if (found.title.empty()) found.title = branch.branch;
    return found;
}

Result<bool> Inspector::step() {
    const auto waiting = TRY(m_branches.next_pending());
    if (!waiting) return false;
    const Branch branch = TRY(m_branches.find(waiting->artifact));
    const Revision revision = TRY(m_branches.revision(waiting->artifact, waiting->revision));
    auto found = inspect(branch, revision);
    if (found.ok())
        TRY(m_branches.inspected(*waiting, found.value()));
    else
        TRY(m_branches.not_inspected(*waiting, found.error().message,
                                     found.error().code == Code::busy || found.error().code == Code::unavailable));
    return true;
}

Result<Diff> Inspector::interdiff(const ArtifactId& artifact, int64_t from, int64_t to) const {
    const Branch branch = TRY(m_branches.find(artifact));
    for (const int64_t revision : {from, to}) TRY(m_branches.require_here(artifact, revision));
    const Revision before = TRY(m_branches.revision(artifact, from));
    const Revision after = TRY(m_branches.revision(artifact, to));
    const RepoPlace place = TRY(m_repos.place(branch.run_id, branch.repo_id));
    const forge::GitOutput output =
        TRY(m_git.run(job_of(place, interdiff_script, before.head_commit, after.head_commit)));
    if (output.exit_code != 0) return git_failed(output);
    Diff diff = TRY(parse_diff(output.out));
    if (output.out.size() >= largest_diff) diff.truncated = true;
    return diff;
}

} // namespace hone::review
