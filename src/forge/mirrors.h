// A bare copy of every repository in DIR/mirrors, from which workers clone. Git fetches in a sandbox with the forge as
// its only neighbour; out of it come packs and a list of refs, and those are all that is put into a mirror: the rest of
// it (HEAD, config) is written here. Thread-safe; a fetch has a thread of its own, one per repository at a time, which
// all requests in the meantime wait for.
#pragma once

#include "base/mutex.h"
#include "forge/cause.h"
#include "forge/git.h"
#include "forge/push/ref_list.h"
#include "forge/repos.h"

#include <atomic>
#include <map>
#include <memory>
#include <thread>

namespace hone::forge {

struct MirrorOptions {
    std::string directory;                          // DIR/mirrors
    int64_t most_bytes = int64_t{2} << 30;          // of one mirror
    Duration fetch_time = std::chrono::minutes(15); // of one fetch
    Duration fresh_for = std::chrono::seconds(60);  // a run that starts fetches what is older
};

class Mirrors {
public:
    Mirrors(Repos& repos, const Git& git, const Clock& clock, MirrorOptions options)
        : m_repos(repos),
          m_git(git),
          m_clock(clock),
          m_options(std::move(options)) {}
    // Ends what is under way.
    ~Mirrors();

    // Reads from the forge why git failed. Once the server can reach forges; an empty one ends that.
    using Diagnose = std::function<Diagnosis(const Remote& remote, const Diagnosis& known)>;
    void set_diagnose(Diagnose diagnose) {
        const Lock lock(m_mutex);
        m_diagnose = std::move(diagnose);
    }

    // Starts a fetch unless one is under way.
    void begin(const RepoId& id);
    bool is_fetching(const RepoId& id) const;
    // Begins and waits until it is over, or until `stopped` returns true, which leaves the fetch alone (busy). The
    // error is also stored with the repository.
    Result<Repo> fetch(const RepoId& id, const std::function<bool()>& stopped = {});
    // Unless it was fetched a moment ago.
    Result<Repo> fetch_if_old(const Repo& repo, const std::function<bool()>& stopped = {});
    Result<std::vector<Ref>> refs(const RepoId& id) const;
    std::string path(const RepoId& id) const { return m_options.directory + "/" + id.text() + ".git"; }
    Result<> remove(const RepoId& id);

    // --- for the collection of old data ---
    struct Stored {
        RepoId id;
        int64_t bytes = 0;
        bool is_registered = false; // false: its repository was deleted
        bool is_needed = false;     // a run has cloned it, or it is being fetched
        Time used{};                // the last fetch
    };
    Result<std::vector<Stored>> stored() const;
    // A registered one is fetched again when a run needs it. False: it is needed by now.
    Result<bool> discard(const RepoId& id);

private:
    struct Fetch {
        bool finished = false;
        std::optional<Error> error;
        std::jthread thread;
    };
    Result<std::string> set_aside(const RepoId& id) const;
    std::shared_ptr<Fetch> start_fetch(const RepoId& id);
    void run_fetch(const RepoId& id, const std::shared_ptr<Fetch>& running);
    Result<> fetch_once(const Repo& repo);
    Error explain(const Repo& repo, const std::optional<Remote>& remote, const GitOutput& output) const;
    using Names = std::vector<std::string>;
    // `replaced`: packs whose objects are all in what was brought.
    Result<Fetched> take_over(const Repo& repo, const std::string& brought, const Names& replaced);

    Repos& m_repos;
    const Git& m_git;
    const Clock& m_clock;
    const MirrorOptions m_options;
    std::atomic<bool> m_ending{false};
    mutable Mutex m_mutex;
    Condition m_finished;
    Diagnose m_diagnose GUARDED_BY(m_mutex);
    std::map<RepoId, std::shared_ptr<Fetch>> m_fetches GUARDED_BY(m_mutex); // the last of each, finished ones too
};

// Makes an empty bare repository that git recognises, without running git. Existing files stay.
Result<> make_bare_repository(const std::string& path, const std::string& alternates = {});
// Moves packs (pack-HASH.pack with its .idx) from a folder that git filled in a sandbox into the repository; files of
// other names are left. Returns how many bytes came.
Result<int64_t> take_packs(const std::string& from, const std::string& repository);
// Bytes of all packs.
int64_t size_of_packs(const std::string& repository);

} // namespace hone::forge
