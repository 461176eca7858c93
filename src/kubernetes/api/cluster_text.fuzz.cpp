// What a cluster sends: lines of a watch, the same however they are cut; messages and statuses of exec.
#include "kubernetes/api/exec_messages.h"
#include "kubernetes/api/watch_events.h"

#include <cstdlib>

using namespace hone;
using namespace hone::kubernetes;

namespace {

std::string read_lines(std::string_view bytes, size_t step) {
    WatchLines lines(1 << 12);
    std::string seen;
    for (size_t at = 0; at < bytes.size(); at += step) {
        const auto fed = lines.feed(bytes.substr(at, step), [&](std::string_view line) -> Result<> {
            seen += std::to_string(line.size()) + ":" + std::string(line);
            return {};
        });
        if (!fed.ok()) return seen + "failed";
    }
    return seen;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
    // Lines over the limit are found earlier when they come in one piece.
    if (bytes.size() < (1 << 12) && read_lines(bytes, 1 + data[0] % 32) != read_lines(bytes, bytes.size() + 1))
        std::abort();
    if (const auto event = parse_watch_line(bytes); event.ok() && event.value().kind != WatchKind::error &&
                                                    event.value().kind != WatchKind::bookmark &&
                                                    (event.value().name.empty() || event.value().uid.empty()))
        std::abort();
    if (const auto message = parse_exec_message(bytes);
        message.ok() && message.value().bytes.size() + 1 != bytes.size())
        std::abort();
    if (const auto outcome = parse_exec_status(bytes);
        outcome.ok() && outcome.value().exit_code.has_value() == !outcome.value().message.empty())
        std::abort();
    return 0;
}
