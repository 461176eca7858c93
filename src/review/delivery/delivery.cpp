#include "review/delivery/delivery.h"

#include "base/log.h"
#include "base/text.h"
#include "net/http/url.h"
#include "review/branch/replays.h"

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
// How often a closed one is polled, which a person may reopen.
constexpr auto closed_poll = std::chrono::hours(6);
// How long a host that does not respond is left alone, at most.
constexpr auto longest_rest = std::chrono::minutes(2);

// The forge's response will not change by itself.
bool is_final(Code code) {
    return code == Code::invalid || code == Code::forbidden || code == Code::not_found || code == Code::unauthorized ||
           code == Code::too_large;
}

} // namespace

Result<std::string> Delivery::host_of(const PullRequest& one) {
    const auto place = m_parts.repos.place(one.run_id, one.repo_id);
    if (!place.ok()) return "repository " + one.repo_id; // removed: it waits for no host
    if (!place.value().local_path.empty()) return std::string("this server");
    const auto url = net::parse_url(place.value().url);
    return url.ok() ? url.value().host_and_port() : place.value().url;
}

Result<std::optional<PullRequest>> Delivery::take() {
    const Lock lock(m_mutex);
    const Time now = m_parts.clock.now();
    for (;;) {
        std::set<std::string> without = m_busy;
        for (const auto& [host, rest] : m_resting)
            if (rest.until > now) without.insert(host);
        auto due = TRY(m_parts.pull_requests.next_due(without));
        if (!due) return due;
        if (due->host.empty()) {
            due->host = TRY(host_of(*due));
            TRY(m_parts.pull_requests.set_host(due->repo_id, due->host));
            // A person or the forge itself woke it: the host may be well again.
            const bool woken = due->next_try_at == Time{};
            if (m_busy.contains(due->host) || (without.contains(due->host) && !woken)) continue;
        }
        if (!TRY(m_parts.pull_requests.claim(*due))) continue;
        m_busy.insert(due->host);
        return due;
    }
}

void Delivery::release(const std::string& host, bool failed) {
    const Lock lock(m_mutex);
    m_busy.erase(host);
    if (!failed) {
        m_resting.erase(host);
        return;
    }
    Rest& rest = m_resting[host];
    rest.failures += 1;
    const auto wait = shortest_wait * (int64_t{1} << std::min<int64_t>(rest.failures - 1, 8));
    rest.until = m_parts.clock.now() + std::min<Duration>(wait, longest_rest);
}

Result<bool> Delivery::step() {
    const auto due = TRY(take());
    if (!due) return false;
    Attempt attempt;
    PullRequest one = *due;
    const Result<> carried = carry(one, attempt);
    const auto recorded = record(std::move(one), due->updated_at, carried, attempt);
    release(due->host, attempt.host_failed);
    TRY(recorded);
    return true;
}

Result<> Delivery::record(PullRequest one, Time seen, const Result<>& carried, Attempt& attempt) {
    const Time now = m_parts.clock.now();
    one.updated_at = std::max(now, seen + Duration(1));
    const bool updating = one.state == PullRequestState::open && one.update_state == "pending";
    if (carried.ok()) {
        one.attempts = 0;
        const bool keeps_error = one.state == PullRequestState::open && one.update_state == "failed";
        if (!keeps_error && attempt.diagnosis.cause == forge::Cause::none) one.error.clear(), one.cause.clear();
        if (!attempt.diagnosis.moved_to.empty()) one.moved_to = attempt.diagnosis.moved_to;
    } else {
        const Error& error = carried.error();
        const std::string cause(name_of(attempt.diagnosis.cause));
        const bool news = one.cause != cause;
        // An update that failed is shown until it succeeds; a poll that fails now and then is not.
        if (one.update_state != "failed" || is_final(error.code)) {
            one.error = error.message;
            one.cause = cause;
        }
        if (!attempt.diagnosis.moved_to.empty()) one.moved_to = attempt.diagnosis.moved_to;
        one.attempts += 1;
        const auto backoff = shortest_wait * (int64_t{1} << std::min<int64_t>(one.attempts - 1, 8));
        one.next_try_at =
            now + std::clamp<Duration>(std::max<Duration>(attempt.retry_after, backoff), shortest_wait, longest_wait);
        const bool permanent = is_final(error.code);
        const bool stops = permanent || (error.code != Code::busy && one.attempts >= most_attempts);
        using enum PullRequestEventKind;
        if (updating && stops) {
            // The pull request stays open and is followed; only its update is not delivered.
            one.update_state = "failed";
            one.attempts = 0;
            attempt.events.push_back({update_failed, one.error});
        } else if (one.state == PullRequestState::open && permanent && news) {
            attempt.events.push_back({follow_failed, one.error});
        } else if (one.state != PullRequestState::open && one.state != PullRequestState::closed && stops) {
            one.state = PullRequestState::failed;
            attempt.events.push_back({failed, one.error});
        }
        log(Level::warning, "pull request not updated",
            {{"pull_request", one.id.text()}, {"cause", one.cause}, {"why", one.error}, {"trail", error.trail}});
    }
    const bool stored = TRY(m_parts.pull_requests.update(one, seen, attempt.events, attempt.successor));
    if (stored && attempt.over) m_parts.contexts.ended(one);
    return {};
}

