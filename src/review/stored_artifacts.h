// Artifacts as the collection of old data uses them: which ones are there, which ones something still needs, and
// removing one. Rows go first; contents that no row names go with Artifacts::sweep. Any thread.
#pragma once

#include "review/artifacts.h"

#include <set>

namespace hone::review {

struct StoredArtifact {
    ArtifactId id;
    std::string run_id;
    int64_t bytes = 0;
    bool needed = false; // waits for a review, has an open pull request or unpublished labels, an example names it, or
                         // a person keeps it
    Time created_at{};
};

Result<std::vector<StoredArtifact>> stored_artifacts(sql::Database& database);
// Runs that have an artifact which something needs.
Result<std::set<std::string>> runs_with_needed_artifacts(sql::Database& database);
// The same for one run, within the transaction that would delete it.
Result<bool> has_needed_artifacts(sql::Transaction& transaction, const std::string& run);
Result<bool> has_open_pull_request(sql::Transaction& transaction, const std::string& run);
// Of these, the runs whose branches a review or a pull request may still read from their quarantine.
Result<std::set<std::string>> runs_with_open_branches(sql::Database& database);
// False: something needs it by now, or it is gone.
Result<bool> remove_unneeded(sql::Database& database, const ArtifactId& id);

} // namespace hone::review
