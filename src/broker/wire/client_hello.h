// The first message of a TLS client, as far as a proxy must read it: the name of the server. Pure, bounded, fuzzed.
#pragma once

#include <string>
#include <string_view>

namespace hone::broker {

struct ClientHello {
    std::string server_name;     // lower case; empty: it names none
    bool hides_its_name = false; // Encrypted ClientHello: the visible name may differ from the real one
};

enum class HelloState { more, complete, bad };

// `bytes` are everything that was received so far, from the first byte on.
HelloState parse_client_hello(std::string_view bytes, ClientHello& hello);

// More than any client sends; post-quantum keys included.
constexpr size_t largest_client_hello = 32 << 10;

} // namespace hone::broker