Result<> Delivery::carry(PullRequest& one, Attempt& attempt) {
    using State = PullRequestState;
    if (one.state == State::queued) {
        TRY(push(one, attempt));
        const Place place = TRY(place_of(one, attempt));
        const bool local = !place.repo.local_path.empty();
        if (local || !*place.branch.policy.open_pull_request) {
            if (local) one.forge = "plain";
            one.state = State::only_pushed;
        } else {
            one.state = State::pushed;
        }
    }
    if (one.state == State::pushed) return open(one, attempt);
    if (one.state == State::open && one.update_state == "pending") return update(one, attempt);
    if (one.state == State::open || one.state == State::closed) return follow(one, attempt);
    return {};
}

Result<Delivery::Place> Delivery::place_of(const PullRequest& one, Attempt& attempt) {
    Place found;
    found.branch = TRY(m_parts.branches.find(one.artifact_id));
    auto place = m_parts.repos.place(found.branch.run_id, found.branch.repo_id);
    if (!place.ok()) {
        if (place.error().code != Code::not_found) return place.error();
        attempt.diagnosis = {forge::Cause::repository_removed, {}, {}};
        return forge::to_error("reach the repository", attempt.diagnosis);
    }
    found.repo = std::move(place).value();
    found.remote = {found.repo.space, found.repo.url, found.repo.skill_id, found.repo.allow_private, one.id.text()};
    return found;
}

// Null where the repository is on a plain git server.
Result<std::unique_ptr<forge::Client>> Delivery::client_of(PullRequest& one, const Place& place, Attempt& attempt) {
    const auto where = m_finder.find(place.remote);
    if (!where.ok()) {
        attempt.diagnosis = {forge::cause_of_transport(where.error()), where.error().message, {}};
        attempt.host_failed = attempt.diagnosis.cause == forge::Cause::unreachable;
        if (attempt.diagnosis.cause == forge::Cause::none) return where.error();
        return forge::to_error("find the API of the forge", attempt.diagnosis);
    }
    one.forge = name_of(where.value().kind);
    return forge::make_client(m_parts.http, place.remote, where.value());
}

Result<std::vector<std::string>> Delivery::approvers(const PullRequest& one) const {
    const auto rows = TRY(m_parts.database.query(
        "SELECT DISTINCT reviewer_name FROM review_decisions WHERE artifact_id = ? AND revision = ? AND decision = "
        "'approved' AND withdrawn_at IS NULL ORDER BY reviewer_name",
        one.artifact_id, one.revision));
    std::vector<std::string> names;
    for (const auto& row : rows) names.push_back(row.text(0));
    return names;
}

Result<std::string> Delivery::body_of(const PullRequest& one, const Branch& branch) {
    const Revision revision = TRY(m_parts.branches.revision(one.artifact_id, one.revision));
    return pull_request_body(branch, revision, TRY(m_parts.contexts.context(one)), TRY(approvers(one)),
                             TRY(Replays(m_parts.database, m_parts.clock).find(one.artifact_id, one.revision)));
}

