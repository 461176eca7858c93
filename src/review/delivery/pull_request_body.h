// The text of a pull request: title, change, why, how it was verified, links. Made of a worker's words, so it mentions
// no user, hides nothing and contains no secret. Pure, any thread.
#pragma once

#include "review/branch/replay.h"
#include "review/branch/revision.h"

#include <optional>

namespace hone::review {

// Why the run was started and what it found.
struct PullRequestContext {
    std::string issue_title{}; // empty: no issue
    std::string issue_url{};
    std::string run_url{};
    std::string review_url{};
    std::string root_cause{};            // Markdown
    std::vector<std::string> evidence{}; // addresses of traces
};

std::string pull_request_body(const Branch& branch, const Revision& revision, const PullRequestContext& context,
                              const std::vector<std::string>& approved_by,
                              const std::optional<BranchReplay>& replay = {});
// The numbers of a replay that is done, at most 4 KiB; no text of traces. Empty for another one.
std::string replay_block(const BranchReplay& replay);
// The body between the markers of Hone, as it is sent to a forge.
std::string own_part(std::string_view body);
// What is on the forge, with Hone's part replaced; nothing when a person removed the markers: then all of it is theirs.
std::optional<std::string> with_own_part(std::string_view there, std::string_view body);
// Of a squashed commit: title, the commits' own words, trailers, sign-off.
std::string squashed_message(const Branch& branch, const Revision& revision);

// Without mentions of people, words that close issues, hidden comments and lines that seem to hold a secret.
std::string harmless_markdown(std::string_view text);
// The same for a title, which is one line and not Markdown.
std::string harmless_title(std::string_view text);

} // namespace hone::review
