#include "base/fields.h"
#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "base/time.h"

#include <atomic>
#include <doctest/doctest.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hone;
using namespace std::chrono_literals;

namespace {
Result<int> half(int number) {
    if (number % 2 != 0) return invalid("odd");
    return number / 2;
}
Result<int> quarter(int number) {
    return half(TRY(half(number)));
}
struct RunTag {
    static constexpr std::string_view kind = "run";
};
} // namespace

TEST_CASE("TRY hands on the first error and otherwise the value") {
    CHECK(quarter(8).value() == 2);
    CHECK(quarter(6).error().message == "odd");
    CHECK(quarter(6).error().code == Code::invalid);
}

TEST_CASE("a result holds a value or an error, whichever it is given last") {
    const auto whole = std::make_shared<int>(1);
    Result<std::shared_ptr<int>> result = whole;
    Result<std::shared_ptr<int>> copy = result;
    CHECK(whole.use_count() == 3);
    copy = Error(invalid("a reason that is too long for a text without memory of its own"));
    CHECK(whole.use_count() == 2);
    CHECK_FALSE(copy.ok());
    result = copy;
    CHECK(whole.use_count() == 1);
    CHECK(result.error().message == copy.error().message);
    copy = Result<std::shared_ptr<int>>(whole);
    Result<std::shared_ptr<int>> moved = std::move(copy);
    CHECK(whole.use_count() == 2);
    CHECK(moved.value() == whole);
    moved = std::move(result);
    CHECK(whole.use_count() == 1);
    CHECK(moved.error().code == Code::invalid);
}

TEST_CASE("a result can hold what is only moved") {
    Result<std::unique_ptr<int>> result = std::make_unique<int>(3);
    Result<std::unique_ptr<int>> moved = std::move(result);
    CHECK(*std::move(moved).value() == 3);
    static_assert(!std::is_copy_constructible_v<Result<std::unique_ptr<int>>>);
    static_assert(!std::is_copy_assignable_v<Result<std::unique_ptr<int>>>);
    static_assert(std::is_copy_constructible_v<Result<int>> && std::is_nothrow_move_assignable_v<Result<int>>);
}

TEST_CASE("packs keep their values in order, also when they are joined") {
    static constexpr Pack first{1, std::string_view("two")};
    static constexpr auto all = joined(first, Pack{3.5});
    std::string text;
    all.apply([&](int one, std::string_view two, double three) {
        text = std::to_string(one) + " " + std::string(two) + " " + std::to_string(static_cast<int>(three * 2));
    });
    CHECK(text == "1 two 7");
    CHECK(joined(Pack<>{}, Pack<>{}).apply([](const auto&... none) { return sizeof...(none); }) == 0);
}

TEST_CASE("times survive a round trip through text") {
    const Time time = from_ns(1'794'733'514'123'456'789);
    CHECK(parse_time(to_text(time)).value() == time);
    CHECK(to_text(from_ns(0)) == "1970-01-01T00:00:00.000000000Z");
    CHECK(to_ns(parse_time("2026-01-31T12:00:00+02:00").value()) == to_ns(parse_time("2026-01-31T10:00:00Z").value()));
    CHECK(to_ns(parse_time("2024-02-29 00:00:00.5Z").value()) % 1'000'000'000 == 500'000'000);
}

TEST_CASE("text that is no time is refused") {
    for (const char* text :
         {"", "2026", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
          "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567890Z", "2026-01-01T00:00:00+0200",
          "1969-12-31T23:59:59Z", "9999-01-01T00:00:00Z", "2026-01-01T00:00:00Zx"})
        CHECK_MESSAGE(!parse_time(text).ok(), text);
}

TEST_CASE("ids grow, also when the clock goes backwards") {
    FakeClock clock(from_ns(1'794'733'514'000'000'000));
    std::string previous;
    for (int i = 0; i < 1000; ++i) {
        if (i == 500) clock.jump(-1h);
        const auto id = make_id<RunTag>(clock);
        CHECK(id.text() > previous);
        CHECK(parse_id<RunTag>(id.text()).ok());
        previous = id.text();
    }
    CHECK(!parse_id<RunTag>("run_1").ok());
    CHECK(!parse_id<RunTag>("xyz" + previous.substr(3)).ok());
    CHECK(!parse_id<RunTag>("run_" + std::string(26, 'Z')).ok());
}

TEST_CASE("UTF-8 is checked as the standard defines it") {
    CHECK(is_valid_utf8("grüße 🚀"));
    for (const char* text : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xff"}) {
        CHECK(!is_valid_utf8(text));
        CHECK(is_valid_utf8(repair_utf8(text)));
    }
    CHECK(truncate_utf8("aü", 2) == "a");
    CHECK(quote_json("a\"\x01\n\xff") == "\"a\\\"\\u0001\\n\\ufffd\"");
}

TEST_CASE("encodings survive a round trip and refuse garbage") {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
        CHECK(from_hex(to_hex(bytes)).value() == bytes);
        CHECK(from_base64url(to_base64url(bytes)).value() == bytes);
        CHECK(percent_decode(percent_encode(bytes)).value() == bytes);
    }
    CHECK(to_base64("hone") == "aG9uZQ==");
    CHECK(!from_hex("abc").ok());
    CHECK(!from_hex("zz").ok());
    CHECK(!from_base64url("a").ok());
    CHECK(!from_base64url("aG9u+").ok());
    CHECK(!percent_decode("%4").ok());
    CHECK(!percent_decode("%zz").ok());
}

