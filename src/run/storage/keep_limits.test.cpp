#include "run/storage/keep_limits.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;

namespace {

const Time start = from_ns(1'000'000'000'000'000'000);

Stored stored(std::string key, int64_t hours_ago, int64_t bytes, bool needed = false) {
    return {std::move(key), start - std::chrono::hours(hours_ago), bytes, needed};
}

std::string keys(const std::vector<Stored>& gone) {
    std::string text;
    for (const Stored& one : gone) text += one.key;
    return text;
}

} // namespace

TEST_CASE("limits are read from a setting and printed again") {
    const auto read = [](std::string_view text) { return parse_keep_limits("keep_layers", text); };
    const KeepLimits limits = read("age=30d count=200 bytes=20g bytes=15%").value();
    CHECK(limits.age == Duration(std::chrono::hours(24 * 30)));
    CHECK(limits.count == 200);
    CHECK(limits.bytes_of(int64_t{1} << 50) == int64_t{20} << 30);
    CHECK(limits.bytes_of(1000) == 150);
    CHECK(print_limits(limits) == "age=30d count=200 bytes=21474836480 bytes=15%");
    CHECK(print_limits(read("none").value()) == "none");
    CHECK_FALSE(read("none").value().bytes_of(1000).has_value());
    for (const char* wrong : {"", " ", "age", "age=", "age=0s", "age=x", "count=0", "count=-1", "bytes=0", "bytes=0%",
                              "bytes=101%", "bytes=-1", "size=3", "age=30d,count=2"}) {
        INFO(wrong);
        CHECK_FALSE(read(wrong).ok());
    }
    CHECK(read("age=x").error().message.find("keep_layers") != std::string::npos);
}

TEST_CASE("what is too old goes, then the least recently used, and what is needed stays") {
    const std::vector<Stored> all{stored("a", 50, 10), stored("b", 40, 10, true), stored("c", 30, 10),
                                  stored("d", 20, 10), stored("e", 10, 10)};
    const auto with = [&](const KeepLimits& limits) { return keys(surplus(all, limits, 1000, start)); };
    CHECK(with({}) == "");
    CHECK(with({.age = std::chrono::hours(25)}) == "ac");
    CHECK(with({.age = std::chrono::hours(1)}) == "acde");
    CHECK(with({.count = 3}) == "ac");
    CHECK(with({.count = 1}) == "acde"); // the needed one counts, and stays
    CHECK(with({.bytes = 35}) == "ac");
    CHECK(with({.percent = 2}) == "acd");
    CHECK(with({.age = std::chrono::hours(45), .count = 3}) == "ac");
    // A limit of its own can only be shorter.
    std::vector<Stored> own{stored("x", 5, 1), stored("y", 5, 1)};
    own[0].age = std::chrono::hours(1);
    own[1].age = std::chrono::hours(1000);
    CHECK(keys(surplus(own, {.age = std::chrono::hours(10)}, 0, start)) == "x");
    own[1].used = start - std::chrono::hours(11);
    CHECK(keys(surplus(own, {.age = std::chrono::hours(10)}, 0, start)) == "yx");
}
