// Why a forge, or git with a forge, did not do what it was to do: one table of causes, with the words that a person
// reads and what the person can do about it. Used when a mirror is fetched, a branch pushed and a pull request opened
// or followed. Pure, any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <span>
#include <string>
#include <string_view>

namespace hone::forge {

enum class Cause {
    none, // there is no error, or it has no row in the table
    credential_missing,
    credential_refused,
    not_allowed,
    missing_scope,
    repository_missing,
    repository_moved,
    repository_removed,
    archived,
    protected_branch,
    name_collision,
    changed_by_people,
    empty_repository,
    rejected,
    certificate,
    private_address,
    rate_limited,
    unreachable,
    forge_failed,
};
constexpr auto enum_names(Cause) {
    using enum Cause;
    return std::array{EnumName{none, ""},
                      EnumName{credential_missing, "credential_missing"},
                      EnumName{credential_refused, "credential_refused"},
                      EnumName{not_allowed, "not_allowed"},
                      EnumName{missing_scope, "missing_scope"},
                      EnumName{repository_missing, "repository_missing"},
                      EnumName{repository_moved, "repository_moved"},
                      EnumName{repository_removed, "repository_removed"},
                      EnumName{archived, "archived"},
                      EnumName{protected_branch, "protected_branch"},
                      EnumName{name_collision, "name_collision"},
                      EnumName{changed_by_people, "changed_by_people"},
                      EnumName{empty_repository, "empty_repository"},
                      EnumName{rejected, "rejected"},
                      EnumName{certificate, "certificate"},
                      EnumName{private_address, "private_address"},
                      EnumName{rate_limited, "rate_limited"},
                      EnumName{unreachable, "unreachable"},
                      EnumName{forge_failed, "forge_failed"}};
}

struct CauseText {
    Cause cause = Cause::none;
    std::string_view words;  // what is wrong
    std::string_view advice; // what to do
    // It does not change by itself: a delivery stops immediately, and a person gets a notice.
    bool permanent = false;
    Code code = Code::unavailable;
};

// Every cause but `none`.
std::span<const CauseText> cause_texts();
const CauseText* text_of(Cause cause);
inline bool is_permanent(Cause cause) {
    const CauseText* text = text_of(cause);
    return text != nullptr && text->permanent;
}

// What is known of one failure.
struct Diagnosis {
    Cause cause = Cause::none;
    std::string said{};     // the forge's own message, one line
    std::string moved_to{}; // address of a repository that moved
};

// The cause of git's error output. `has_skill`: a credential was sent.
Cause cause_of_git(std::string_view said, bool has_skill);
// The cause of a response of a forge's API, by its status and the forge's message.
Cause cause_of_status(int status, std::string_view said);
// The cause of an error before any response came: name, address, certificate, time limit.
Cause cause_of_transport(const Error& error);

// "could not push the branch: the repository is archived on the forge. Unarchive it, or … (forge: …)". Its code is the
// cause's.
Error to_error(std::string_view doing, const Diagnosis& diagnosis);

} // namespace hone::forge
