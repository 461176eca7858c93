// The repositories of runs: what a worker clones from and pushes to. One small bare repository per run and repository
// in DIR/quarantine, standing on the mirror: refs as they were when the run began, and the branches hone/RUN/… that the
// run pushed since. Git serves it from inside sandboxes without network; a push is read and checked before git sees it,
// is checked by git, and only its packs and refs are taken over. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "forge/mirrors.h"
#include "forge/push/push.h"
#include "forge/push/push_commands.h"

#include <functional>
#include <set>
#include <span>

namespace hone::forge {

// A repository as one run has it.
// Where a sandbox with `Quarantine::mounts` finds the repository.
constexpr std::string_view quarantine_inside = "/quarantine";

struct RunRepo {
    std::string run_id;
    RepoId repo_id;
    access::SpaceId space_id;
    std::string name;
    std::string base_ref;    // refs/heads/main; a commit when none was named by a branch or tag
    std::string base_commit; // empty: the repository is empty
};

enum class GitService { upload_pack, receive_pack };

// One request of a git client, as the smart HTTP protocol frames it.
struct GitRequest {
    std::string run_id;
    std::string repo; // by its name in the run
    GitService service = GitService::upload_pack;
    bool advertise = false; // GET info/refs
    std::string protocol{}; // the header Git-Protocol: "version=2"
    bool gzip = false;      // the body is compressed
    std::function<bool()> stopped{};
};

// write* finish read* until empty; on one thread.
class GitExchange {
public:
    virtual ~GitExchange() = default;
    virtual Result<> write(std::string_view bytes) = 0;
    // The request's body is complete.
    virtual Result<> finish() = 0;
    // The next piece of the response; empty at its end.
    virtual Result<std::string> read() = 0;
};

// `git format-patch --stdout`, or a diff. It is for the commit that its line `base-commit:` names, else for the newest
// one of the run's ref.
struct Patch {
    std::string text;
    std::string branch;  // "fix", without the prefix
    std::string message; // of the commit when the text has none
};
constexpr size_t most_patch_commits = 100;

struct QuarantineOptions {
    std::string directory;                        // DIR/quarantine
    int64_t push_bytes = int64_t{100} << 20;      // of one push
    int64_t push_objects = 200'000;               // of one push
    int64_t push_files = 10'000;                  // that a branch changes
    int64_t push_file_bytes = int64_t{50} << 20;  // of one object of a push, unpacked
    int64_t most_bytes = int64_t{500} << 20;      // of all pushes of a run to one repository
    int64_t clone_bytes = int64_t{8} << 30;       // of one response
    Duration time = std::chrono::minutes(10);     // of one request
    Duration push_time = std::chrono::minutes(3); // git has to unpack and check one push
};

class Quarantine {
public:
    // `listener` may be null until it is set. References must outlive it.
    Quarantine(sql::Database& database, const Clock& clock, Mirrors& mirrors, const Git& git, QuarantineOptions options)
        : m_database(database),
          m_clock(clock),
          m_mirrors(mirrors),
          m_git(git),
          m_options(std::move(options)) {}

    void set_listener(PushListener* listener) { m_listener = listener; }

    // Lets the run clone the repository at `ref` (branch, tag or commit; empty: the repository's own choice). The same
    // result when the run has it already; without its branches when another server has its files.
    Result<RunRepo> open(const std::string& run, const Repo& repo, const std::string& ref);
    Result<RunRepo> find(const std::string& run, const std::string& name) const;
    Result<RunRepo> find(const std::string& run, const RepoId& repo) const;
    // Whether its files are on this server.
    bool is_here(const std::string& run, const RepoId& repo) const;
    // Branches must be below this: "refs/heads/hone/run_…/".
    static std::string prefix(const std::string& run) { return "refs/heads/hone/" + run + "/"; }

    // Errors: not_found (not a repository of this run), invalid, and those of Git.
    Result<std::unique_ptr<GitExchange>> serve(const GitRequest& request);

    // What an agent elsewhere wrote instead of a push, checked as one. Returns what its agent should know: that the
    // branches wait for review. Errors: invalid (with the reason for the agent), too_large, and those of Git.
    Result<std::string> take_bundle(const RunRepo& repo, std::string_view bundle, const std::function<bool()>& stopped);
    Result<std::string> take_patch(const RunRepo& repo, const Patch& patch, const std::function<bool()>& stopped);

    // Gives the run's branch this commit, which the mirror has: the worker gets it with its next fetch.
    Result<> set_branch(const RunRepo& repo, const std::string& branch, const std::string& commit);

    // For git jobs about what was pushed: the repository at /quarantine, which leads to /mirror.
    std::vector<GitMount> mounts(const RunRepo& repo) const;
    // The run is forgotten: its rows and files go.
    Result<> remove(const std::string& run);
    // Removes the quarantines of runs that no longer exist; returns how many. `existing` gives those of the ids that
    // are runs: this folder does not know runs.
    using ExistingRuns = std::function<Result<std::set<std::string>>(std::span<const std::string> ids)>;
    Result<int64_t> sweep(const ExistingRuns& existing);

    // --- for the collection of old data ---
    struct Stored {
        std::string run;
        int64_t bytes = 0;
        Time used{}; // its last push, or when it was opened
        bool is_registered = false;
    };
    // By the folders on disk.
    Result<std::vector<Stored>> stored() const;

private:
    friend class PushExchange;
    std::string path(const std::string& run, const RepoId& repo) const {
        return m_options.directory + "/" + run + "/" + repo.text() + ".git";
    }
    Result<Ref> resolve(const Repo& repo, const std::vector<Ref>& refs, const std::string& wanted) const;
    RunRepo with_newest_base(RunRepo repo) const;
    Result<> require_commits(const RunRepo& repo, const std::vector<std::string>& commits,
                             const std::function<bool()>& stopped) const;
    GitJob job_of(const RunRepo& repo, const GitRequest& request) const;
    Result<std::string> capabilities(const RunRepo& repo, const GitRequest& request);
    // After git took a push: packs, refs, rows, listener. Gives messages for the worker.
    Result<std::string> take_over(const RunRepo& repo, const std::string& brought);
    std::unique_ptr<GitExchange> make_push_exchange(const RunRepo& repo, GitJob job);

    sql::Database& m_database;
    const Clock& m_clock;
    Mirrors& m_mirrors;
    const Git& m_git;
    const QuarantineOptions m_options;
    PushListener* m_listener = nullptr;
    Mutex m_mutex;
    Condition m_push_over;
    std::set<std::string> m_pushing GUARDED_BY(m_mutex); // paths: one push at a time
    std::map<std::string, std::string> m_capabilities GUARDED_BY(m_mutex);
};

} // namespace hone::forge
