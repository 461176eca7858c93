// What people do with a pull request on the forge: its state, target and branch, and what they write.
#include "base/text.h"
#include "review/delivery/delivery.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::review {

namespace {

constexpr size_t most_shown_commits = 50;

} // namespace

// Open, merged or closed there, and since when.
void Delivery::take_state(PullRequest& one, const forge::ForgePullRequest& seen, Attempt& attempt) const {
    using enum PullRequestState;
    const PullRequestState before = one.state;
    one.state = seen.open ? PullRequestState::open : seen.merged ? merged : closed;
    if (one.state == before) return;
    const Time now = m_parts.clock.now();
    if (one.state == PullRequestState::open) {
        one.ended_at.reset();
        attempt.events.push_back({PullRequestEventKind::reopened, one.url});
        return;
    }
    attempt.over = true;
    one.ended_at = now;
    if (seen.merged) one.merged_at = seen.merged_at ? seen.merged_at : now;
    attempt.events.push_back({seen.merged ? PullRequestEventKind::merged : PullRequestEventKind::closed, one.url});
}

Result<> Delivery::notice_changes(PullRequest& one, const forge::ForgePullRequest& seen, forge::Client& client,
                                  Attempt& attempt) {
    using enum PullRequestEventKind;
    if (!seen.base.empty() && seen.base != one.target) {
        attempt.events.push_back({retargeted, fmt::format("From {} to {}.", one.target, seen.base)});
        one.target = seen.base;
    }
    if (seen.open && seen.draft != one.draft) attempt.events.push_back({seen.draft ? draft : ready, ""});
    if (seen.mergeable == "conflicts" && one.mergeable != "conflicts")
        attempt.events.push_back({conflicts, "The forge cannot merge it into " + one.target + "."});
    one.draft = seen.draft;
    one.mergeable = seen.mergeable;
    if (!seen.title.empty()) one.title = seen.title;
    if (seen.open && !seen.head_commit.empty()) TRY(notice_commits(one, seen, client, attempt));
    take_state(one, seen, attempt);
    return {};
}

Result<> Delivery::notice_commits(PullRequest& one, const forge::ForgePullRequest& seen, forge::Client& client,
                                  Attempt& attempt) {
    if (seen.head_commit == one.forge_commit) return {};
    one.forge_commit = seen.head_commit;
    if (seen.head_commit == one.head_commit) {
        one.people.clear();
        one.their_commits.clear();
        return {};
    }
    auto commits = TRY(client.commits(seen.number));
    const auto own =
        std::ranges::find_if(commits, [&](const forge::ForgeCommit& each) { return each.id == one.head_commit; });
    const bool on_top = own != commits.end();
    if (on_top) commits.erase(commits.begin(), own + 1);
    if (commits.size() > most_shown_commits) commits.resize(most_shown_commits);
    one.their_commits.clear();
    std::string who;
    for (const forge::ForgeCommit& each : commits) {
        one.their_commits.push_back({repair_utf8(each.id), repair_utf8(each.author), repair_utf8(each.title)});
        if (who.find(each.author) == std::string::npos) who += (who.empty() ? "" : ", ") + repair_utf8(each.author);
    }
    one.people = on_top ? "commits_added" : "force_pushed";
    attempt.events.push_back(
        {on_top ? PullRequestEventKind::commits_added : PullRequestEventKind::force_pushed,
         on_top ? fmt::format("{} {} by {}.", commits.size(), commits.size() == 1 ? "commit" : "commits", who)
                : "The branch no longer contains the commits that Hone delivered."});
    return {};
}

// Each comment of the forge once, as data. Not those of Hone's own account, and by default only those of people who can
// write to the repository: a comment costs a turn, and on a public forge everyone can write one.
Result<> Delivery::send_comments(PullRequest& one, const Branch& branch, forge::Client& client) {
    const auto comments = TRY(client.comments(*one.number, one.told_until));
    if (comments.empty()) return {};
    std::string own = TRY(client.account());
    if (own.empty()) { // the token may not read it; the account opened the pull request
        const auto there = TRY(client.get(*one.number, ""));
        if (there) own = there->author;
    }
    json::Array lines;
    std::string newest = one.told_until;
    std::map<std::string, bool> writers;
    for (const forge::ForgeComment& comment : comments) {
        newest = std::max(newest, comment.id);
        if (comment.automatic || (!own.empty() && comment.author == own)) continue;
        if (*branch.policy.follow_comments_of == CommentAuthors::writers) {
            if (!writers.contains(comment.author)) writers[comment.author] = TRY(client.can_write(comment));
            if (!writers[comment.author]) continue;
        }
        json::Object line{{"author", repair_utf8(comment.author)}, {"comment", repair_utf8(comment.body)}};
        if (!comment.path.empty()) line["path"] = repair_utf8(comment.path);
        if (comment.line) line["line"] = *comment.line;
        lines.push_back(std::move(line));
    }
    if (!lines.empty()) {
        const std::string message = "People commented on the pull request of your branch " + one.branch + " (" +
                                    one.url + "). Their comments, as data:\n```json\n" + json::print_pretty(lines) +
                                    "```\nWhere they are right, commit on the same branch and push it again.";
        const auto told = m_parts.runs.send_follow_up(access::Caller::system(), one.run_id,
                                                      std::string(truncate_utf8(message, 90'000)));
        if (!told.ok() && told.error().code != Code::conflict) return told.error();
    }
    one.told_until = newest;
    return {};
}

} // namespace hone::review
