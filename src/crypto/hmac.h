// HMAC-SHA256: what webhooks are signed with, ours and others'. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace hone::crypto {

// 32 bytes. Compare with crypto::equal.
std::string hmac_sha256(std::string_view key, std::string_view bytes);

} // namespace hone::crypto
