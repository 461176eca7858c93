// How a branch gets to its repository: commits as the preset wants them, and a push that overwrites nothing but what
// Hone pushed before.
#include "base/file.h"
#include "base/text.h"
#include "forge/mirrors.h"
#include "review/delivery/delivery.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::review {

namespace {

// Exit code of the script when people changed the branch.
constexpr int64_t changed_by_people = 71;

// $1 base, $2 head, $3 keep, rewrite or squash, $4 branch, $5 commits that Hone pushed to it before, $6 address (empty:
// pack for a repository of this server), $7 sign or nothing. Prints the commit that is delivered, and `restored` when
// the branch was deleted since. The input of squash is its message. rewrite makes each commit again, with the same tree
// and dates, so that it is the same each time; its input are trailers for the messages.
// The branch on the forge may be absent, hold a commit of Hone, or hold commits of people that this revision contains.
constexpr std::string_view push_script = R"sh(set -e
head=$2 base=$1 there=
# The repository cannot be written to; new objects and git's own temporary files go beside it.
mkdir -p "$HONE_ROOT"/workspace/objects
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$GIT_DIR/objects" GIT_OBJECT_DIRECTORY="$HONE_ROOT"/workspace/objects
if [ -n "$6" ]; then
    git ls-remote "$6" "refs/heads/$4" > there
    there=$(cut -f 1 there)
fi
ours=
for commit in $5; do if [ "$commit" = "$there" ]; then ours=yes; fi; done
if [ -n "$there" ] && [ -z "$ours" ] && git merge-base --is-ancestor "$there" "$2" 2> /dev/null; then
    base=$there ours=yes
fi
if [ "$3" = squash ] && [ "$base" != "$2" ]; then head=$(git commit-tree "$2^{tree}" -p "$base"); fi
field() { git log -1 --no-show-signature --date=raw --format="$1" "$commit"; }
add_trailer() { git interpret-trailers --in-place --no-divider --if-exists addIfDifferent --trailer "$1" message; }
if [ "$3" = rewrite ] && [ "$base" != "$2" ]; then
    cat > trailers
    mkdir made
    for commit in $(git rev-list --reverse --topo-order "$base..$2"); do
        parents=
        for parent in $(git rev-parse "$commit^@"); do
            parents="$parents -p $(cat "made/$parent" 2> /dev/null || echo "$parent")"
        done
        name=${GIT_AUTHOR_NAME:-$(field %an)} mail=${GIT_AUTHOR_EMAIL:-$(field %ae)}
        field %B > message
        while read -r line; do add_trailer "$line"; done < trailers
        if [ -n "$7" ]; then add_trailer "Signed-off-by: $name <$mail>"; fi
        GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail GIT_AUTHOR_DATE=@$(field %ad) \
            GIT_COMMITTER_NAME=$name GIT_COMMITTER_EMAIL=$mail GIT_COMMITTER_DATE=@$(field %cd) \
            git commit-tree "$commit^{tree}" $parents -F message > "made/$commit"
    done
    head=$(cat "made/$2")
fi
echo "$head"
mkdir -p "$HONE_ROOT"/workspace/out/pack
if [ -z "$6" ]; then
    printf '%s\n^%s\n' "$head" "$1" | git pack-objects --quiet --revs --delta-base-offset "$HONE_ROOT"/workspace/out/pack/pack >&2
elif [ "$there" != "$head" ]; then
    if [ -n "$there" ] && [ -z "$ours" ]; then
        echo "the branch was changed by people: $there" >&2
        exit 71
    fi
    git push --quiet --no-verify --no-signed --recurse-submodules=no --force-with-lease="refs/heads/$4:$there" "$6" \
        "$head:refs/heads/$4" >&2
    if [ -z "$there" ] && [ -n "$5" ]; then echo restored; fi
fi
)sh";

// Who delivered commits are by, and when, where the preset has a say in it.
void set_identity(forge::GitJob& job, const ReviewPolicy& policy, const Revision& revision) {
    const bool squash = *policy.commits == CommitStyle::squash;
    const std::string& author = *policy.author;
    const size_t open = author.find(" <");
    for (const std::string& who : {std::string("GIT_AUTHOR"), std::string("GIT_COMMITTER")}) {
        if (open != std::string::npos) {
            job.environment[who + "_NAME"] = author.substr(0, open);
            job.environment[who + "_EMAIL"] = author.substr(open + 2, author.size() - open - 3);
        } else if (squash) {
            job.environment[who + "_NAME"] = "Hone";
            job.environment[who + "_EMAIL"] = "hone@localhost";
        }
        // The same commit each time it is made.
        if (squash)
            job.environment[who + "_DATE"] = fmt::format(
                "{} +0000",
                std::chrono::duration_cast<std::chrono::seconds>(revision.pushed_at.time_since_epoch()).count());
    }
}

// As reviewed, commit by commit, unless the preset wants something else of them.
std::string_view way_of(const ReviewPolicy& policy) {
    if (*policy.commits == CommitStyle::squash) return "squash";
    return *policy.sign_off || !policy.trailers.value.empty() || !policy.author.value.empty() ? "rewrite" : "keep";
}

