// Git on untrusted objects: every job runs in a sandbox of its own, without network (or with one forge as its
// only neighbour), on read-only mounts, with a configuration that is ours alone and with limits. The results of a job
// are below /workspace/out; from there regular files, nothing else, are copied out. Thread-safe.
#pragma once

#include "access/access.h"
#include "base/file.h"
#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::forge {

// A directory of the host as the job sees it, always read-only.
struct GitMount {
    std::string source;
    std::string target; // "/mirror"
};

struct GitLimits {
    int64_t output_bytes = int64_t{16} << 20; // stdout and stderr together
    Duration time = std::chrono::minutes(1);
    int64_t memory_bytes = int64_t{1} << 30;
    int64_t disk_bytes = int64_t{256} << 20; // of /workspace
    bool on_disk = false;                    // /workspace is a file system on disk instead of memory: for large jobs
};

// The one forge that a job may reach, and on whose behalf.
struct Remote {
    access::SpaceId space;
    std::string url;            // https://…
    std::string skill_id;       // whose credential is put in outside the sandbox; empty: none
    bool allow_private = false; // the forge may be on a private address
    std::string purpose;        // an id for the audit log: the repository or the run
    bool writes = false;        // pushes; a credential that workers see is not used for that
};

struct GitJob {
    // After `git`; with a script: its $1, $2, …
    std::vector<std::string> arguments{};
    // A shell script of ours instead of one git command. Never text from outside: that goes into arguments. In a script
    // each path of the sandbox begins with $HONE_ROOT: on a machine without namespaces its root is a folder. Whole
    // paths in `arguments`, `environment` and `directory` are found without it.
    std::string script{};
    std::vector<GitMount> mounts{};
    std::map<std::string, std::string> environment{};
    // Settings of git beside those that always hold: {"receive.maxInputSize", "1000000"}.
    std::vector<std::pair<std::string, std::string>> settings{};
    std::string input{};
    std::string directory = "/workspace";
    GitLimits limits{};
    std::optional<Remote> remote{};
    // Called once a second; true ends the job, which is then `conflict`.
    std::function<bool()> stopped{};
    // When not empty: a new directory of the host that receives the files below /workspace/out after exit code 0.
    std::string export_to{};
};

struct GitOutput {
    int64_t exit_code = 0;
    std::string out;
    std::string err;
};

// A job whose input and output are streams. One thread uses it; its end ends the job.
class GitProcess {
public:
    virtual ~GitProcess() = default;
    // Waits while git does not read. Code::conflict when git reads no more: see its output.
    virtual Result<> write(std::string_view bytes) = 0;
    virtual Result<> close_input() = 0;
    // The next piece of stdout; empty at its end.
    virtual Result<std::string> read() = 0;
    // After the end of stdout. `out` is empty. Exports what the job requested.
    virtual Result<GitOutput> finish() = 0;
};

// A way from a git sandbox to one forge: what the sandbox must know. Its end closes the way.
class GitConnection {
public:
    virtual ~GitConnection() = default;
    std::map<std::string, std::string> environment;
    std::string ca_bundle; // PEM; becomes /hone/ca.pem
};

// Opens such ways. The server implements it over broker/: the credential never enters the sandbox.
class GitConnections {
public:
    virtual ~GitConnections() = default;
    // `listeners`: as Sandbox::listeners gives them.
    virtual Result<std::unique_ptr<GitConnection>> open(const Remote& remote, std::vector<Fd> listeners) = 0;
};

struct GitOptions {
    std::string directory;      // for short-lived files, DIR/git
    bool mounts_volumes = true; // the spawner is root
};

class Git {
public:
    // `connections` may be null: jobs with a remote are refused. References must outlive it.
    Git(sandbox::Provider& provider, const sandbox::Store& store, GitConnections* connections, GitOptions options)
        : m_provider(provider),
          m_store(store),
          m_connections(connections),
          m_options(std::move(options)) {}

    // An exit code other than 0 is a result, not an error. Errors: too_large (output, memory, disk), busy (time),
    // unavailable (no sandbox, no forge).
    Result<GitOutput> run(const GitJob& job) const;
    // `job.input` is not used.
    Result<std::unique_ptr<GitProcess>> start(const GitJob& job) const;

private:
    sandbox::Provider& m_provider;
    const sandbox::Store& m_store;
    GitConnections* const m_connections;
    const GitOptions m_options;
};

// A full object name: 40 or 64 hexadecimal digits, lower case.
bool is_object_name(std::string_view text);
// What git accepts as a ref's full name, and nothing that could be taken for an option or a path upwards; at most 250
// bytes of printable ASCII or UTF-8.
bool is_ref_name(std::string_view name);

} // namespace hone::forge
