#include "forge/push/push_commands.h"

#include "base/text.h"
#include "forge/git.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr std::string_view flush = "0000";
constexpr size_t longest_packet = 65'516;

// The length of a packet; -1: not four hexadecimal digits.
int packet_length(std::string_view digits) {
    int length = 0;
    for (const char c : digits) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        length = length * 16 + digit;
    }
    return length;
}

Result<PushCommand> read_command(std::string_view line) {
    const size_t first = line.find(' ');
    const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos) return invalid("this is not a push");
    PushCommand command{std::string(line.substr(0, first)), std::string(line.substr(first + 1, second - first - 1)),
                        std::string(line.substr(second + 1))};
    if (!is_object_name(command.old_object) || !is_object_name(command.new_object))
        return invalid("this is not a push");
    if (!is_ref_name(command.ref)) return invalid("the push names an invalid ref");
    return command;
}

// Number of objects in the header of the pack: "PACK", version, count, four bytes each.
Result<int64_t> read_pack_header(std::string_view bytes) {
    if (!bytes.starts_with("PACK")) return invalid("the push brings no pack");
    int64_t count = 0;
    for (const char c : bytes.substr(8, 4)) count = count * 256 + static_cast<unsigned char>(c);
    return count;
}

} // namespace

bool PushHead::has(std::string_view capability) const {
    return std::find(capabilities.begin(), capabilities.end(), capability) != capabilities.end();
}

Result<PushRead> read_push_head(std::string_view bytes, bool at_end) {
    PushRead read;
    const auto wait = [&]() -> Result<PushRead> {
        if (at_end) return invalid("the push was interrupted");
        return PushRead{};
    };
    std::string_view rest = bytes;
    for (;;) {
        if (rest.size() < 4) return wait();
        const int length = packet_length(rest.substr(0, 4));
        if (length == 0) break;
        if (length < 5) return invalid("this is not a push");
        if (bytes.size() - rest.size() + static_cast<size_t>(length) > longest_push_head)
            return too_large("the push names too many refs");
        if (rest.size() < static_cast<size_t>(length)) return wait();
        std::string_view line = rest.substr(4, static_cast<size_t>(length) - 4);
        rest.remove_prefix(static_cast<size_t>(length));
        if (line.ends_with('\n')) line.remove_suffix(1);
        if (line.starts_with("push-cert")) return invalid("signed pushes are not supported");
        if (line.starts_with("shallow ")) continue;
        if (const size_t end = line.find('\0'); end != std::string_view::npos) {
            for (const std::string_view word : split(line.substr(end + 1), ' '))
                if (!word.empty()) read.head.capabilities.emplace_back(word);
            line = line.substr(0, end);
        }
        if (read.head.commands.size() == most_push_commands)
            return too_large(fmt::format("a push changes at most {} branches", most_push_commands));
        read.head.commands.push_back(TRY(read_command(line)));
    }
    rest.remove_prefix(flush.size());
    read.head.used = bytes.size() - rest.size();
    const bool needs_pack = std::any_of(read.head.commands.begin(), read.head.commands.end(),
                                        [](const PushCommand& command) { return !command.deletes(); });
    if (needs_pack) {
        if (rest.size() < 12) return wait();
        read.head.objects = TRY(read_pack_header(rest));
    }
    read.state = PushReading::done;
    return read;
}

std::string check_push(const PushHead& head, std::string_view prefix) {
    if (head.has("push-options")) return "push options are not taken";
    for (const PushCommand& command : head.commands) {
        const std::string place = std::string(prefix.substr(std::string_view("refs/heads/").size()));
        if (!command.ref.starts_with(prefix) || command.ref.size() == prefix.size())
            return fmt::format("only branches below {} can be pushed", place);
        if (command.deletes()) return "branches cannot be deleted here";
    }
    return {};
}

std::string packet(std::string_view bytes) {
    bytes = bytes.substr(0, longest_packet);
    return fmt::format("{:04x}{}", bytes.size() + 4, bytes);
}

std::string progress_packet(std::string_view message) {
    return packet("\x02" + std::string(message.substr(0, 4000)) + "\n");
}

std::string refuse_push(const PushHead& head, std::string_view reason) {
    std::string report = packet(fmt::format("unpack {}\n", reason));
    for (const PushCommand& command : head.commands) report += packet(fmt::format("ng {} {}\n", command.ref, reason));
    report += flush;
    if (!head.has("side-band-64k")) return report;
    std::string answer;
    for (std::string_view rest = report; !rest.empty();) {
        const std::string_view piece = rest.substr(0, longest_packet - 1);
        answer += packet("\x01" + std::string(piece));
        rest.remove_prefix(piece.size());
    }
    answer += flush;
    return answer;
}

} // namespace hone::forge
