#include "cli/remote/event_stream.h"

#include <algorithm>
#include <poll.h>

namespace hone::cli {

namespace {

constexpr Duration silence = std::chrono::seconds(60); // the server sends a heartbeat every 15 s
constexpr Duration first_pause = std::chrono::milliseconds(500);
constexpr Duration longest_pause = std::chrono::seconds(10);

bool may_reconnect(const Error& error) {
    return error.code == Code::unavailable || error.code == Code::busy;
}

} // namespace

Result<> follow_events(const Context& context, const Call& call, std::string last_id,
                       const std::function<Result<Next>(const net::ServerEvent&)>& take) {
    bool was_connected = false, is_done = false;
    Duration pause = first_pause;
    for (;;) {
        bool had_events = false;
        net::EventParser parser;
        Call request = call;
        request.headers.push_back({"Accept", "text/event-stream"});
        if (!last_id.empty()) request.headers.push_back({"Last-Event-ID", last_id});
        const auto on_event = [&](net::ServerEvent&& event) -> Result<> {
            had_events = true;
            if (!event.id.empty()) last_id = event.id;
            is_done = TRY(take(event)) == Next::enough;
            if (is_done || context.console.is_output_gone() || context.console.output_error())
                return conflict("seen enough"); // ends the stream
            return {};
        };
        const auto outcome = context.remote.stream(
            request, "text/event-stream",
            [&](std::string_view piece) -> Result<> {
                was_connected = true;
                return parser.feed(piece, on_event);
            },
            silence);
        if (is_done || context.console.is_output_gone()) return {};
        if (context.console.output_error()) return *context.console.output_error();
        if (!outcome.ok()) {
            if (!was_connected || !may_reconnect(outcome.error())) return outcome.error();
            context.console.note("Connection lost; retrying.\n");
        }
        pause = had_events || outcome.ok() ? first_pause : std::min(longest_pause, pause * 2);
        ::poll(nullptr, 0, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(pause).count()));
    }
}

} // namespace hone::cli