Result<> Delivery::open(PullRequest& one, Attempt& attempt) {
    const Place place = TRY(place_of(one, attempt));
    const auto client = TRY(client_of(one, place, attempt));
    if (client == nullptr) {
        one.state = PullRequestState::only_pushed;
        attempt.events.push_back(
            {PullRequestEventKind::updated, "The branch is pushed. No API of GitHub, GitLab or Gitea was found at " +
                                                one.host + ", so there is no pull request."});
        return {};
    }
    const auto opened = open_at(one, place, *client, attempt);
    attempt.retry_after = client->retry_after();
    if (!opened.ok()) {
        attempt.diagnosis = client->diagnosis();
        attempt.host_failed = attempt.diagnosis.cause == forge::Cause::unreachable;
        return opened;
    }
    one.state = PullRequestState::open;
    one.update_state.clear();
    one.next_try_at = m_parts.clock.now() + youngest_poll;
    attempt.events.push_back({PullRequestEventKind::opened, one.url});
    return m_parts.runs.note(one.run_id, one.artifact_id, "pull request: " + one.url);
}

Result<> Delivery::open_at(PullRequest& one, const Place& place, forge::Client& client, Attempt& attempt) {
    forge::NewPullRequest wanted;
    wanted.title = harmless_title(one.title);
    wanted.body = own_part(TRY(body_of(one, place.branch)));
    wanted.head = one.branch;
    wanted.base = one.target;
    wanted.draft = *place.branch.policy.draft;
    wanted.labels = *place.branch.policy.labels;
    wanted.reviewers = *place.branch.policy.reviewers;
    // One that an earlier attempt, or an earlier approval, opened is the one.
    auto there = TRY(client.find(one.branch));
    if (there) {
        TRY(update_body(one, place.branch, client, *there));
    } else {
        auto made = client.create(wanted);
        if (!made.ok() && made.error().code == Code::conflict) there = TRY(client.find(one.branch));
        if (!made.ok() && !there) return made.error();
        if (made.ok()) there = made.value();
        const auto decorated = client.decorate(there->number, wanted);
        std::string missing;
        if (!decorated.ok()) missing = decorated.error().message;
        if (decorated.ok())
            for (const std::string& name : decorated.value()) missing += (missing.empty() ? "" : ", ") + name;
        if (!missing.empty()) {
            attempt.events.push_back({PullRequestEventKind::updated, "Labels or reviewers are missing: " + missing});
            log(Level::warning, "labels or reviewers are missing", {{"pull_request", one.id.text()}, {"why", missing}});
        }
    }
    one.number = there->number;
    one.url = there->url;
    one.draft = there->draft;
    one.mergeable = there->mergeable;
    if (!there->base.empty()) one.target = there->base;
    return {};
}

// Only Hone's own part of the description; without it a person has rewritten the description.
Result<> Delivery::update_body(PullRequest& one, const Branch& branch, forge::Client& client,
                               const forge::ForgePullRequest& there) {
    const auto body = with_own_part(there.body, TRY(body_of(one, branch)));
    if (!body || *body == there.body) return {};
    return client.update(there.number, *body);
}

Result<> Delivery::update(PullRequest& one, Attempt& attempt) {
    const Place place = TRY(place_of(one, attempt));
    const auto client = TRY(client_of(one, place, attempt));
    if (client == nullptr || !one.number) return invalid("the repository has no forge");
    const auto read = [&]() -> Result<forge::ForgePullRequest> {
        const auto seen = TRY(client->get(*one.number, ""));
        return seen ? *seen : forge::ForgePullRequest{};
    };
    bool pushes = false;
    const auto updated = [&]() -> Result<> {
        // What is over does not change any more: the approved revision gets a pull request of its own.
        forge::ForgePullRequest seen = TRY(read());
        const int64_t delivered = one.delivered_revision;
        const std::string head = one.head_commit;
        if (seen.open) {
            TRY(notice_changes(one, seen, *client, attempt));
            pushes = true;
            TRY(push(one, attempt));
            pushes = false;
            seen = TRY(read());
        }
        if (!seen.open) {
            one.delivered_revision = delivered; // merged while the branch was being pushed
            one.head_commit = head;
            take_state(one, seen, attempt);
            one.update_state.clear();
            attempt.successor = true;
            return {};
        }
        TRY(update_body(one, place.branch, *client, seen));
        one.update_state.clear();
        one.etag.clear();
        attempt.events.push_back(
            {PullRequestEventKind::updated, fmt::format("The forge has revision {}.", one.revision)});
        return {};
    }();
    attempt.retry_after = client->retry_after();
    if (!updated.ok()) {
        if (!pushes) {
            attempt.diagnosis = client->diagnosis();
            attempt.host_failed = attempt.diagnosis.cause == forge::Cause::unreachable;
        }
        return updated;
    }
    one.next_try_at = m_parts.clock.now() + youngest_poll;
    return {};
}

