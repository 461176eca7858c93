// Which addresses must not be dialled for somebody else: loopback, private networks, metadata services and every range
// that hides one of them. Used by whoever connects to an address that a user, a worker or an answer named. Pure, any
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

// Why this address may not be dialled ("loopback", "private network", …); nothing when it may.
std::optional<std::string_view> refused_range(const Endpoint& endpoint, Reach reach);
// Whether the address belongs to an interface of this machine.
bool is_own_address(const Endpoint& endpoint);

} // namespace hone::net
