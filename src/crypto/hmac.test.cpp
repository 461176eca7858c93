#include "crypto/hmac.h"

#include "base/text.h"

#include <doctest/doctest.h>

using namespace hone;

TEST_CASE("HMAC-SHA256 gives the values of RFC 4231") {
    CHECK(to_hex(crypto::hmac_sha256("Jefe", "what do ya want for nothing?")) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(to_hex(crypto::hmac_sha256(std::string(20, '\x0b'), "Hi There")) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(crypto::hmac_sha256("a", "") != crypto::hmac_sha256("b", ""));
}
