#include "api/families/traces/outline.h"
#include "base/testing.h"

using namespace hone;
using namespace hone::api;

TEST_CASE("an outline has each text once, parents by position, and no column of zeros") {
    telemetry::TraceSkeleton skeleton;
    telemetry::SpanRow root;
    root.span_id = "00000000000000a0";
    root.start_ns = 5'000;
    root.duration_ns = 900;
    root.name = "batch";
    root.service = "shop";
    root.kind = telemetry::SpanKind::agent;
    telemetry::SpanRow call = root;
    call.span_id = "00000000000000a1";
    call.parent_id = root.span_id;
    call.start_ns = 5'100;
    call.name = "shop"; // a text that another column has
    call.kind = telemetry::SpanKind::llm;
    call.status = otlp::StatusCode::error;
    call.tokens.input = 12;
    call.cost_nano_usd = 46;
    telemetry::SpanRow orphan = root;
    orphan.span_id = "00000000000000a2";
    orphan.parent_id = "00000000000000ff";
    orphan.kind = telemetry::SpanKind::unknown;
    orphan.otel_kind = 4;
    skeleton.spans = {root, call, orphan};
    skeleton.is_cut = true;

    const TraceOutline outline = outline_of(skeleton);
    CHECK(outline.is_cut);
    CHECK(outline.start_time == from_ns(5'000));
    CHECK(outline.span_ids == std::vector<std::string>{root.span_id, call.span_id, orphan.span_id});
    CHECK(outline.parents == std::vector<int64_t>{-1, 0, -1});
    REQUIRE(outline.missing_parents.size() == 1);
    CHECK(outline.missing_parents[0].span == 2);
    CHECK(outline.missing_parents[0].parent_id == orphan.parent_id);
    CHECK(outline.messages == std::vector<int64_t>{2});
    CHECK(outline.starts_ns == std::vector<int64_t>{0, 100, 0});
    CHECK(outline.durations_ns == std::vector<int64_t>{900, 900, 900});
    const auto text = [&](const std::vector<int64_t>& positions, size_t at) {
        return outline.texts.at(static_cast<size_t>(positions.at(at)));
    };
    CHECK(outline.texts.at(0).empty());
    CHECK(text(outline.names, 1) == "shop");
    CHECK(outline.names[1] == outline.services[0]);
    CHECK(text(outline.kinds, 1) == "llm");
    CHECK(text(outline.statuses, 1) == "error");
    CHECK(outline.input_tokens == std::vector<int64_t>{0, 12, 0});
    CHECK(outline.costs_nano_usd == std::vector<int64_t>{0, 46, 0});
    CHECK(outline.output_tokens.empty());
    CHECK(outline.models.empty());
    CHECK(outline.users.empty());

    CHECK(outline_of({}).span_ids.empty());
}
