#include "crypto/seal.h"

#include "crypto/bytes.h"

#include <sodium.h>

namespace hone::crypto {

namespace {

constexpr char format = 1;
constexpr std::size_t nonce_bytes = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
constexpr std::size_t tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES;
static_assert(sealing_key_bytes == crypto_aead_xchacha20poly1305_ietf_KEYBYTES);

} // namespace

SecretBytes random_secret(std::size_t count) {
    SecretBytes made = SecretBytes::zeros(count);
    randombytes_buf(made.writable(), count);
    return made;
}

std::string seal_context(std::initializer_list<std::string_view> parts) {
    std::string context;
    for (const auto part : parts) context += std::to_string(part.size()) + ":" + std::string(part);
    return context;
}

std::string seal(const SecretBytes& key, std::string_view context, std::string_view plain) {
    CHECK_OR_ABORT(key.size() == sealing_key_bytes);
    std::string sealed(1 + nonce_bytes + plain.size() + tag_bytes, '\0');
    sealed[0] = format;
    randombytes_buf(sealed.data() + 1, nonce_bytes);
    crypto_aead_xchacha20poly1305_ietf_encrypt(bytes_of(sealed) + 1 + nonce_bytes, nullptr, bytes_of(plain),
                                               plain.size(), bytes_of(context), context.size(), nullptr,
                                               bytes_of(sealed) + 1, bytes_of(key.reveal()));
    return sealed;
}

Result<SecretBytes> unseal(const SecretBytes& key, std::string_view context, std::string_view sealed) {
    CHECK_OR_ABORT(key.size() == sealing_key_bytes);
    if (sealed.size() < 1 + nonce_bytes + tag_bytes || sealed[0] != format)
        return corrupt("a sealed value is damaged or of an unknown format");
    SecretBytes plain = SecretBytes::zeros(sealed.size() - 1 - nonce_bytes - tag_bytes);
    // An empty plain text has no memory of its own; the library wants an address all the same.
    unsigned char nothing = 0;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain.empty() ? &nothing : plain.writable(), nullptr, nullptr,
                                                   bytes_of(sealed) + 1 + nonce_bytes, sealed.size() - 1 - nonce_bytes,
                                                   bytes_of(context), context.size(), bytes_of(sealed) + 1,
                                                   bytes_of(key.reveal())) != 0)
        return corrupt("a sealed value does not open: it was changed, moved, or sealed with another key");
    return plain;
}

Result<SecretBytes> parse_key_text(std::string& text) {
    SecretBytes key = SecretBytes::zeros(sealing_key_bytes);
    std::size_t length = 0;
    const char* end = nullptr;
    const int failed = sodium_base642bin(key.writable(), key.size(), text.data(), text.size(), " \t\r\n", &length, &end,
                                         sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    const bool whole = failed == 0 && end == text.data() + text.size() && length == sealing_key_bytes;
    wipe(text);
    if (!whole) return invalid("not a key: 43 base64url characters (32 bytes) are needed");
    return key;
}

SecretBytes key_text(const SecretBytes& key) {
    // One more for the terminating zero that the library writes.
    SecretBytes text =
        SecretBytes::zeros(sodium_base64_ENCODED_LEN(key.size(), sodium_base64_VARIANT_URLSAFE_NO_PADDING));
    sodium_bin2base64(reinterpret_cast<char*>(text.writable()), text.size(), bytes_of(key.reveal()), key.size(),
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return SecretBytes(text.reveal().substr(0, text.size() - 1));
}

} // namespace hone::crypto
