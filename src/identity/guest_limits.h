// How much of what guests begin is kept. More of one address, or more than the server keeps, deletes older ones:
// refusing new ones would let anyone switch the service off for others.
#pragma once

#include <cstdint>
#include <string_view>

namespace hone::identity {

// Agents that no person let in yet. Those that a person let in are neither counted nor deleted.
constexpr int64_t most_unused_clients_of_peer = 100;
constexpr int64_t most_unused_clients = 10'000;

// The network of the column `peer` (access::peer_group), as SQL. An IPv6 network is a /48 here: one attacker often has
// that many addresses.
constexpr std::string_view network_of_peer = "CASE WHEN peer LIKE '%/64' THEN SUBSTR(peer, 1, 12) ELSE peer END";

} // namespace hone::identity
