// The files of runs as people use them: browse and download a workspace while the run lives and after its end, and
// give files to it. Downloads are copies, so that a slow client does not hold the workspace. Thread-safe.
#pragma once

#include "run/files/uploads.h"
#include "run/runs.h"
#include "sandbox/provider/provider.h"

#include <atomic>
#include <memory>

namespace hone::run {

using sandbox::FileEntry, sandbox::FileKind;

struct Download {
    Fd file; // at its beginning, without a name
    int64_t bytes = 0;
    std::string name;
    std::string media_type;
    std::shared_ptr<void> place; // of the downloads at the same time
};

class RunFiles {
public:
    RunFiles(sql::Database& database, const Clock& clock, Runs& runs, const Uploads& uploads,
             std::string data_directory)
        : m_database(database),
          m_clock(clock),
          m_runs(runs),
          m_uploads(uploads),
          m_directory(std::move(data_directory) + "/uploads") {}

    // Once, before requests come; without it there are no workspaces here.
    void connect(sandbox::Provider& local, sandbox::Provider* pods) {
        m_local = &local;
        m_pods = pods;
    }

    // `path` empty: the workspace itself.
    Result<std::vector<FileEntry>> list(const access::Caller& caller, const RunId& run, const std::string& path) const;
    Result<Download> download(const access::Caller& caller, const RunId& run, const std::string& path) const;
    // A folder as a tar.
    Result<Download> archive(const access::Caller& caller, const RunId& run, const std::string& path) const;
    // Uploads of the caller; in the workspace when this returns, if the run has a sandbox.
    Result<Run> give(const access::Caller& caller, const RunId& run, const std::vector<std::string>& uploads) const;

private:
    Result<std::unique_ptr<sandbox::Files>> open_workspace(const access::Caller& caller, const RunId& run) const;
    Result<Download> begin_download() const;
    // Null: this server has none.
    sandbox::Provider* provider_of(RunProvider provider) const {
        return provider == RunProvider::kubernetes ? m_pods : m_local;
    }

    sql::Database& m_database;
    const Clock& m_clock;
    Runs& m_runs;
    const Uploads& m_uploads;
    const std::string m_directory;
    sandbox::Provider* m_local = nullptr;
    sandbox::Provider* m_pods = nullptr;
    mutable std::atomic<int> m_downloads{0};
};

} // namespace hone::run
