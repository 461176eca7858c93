#include "crypto/crypto.h"

#include "base/text.h"
#include "crypto/bytes.h"

#include <sodium.h>

namespace hone::crypto {

namespace {

struct Cost {
    unsigned long long operations;
    size_t memory;
};

Cost cost_of(PasswordCost cost) {
    switch (cost) {
    case PasswordCost::interactive:
        return {crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE};
    case PasswordCost::cheap:
        return {crypto_pwhash_OPSLIMIT_MIN, crypto_pwhash_MEMLIMIT_MIN};
    }
    return {crypto_pwhash_OPSLIMIT_INTERACTIVE, crypto_pwhash_MEMLIMIT_INTERACTIVE};
}

} // namespace

void start() {
    CHECK_OR_ABORT(sodium_init() >= 0);
}

std::string random_bytes(size_t count) {
    std::string bytes(count, '\0');
    randombytes_buf(bytes.data(), count);
    return bytes;
}

std::string random_token(size_t count) {
    return to_base64url(random_bytes(count));
}

std::string hash(std::string_view bytes) {
    return keyed_hash({}, bytes);
}

std::string keyed_hash(std::string_view key, std::string_view bytes) {
    CHECK_OR_ABORT(key.size() <= crypto_generichash_KEYBYTES_MAX);
    std::string digest(crypto_generichash_BYTES, '\0');
    crypto_generichash(reinterpret_cast<unsigned char*>(digest.data()), digest.size(), bytes_of(bytes), bytes.size(),
                       key.empty() ? nullptr : bytes_of(key), key.size());
    return digest;
}

struct Hasher::State {
    crypto_generichash_state state;
};

Hasher::Hasher() : m_state(std::make_unique<State>()) {
    crypto_generichash_init(&m_state->state, nullptr, 0, crypto_generichash_BYTES);
}

Hasher::~Hasher() = default;

void Hasher::add(std::string_view bytes) {
    crypto_generichash_update(&m_state->state, bytes_of(bytes), bytes.size());
}

std::string Hasher::finish() {
    std::string digest(crypto_generichash_BYTES, '\0');
    crypto_generichash_final(&m_state->state, reinterpret_cast<unsigned char*>(digest.data()), digest.size());
    return digest;
}

struct Sha256::State {
    crypto_hash_sha256_state state;
};

Sha256::Sha256() : m_state(std::make_unique<State>()) {
    crypto_hash_sha256_init(&m_state->state);
}

Sha256::~Sha256() = default;

void Sha256::add(std::string_view bytes) {
    crypto_hash_sha256_update(&m_state->state, bytes_of(bytes), bytes.size());
}

std::string Sha256::finish() {
    std::string digest(crypto_hash_sha256_BYTES, '\0');
    crypto_hash_sha256_final(&m_state->state, reinterpret_cast<unsigned char*>(digest.data()));
    return digest;
}

bool equal(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> hash_password(std::string_view password, PasswordCost cost) {
    const auto [operations, memory] = cost_of(cost);
    std::string hashed(crypto_pwhash_STRBYTES, '\0');
    if (crypto_pwhash_str(hashed.data(), password.data(), password.size(), operations, memory) != 0)
        return unavailable("not enough memory to check a password");
    hashed.resize(hashed.find('\0'));
    return hashed;
}

bool verify_password(const std::string& hashed, std::string_view password) {
    return hashed.size() < crypto_pwhash_STRBYTES &&
           crypto_pwhash_str_verify(hashed.c_str(), password.data(), password.size()) == 0;
}

bool needs_rehash(const std::string& hashed, PasswordCost cost) {
    const auto [operations, memory] = cost_of(cost);
    return crypto_pwhash_str_needs_rehash(hashed.c_str(), operations, memory) != 0;
}

} // namespace hone::crypto
