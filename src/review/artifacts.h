// What runs leave (investigations, labels, files, branches) and the review of it. Contents are kept once per hash
// (contents.h); a row records its run and its review. Nothing here takes effect by itself: what an
// approval must do is done by the caller (Approval), then the artifact is marked as applied. Thread-safe.
#pragma once

#include "access/access.h"
#include "base/fields.h"
#include "base/mutex.h"
#include "review/contents.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hone::review {

struct ArtifactTag {
    static constexpr std::string_view kind = "artifact";
};
using ArtifactId = Id<ArtifactTag>;

enum class ArtifactKind { investigation, labels, file, branch };
constexpr auto enum_names(ArtifactKind) {
    return std::array{EnumName{ArtifactKind::investigation, "investigation"}, EnumName{ArtifactKind::labels, "labels"},
                      EnumName{ArtifactKind::file, "file"}, EnumName{ArtifactKind::branch, "branch"}};
}

enum class ReviewState { pending, approved, rejected, changes_requested };
constexpr auto enum_names(ReviewState) {
    return std::array{EnumName{ReviewState::pending, "pending"}, EnumName{ReviewState::approved, "approved"},
                      EnumName{ReviewState::rejected, "rejected"},
                      EnumName{ReviewState::changes_requested, "changes_requested"}};
}

struct Artifact {
    ArtifactId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string run_id;
    ArtifactKind kind = ArtifactKind::file;
    std::string name;
    std::string summary;
    std::string media_type;
    int64_t bytes = 0;
    std::string digest;
    ReviewState review = ReviewState::pending;
    std::optional<std::string> reviewer;
    std::string comment;
    std::optional<Time> reviewed_at;
    std::optional<Time> applied_at;
    std::optional<std::string> kept_by;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &Artifact::id, "Id."},
        Field{"space_id", &Artifact::space_id, "Id of the space."},
        Field{"project_id", &Artifact::project_id, "Project of the run."},
        Field{"run_id", &Artifact::run_id, "Run that saved it."},
        Field{"kind", &Artifact::kind, "Kind of the artifact."},
        Field{"name", &Artifact::name, "Unique among the run's artifacts of its kind; saving it again replaces it."},
        Field{"summary", &Artifact::summary, "Summary of one or two sentences."},
        Field{"media_type", &Artifact::media_type, "Detected from the content."},
        Field{"bytes", &Artifact::bytes, "Size."},
        Field{"digest", &Artifact::digest, "BLAKE2b of the content."},
        Field{"review", &Artifact::review, "The decision of a person or of the preset's policy."},
        Field{"reviewer", &Artifact::reviewer, "Name of the reviewer."},
        Field{"comment", &Artifact::comment, "Comment of the reviewer."},
        Field{"reviewed_at", &Artifact::reviewed_at, "Time of the review."},
        Field{"applied_at", &Artifact::applied_at,
              "Time at which the approval took effect, for kinds that have an effect."},
        Field{"kept_by", &Artifact::kept_by, "Name of the person who keeps it: it does not expire."},
        Field{"created_at", &Artifact::created_at, "Time at which it was saved last."},
    };
};

struct NewArtifact {
    access::SpaceId space;
    access::ProjectId project;
    std::string run;
    ArtifactKind kind = ArtifactKind::file;
    std::string name;
    std::string summary;
    std::string content;
    bool approved = false; // the preset's policy needs no person
};

// The artifact of a branch, before anything is known of its content.
struct NewBranchArtifact {
    ArtifactId id;
    access::SpaceId space;
    access::ProjectId project;
    std::string run;
    std::string name;
};

struct ArtifactFilter {
    std::optional<std::string> project{}; // id or name
    std::optional<std::string> run{};
    std::optional<ArtifactKind> kind{};
    std::optional<ReviewState> review{};
};

struct Caps {
    int64_t bytes = int64_t{25} << 20;      // of one
    int64_t count = 200;                    // of one run
    int64_t run_bytes = int64_t{250} << 20; // of all of one run
    int64_t all_bytes = INT64_MAX;          // of all of the installation
};

class Artifacts {
public:
    Artifacts(sql::Database& database, const Clock& clock, access::Access& access, const std::string& data_directory,
              Caps caps = {})
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_contents(data_directory),
          m_caps(caps) {}

    // Where contents are saved, instead of the data directory; before requests come. See contents.h.
    void set_store(objects::ObjectStore& store, std::string owner) { m_contents.set_store(store, std::move(owner)); }
    // Of the whole installation; before requests come.
    void set_all_bytes(int64_t most) { m_caps.all_bytes = most; }

