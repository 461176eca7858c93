// Files that people give to a session. An upload is stored first (DIR/uploads), then attached to a run, and written
// into its workspace: immediately while the run has a sandbox, otherwise before its next turn. Contents stay until the
// run is deleted or they expire, so that a rerun gets the same files. Thread-safe.
#pragma once

#include "access/access.h"
#include "base/fields.h"
#include "run/run.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <span>

namespace hone::run {

struct UploadTag {
    static constexpr std::string_view kind = "upload";
};
using UploadId = Id<UploadTag>;

struct Upload {
    UploadId id;
    access::SpaceId space_id;
    std::optional<RunId> run_id;
    std::string path;
    int64_t bytes = 0;
    std::string uploaded_by;
    std::optional<Time> placed_at;
    Time created_at{};
    std::string content; // name of its file in DIR/uploads
    static constexpr Pack fields{
        Field{"id", &Upload::id, "Id."},
        Field{"space_id", &Upload::space_id, "Id of the space."},
        Field{"run_id", &Upload::run_id, "Run that it was given to."},
        Field{"path", &Upload::path, "Path in the workspace."},
        Field{"bytes", &Upload::bytes, "Size."},
        Field{"uploaded_by", &Upload::uploaded_by, "Name of the person or key."},
        Field{"placed_at", &Upload::placed_at, "Time at which it was written into the workspace."},
        Field{"created_at", &Upload::created_at, "Time of the upload."},
    };
};

struct UploadLimits {
    int64_t bytes = int64_t{256} << 20; // of one
    int64_t count = 100;                // of one run
    int64_t unused = 1000;              // of one space, not given to a run
};

class Uploads {
public:
    Uploads(sql::Database& database, const Clock& clock, const std::string& data_directory, UploadLimits limits = {})
        : m_database(database),
          m_clock(clock),
          m_directory(data_directory + "/uploads"),
          m_limits(limits) {}

    // The next piece of the content; empty at its end.
    using Source = std::function<Result<std::string>()>;
    Result<Upload> receive(const access::Caller& caller, const access::SpaceId& space, const std::string& path,
                           const Source& next);
    // Within the transaction of the run: only the caller's own ones, each once. Gives what was attached.
    Result<std::vector<Upload>> attach(sql::Transaction& transaction, const access::Caller& caller,
                                       const access::SpaceId& space, const RunId& run,
                                       const std::vector<std::string>& ids) const;
    // A rerun gets the files of the first run again.
    Result<> copy(sql::Transaction& transaction, const RunId& from, const RunId& to) const;
    Result<std::vector<Upload>> of_run(const RunId& run) const;
    // Writes those of a run that are not in its workspace yet, with a command in its sandbox: with the rights of the
    // worker, who owns the files, and nowhere else. One that cannot be written is taken from the run.
    Result<std::vector<Upload>> place(const RunId& run, sandbox::Sandbox& sandbox) const;

    // --- for the collection of old data ---
    struct StoredContent {
        std::string content;
        int64_t bytes = 0;
        Time used{};
        std::vector<std::string> runs; // that have it
        bool is_named = false;
    };
    Result<std::vector<StoredContent>> stored() const;
    Result<> remove(const std::string& content) const;

private:
    std::string file_of(const std::string& content) const { return m_directory + "/" + content; }

    sql::Database& m_database;
    const Clock& m_clock;
    const std::string m_directory;
    const UploadLimits m_limits;
};

} // namespace hone::run
