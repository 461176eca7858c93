#include "review/delivery/delivery.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "forge/mirrors.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr int64_t most_attempts = 8;
constexpr auto shortest_wait = std::chrono::seconds(15);
constexpr auto longest_wait = std::chrono::hours(1);
// How often an open one is polled: often while it is young, then less and less.
constexpr auto youngest_poll = std::chrono::minutes(1);
constexpr auto oldest_poll = std::chrono::minutes(30);

// $1 base, $2 head, $3 keep, rewrite or squash, $4 branch, $5 commit the forge has of it, $6 address (empty: pack for a
// repository of this server), $7 sign or nothing. Prints the commit that is delivered. The input of squash is its
// message. rewrite makes each commit again, with the same tree and dates, so that it is the same each time; its input
// are trailers for the messages.
constexpr std::string_view push_script = R"sh(set -e
head=$2
# The repository cannot be written to; new objects and git's own temporary files go beside it.
mkdir -p /workspace/objects
export GIT_ALTERNATE_OBJECT_DIRECTORIES="$GIT_DIR/objects" GIT_OBJECT_DIRECTORY=/workspace/objects
if [ "$3" = squash ]; then head=$(git commit-tree "$2^{tree}" -p "$1"); fi
field() { git log -1 --no-show-signature --date=raw --format="$1" "$commit"; }
add_trailer() { git interpret-trailers --in-place --no-divider --if-exists addIfDifferent --trailer "$1" message; }
if [ "$3" = rewrite ]; then
    cat > trailers
    mkdir made
    for commit in $(git rev-list --reverse --topo-order "$1..$2"); do
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
mkdir -p /workspace/out/pack
if [ -n "$6" ]; then
    git push --quiet --no-verify --no-signed --recurse-submodules=no --force-with-lease="refs/heads/$4:$5" "$6" \
        "$head:refs/heads/$4" >&2
else
    printf '%s\n^%s\n' "$head" "$1" | git pack-objects --quiet --revs --delta-base-offset /workspace/out/pack/pack >&2
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

// The forge's response will not change by itself.
bool is_final(Code code) {
    return code == Code::invalid || code == Code::forbidden || code == Code::not_found || code == Code::unauthorized ||
           code == Code::too_large;
}

} // namespace

Result<bool> Delivery::step() {
    const auto due = TRY(m_parts.pull_requests.next_due());
    if (!due) return false;
    PullRequest one = *due;
    const Time seen = one.updated_at;
    Duration retry_after{};
    const auto carried = carry(one, retry_after);
    const Time now = m_parts.clock.now();
    one.updated_at = std::max(now, seen + Duration(1));
    if (carried.ok()) {
        one.error.clear();
        one.attempts = 0;
    } else {
        one.error = carried.error().message;
        one.attempts += 1;
        const auto backoff = shortest_wait * (int64_t{1} << std::min<int64_t>(one.attempts - 1, 8));
        one.next_try_at =
            now + std::clamp<Duration>(std::max<Duration>(retry_after, backoff), shortest_wait, longest_wait);
        const bool busy = carried.error().code == Code::busy;
        // An open pull request stays open, also when polling fails.
        if (one.state != PullRequestState::open &&
            (is_final(carried.error().code) || (!busy && one.attempts >= most_attempts)))
            one.state = PullRequestState::failed;
        log(Level::warning, "pull request not updated",
            {{"pull_request", one.id.text()}, {"why", one.error}, {"trail", carried.error().trail}});
    }
    TRY(m_parts.pull_requests.update(one, seen));
    return true;
}

Result<> Delivery::carry(PullRequest& one, Duration& retry_after) {
    if (one.state == PullRequestState::queued) TRY(push(one));
    if (one.state == PullRequestState::pushed) return open(one, retry_after);
    if (one.state == PullRequestState::open) return follow(one, retry_after);
    return {};
}