// The end of git's output, in one line.
std::string last_words(std::string_view said) {
    std::string kept;
    for (const std::string_view line : split(said, '\n')) {
        const std::string_view words = trim(line);
        if (words.empty() || words.starts_with("hint:")) continue;
        kept += (kept.empty() ? "" : "; ") + std::string(words);
    }
    return repair_utf8(truncate_utf8(kept, 600));
}

} // namespace

Result<> Delivery::push(PullRequest& one, Attempt& attempt) {
    const Place where = TRY(place_of(one, attempt));
    const Branch& branch = where.branch;
    const RepoPlace& place = where.repo;
    const Revision revision = TRY(m_parts.branches.revision(one.artifact_id, one.revision));
    const bool local = !place.local_path.empty();
    std::string before;
    for (const std::string& commit : TRY(own_commits(one))) before += (before.empty() ? "" : " ") + commit;
    forge::GitJob job;
    job.script = push_script;
    job.arguments = {revision.base_commit,
                     revision.head_commit,
                     std::string(way_of(branch.policy)),
                     branch.branch,
                     before,
                     local ? "" : place.url,
                     *branch.policy.sign_off ? "sign" : ""};
    job.mounts = place.mounts;
    job.environment = {{"GIT_DIR", place.directory}};
    set_identity(job, branch.policy, revision);
    if (*branch.policy.commits == CommitStyle::squash)
        job.input = squashed_message(branch, revision);
    else
        for (const std::string& trailer : *branch.policy.trailers) job.input += trailer + "\n";
    job.limits.time = std::chrono::minutes(5);
    if (local) {
        TRY(make_directories(m_parts.directory, 0700));
        job.export_to = m_parts.directory + "/" + make_ulid(m_parts.clock.now());
    } else {
        job.remote = where.remote;
        job.remote->writes = true;
    }
    const auto ended = m_parts.git.run(job);
    const auto done = [&]() -> Result<> {
        if (!ended.ok() && !local) attempt.host_failed = ended.error().code == Code::busy; // it took too long
        const forge::GitOutput output = TRY(ended);
        const std::string head(trim(std::string_view(output.out).substr(0, output.out.find('\n'))));
        if (output.exit_code != 0) return explain_push(where, output, attempt);
        if (!forge::is_object_name(head)) return internal("git reported no pushed commit");
        if (local) TRY(take_local(job.export_to, place, one.branch, head));
        if (output.out.find("\nrestored") != std::string::npos)
            attempt.events.push_back(
                {PullRequestEventKind::branch_restored, "The branch had been deleted on the forge."});
        one.head_commit = one.forge_commit = head;
        one.people.clear();
        one.their_commits.clear();
        one.checks.clear(); // of the commit before
        one.check_results.clear();
        return {};
    }();
    if (local) (void)sandbox::remove_tree(job.export_to).ok();
    TRY(done);
    one.delivered_revision = one.revision;
    if (one.target.empty()) one.target = place.default_branch;
    return m_parts.artifacts.applied(one.artifact_id);
}

// Git's message names what it saw; the forge itself often knows better.
Result<> Delivery::explain_push(const Place& place, const forge::GitOutput& output, Attempt& attempt) {
    const std::string said = last_words(output.err);
    forge::Diagnosis known{forge::cause_of_git(said, !place.remote.skill_id.empty()), said, {}};
    if (output.exit_code == changed_by_people) {
        known = {forge::Cause::changed_by_people, {}, {}};
    } else if (known.cause != forge::Cause::protected_branch && known.cause != forge::Cause::name_collision &&
               known.cause != forge::Cause::archived && known.cause != forge::Cause::forge_failed) {
        known = forge::diagnose(m_parts.http, m_finder, place.remote, known);
    }
    attempt.diagnosis = known;
    attempt.host_failed = known.cause == forge::Cause::unreachable;
    if (known.cause == forge::Cause::none) return unavailable("git could not push the branch: " + said);
    return forge::to_error("push the branch", known);
}

// Everything that Hone pushed to this branch, also for pull requests that are over.
Result<std::vector<std::string>> Delivery::own_commits(const PullRequest& one) const {
    const auto rows = TRY(m_parts.database.query(
        "SELECT DISTINCT head_commit FROM pull_requests WHERE artifact_id = ? AND head_commit <> '' LIMIT 200",
        one.artifact_id));
    std::vector<std::string> commits;
    for (const auto& row : rows)
        if (forge::is_object_name(row.text(0))) commits.push_back(row.text(0));
    if (forge::is_object_name(one.head_commit)) commits.push_back(one.head_commit);
    return commits;
}

// A repository of this server: its packs come from the sandbox, its ref is a file that is written here.
Result<> Delivery::take_local(const std::string& brought, const RepoPlace& place, const std::string& branch,
                              const std::string& head) const {
    if (!forge::is_ref_name("refs/heads/" + branch)) return invalid("that is not a branch's name");
    TRY(forge::take_packs(brought + "/pack", place.local_path));
    const std::string ref = place.local_path + "/refs/heads/" + branch;
    TRY(make_directories(ref.substr(0, ref.rfind('/')), 0755));
    return write_file(ref, head + "\n", 0644);
}

} // namespace hone::review
