// The live tail of a project: text/event-stream of `ready`, `spans` (a list of SpanRow, oldest first) and `dropped`
// ({"count"}). Event ids are positions to resume from; what came in the two seconds before may then come again.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/traces/span_views.h"
#include "telemetry/query/filter.h"

#include <algorithm>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct FollowSpans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> since;
    static constexpr Pack fields{
        Field{"space", &FollowSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &FollowSpans::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"since", &FollowSpans::since,
              "Starts with spans received since this time; Last-Event-ID takes precedence."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// A client with more unread bytes misses spans instead of being disconnected.
constexpr size_t most_pending_bytes = 256 << 10;
constexpr size_t spans_in_event = 100;
// Then the client reconnects, and its rights are checked again.
constexpr Duration longest_life = std::chrono::minutes(10);

// One client; called on the tail's thread.
class Follower {
public:
    Follower(std::shared_ptr<net::EventStream> events, const Clock& clock)
        : m_events(std::move(events)),
          m_clock(clock),
          m_end(clock.steady() + longest_life) {}

    bool take(telemetry::TailBatch&& batch) {
        if (m_clock.steady() > m_end) {
            m_events->close();
            return false;
        }
        m_dropped += batch.dropped;
        if (m_events->pending() > most_pending_bytes) {
            m_dropped += static_cast<int64_t>(batch.spans.size());
            return m_events->is_open();
        }
        const std::string position = std::to_string(batch.position_ns);
        for (size_t at = 0; at < batch.spans.size(); at += spans_in_event) {
            json::Array rows;
            for (size_t i = at; i < std::min(at + spans_in_event, batch.spans.size()); ++i)
                rows.push_back(json::to_value(view_of(batch.spans[i])));
            // The position belongs to the whole batch: a client disconnected within it gets it again.
            const bool is_last = at + spans_in_event >= batch.spans.size();
            if (!m_events->send("spans", is_last ? position : "", json::print(std::move(rows)))) return false;
        }
        if (m_dropped == 0) return true;
        return m_events->send("dropped", position, json::print(json::Object{{"count", std::exchange(m_dropped, 0)}}));
    }

private:
    const std::shared_ptr<net::EventStream> m_events;
    const Clock& m_clock;
    const Duration m_end;
    int64_t m_dropped = 0;
};

Result<std::optional<int64_t>> position_of(const Call& call, const FollowSpans& query) {
    const std::string_view last = call.head.header("Last-Event-ID");
    if (last.empty()) return query.since ? std::optional(to_ns(*query.since)) : std::nullopt;
    const auto position = parse_integer(last);
    if (!position.ok() || position.value() < 0) return invalid("Last-Event-ID is not one of this stream");
    return std::optional(position.value());
}

} // namespace

Result<net::Response> follow_spans(const Call& call, const FollowSpans& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    telemetry::Spans& spans = call.services.spans;
    telemetry::Watch watch;
    watch.project = project.id.text();
    watch.filter = query.filter.value_or("");
    watch.after_ns = TRY(position_of(call, query));
    TRY(telemetry::parse_filter(watch.filter));
    telemetry::Tail& tail = spans.telemetry.tail();
    if (!tail.has_room()) return busy("too many live tails are open; try again later");
    watch.announced_ns = tail.announce(watch.project);
    net::Response response;
    response.on_events = [&tail, &clock = call.services.clock,
                          watch = std::move(watch)](std::shared_ptr<net::EventStream> events) mutable {
        events->send("ready", std::to_string(watch.after_ns.value_or(to_ns(clock.now()))), "{}");
        watch.take = [follower = std::make_shared<Follower>(events, clock)](telemetry::TailBatch&& batch) {
            return follower->take(std::move(batch));
        };
        const auto id = tail.watch(std::move(watch));
        if (!id.ok()) return; // another client took the last place; this one reconnects
        events->on_close([&tail, id = id.value()] { tail.unwatch(id); });
    };
    return response;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route tail_table[] = {
    route<follow_spans>("GET", "/v1/projects/{project}/tail", need(project_read),
                        "Spans as they arrive, as Server-Sent Events.")
        .raw("text/event-stream")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> tail_routes() {
    return tail_table;
}

} // namespace hone::api
