#include "kubernetes/api/api.h"

#include "kubernetes/api/exec_messages.h"
#include "kubernetes/api/rate_limit.h"
#include "kubernetes/api/watch_events.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

net::ClientResponse response_of(int status, std::string body, const std::string& retry_after = "") {
    net::ClientResponse response;
    response.status = status;
    response.body = std::move(body);
    if (!retry_after.empty()) response.headers.push_back({"Retry-After", retry_after});
    return response;
}

} // namespace

TEST_CASE("a bucket lets a burst pass, then a steady rate, and requests that wait do so in order") {
    FakeClock clock(from_ns(0));
    RateLimit rate(clock, 20, 50);
    for (int i = 0; i < 50; ++i) CHECK(rate.take() == Duration(0));
    CHECK(rate.take() == std::chrono::milliseconds(50));
    CHECK(rate.take() == std::chrono::milliseconds(100));
    clock.advance(std::chrono::milliseconds(200)); // four more: two are owed
    CHECK(rate.take() == Duration(0));
    CHECK(rate.take() == Duration(0));
    CHECK(rate.take() == std::chrono::milliseconds(50));
    clock.advance(std::chrono::hours(1));
    for (int i = 0; i < 50; ++i) CHECK(rate.take() == Duration(0));
    CHECK(rate.take() > Duration(0));
}

TEST_CASE("a refusal has the cluster's reason and words, its wait, and a code of ours") {
    const ApiResponse exists = read_response(response_of(
        409,
        R"({"kind":"Status","status":"Failure","reason":"AlreadyExists","message":"pods \"a\" already exists","code":409})"));
    CHECK(exists.reason == "AlreadyExists");
    CHECK(error_of(exists, "create the pod").code == Code::conflict);
    CHECK(error_of(exists, "create the pod").message == "could not create the pod: pods \"a\" already exists");
    const ApiResponse later = read_response(response_of(429, "too many", "7"));
    CHECK(later.retry_after == std::chrono::seconds(7));
    CHECK(later.message == "too many");
    CHECK(!read_response(response_of(429, "", "Wed, 21 Oct 2026 07:28:00 GMT")).retry_after);
    CHECK(!read_response(response_of(429, "", "-1")).retry_after);
    CHECK(error_of(read_response(response_of(503, "")), "x").message ==
          "could not x: the cluster responded with status 503");
    struct Case {
        int status;
        Code code;
    };
    for (const Case& expected : {Case{400, Code::invalid}, Case{401, Code::unauthorized}, Case{403, Code::forbidden},
                                 Case{404, Code::not_found}, Case{410, Code::unavailable}, Case{413, Code::too_large},
                                 Case{422, Code::invalid}, Case{429, Code::busy}, Case{500, Code::unavailable}})
        CHECK(error_of(read_response(response_of(expected.status, "{}")), "x").code == expected.code);
    // A login page of a proxy is not a success.
    CHECK(read_response(response_of(200, "<html>")).status == 502);
}

TEST_CASE("queries are encoded, and a name may appear twice") {
    CHECK(query_text({}).empty());
    CHECK(query_text({{"command", "/bin/sh"}, {"command", "a b&c=d"}}) == "?command=%2Fbin%2Fsh&command=a%20b%26c%3Dd");
}

TEST_CASE("lines of a watch are objects, bookmarks and errors") {
    const auto added = parse_watch_line(
        R"({"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a","uid":"u","resourceVersion":"12"}}})");
    CHECK(added.value().kind == WatchKind::added);
    CHECK(added.value().name == "a");
    CHECK(added.value().resource_version == "12");
    const auto bookmark =
        parse_watch_line(R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"99"}}})");
    CHECK(bookmark.value().kind == WatchKind::bookmark);
    CHECK(bookmark.value().resource_version == "99");
    const auto gone = parse_watch_line(
        R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}})");
    CHECK(gone.value().error_status == 410);
    const auto unknown = parse_watch_line(R"({"type":"RENAMED","object":{}})");
    CHECK(unknown.value().kind == WatchKind::error);
    CHECK(unknown.value().error_status == 0);
    for (const char* wrong : {"", "{", "[]", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":7})",
                              R"({"type":"ADDED","object":{"metadata":{"name":"a"}}})"})
        CHECK(parse_watch_line(wrong).error().code == Code::corrupt);
}

TEST_CASE("lines are found however their bytes arrive, and have a limit") {
    const std::string body = "one\n\ntwo\r\nthree is longer\nrest";
    for (size_t step = 1; step < body.size(); ++step) {
        WatchLines lines(20);
        std::vector<std::string> seen;
        for (size_t at = 0; at < body.size(); at += step)
            REQUIRE(lines
                        .feed(body.substr(at, step),
                              [&](std::string_view line) -> Result<> {
                                  seen.emplace_back(line);
                                  return {};
                              })
                        .ok());
        CHECK(seen == std::vector<std::string>{"one", "two\r", "three is longer"});
    }
    WatchLines lines(20);
    CHECK(lines.feed(std::string(21, 'x'), [](std::string_view) -> Result<> { return {}; }).error().code ==
          Code::too_large);
}

TEST_CASE("messages of exec have the server's channels only") {
    CHECK(parse_exec_message("\1abc").value().bytes == "abc");
    CHECK(parse_exec_message("\2").value().stream == ExecStream::err);
    CHECK(parse_exec_message("\xff\1").value().stream == ExecStream::close);
    CHECK(!parse_exec_message("").ok());
    CHECK(!parse_exec_message(std::string_view("\0x", 2)).ok());
    CHECK(!parse_exec_message("\4{}").ok());
    CHECK(!parse_exec_message("\xff").ok());
    CHECK(!parse_exec_message("\x07x").ok());
    CHECK(input_message("abc") == std::string("\0abc", 4));
    CHECK(close_input_message() == std::string("\xff\0", 2));
    CHECK(resize_message(24, 80) == "\4{\"Width\":80,\"Height\":24}");
}

TEST_CASE("the status of exec is an exit code, or the cluster's words") {
    CHECK(parse_exec_status(R"({"metadata":{},"status":"Success"})").value().exit_code == 0);
    const auto failed = parse_exec_status(
        R"({"metadata":{},"status":"Failure","message":"command terminated with non-zero exit code","reason":"NonZeroExitCode",)"
        R"("details":{"causes":[{"reason":"ExitCode","message":"137"}]}})");
    CHECK(failed.value().exit_code == 137);
    const auto missing = parse_exec_status(
        R"({"status":"Failure","message":"exec: \"/nope\": no such file","reason":"InternalError","code":500})");
    CHECK(!missing.value().exit_code);
    CHECK(missing.value().message == "exec: \"/nope\": no such file");
    CHECK(parse_exec_status(R"({"status":"Failure"})").value().message ==
          "the cluster reports a failure without a reason");
    for (const char* wrong : {"", "7", "{}", R"({"status":"Maybe"})"})
        CHECK(parse_exec_status(wrong).error().code == Code::corrupt);
}
