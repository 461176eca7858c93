// Signatures of tokens: JSON Web Signature in its compact form (RFC 7515) with keys of a JSON Web Key set (RFC 7517),
// verified by OpenSSL. Only the algorithms below exist here: there is no `none`, no shared-key algorithm, and a key is
// used only with the algorithms of its own kind. Pure; any thread.
#pragma once

#include "json/json.h"

#include <memory>

namespace hone::identity {

enum class Algorithm { rs256, ps256, es256, eddsa };
constexpr auto enum_names(Algorithm) {
    return std::array{EnumName{Algorithm::rs256, "RS256"}, EnumName{Algorithm::ps256, "PS256"},
                      EnumName{Algorithm::es256, "ES256"}, EnumName{Algorithm::eddsa, "EdDSA"}};
}

// A token whose signature has not been verified yet.
struct SignedToken {
    Algorithm algorithm{};
    std::string key_id; // empty: the token names none
    json::Object claims;
    std::string signed_part; // what the signature covers
    std::string signature;
};
// `unauthorized` for everything that is not a signed JSON Web Token with an algorithm of the list. `own_type` is a type
// that is accepted beside JWT.
Result<SignedToken> parse_token(std::string_view text, std::string_view own_type = {});

class PublicKey; // an OpenSSL key

struct VerificationKey {
    std::string id;
    std::optional<Algorithm> algorithm;   // the only one that it may be used with
    std::shared_ptr<const PublicKey> key; // shared by copies of the set: OpenSSL's keys are immutable
};

// The public keys of a provider that can verify signatures here; others are left out.
struct KeySet {
    std::vector<VerificationKey> keys;
};
Result<KeySet> parse_key_set(std::string_view text);

enum class Verification { valid, invalid, no_key };
// `no_key`: the set has no key of that id and kind; a newer set may have it.
Verification verify(const SignedToken& token, const KeySet& keys);

// The left half of the hash that goes with the algorithm, as base64url: at_hash.
std::string half_hash(Algorithm algorithm, std::string_view text);
// HMAC-SHA-1, 20 bytes: what one-time passwords of authenticator apps are made of (RFC 4226).
std::string hmac_sha1(std::string_view key, std::string_view bytes);

} // namespace hone::identity