Result<> Delivery::follow(PullRequest& one, Attempt& attempt) {
    const Place place = TRY(place_of(one, attempt));
    const auto client = TRY(client_of(one, place, attempt));
    if (client == nullptr || !one.number) return invalid("the repository has no forge");
    const auto followed = [&]() -> Result<> {
        const auto seen = TRY(client->get(*one.number, one.etag));
        forge::ForgePullRequest about;
        about.number = *one.number;
        about.head_commit = one.forge_commit.empty() ? one.head_commit : one.forge_commit;
        if (seen) {
            about = *seen;
            one.etag = seen->etag;
            TRY(notice_changes(one, *seen, *client, attempt));
        }
        if (one.state == PullRequestState::closed && !attempt.over) return {};
        const forge::ForgeOpinion opinion = TRY(client->opinion(about));
        if (opinion.review == "changes_requested" && one.forge_review != opinion.review)
            attempt.events.push_back({PullRequestEventKind::changes_requested, one.url});
        take_checks(one, opinion.checks, attempt);
        one.forge_review = opinion.review;
        if (*place.branch.policy.follow_forge_comments && one.state == PullRequestState::open)
            TRY(send_comments(one, place.branch, *client));
        return {};
    }();
    attempt.retry_after = client->retry_after();
    if (!followed.ok()) {
        attempt.diagnosis = client->diagnosis();
        attempt.host_failed = attempt.diagnosis.cause == forge::Cause::unreachable;
        return followed;
    }
    // It is followed at its new address; a push needs the new one.
    if (client->was_redirected() && one.moved_to.empty()) {
        const auto repository = client->repository();
        if (repository.ok() && repository.value().moved) {
            attempt.diagnosis = {forge::Cause::repository_moved, {}, repository.value().url};
            one.cause = name_of(attempt.diagnosis.cause);
            one.error = forge::to_error("push the next revision", attempt.diagnosis).message;
        }
    } else if (!one.moved_to.empty()) {
        attempt.diagnosis = {forge::Cause::repository_moved, {}, one.moved_to};
    }
    const Time now = m_parts.clock.now();
    one.polled_at = now;
    one.next_try_at = one.state == PullRequestState::closed
                          ? now + closed_poll
                          : now + std::clamp<Duration>((now - one.created_at) / 10, youngest_poll, oldest_poll);
    return {};
}

Result<std::vector<forge::ForgeComment>> Delivery::comments(const PullRequest& one) {
    if (!one.number) return std::vector<forge::ForgeComment>{};
    Attempt attempt;
    PullRequest about = one;
    const Place place = TRY(place_of(one, attempt));
    const auto client = TRY(client_of(about, place, attempt));
    if (client == nullptr) return std::vector<forge::ForgeComment>{};
    return client->comments(*one.number, "");
}

Result<forge::ForgeIssue> Delivery::open_issue(const forge::Remote& remote, const std::string& title,
                                               const std::string& body, const std::vector<std::string>& labels) {
    const forge::ForgePlace where = TRY(m_finder.find(remote));
    const auto client = forge::make_client(m_parts.http, remote, where);
    if (client == nullptr) return conflict("this repository is on a plain git server: it has no issues");
    return client->create_issue(title, harmless_markdown(body), labels);
}

} // namespace hone::review
