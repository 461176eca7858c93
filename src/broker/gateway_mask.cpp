#include "broker/gateway_mask.h"

#include <algorithm>
#include <cstddef>

namespace hone::broker {

void SecretMask::mask_all(std::string& text) const {
    if (m_secret.empty()) return;
    for (size_t at = 0; (at = text.find(m_secret, at)) != std::string::npos; at += m_secret.size())
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), m_secret.size(), '*');
}

// How many bytes at the end of the text could be the beginning of the secret.
size_t SecretMask::possible_start(std::string_view text) const {
    for (size_t length = std::min(m_secret.size() - 1, text.size()); length > 0; --length)
        if (text.substr(text.size() - length) == m_secret.substr(0, length)) return length;
    return 0;
}

void SecretMask::feed(std::string_view bytes, std::string& out) {
    if (m_secret.empty()) {
        out += bytes;
        return;
    }
    m_held += bytes;
    mask_all(m_held);
    const size_t go = m_held.size() - possible_start(m_held);
    out.append(m_held, 0, go);
    m_held.erase(0, go);
}

void SecretMask::finish(std::string& out) {
    out += m_held;
    m_held.clear();
}

} // namespace hone::broker
