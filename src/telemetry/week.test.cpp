// A week of ingest with a moved clock: what merges, retention and the log leave behind does not grow with the days.
#include "telemetry/engine/merge_state.h"
#include "telemetry/retention/retention.h"
#include "telemetry/store_fixture.h"

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

constexpr int64_t week_day_ns = 86'400'000'000'000;
constexpr int kept_days = 3, days_of_test = 7, blocks_a_day = 12;

std::string ask_engine(Fixture& f, const std::string& sql) {
    auto found = f.telemetry->engine().query(ClickHouseQuery(sql + " FORMAT TSV"));
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message + found.error().trail));
    return std::move(found).value();
}

constexpr uint64_t large_block = 4500; // indexed by the first merge, not by the insert

// Spans of the present hour without sessions; each block has a word of its own.
void send_large_block(Fixture& f, int day) {
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < large_block; ++i) {
        const uint64_t id = 1'000'000 + static_cast<uint64_t>(day) * 10'000 + i;
        const std::string text = i == 17 ? "zebra" + std::to_string(day) : "answer number " + std::to_string(id);
        spans.push_back({id, id, 0, to_ns(f.clock.now()) - 2'000'000 + static_cast<int64_t>(i), 5, "turn",
                         text_attribute("input.value", text), 0});
    }
    REQUIRE(f.send_json("week", request(spans)).status == 200);
    f.wait();
}

// Spans of the present hour: three sessions of two traces.
void send_block(Fixture& f, uint64_t number) {
    std::vector<TestSpan> spans;
    for (uint64_t i = 0; i < 12; ++i) {
        const uint64_t id = number * 100 + i, session = number * 3 + i / 4;
        spans.push_back({number * 100 + i / 2, id, 0, to_ns(f.clock.now()) - 1'000'000 + static_cast<int64_t>(i), 5,
                         "turn",
                         text_attribute("session.id", "talk-" + std::to_string(session)) + "," +
                             text_attribute("input.value", "question number " + std::to_string(id)),
                         0});
    }
    REQUIRE(f.send_json("week", request(spans)).status == 200);
    f.wait();
}

} // namespace

TEST_CASE("a week of spans leaves one part of a past day, the times of kept days, and a log that does not grow") {
    Fixture f;
    TelemetryOptions options;
    options.directory = f.directory.path();
    options.engine.program = {HONE_ENGINE_PROGRAM};
    options.wal.commit_interval = 1ms;
    options.wal.segment_bytes = 16 << 10; // whole segments are released
    options.loader.gather = 5ms;
    f.telemetry.reset();
    auto opened = Telemetry::open(options, f.projects, f.clock);
    REQUIRE(opened.ok());
    f.telemetry = std::move(opened).value();
    f.store();
    // The engine's own clock does not move: what it does after an hour it does here after a second.
    REQUIRE(f.telemetry->engine()
                .query(ClickHouseQuery("ALTER TABLE hone.spans MODIFY SETTING min_age_to_force_merge_seconds = 1, "
                                       "merge_selecting_sleep_ms = 50, max_merge_selecting_sleep_ms = 200"))
                .ok());
    Retention retention(f.telemetry->engine(), f.clock, [&] { f.telemetry->loader().forget_sessions(); });
    RetentionPolicy policy;
    policy.default_days = kept_days;
    uint64_t blocks = 0;
    uint64_t most_log_bytes_of_first_days = 0, log_bytes = 0;
    for (int day = 0; day < days_of_test; ++day) {
        send_large_block(f, day);
        for (int block = 0; block < blocks_a_day; ++block) {
            send_block(f, ++blocks);
            f.clock.advance(2h);
            // A file is released after its spans can be queried: that of the large block before the second block.
            if (block > 0) log_bytes = std::max<uint64_t>(log_bytes, f.telemetry->log_stats().disk_bytes);
        }
        if (day == 1) most_log_bytes_of_first_days = std::exchange(log_bytes, 0);
        const auto applied = retention.apply(policy);
        REQUIRE_MESSAGE(applied.ok(), (applied.ok() ? "" : applied.error().message + applied.error().trail));
        for (bool more = true; more;) {
            const auto step = f.telemetry->upgrade().step();
            REQUIRE_MESSAGE(step.ok(), (step.ok() ? "" : step.error().message + step.error().trail));
            more = step.value();
        }
    }
    CHECK(f.ledger("week").stored == static_cast<int64_t>(blocks * 12 + days_of_test * large_block));
    check_balance(f.ledger("week"));
    CHECK(log_bytes <= most_log_bytes_of_first_days * 2);
    CHECK(f.telemetry->backlog().spans == 0);

    // The clock is in the eighth day, whose start is the cut's fourth: three days back and the rest of that one.
    const int64_t today = to_ns(f.clock.now()) / week_day_ns;
    const std::string first_kept = std::to_string((today - kept_days) * week_day_ns);
    CHECK(ask_engine(f, "SELECT countIf(start_ns < " + first_kept + "), count() > 0 FROM hone.spans") == "0\t1\n");
    CHECK(ask_engine(f, "SELECT (SELECT uniqExact(trace_id) FROM hone.trace_times) = (SELECT uniqExact(trace_id) FROM "
                        "hone.spans)") == "1\n");
    CHECK(ask_engine(f, "SELECT count() FROM hone.session_times WHERE chat_session NOT IN (SELECT chat_session FROM "
                        "hone.spans)") == "0\n");
    CHECK(f.telemetry->upgrade().knows_sessions());

    // Each past day is merged into one part without being told.
    const std::string largest =
        "SELECT max(parts) FROM (SELECT count() AS parts FROM system.parts WHERE database = 'hone' "
        "AND table = 'spans' AND active GROUP BY partition)";
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (ask_engine(f, largest) != "1\n") REQUIRE(std::chrono::steady_clock::now() < until);
    const auto state = read_merge_state(f.telemetry->engine());
    REQUIRE(state.ok());
    CHECK(state.value().most_parts_a_day == 1);
    CHECK(state.value().parts <= kept_days + 1);

    // Merges have built the indexes of all texts: no part has to be read for a word that it does not hold.
    CHECK(ask_engine(f, "SELECT sum(data_compressed_bytes) > 0 FROM system.data_skipping_indices WHERE database = "
                        "'hone' AND table = 'spans' AND name = 'input_words'") == "1\n");
    CHECK(granules_with_word(f, "week", "giraffe") == "0");
    CHECK(granules_with_word(f, "week", "zebra" + std::to_string(days_of_test - 1)) == "1");
    ListSpans list;
    list.scope = scope_of("week", "input ~ \"zebra" + std::to_string(days_of_test - 1) + "\"");
    CHECK(f.store().list_spans(list).value().spans.size() == 1);
}
