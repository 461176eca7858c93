// When merges are behind, as far as parts show it.
#include "telemetry/engine/merge_state.h"

#include "telemetry/store_fixture.h"

#include <filesystem>

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

namespace {

std::string ask_parts(Fixture& f, const std::string& sql) {
    auto found = f.telemetry->engine().query(ClickHouseQuery(sql));
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message + found.error().trail));
    return std::move(found).value();
}

MergeState state_of(Fixture& f) {
    const auto state = read_merge_state(f.telemetry->engine());
    REQUIRE_MESSAGE(state.ok(), (state.ok() ? "" : state.error().message + state.error().trail));
    return state.value();
}

void send_part(Fixture& f, uint64_t id) {
    REQUIRE(f.send_json("parts", request({{id, id}})).status == 200);
    f.wait();
}

// As parts that were inserted three hours ago.
void make_old(Fixture& f) {
    const std::string day = std::to_string(base_ns / 86'400'000'000'000);
    const std::string path(trim(ask_parts(
        f, "SELECT data_paths[1] FROM system.tables WHERE database = 'hone' AND name = 'spans' FORMAT TSVRaw")));
    ask_parts(f, "ALTER TABLE hone.spans DETACH PARTITION " + day);
    for (const auto& part : std::filesystem::directory_iterator(path + "detached"))
        std::filesystem::last_write_time(part.path(), std::filesystem::file_time_type::clock::now() - 3h);
    ask_parts(f, "ALTER TABLE hone.spans ATTACH PARTITION " + day);
    REQUIRE(trim(ask_parts(f, "SELECT min(dateDiff('second', modification_time, now())) > 7200 FROM system.parts WHERE "
                              "database = 'hone' AND table = 'spans' AND active FORMAT TSVRaw")) == "1");
}

} // namespace

TEST_CASE("merges are behind when a day has many parts, or when a part waits long for one") {
    CHECK(merge_advice(0, 0).empty());
    CHECK(merge_advice(many_parts_a_day, long_unmerged_seconds).empty());
    CHECK(merge_advice(many_parts_a_day + 1, 0).starts_with("merges are behind: "));
    CHECK(merge_advice(2, long_unmerged_seconds + 1).starts_with("merges are behind: "));
}

TEST_CASE("a part that is alone in its day, or older than the engine, waits for no merge") {
    Fixture f;
    CHECK(f.store().list_spans({scope_of("parts"), {}, {}, {}, 50, false, ""}).ok());
    CHECK(state_of(f).oldest_unmerged_seconds == 0);
    ask_parts(f, "SYSTEM STOP MERGES hone.spans");
    send_part(f, 1);
    make_old(f);
    MergeState state = state_of(f);
    CHECK(state.parts == 1);
    CHECK(state.unmerged_parts == 1);
    CHECK(state.oldest_unmerged_seconds == 0);
    send_part(f, 2);
    make_old(f);
    state = state_of(f);
    CHECK(state.parts == 2);
    CHECK(state.most_parts_a_day == 2);
    CHECK(state.unmerged_parts == 2);
    CHECK(state.oldest_unmerged_seconds < long_unmerged_seconds); // this engine has run for less
}

// A mutation is listed as a merge is. This one lasts as long as its function sleeps.
TEST_CASE("what running merges will write is never more than their parts have") {
    Fixture f;
    CHECK(f.store().list_spans({scope_of("parts"), {}, {}, {}, 50, false, ""}).ok());
    for (uint64_t id = 1; id <= 3; ++id) send_part(f, id);
    ask_parts(f, "ALTER TABLE hone.spans UPDATE name = if(sleepEachRow(0.5) = 0, name, '') WHERE 1 SETTINGS "
                 "mutations_sync = 0");
    MergeState state;
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (state.merges == 0 && std::chrono::steady_clock::now() < until) state = state_of(f);
    REQUIRE(state.merges > 0);
    CHECK(state.merges <= 3);
    const std::string stored(trim(
        ask_parts(f, "SELECT sum(bytes_on_disk) FROM system.parts WHERE database = 'hone' AND active FORMAT TSVRaw")));
    CHECK(state.merging_bytes > 0);
    CHECK(state.merging_bytes <= parse_integer(stored).value());
}
