#include "demo/demo_traces.h"

#include "otlp/encode.h"

#include <doctest/doctest.h>
#include <map>
#include <set>

using namespace hone;

TEST_CASE("the demo's traces are always the same, whole, and hold the known faults") {
    const Time now = from_ns(1'800'000'000'000'000'000);
    size_t spans = 0;
    std::map<std::string, int> failed;
    std::map<std::string, int> counted;
    std::set<std::string> span_ids;
    for (size_t at = 0; at < demo::trace_count; at += 500) {
        const otlp::Batch batch = demo::make_traces(now, at, at + 500);
        const otlp::Batch again = demo::make_traces(now, at, at + 500);
        CHECK(otlp::encode_batch(otlp::Encoding::protobuf, batch) ==
              otlp::encode_batch(otlp::Encoding::protobuf, again));
        spans += batch.spans.size();
        for (const otlp::Span& span : batch.spans) {
            counted[std::string(span.name)] += 1;
            if (span.status == otlp::StatusCode::error) failed[std::string(span.name)] += 1;
            CHECK(span.trace_id.size() == 16);
            CHECK(span_ids.emplace(span.span_id).second);
            CHECK(span.end_ns >= span.start_ns);
            CHECK(span.end_ns <= static_cast<uint64_t>(to_ns(now)));
            CHECK(span.start_ns >= static_cast<uint64_t>(to_ns(now)) - 73ULL * 3600 * 1'000'000'000);
        }
    }
    CHECK(spans > 18'000);
    CHECK(spans < 24'000);
    CHECK(failed["lookup_order"] > 50);
    CHECK(failed["parse_intent"] > 20);
    CHECK(counted["check_stock"] > 300);
    CHECK(counted["handle_ticket"] == static_cast<int>(demo::trace_count));
}
