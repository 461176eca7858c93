#include "api/families/phoenix/node_id.h"

#include <doctest/doctest.h>

namespace hone::api {

TEST_CASE("node ids are padded standard base64 and are read in every spelling") {
    const std::string id = make_node_id("Dataset", "dataset_01HZZZZZZZZZZZZZZZZZZZZZZZ");
    CHECK(id.size() % 4 == 0);
    CHECK(make_node_id("Dataset", "dataset_1").ends_with("="));
    CHECK(plain_id("Dataset", id) == "dataset_01HZZZZZZZZZZZZZZZZZZZZZZZ");
    CHECK(plain_id("Dataset", id.substr(0, id.find('='))) == "dataset_01HZZZZZZZZZZZZZZZZZZZZZZZ");
    CHECK(plain_id("Dataset", "a name") == "a name");
    // Another type's id is no id of this type.
    CHECK(plain_id("Experiment", id) == id);
    CHECK(plain_id("Dataset", make_node_id("DatasetExample", "x")) == make_node_id("DatasetExample", "x"));
    CHECK(plain_id("Dataset", "") == "");
    CHECK(plain_id("Dataset", "====") == "====");
    CHECK(plain_id("ProjectSession", make_node_id("ProjectSession", "why?>~")) == "why?>~");
}

TEST_CASE("times have microseconds and an offset, and are read with and without one") {
    const Time time = parse_time("2026-01-31T12:00:00.123456789Z").value();
    CHECK(phoenix_time(time) == "2026-01-31T12:00:00.123456+00:00");
    for (const char* text : {"2026-01-31T12:00:00", "2026-01-31 12:00:00", "2026-01-31T12:00:00Z",
                             "2026-01-31T12:00:00.000000+00:00", "2026-01-31T14:00:00+02:00"}) {
        INFO(text);
        const auto read = read_phoenix_time("start_time", text);
        REQUIRE(read.ok());
        CHECK(phoenix_time(read.value()) == "2026-01-31T12:00:00.000000+00:00");
    }
    for (const char* text : {"", "yesterday", "2026-13-01T00:00:00", "2026-01-31", "2026-01-31T12:00:00+2"})
        CHECK(!read_phoenix_time("start_time", text).ok());
}

} // namespace hone::api
