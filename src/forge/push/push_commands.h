// The beginning of what a `git push` sends: the list of refs it wants to change, then the pack. Read and checked before
// git sees a byte of it. Pure, any thread.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone::forge {

struct PushCommand {
    std::string old_object;
    std::string new_object; // all zeros: delete
    std::string ref;
    bool deletes() const { return new_object.find_first_not_of('0') == std::string::npos; }
};

struct PushHead {
    std::vector<PushCommand> commands;
    std::vector<std::string> capabilities;
    size_t used = 0;     // bytes up to and with the flush packet
    int64_t objects = 0; // from the pack's header; 0 without a pack
    bool has(std::string_view capability) const;
};

enum class PushReading { more, done };
struct PushRead {
    PushReading state = PushReading::more;
    PushHead head;
};

constexpr size_t most_push_commands = 64;
constexpr size_t longest_push_head = 64 << 10;

// Reads as far as it can: `more` until the commands and, when one of them needs it, the pack's header are there.
// `at_end`: nothing will come after `bytes`. Errors: invalid, too_large.
Result<PushRead> read_push_head(std::string_view bytes, bool at_end);

// Why these commands are not for this run; empty: they are. Only branches below `prefix` ("refs/heads/hone/run_…/").
std::string check_push(const PushHead& head, std::string_view prefix);

// What git's client takes for the server's refusal: "unpack ok"-less report with the reason for each ref.
std::string refuse_push(const PushHead& head, std::string_view reason);

// One packet: four hexadecimal digits of length, then the bytes. At most 65,516 bytes are taken.
std::string packet(std::string_view bytes);
// A message that git's client prints after "remote: ".
std::string progress_packet(std::string_view message);

} // namespace hone::forge