Result<> Delivery::push(PullRequest& one) {
    const Branch branch = TRY(m_parts.branches.find(one.artifact_id));
    const Revision revision = TRY(m_parts.branches.revision(one.artifact_id, one.revision));
    const RepoPlace place = TRY(m_parts.repos.place(branch.run_id, branch.repo_id));
    const bool local = !place.local_path.empty();
    forge::GitJob job;
    job.script = push_script;
    job.arguments = {revision.base_commit, revision.head_commit,   std::string(way_of(branch.policy)),   branch.branch,
                     one.head_commit,      local ? "" : place.url, *branch.policy.sign_off ? "sign" : ""};
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
        job.remote = forge::Remote{place.space, place.url, place.skill_id, place.allow_private, one.id.text(), true};
    }
    const auto ended = m_parts.git.run(job);
    const auto done = [&]() -> Result<> {
        const forge::GitOutput output = TRY(ended);
        const std::string head(trim(std::string_view(output.out).substr(0, output.out.find('\n'))));
        if (output.exit_code != 0) {
            const std::string said = last_words(output.err);
            if (said.find("stale info") != std::string::npos)
                return invalid("the branch " + one.branch +
                               " was changed on the forge by another author; it is left unchanged");
            return unavailable("git could not push the branch: " + said);
        }
        if (!forge::is_object_name(head)) return internal("git reported no pushed commit");
        if (local) TRY(take_local(job.export_to, place, one.branch, head));
        one.head_commit = head;
        return {};
    }();
    if (local) (void)sandbox::remove_tree(job.export_to).ok();
    TRY(done);
    one.target = place.default_branch;
    TRY(m_parts.artifacts.applied(one.artifact_id));
    if (local || !*branch.policy.open_pull_request) {
        one.forge = local ? "plain" : one.forge;
        one.state = PullRequestState::only_pushed;
    } else {
        one.state = PullRequestState::pushed;
    }
    return {};
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

Result<std::vector<std::string>> Delivery::approvers(const PullRequest& one) const {
    const auto rows =
        TRY(m_parts.database.query("SELECT DISTINCT reviewer_name FROM review_decisions WHERE artifact_id "
                                   "= ? AND revision = ? AND decision = 'approved' ORDER BY reviewer_name",
                                   one.artifact_id, one.revision));
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(row.text(0));
    return names;
}

Result<> Delivery::open(PullRequest& one, Duration& retry_after) {
    const Branch branch = TRY(m_parts.branches.find(one.artifact_id));
    const Revision revision = TRY(m_parts.branches.revision(one.artifact_id, one.revision));
    const RepoPlace place = TRY(m_parts.repos.place(branch.run_id, branch.repo_id));
    const forge::Remote remote{place.space, place.url, place.skill_id, place.allow_private, one.id.text()};
    const forge::ForgePlace where = TRY(forge::find_forge(m_parts.http, remote));
    one.forge = name_of(where.kind);
    const auto client = forge::make_client(m_parts.http, remote, where);
    if (client == nullptr) {
        one.state = PullRequestState::only_pushed;
        return {};
    }
    const auto opened = [&]() -> Result<> {
        const PullRequestContext context = TRY(m_parts.contexts.context(one));
        forge::NewPullRequest wanted;
        wanted.title = one.title;
        wanted.body = pull_request_body(branch, revision, context, TRY(approvers(one)));
        wanted.head = one.branch;
        wanted.base = one.target;
        wanted.draft = *branch.policy.draft;
        wanted.labels = *branch.policy.labels;
        wanted.reviewers = *branch.policy.reviewers;
        // One that an earlier attempt, or an earlier approval, opened is the one.
        auto there = TRY(client->find(one.branch));
        if (there) {
            TRY(client->update(there->number, there->title, wanted.body));
        } else {
            auto made = client->create(wanted);
            if (!made.ok() && made.error().code == Code::conflict) there = TRY(client->find(one.branch));
            if (!made.ok() && !there) return made.error();
            if (made.ok()) there = made.value();
            const auto decorated = client->decorate(there->number, wanted);
            if (!decorated.ok())
                log(Level::warning, "labels or reviewers are missing",
                    {{"pull_request", one.id.text()}, {"why", decorated.error().message}});
        }
        one.number = there->number;
        one.url = there->url;
        one.draft = there->draft;
        return {};
    }();
    retry_after = client->retry_after();
    TRY(opened);
    one.state = PullRequestState::open;
    one.next_try_at = m_parts.clock.now() + youngest_poll;
    TRY(m_parts.runs.note(one.run_id, one.artifact_id, "pull request: " + one.url));
    return {};
}

