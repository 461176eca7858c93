// The messages of `exec` over a WebSocket (v5.channel.k8s.io): the first byte is a channel. Pure, any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hone::kubernetes {

constexpr std::string_view exec_protocol = "v5.channel.k8s.io";

enum class ExecStream : uint8_t { in = 0, out = 1, err = 2, status = 3, resize = 4, close = 255 };

struct ExecMessage {
    ExecStream stream = ExecStream::out;
    std::string_view bytes; // into the message
};
// What a server may send: out, err, status, and close for one of them. Errors: `invalid`.
Result<ExecMessage> parse_exec_message(std::string_view message);

std::string input_message(std::string_view bytes);
std::string close_input_message();
std::string resize_message(int rows, int columns);

// How the command ended.
struct ExecOutcome {
    std::optional<int64_t> exit_code; // none: it could not be started, or its end is not known
    std::string message;              // in the cluster's words, when there is no exit code
};
// From the Status that comes on its own channel. Errors: `corrupt`.
Result<ExecOutcome> parse_exec_status(std::string_view text);

} // namespace hone::kubernetes
