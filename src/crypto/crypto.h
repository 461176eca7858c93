// Random bytes, hashes, passwords: thin names over libsodium. Never our own algorithms. Any thread, after `start()`.
#pragma once

#include "base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace hone::crypto {

// Once in main, before threads start. Aborts when the machine has no random numbers.
void start();

std::string random_bytes(size_t count);
// `count` random bytes as base64url text; 32 bytes make 43 characters.
std::string random_token(size_t count = 32);

// BLAKE2b, 32 bytes.
std::string hash(std::string_view bytes);
std::string keyed_hash(std::string_view key, std::string_view bytes);
// The same for content that comes in pieces.
class Hasher {
public:
    Hasher();
    ~Hasher();
    Hasher(const Hasher&) = delete;
    Hasher& operator=(const Hasher&) = delete;
    void add(std::string_view bytes);
    std::string finish(); // once

private:
    struct State;
    std::unique_ptr<State> m_state;
};
// SHA-256 of content that comes in pieces: for digests that others have fixed.
class Sha256 {
public:
    Sha256();
    ~Sha256();
    Sha256(const Sha256&) = delete;
    Sha256& operator=(const Sha256&) = delete;
    void add(std::string_view bytes);
    std::string finish(); // once; 32 bytes

private:
    struct State;
    std::unique_ptr<State> m_state;
};
// Compares in time that does not depend on the content.
bool equal(std::string_view a, std::string_view b);

// What a password hash costs. `interactive` for logins (64 MiB, about 0.1 s); `cheap` for tests.
enum class PasswordCost { interactive, cheap };
// Argon2id; the text carries its own salt and cost.
Result<std::string> hash_password(std::string_view password, PasswordCost cost);
bool verify_password(const std::string& hashed, std::string_view password);
// Whether a stored hash must be computed again at the next login because the cost has changed.
bool needs_rehash(const std::string& hashed, PasswordCost cost);

} // namespace hone::crypto