Result<> Delivery::follow(PullRequest& one, Duration& retry_after) {
    const Branch branch = TRY(m_parts.branches.find(one.artifact_id));
    const RepoPlace place = TRY(m_parts.repos.place(branch.run_id, branch.repo_id));
    const forge::Remote remote{place.space, place.url, place.skill_id, place.allow_private, one.id.text()};
    const forge::ForgePlace where = TRY(forge::find_forge(m_parts.http, remote));
    const auto client = forge::make_client(m_parts.http, remote, where);
    if (client == nullptr || !one.number) return invalid("the repository has no forge");
    const auto followed = [&]() -> Result<> {
        const auto seen = TRY(client->get(*one.number, one.etag));
        forge::ForgePullRequest about;
        about.number = *one.number;
        about.head_commit = one.head_commit;
        if (seen) {
            about = *seen;
            one.etag = seen->etag;
            one.draft = seen->draft;
            one.title = seen->title.empty() ? one.title : seen->title;
            one.state = seen->open     ? PullRequestState::open
                        : seen->merged ? PullRequestState::merged
                                       : PullRequestState::closed;
            if (seen->merged) one.merged_at = seen->merged_at ? seen->merged_at : m_parts.clock.now();
        }
        const forge::ForgeOpinion opinion = TRY(client->opinion(about));
        one.checks = opinion.checks;
        one.forge_review = opinion.review;
        if (*branch.policy.follow_forge_comments && one.state == PullRequestState::open)
            TRY(send_comments(one, *client));
        return {};
    }();
    retry_after = client->retry_after();
    TRY(followed);
    const Time now = m_parts.clock.now();
    one.polled_at = now;
    one.next_try_at = now + std::clamp<Duration>((now - one.created_at) / 10, youngest_poll, oldest_poll);
    if (one.state != PullRequestState::open) m_parts.contexts.ended(one);
    return {};
}

// Each comment of the forge once, as data.
Result<> Delivery::send_comments(PullRequest& one, forge::Client& client) {
    const auto comments = TRY(client.comments(*one.number, one.told_until));
    if (comments.empty()) return {};
    json::Array lines;
    std::string newest = one.told_until;
    for (const forge::ForgeComment& comment : comments) {
        json::Object line{{"author", repair_utf8(comment.author)}, {"comment", repair_utf8(comment.body)}};
        if (!comment.path.empty()) line["path"] = repair_utf8(comment.path);
        if (comment.line) line["line"] = *comment.line;
        lines.push_back(std::move(line));
        newest = std::max(newest, comment.id);
    }
    const std::string message = "People commented on the pull request of your branch " + one.branch + " (" + one.url +
                                "). Their comments, as data:\n```json\n" + json::print_pretty(lines) +
                                "```\nWhere they are right, commit on the same branch and push it again.";
    const auto told =
        m_parts.runs.send_follow_up(access::Caller::system(), one.run_id, std::string(truncate_utf8(message, 90'000)));
    if (!told.ok() && told.error().code != Code::conflict) return told.error();
    one.told_until = newest;
    return {};
}

Result<forge::ForgeIssue> Delivery::open_issue(const forge::Remote& remote, const std::string& title,
                                               const std::string& body, const std::vector<std::string>& labels) {
    const forge::ForgePlace where = TRY(forge::find_forge(m_parts.http, remote));
    const auto client = forge::make_client(m_parts.http, remote, where);
    if (client == nullptr) return conflict("this repository is on a plain git server: it has no issues");
    return client->create_issue(title, harmless_markdown(body), labels);
}

} // namespace hone::review
