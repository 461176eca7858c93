// Authenticated encryption of small values: XChaCha20-Poly1305 with a random nonce in front. What is sealed opens only
// with the same key and the same context: a value that is copied to another row cannot be opened. Any thread.
#pragma once

#include "base/result.h"
#include "crypto/secret_bytes.h"

#include <initializer_list>

namespace hone::crypto {

constexpr std::size_t sealing_key_bytes = 32;

SecretBytes random_secret(std::size_t count);

// Several parts as one text in which no two lists look alike: each part has its length before it.
std::string seal_context(std::initializer_list<std::string_view> parts);

// Format byte, nonce, ciphertext with its tag.
std::string seal(const SecretBytes& key, std::string_view context, std::string_view plain);
// corrupt when the key, the context or a single bit is another.
Result<SecretBytes> unseal(const SecretBytes& key, std::string_view context, std::string_view sealed);

// 43 base64url characters (and white space around them) → 32 bytes; the text is wiped.
Result<SecretBytes> parse_key_text(std::string& text);
// The inverse, for writing a key file.
SecretBytes key_text(const SecretBytes& key);

} // namespace hone::crypto
