// Checks of continuous integration on a forge: how they are stored, and what they printed, made readable. The text is
// written by programs that a branch can change: it is data. Pure, any thread.
#pragma once

#include "forge/clients/forge.h"
#include "review/delivery/pull_request.h"

namespace hone::review {

// Failed ones first, then running ones; at most 50, and each text within its bounds.
std::vector<PullRequestCheck> stored_checks(const std::vector<forge::ForgeCheck>& checks);

struct ReadableLog {
    std::string text;
    bool truncated = false;
};
// The end of a log, in whole lines: valid UTF-8 without escape sequences and control characters. A line that seems to
// hold a secret is replaced by a note.
ReadableLog readable_log(std::string_view raw, size_t most_bytes);

// What the worker receives when a person sends it the failed checks: JSON, as data. `logs` has one entry per failed
// check; an entry with an empty text is a check without a log.
std::string checks_message(const PullRequest& one, const std::vector<CheckLog>& logs);

} // namespace hone::review
