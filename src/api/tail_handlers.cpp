#include "api/tail_handlers.h"

#include "telemetry/query/filter.h"

namespace hone::api {

namespace {

// A client that is further behind than this misses spans instead of being cut off.
constexpr size_t most_pending_bytes = 256 << 10;
constexpr size_t spans_in_event = 100;
// Then it has to come back, and its rights are looked at again.
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
            // The position belongs to the whole batch: who is cut off within it gets it again.
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
    Spans& spans = *TRY(spans_of(call));
    telemetry::Watch watch;
    watch.project = project.id.text();
    watch.filter = query.filter.value_or("");
    watch.after_ns = TRY(position_of(call, query));
    TRY(telemetry::parse_filter(watch.filter));
    telemetry::Tail& tail = spans.telemetry.tail();
    if (!tail.has_room()) return busy("too many live tails are open; try again later");
    net::Response response;
    response.on_events = [&tail, &clock = call.services.clock,
                          watch = std::move(watch)](std::shared_ptr<net::EventStream> events) mutable {
        events->send("ready", std::to_string(watch.after_ns.value_or(to_ns(clock.now()))), "{}");
        watch.take = [follower = std::make_shared<Follower>(events, clock)](telemetry::TailBatch&& batch) {
            return follower->take(std::move(batch));
        };
        const auto id = tail.watch(std::move(watch));
        if (!id.ok()) return; // somebody else took the last place; the client comes back
        events->on_close([&tail, id = id.value()] { tail.unwatch(id); });
    };
    return response;
}

} // namespace hone::api
