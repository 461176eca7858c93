// Text as the bytes that libsodium takes. Used inside this folder only.
#pragma once

#include <string>
#include <string_view>

namespace hone::crypto {

inline const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

inline unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

} // namespace hone::crypto
