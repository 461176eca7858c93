#include "managed/progress.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::managed;

namespace {

Event parsed_event(std::string_view text) {
    const auto event = read_event(text);
    REQUIRE_MESSAGE(event.ok(), (event.ok() ? "" : event.error().message));
    return event.value();
}

Progress after(std::initializer_list<std::string_view> texts) {
    Progress progress;
    for (const std::string_view text : texts) apply(progress, parsed_event(text));
    return progress;
}

constexpr std::string_view idle = R"({"id":"i","type":"session.status_idle","stop_reason":{"type":"end_turn"}})";

} // namespace

TEST_CASE("an event of the future is kept with its type") {
    const Event event =
        parsed_event(R"({"id":"e1","type":"agent.dance","processed_at":"2026-11-17T10:00:00.5Z","x":[{}]})");
    CHECK(event.kind == EventKind::other);
    CHECK(!event.is_known);
    CHECK(event.id == "e1");
    CHECK(!event.is_queued);
    CHECK(parsed_event(R"({"type":"user.dance","processed_at":null})").is_queued);
}

TEST_CASE("an event that is no object, or has no type or an invalid time, is read as far as it can be") {
    for (const std::string_view text : {"[]", "{}", R"({"type":7,"id":[]})"}) {
        const Event event = parsed_event(text);
        CHECK(event.type.empty());
        CHECK(event.id.empty());
        CHECK(!event.is_known);
    }
    CHECK(parsed_event(R"({"type":"x","processed_at":"yesterday"})").processed_at.empty());
    CHECK(parsed_event(R"({"type":"x","id":"a\u0007b"})").id.empty());
    CHECK(parsed_event(R"({"type":"x","id":")" + std::string(201, 'i') + "\"}").id.empty());
    CHECK(!read_event("{").ok());
}

TEST_CASE("half a surrogate pair and malformed UTF-8 in a text are replaced") {
    const auto text_of = [](const std::string& text) {
        return parsed_event(R"({"type":"agent.message","content":[{"type":"text","text":")" + text + "\"}]}").text;
    };
    CHECK(text_of(R"(a\ud83d)") == "a\xEF\xBF\xBD");
    CHECK(text_of(R"(\ude00 \ud83d\ude00 \ud83d\ud83d)") == "\xEF\xBF\xBD \xF0\x9F\x98\x80 \xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(text_of(R"(\\ud83d \ude00)") == "\\ud83d \xEF\xBF\xBD"); // an escaped backslash is no escape of a code
    CHECK(text_of("a\xFFz") == "a\xEF\xBF\xBDz");
}

TEST_CASE("mistyped fields of an event count as absent") {
    const Event event = parsed_event(R"({"id":7,"type":"span.model_request_end","model_usage":
        {"input_tokens":-5,"output_tokens":1e300,"cache_read_input_tokens":"9","cache_creation_input_tokens":9007199254740993}})");
    CHECK(event.id.empty());
    CHECK(event.usage == ModelUsage{});
    CHECK(parsed_event(R"({"type":"session.status_idle","stop_reason":null})").stop == Stop::unknown);
    CHECK(parsed_event(R"({"type":"agent.message","content":[7,{"type":"image"},{"type":"text","text":"a"}]})").text ==
          "[]\n[image]\na");
}

TEST_CASE("tokens are the sum over the calls of the model") {
    const Progress progress = after({
        R"({"id":"a","type":"span.model_request_end","model_usage":{"input_tokens":3,"output_tokens":5,"cache_read_input_tokens":7,"cache_creation_input_tokens":11}})",
        R"({"id":"b","type":"span.model_request_end","model_usage":{"input_tokens":13,"output_tokens":17,"cache_read_input_tokens":19,"cache_creation_input_tokens":23}})",
        R"({"id":"c","type":"session.usage","usage":{"input_tokens":999,"active_seconds":2.5,"list_cost":{"amount":"42","currency":"USD"}}})",
    });
    CHECK(progress.usage == ModelUsage{16, 22, 26, 34});
    CHECK(progress.model_requests == 2);
    CHECK(progress.list_cost_cents == 42);
    CHECK(progress.active_seconds == 2.5);
}

TEST_CASE("a managed session waits for calls until they have results or the turn ends") {
    constexpr std::string_view use = R"({"id":"t1","type":"agent.custom_tool_use","name":"save_file","input":{"a":1}})";
    constexpr std::string_view other = R"({"id":"t2","type":"agent.custom_tool_use","name":"save_file","input":{}})";
    constexpr std::string_view action =
        R"({"id":"i1","type":"session.status_idle","stop_reason":{"type":"requires_action","event_ids":["t1","t2"]}})";
    constexpr std::string_view result = R"({"id":"r1","type":"user.custom_tool_result","custom_tool_use_id":"t1"})";
    const Progress waiting = after({use, other, action});
    CHECK(waiting.phase == Phase::working);
    CHECK(waiting.waits_for == std::vector<std::string>{"t1", "t2"});
    REQUIRE(waiting.open_calls.size() == 2);
    CHECK(waiting.open_calls[0].input == R"({"a":1})");
    CHECK(after({use, other, action, result}).waits_for == std::vector<std::string>{"t2"});
    const Progress interrupted = after({use, other, action, idle});
    CHECK(interrupted.waits_for.empty());
    CHECK(interrupted.open_calls.empty());
}

TEST_CASE("a status of a thread is not one of the session") {
    const Progress progress = after({idle, R"({"id":"x","type":"session.thread_status_running"})"});
    CHECK(progress.phase == Phase::waiting);
    CHECK(after({R"({"id":"x","type":"session.thread_status_idle","stop_reason":{"type":"end_turn"}})"}).phase ==
          Phase::working);
}

TEST_CASE("nothing leaves the end of a managed session") {
    constexpr std::string_view terminated = R"({"id":"t","type":"session.status_terminated"})";
    constexpr std::string_view running = R"({"id":"r","type":"session.status_running"})";
    CHECK(after({terminated, running, idle}).phase == Phase::failed);
    constexpr std::string_view error =
        R"({"id":"e","type":"session.error","error":{"type":"repository_clone_error","message":"x","retry_status":{"type":"retrying"}}})";
    const Progress progress = after({error, running, idle, terminated});
    CHECK(progress.phase == Phase::preparation_failed);
    CHECK(progress.reason == "repository_clone_error: x");
}

TEST_CASE("a message that was processed after the last end of a turn is not settled") {
    constexpr std::string_view message = R"({"id":"m","type":"user.message","processed_at":"2026-11-17T10:00:00Z"})";
    CHECK(!after({idle, message}).is_settled);
    CHECK(after({message, idle}).is_settled);
    CHECK(after({message, idle}).cursor == "2026-11-17T10:00:00.000000000Z");
}

TEST_CASE("a progress is read back as it was written") {
    const Progress progress =
        after({R"({"id":"t1","type":"agent.custom_tool_use","name":"save","input":{"a":"é\n"}})", idle});
    CHECK(json::write(json::read<Progress>(json::write(progress)).value()) == json::write(progress));
}