    // By the run's worker. Saving the same name again replaces it and requests a new review; one that was approved by
    // a person stays as it is.
    Result<Artifact> save(const NewArtifact& wanted);

    // Newest first; as visible as their projects.
    Result<access::Page<Artifact>> list(const access::Caller& caller, const access::SpaceId& space,
                                        const ArtifactFilter& filter, const access::PageRequest& page) const;
    Result<Artifact> find(const access::Caller& caller, const ArtifactId& id,
                          access::Permission permission = access::Permission::run_read) const;
    Result<std::string> content(const Artifact& artifact) const;
    // Of all spaces, by their ids; a content that several artifacts of a space have counts once.
    Result<std::map<std::string, int64_t>> bytes_by_space() const;

    // Contents by themselves: diffs and patches of branches. The digest must be named by a row within the hour.
    Result<std::string> keep_content(std::string_view content);
    Result<std::string> content_of(const std::string& digest) const;

    // Of a branch, within the transaction that writes its revision: a new one, one that waits again, and what is known
    // once its diff is there.
    Result<> add_branch(sql::Transaction& transaction, const NewBranchArtifact& wanted);
    Result<> reopen(sql::Transaction& transaction, const ArtifactId& id);
    Result<> describe_branch(sql::Transaction& transaction, const ArtifactId& id, const std::string& summary,
                             const std::string& digest, int64_t bytes);

    // Decides about the content with this digest; conflict when the artifact was decided already or has another content
    // now. `pending` is not a decision. `together` runs in the same transaction. Approved labels go into the outbox.
    // Branches are decided by Reviews, which counts approvals.
    struct Verdict {
        ReviewState decision = ReviewState::pending;
        std::string comment{};
        std::string digest{}; // of the content that was reviewed
        std::function<Result<>(sql::Transaction&)> together{};
    };
    Result<Artifact> decide(const access::Caller& caller, const ArtifactId& id, const Verdict& verdict);
    // The error for a reviewer who saw the content `reviewed`. It quotes what is different now if that was the content
    // before this one.
    Error changed_since(const Artifact& now, const std::string& reviewed, const std::string& previous) const;
    // The approval took effect.
    Result<> applied(const ArtifactId& id);
    // Whether it stays until a person decides otherwise.
    Result<Artifact> keep(const access::Caller& caller, const ArtifactId& id, bool kept);
    // With its content, comments and decisions. conflict while its pull request is open.
    Result<> remove(const access::Caller& caller, const ArtifactId& id);

    using Swept = Contents::Swept;
    // Deletes contents that no artifact names any more; by a background duty.
    Result<Swept> sweep();
    // The same of what this process saved and then replaced or did not accept, ten minutes later instead of an hour: a
    // worker that saves one name repeatedly must not fill the disk.
    void remove_replaced();

private:
    struct Replaced {
        std::string digest;
        std::string run;
        int64_t bytes = 0;
        Duration since{}; // by the steady clock
    };
    Result<ArtifactId> write_saved(const NewArtifact& wanted, const Artifact& made);
    Result<bool> is_named(const std::string& digest) const;
    void note_replaced(const std::string& digest, const std::string& run, int64_t bytes);
    struct StillStored {
        int64_t bytes = 0;
        int64_t count = 0;
    };
    // What is replaced; of one run, or of all.
    StillStored replaced(const std::string& run = {}) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    Contents m_contents;
    Caps m_caps;
    mutable Mutex m_mutex;
    std::vector<Replaced> m_replaced GUARDED_BY(m_mutex);
};

// Artifacts of all spaces that wait for a review and were saved at or after `since`, oldest first; for notices.
Result<std::vector<Artifact>> artifacts_pending_since(sql::Database& database, Time since, int64_t limit);

// What the content is, by its first bytes and its name's ending. Text that could act in a browser is text/plain, but
// for SVG, which is shown as an image only.
std::string sniff_media_type(std::string_view name, std::string_view content);

// What is different between the content that a reviewer saw and the content of now, in one line for an error message.
// Of two JSON arrays the elements are compared, of anything else the lines; a few of them are quoted.
std::string change_summary(std::string_view before, std::string_view after);

// A file's name: one part, no control characters, at most 200 bytes.
Result<std::string> checked_file_name(std::string_view name);

} // namespace hone::review
