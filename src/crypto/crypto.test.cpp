#include "crypto/crypto.h"

#include "base/text.h"

#include <doctest/doctest.h>

using namespace hone;

TEST_CASE("passwords verify against their own hash only") {
    crypto::start();
    const std::string hashed = crypto::hash_password("correct horse", crypto::PasswordCost::cheap).value();
    CHECK(hashed.starts_with("$argon2id$"));
    CHECK(crypto::verify_password(hashed, "correct horse"));
    CHECK(!crypto::verify_password(hashed, "correct horsf"));
    CHECK(!crypto::verify_password("", "correct horse"));
    CHECK(!crypto::verify_password(std::string(500, 'x'), "correct horse"));
    CHECK(crypto::hash_password("correct horse", crypto::PasswordCost::cheap).value() != hashed);
    CHECK(crypto::needs_rehash(hashed, crypto::PasswordCost::interactive));
    CHECK(!crypto::needs_rehash(hashed, crypto::PasswordCost::cheap));
}

TEST_CASE("BLAKE2b gives the published value") {
    // RFC 7693 gives the 64-byte digest of "abc"; the 32-byte form is checked against b2sum -l 256.
    CHECK(to_hex(crypto::hash("abc")) == "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    CHECK(crypto::keyed_hash("k", "abc") != crypto::hash("abc"));
    crypto::Hasher hasher;
    hasher.add("a");
    hasher.add("bc");
    CHECK(hasher.finish() == crypto::hash("abc"));
}

TEST_CASE("tokens are long and never the same") {
    crypto::start();
    CHECK(crypto::random_token().size() == 43);
    CHECK(crypto::random_token() != crypto::random_token());
    CHECK(crypto::equal("abc", "abc"));
    CHECK(!crypto::equal("abc", "abd"));
    CHECK(!crypto::equal("abc", "ab"));
}