TEST_CASE("a text is one word of a shell") {
    CHECK(quote_shell("/srv/hone-data") == "/srv/hone-data");
    CHECK(quote_shell("/srv/my data") == "'/srv/my data'");
    CHECK(quote_shell("it's") == "'it'\\''s'");
    CHECK(quote_shell("") == "''");
}

TEST_CASE("sizes and durations read as people write them") {
    CHECK(parse_bytes("512m").value() == 512LL << 20);
    CHECK(parse_bytes("1.5GiB").value() == 3LL << 29);
    CHECK(parse_bytes("100").value() == 100);
    for (const char* text : {"", "m", "-1", "5x", "1k2", "99999999t"}) CHECK_MESSAGE(!parse_bytes(text).ok(), text);
    CHECK(parse_duration_ns("1h30m").value() == 5400'000'000'000);
    CHECK(parse_duration_ns("250ms").value() == 250'000'000);
    for (const char* text : {"", "5", "s", "1w", "-1s"}) CHECK_MESSAGE(!parse_duration_ns(text).ok(), text);
}

TEST_CASE("a log line cannot be forged by its values") {
    CHECK(format_log_line(LogFormat::text, Level::info, "run finished", {{"run", "run_1"}, {"took_ms", 12}}) ==
          "info    run finished run=run_1 took_ms=12");
    CHECK(format_log_line(LogFormat::text, Level::error, "x", {{"why", "a\nerror b"}}) ==
          "error   x why=\"a\\nerror b\"");
    CHECK(format_log_line(LogFormat::json, Level::warning, "x", {{"ok", true}}) ==
          R"("level":"warning","message":"x","ok":true})");
}

TEST_CASE("a file is replaced whole, with its mode") {
    const std::string folder = "/tmp/hone-base-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder + "/a/b").ok());
    const std::string path = folder + "/a/b/file";
    CHECK(write_file(path, "one").ok());
    CHECK(write_file(path, "two", 0644).ok());
    CHECK(read_file(path).value() == "two");
    CHECK(read_file(path, 2).error().code == Code::too_large);
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0644);
    CHECK(read_file(folder + "/none").error().code == Code::not_found);
    CHECK(make_directories(path).error().code == Code::conflict);
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}

TEST_CASE("who writes the same file at the same time publishes a whole one") {
    const std::string folder = "/tmp/hone-base-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder).ok());
    std::atomic<int> failed = 0;
    {
        std::vector<std::jthread> writers;
        for (char letter = 'a'; letter < 'e'; ++letter)
            writers.emplace_back([&, letter] {
                for (int i = 0; i < 50; ++i)
                    if (!write_file(folder + "/file", std::string(100'000, letter)).ok()) ++failed;
            });
    }
    CHECK(failed == 0);
    const std::string content = read_file(folder + "/file").value();
    CHECK(content == std::string(100'000, content.at(0)));
    const auto files = std::filesystem::directory_iterator(folder);
    CHECK(std::distance(begin(files), end(files)) == 1);
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}

TEST_CASE("a path is absolute from the working directory, and keeps its links") {
    const std::string folder = "/tmp/hone-base-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder + "/old").ok());
    REQUIRE(write_file(folder + "/old/cert", "x").ok());
    REQUIRE(::symlink("old", (folder + "/live").c_str()) == 0);
    const std::string here = std::filesystem::relative(folder).string();
    CHECK(here.starts_with("../"));
    CHECK(absolute_path(folder + "/live/cert").value() == folder + "/live/cert");
    const std::string absolute = absolute_path(here + "/live/cert").value();
    CHECK(absolute.front() == '/');
    CHECK(absolute.ends_with("/live/cert"));
    CHECK(read_file(absolute).value() == "x");
    CHECK(absolute_path("").error().code == Code::invalid);
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}

TEST_CASE("a directory has one name, whether it exists or not") {
    const std::string folder = "/tmp/hone-base-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder + "/real one").ok());
    REQUIRE(::symlink("real one", (folder + "/link").c_str()) == 0);
    const std::string real = folder + "/real one";
    for (const std::string& name :
         {real, real + "/", real + "//", folder + "/./real one/.", folder + "/link", folder + "/link/",
          folder + "/link/../real one", std::filesystem::relative(folder).string() + "/link"})
        CHECK_MESSAGE(resolve_directory(name).value() == real, name);
    CHECK(resolve_directory(folder + "/link/new/deeper/").value() == real + "/new/deeper");
    CHECK(resolve_directory(folder + "/link/new/../other").value() == real + "/other");
    CHECK(resolve_directory("/").value() == "/");
    CHECK(resolve_directory("hone-data").value() == std::filesystem::current_path().string() + "/hone-data");
    for (const std::string& wrong :
         {std::string(), std::string("a\nb"), std::string("a\x7f"), std::string("a\\b"), std::string("\xff"),
          "/tmp/" + std::string(200, 'a') + "/" + std::string(200, 'b')})
        CHECK(resolve_directory(wrong).error().code == Code::invalid);
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}
