#include "crypto/hmac.h"

#include <sodium.h>

namespace hone::crypto {

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, reinterpret_cast<const unsigned char*>(key.data()), key.size());
    crypto_auth_hmacsha256_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    std::string out(crypto_auth_hmacsha256_BYTES, '\0');
    crypto_auth_hmacsha256_final(&state, reinterpret_cast<unsigned char*>(out.data()));
    sodium_memzero(&state, sizeof state);
    return out;
}

} // namespace hone::crypto
