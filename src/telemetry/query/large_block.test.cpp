// Merges index the texts of large blocks: a search is right before and after.
#include "telemetry/store_fixture.h"

using namespace hone;
using namespace hone::telemetry;
using namespace hone::telemetry::testing;

TEST_CASE("the texts of a large block are found before a merge builds its index, and through the index afterwards") {
    Fixture f;
    f.store();
    const auto run = [&](const std::string& sql) {
        auto done = f.telemetry->engine().query(ClickHouseQuery(sql));
        REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
        return std::move(done).value();
    };
    run("SYSTEM STOP MERGES hone.spans");
    for (uint64_t block = 0; block < 2; ++block) {
        std::vector<TestSpan> spans;
        for (uint64_t i = 1; i <= 4500; ++i) {
            const uint64_t id = block * 10'000 + i;
            const std::string text = i == 4321 ? "a zebra crossed" : "question number " + std::to_string(id);
            spans.push_back(
                {id, id, 0, base_ns + static_cast<int64_t>(id), 1, "n", text_attribute("input.value", text), 0});
        }
        REQUIRE(f.send_json("large", request(spans)).status == 200);
        f.wait();
    }
    const std::string size_of_index = "SELECT sum(data_compressed_bytes) > 0 FROM system.data_skipping_indices WHERE "
                                      "database = 'hone' AND table = 'spans' AND name = 'input_words' FORMAT TSVRaw";
    const auto found = [&](const std::string& text) {
        ListSpans list;
        list.scope = scope_of("large", "input ~ \"" + text + "\"");
        return f.store().list_spans(list).value().spans.size();
    };
    const auto check = [&] {
        CHECK(found("zebra") == 2);
        CHECK(found("question number 14320") == 1);
        CHECK(found("giraffe") == 0);
    };
    CHECK(run(size_of_index) == "0\n");
    check();
    run("SYSTEM START MERGES hone.spans");
    run("OPTIMIZE TABLE hone.spans FINAL");
    CHECK(run(size_of_index) == "1\n");
    check();
    CHECK(granules_with_word(f, "large", "zebra") != "0");
    CHECK(granules_with_word(f, "large", "giraffe") == "0");
}
