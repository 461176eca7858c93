// Which credential of a run's skills is used for a request to a forge: the one rule for fetching, pushing and the
// forge's API. Pure, any thread.
#pragma once

#include "base/result.h"
#include "skill/grant.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::forge {

// Host, port and path of a request to a forge, or of a repository's https address.
struct Place {
    std::string host;
    uint16_t port = 443;
    std::string path; // "/team/shop.git"
};
Result<Place> place_of(std::string_view url);
// Whether a rule of a credential covers this place.
bool covers(const skill::HostRule& rule, const Place& place);

enum class ForgeUse {
    git, // fetch and push: a token is the password of Basic
    api, // a token is a header of its own, or Bearer
};

// Among the credentials with a rule that covers the place and allows the method (empty: any):
//   1. the one with the longest path prefix: /api before /;
//   2. the one in the form that the use expects: Basic for git, another one for the API, or no form at all;
//   3. the first one of the skill.
// Null: none.
const skill::Credential* choose_credential(const skill::Grant& grant, const Place& place, ForgeUse use,
                                           std::string_view method = {});

// Errors: conflict = workers see the same secret, so what it writes need not be what was reviewed.
Result<> check_may_write(const skill::Credential& credential);

} // namespace hone::forge
