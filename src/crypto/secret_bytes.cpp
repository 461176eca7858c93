#include "crypto/secret_bytes.h"

#include "base/result.h"

#include <sodium.h>

#include <cstring>
#include <utility>

namespace hone::crypto {

SecretBytes SecretBytes::zeros(std::size_t size) {
    SecretBytes made;
    if (size == 0) return made;
    // Locks the pages and marks them MADV_DONTDUMP. When the limit of locked memory is reached the memory is still
    // given out: a secret that may be swapped is better than a server that stops working.
    made.m_bytes = static_cast<char*>(sodium_malloc(size));
    CHECK_OR_ABORT(made.m_bytes != nullptr);
    made.m_size = size;
    std::memset(made.m_bytes, 0, size);
    return made;
}

SecretBytes::SecretBytes(std::string_view bytes) : SecretBytes(zeros(bytes.size())) {
    if (!bytes.empty()) std::memcpy(m_bytes, bytes.data(), bytes.size());
}

SecretBytes SecretBytes::take(std::string& text) {
    SecretBytes made{std::string_view(text)};
    wipe(text);
    return made;
}

SecretBytes::SecretBytes(SecretBytes&& other) noexcept
    : m_bytes(std::exchange(other.m_bytes, nullptr)),
      m_size(std::exchange(other.m_size, 0)) {}

SecretBytes& SecretBytes::operator=(SecretBytes&& other) noexcept {
    if (this != &other) {
        sodium_free(m_bytes);
        m_bytes = std::exchange(other.m_bytes, nullptr);
        m_size = std::exchange(other.m_size, 0);
    }
    return *this;
}

// sodium_free wipes before it gives the pages back.
SecretBytes::~SecretBytes() {
    sodium_free(m_bytes);
}

void wipe(std::string& text) {
    // The short-string buffer and what lies between size and capacity count too.
    text.resize(text.capacity());
    sodium_memzero(text.data(), text.size());
    text.clear();
}

} // namespace hone::crypto
