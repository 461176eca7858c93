// Steps that both kinds of gateway exchange share: read a request's body, send a response of the gateway, wait for the
// server while watching the client, and forward a response's body piece by piece. Each call belongs to one connection's
// thread.
#pragma once

#include "broker/wire/http_head.h"

#include <functional>
#include <string>
#include <string_view>

namespace hone::broker {

// The whole body. Sends "100 Continue" when the client waits for it. Errors: too_large, invalid framing, and those of
// Channel.
Result<std::string> read_whole_body(Channel& client, const RequestHead& head, size_t limit, Duration idle);

// A response of the gateway itself. `close`: the connection ends after it.
Result<> send_response(Channel& client, int status, std::string_view content_type, std::string_view body, bool close,
                       Duration idle, const std::vector<Header>& more = {});

// Ends a connection whose request was not read to its end, so that the response is not lost to a reset.
void end_politely(Channel& client);

// Waits until the other side can be read. Errors as of Channel; conflict also when the client disconnected.
Result<> wait_for_other(Channel& other, const Channel& client, Deadline deadline);

// Whether the client has closed its connection, as far as is known now.
bool has_left(const Channel& client);

// The head of the final response; interim ones are skipped.
Result<ResponseHead> await_response(Channel& other, const Channel& client, std::string_view method, Duration first_byte,
                                    Duration idle);

// The part of a response's body that arrives within `limit` bytes and a few seconds; for the text of an error.
std::string read_some_body(Channel& other, const ResponseHead& head, size_t limit);

enum class PipeEnd {
    whole,       // to the end given by the framing
    cut,         // the server interrupted it, or broke the framing
    client_gone, // or it took too long to take the bytes
    refused,     // by `take`
};

// Reads the body of `head` from `other` and gives it, without framing, to `take` as it comes, once per read; writes
// what `take` leaves in `piece` to the client immediately, in the framing given. `last` comes once, at the end. The
// client's connection is reset unless the body is whole.
using TakePiece = std::function<bool(std::string& piece, bool last)>;
PipeEnd pipe_body(Channel& other, Channel& client, const ResponseHead& head, Framing to_client, Duration idle,
                  const TakePiece& take);

} // namespace hone::broker
