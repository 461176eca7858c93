// Tokens and key sets of a provider: arbitrary bytes never verify and never crash.
#include "identity/id_token.h"

#include <cstdint>
#include <cstdlib>

using namespace hone::identity;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const KeySet known =
        parse_key_set(
            R"({"keys":[{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}]})")
            .value();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto keys = parse_key_set(text);
    const auto token = parse_token(text);
    if (!token.ok()) return 0;
    if (verify(token.value(), known) == Verification::valid) std::abort();
    if (keys.ok()) static_cast<void>(verify(token.value(), keys.value()));
    static_cast<void>(check_id_token(token.value(), {"https://id.example.com", "hone", "nonce", "access", {}}).ok());
    return 0;
}
