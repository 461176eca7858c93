// Branches as they come in: a push makes an artifact that waits for a person, or the next revision of one that is
// there. The push is only recorded; `Inspector` makes its diff afterwards, so that the worker need not wait.
// Thread-safe.
#pragma once

#include "forge/push/push.h"
#include "review/branch/revision.h"
#include "sandbox/provider/build_network.h"

#include <functional>
#include <map>
#include <span>

namespace hone::review {

// What a review needs of the run that pushed.
struct RunFacts {
    access::SpaceId space;
    access::ProjectId project;
    std::string starter; // principal
    std::string title;
    std::string fix_of; // issue; empty: none
    ReviewPolicy policy;
    bool approved = false; // the preset's policy needs no person
    // Where verification commands run: the preset's image, init script, variables and limits.
    std::string image = "host";
    std::string init_script;
    int64_t init_seconds = 120;
    std::map<std::string, std::string> env;
    sandbox::Limits limits;
    sandbox::Tier minimum_tier = sandbox::Tier::ns;
    std::string setup;                 // forge/setup/plan.h
    sandbox::MakeBuildNetwork network; // of init script, setup and commands; empty: none
    std::string network_description;   // for the key of layers
};

// Runs, as far as reviews deal with them. The server implements it over run/.
class RunSource {
public:
    virtual ~RunSource() = default;
    virtual Result<RunFacts> facts(const std::string& run) = 0;
    // A line in the run's transcript that names the artifact.
    virtual Result<> note(const std::string& run, const ArtifactId& artifact, const std::string& line) = 0;
    // A follow-up to the session, on behalf of `caller`. Code::conflict when it takes none any more.
    virtual Result<> send_follow_up(const access::Caller& caller, const std::string& run,
                                    const std::string& message) = 0;
};

class Branches final : public forge::PushListener {
public:
    Branches(sql::Database& database, const Clock& clock, Artifacts& artifacts, RunSource& runs)
        : m_database(database),
          m_clock(clock),
          m_artifacts(artifacts),
          m_runs(runs) {}
    // Several servers: the name of this one, and of the others that are not lost. A pushed branch is on the disk of the
    // server that received it, which alone inspects and verifies it. Once, before pushes come.
    using OtherServers = std::function<Result<std::vector<std::string>>()>;
    void set_server(std::string server, OtherServers others) {
        m_server = std::move(server);
        m_others = std::move(others);
    }
    // Called after a push was recorded. Once, before pushes come.
    void set_listener(std::function<void()> listener) { m_listener = std::move(listener); }

    // A branch that a person rejected stays rejected.
    Result<> pushed(const forge::Push& push) override;

    // No permission is checked: callers have found the artifact already.
    Result<Branch> find(const ArtifactId& artifact) const;
    Result<std::vector<Revision>> revisions(const ArtifactId& artifact) const; // oldest first
    // 0: the newest.
    Result<Revision> revision(const ArtifactId& artifact, int64_t number) const;
    Result<Diff> diff(const Revision& revision) const;
    // For `git am`; not_found when it was too large to be kept.
    Result<std::string> patch(const Revision& revision) const;

    // What waits for the inspector: revisions whose diff, or whose verification, is to be made.
    struct Waiting {
        ArtifactId artifact;
        int64_t revision = 0;
    };
    Result<std::optional<Waiting>> next_pending() const;
    Result<std::optional<Waiting>> next_unverified() const;
    Result<> inspected(const Waiting& which, const Inspected& found);
    // Retried a few times, then it stays failed.
    Result<> not_inspected(const Waiting& which, const std::string& why, bool again);
    Result<> verifying(const Waiting& which);
    Result<> verified(const Waiting& which, VerificationState state, const std::vector<VerificationResult>& results);
    // Conflict: the commits are on the disk of another server.
    Result<> require_here(const ArtifactId& artifact, int64_t revision) const;
    // What this server was verifying waits again: it could not write the result.
    Result<> verify_again();
    // After a restart: what was being verified is verified again, and what failed because this server was lost waits
    // for it again.
    Result<> restart();
    // Branches that wait for a server that is lost fail, and state why.
    Result<> fail_lost();

private:
    Result<std::optional<Waiting>> next(const std::string& condition) const;

    sql::Database& m_database;
    const Clock& m_clock;
    Artifacts& m_artifacts;
    RunSource& m_runs;
    std::function<void()> m_listener;
    std::string m_server; // empty: there is no other
    OtherServers m_others;
};

// The newest revision of each of these artifacts that is a branch.
Result<std::map<std::string, int64_t>> newest_revisions(sql::Database& database, std::span<const Artifact> artifacts);

} // namespace hone::review
