// Passes bytes between two plain connections without reading them; the kernel moves them from socket to socket.
// Runs on the connection's own thread until both sides are done, a cap is reached or the run ends.
#pragma once

#include "broker/egress/attached_run.h"
#include "broker/wire/client_hello.h"

namespace hone::broker {

struct TunnelBytes {
    int64_t sent = 0; // from the sandbox
    int64_t received = 0;
};
// `bytes` are counted also when it ends with an error.
Result<> run_tunnel(AttachedRun& attached, Channel& client, Channel& upstream, TunnelBytes& bytes);

// Reads the first message of a TLS client without consuming it. Errors: invalid = it is not TLS.
Result<ClientHello> peek_client_hello(const Channel& client, Deadline deadline);

} // namespace hone::broker
