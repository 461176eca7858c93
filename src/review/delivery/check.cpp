// What the credential of a repository can do on its forge, tried one by one; nothing is changed there.
#include "base/text.h"
#include "review/delivery/delivery.h"

#include <fmt/format.h>

namespace hone::review {

namespace {

// $1 address. The branch is not created: a dry run ends after the forge has accepted the sender.
constexpr std::string_view dry_push_script = R"sh(set -e
git init -q --bare --template= r
cd r
commit=$(git -c user.name=Hone -c user.email=hone@localhost commit-tree "$(git mktree < /dev/null)" -m check)
git push --quiet --dry-run "$1" "$commit:refs/heads/hone/check" >&2
)sh";

RepoCheck passed(std::string name, std::string message) {
    return {std::move(name), CheckResult::passed, std::move(message)};
}

RepoCheck failed_check(std::string name, const Error& error) {
    return {std::move(name), CheckResult::failed, error.message};
}

RepoCheck of_call(std::string name, const Result<>& called, std::string message) {
    return called.ok() ? passed(std::move(name), std::move(message)) : failed_check(std::move(name), called.error());
}

} // namespace

Result<> Delivery::try_git(const forge::Remote& remote, bool writes) {
    forge::GitJob job;
    if (writes) {
        job.script = dry_push_script;
        job.arguments = {remote.url};
    } else {
        job.arguments = {"ls-remote", "--quiet", "--heads", remote.url};
    }
    job.remote = remote;
    job.remote->writes = writes;
    job.limits.time = std::chrono::seconds(30);
    const forge::GitOutput output = TRY(m_parts.git.run(job));
    if (output.exit_code == 0) return {};
    const std::string printed(truncate_utf8(repair_utf8(trim(output.err)), 400));
    const forge::Diagnosis known = forge::diagnose(
        m_parts.http, m_finder, remote, {forge::cause_of_git(printed, !remote.skill_id.empty()), printed, {}});
    return forge::to_error(writes ? "push" : "read", known);
}

Result<std::vector<RepoCheck>> Delivery::check(const forge::Remote& remote) {
    std::vector<RepoCheck> checks;
    checks.push_back(of_call("read", try_git(remote, false), "Branches and commits can be read."));
    const auto where = m_finder.find(remote);
    if (!where.ok()) {
        checks.push_back(failed_check("forge", where.error()));
        return checks;
    }
    const auto client = forge::make_client(m_parts.http, remote, where.value());
    if (client == nullptr) {
        checks.push_back(of_call("push", try_git(remote, true), "Branches can be pushed."));
        checks.push_back({"forge", CheckResult::skipped,
                          "No API of GitHub, GitLab or Gitea was found: branches are pushed without pull requests."});
        return checks;
    }
    checks.push_back(passed("forge", fmt::format("{} at {}", name_of(where.value().kind), where.value().api)));
    const auto repository = client->repository();
    if (!repository.ok()) {
        checks.push_back(failed_check("repository", repository.error()));
    } else if (repository.value().moved) {
        checks.push_back(
            failed_check("repository", forge::to_error("use the address",
                                                       {forge::Cause::repository_moved, {}, repository.value().url})));
    } else if (repository.value().archived) {
        checks.push_back(failed_check("repository", forge::to_error("write to it", {forge::Cause::archived, {}, {}})));
    } else if (repository.value().empty) {
        checks.push_back(
            failed_check("repository", forge::to_error("use it", {forge::Cause::empty_repository, {}, {}})));
    } else {
        checks.push_back(passed("repository", "The default branch is " + repository.value().default_branch + "."));
    }
    const auto push = try_git(remote, true);
    checks.push_back(push.ok() && repository.ok() && !repository.value().can_push
                         ? failed_check("push", forge::to_error("push", {forge::Cause::not_allowed, {}, {}}))
                         : of_call("push", push, "Branches can be pushed."));
    const std::string branch =
        repository.ok() && !repository.value().empty ? repository.value().default_branch : std::string();
    for (const auto& [scope, name] : enum_names(forge::ForgeScope{})) {
        if (scope == forge::ForgeScope::checks && branch.empty())
            checks.push_back({std::string(name), CheckResult::skipped, "There is no commit that they could be of."});
        else
            checks.push_back(of_call(std::string(name), client->try_scope(scope, branch), "The token has the scope."));
    }
    return checks;
}

} // namespace hone::review
