// Addresses that the server must not connect to on behalf of a user: loopback, private networks, metadata services and
// every range that hides one of them. Used wherever the address comes from a user, a worker or a response. Pure, any
// thread.
#pragma once

#include "net/socket.h"

#include <optional>
#include <string_view>

namespace hone::net {

// How far a connection may reach.
enum class Reach {
    public_only,
    also_private, // also private networks and loopback: servers of one's own. Never link-local or metadata.
};

// Why the server must not connect to this address ("loopback", "private network", …); nothing when it may.
std::optional<std::string_view> refused_range(const Endpoint& endpoint, Reach reach);
// Whether the address belongs to an interface of this machine.
bool is_own_address(const Endpoint& endpoint);

} // namespace hone::net
