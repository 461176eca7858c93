// How a caller of HttpClient sees that an error came before any byte of its request was sent: the request can go to
// another address, whatever it does.
#pragma once

namespace hone::net {

// The trail of such an error: neither a connection was made nor, for https, TLS.
inline constexpr const char* no_connection = "there was no connection";

} // namespace hone::net
