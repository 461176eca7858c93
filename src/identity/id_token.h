// What an ID token (OpenID Connect Core 3.1.3.7) and a logout token must say, after its signature was verified. Pure;
// any thread.
#pragma once

#include "identity/jws.h"

namespace hone::identity {

struct ExpectedToken {
    std::string issuer;
    std::string client_id;
    std::string nonce;
    std::string access_token; // compared with at_hash, if the token has one
    Time now{};
};

// How far the provider's clock may be from ours.
constexpr Duration largest_skew = std::chrono::seconds(60);
// A token that was issued longer ago was not issued for this sign-in.
constexpr Duration largest_age = std::chrono::minutes(15);

// The subject. `unauthorized` names the claim that is wrong.
Result<std::string> check_id_token(const SignedToken& token, const ExpectedToken& expected);

// How long after now a token that is accepted now can be accepted at most.
constexpr Duration longest_use = largest_age + 2 * largest_skew;

// The same for a logout token (OpenID Connect Back-Channel Logout 2.6). A token without `sub` is refused. The caller
// remembers the id, so that each token works once.
struct LogoutOrder {
    std::string subject;  // whose logins end
    std::string token_id; // jti
};
Result<LogoutOrder> check_logout_token(const SignedToken& token, const ExpectedToken& expected);

// A claim by its name or, if there is none, by a path with dots: "realm_access.roles". Null when absent.
const json::Value* find_claim(const json::Object& claims, std::string_view name);
// The strings of a claim: of a list, or the one.
std::vector<std::string> texts_of(const json::Value* claim);

} // namespace hone::identity
