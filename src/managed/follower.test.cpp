// A follower against the scripted API in its own process, over real connections: what it records is compared with what
// the API has.
#include "managed/fake.test.h"

#include <algorithm>
#include <thread>

using namespace hone;
using namespace hone::managed;
using namespace hone::managed::testing;

namespace {

void check_same(Scene& scene, const Progress& progress) {
    CHECK(scene.journal.events() == scene.fake.history(scene.session));
    CHECK(progress.usage == scene.fake.usage(scene.session));
    CHECK(progress.sequence == static_cast<int64_t>(scene.journal.events().size()));
}

void check_results(Scene& scene, size_t calls) {
    const auto [accepted, refused] = scene.fake.results(scene.session);
    CHECK(accepted == std::vector<int64_t>(calls, 1));
    CHECK(scene.tools.executed == static_cast<int>(calls));
}

// Waits for something that another process does.
template <class Condition>
void wait_for(const Condition& condition) {
    net::Cancel never;
    for (int times = 0; times < 5000 && !condition(); ++times) Api::wait(std::chrono::milliseconds(4), never);
    REQUIRE(condition());
}

bool has_event(Scene& scene, std::string_view type) {
    const auto events = scene.fake.history(scene.session);
    return std::ranges::any_of(events, [&](const std::string& line) { return line.ends_with(type); });
}

} // namespace

TEST_CASE("a managed turn is recorded as the provider has it") {
    Scene scene(HONE_SOURCE_DIR, "tools");
    scene.start();
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    CHECK(progress.messages == 1);
    CHECK(progress.model_requests == 4);
    check_same(scene, progress);
    const auto events = scene.journal.all();
    const auto call = std::ranges::find(events, EventKind::tool_use, &Event::kind);
    const auto result = std::ranges::find(events, EventKind::tool_result, &Event::kind);
    CHECK(call->tool == "bash");
    CHECK(call->input == R"({"command":"ls"})");
    CHECK(result->call_id == call->id);
    CHECK(result->text == "README.md\n");
}

TEST_CASE("each event of a managed session is recorded once over 200 cuts of its stream") {
    const uint32_t seed = test_seed();
    Scene scene(HONE_SOURCE_DIR, "cuts", seed);
    scene.fake.post("/_faults", R"({"cuts": {"count": 200, "within": 1500}})");
    scene.start();
    const Progress progress = must(scene.follow());
    CHECK(scene.fake.get("/_count").at("cut").as_int64() == 200);
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
    check_results(scene, 3);
}

TEST_CASE("cuts of every response leave a managed session whole") {
    const uint32_t seed = test_seed();
    Scene scene(HONE_SOURCE_DIR, "cuts", seed);
    scene.start(); // before the cuts: how a session is made over cuts is a test of its own
    scene.fake.post("/_faults", R"({"cuts": {"count": 200, "within": 6000, "of": "all"}})");
    const Progress progress = must(scene.follow());
    CHECK(scene.fake.get("/_count").at("cut").as_int64() == 200);
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
    check_results(scene, 3);
}

TEST_CASE("duplicates, unknown events and fields and a list that is behind leave a managed session whole") {
    const uint32_t seed = test_seed();
    for (const char* play : {"noisy", "lagging"}) {
        CAPTURE(play);
        Scene scene(HONE_SOURCE_DIR, play, seed);
        scene.start();
        const Progress progress = must(scene.follow());
        CHECK(progress.phase == Phase::waiting);
        check_same(scene, progress);
        check_results(scene, std::string_view(play) == "noisy" ? 2 : 3);
    }
}

TEST_CASE("a managed tool result of 10 MB is recorded") {
    Scene scene(HONE_SOURCE_DIR, "large");
    scene.start();
    const Progress progress = must(scene.follow());
    check_same(scene, progress);
    const auto events = scene.journal.all();
    CHECK(std::ranges::find(events, EventKind::tool_result, &Event::kind)->text.size() == 10'000'000);
}

TEST_CASE("texts and events that no parser expects leave a managed session whole") {
    Scene scene(HONE_SOURCE_DIR, "strange");
    scene.start();
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
    const auto events = scene.journal.all();
    CHECK(std::ranges::find(events, EventKind::message, &Event::kind)->text == "half a pair: \xEF\xBF\xBD");
}

TEST_CASE("a session that is not found everywhere yet is not lost") {
    Scene scene(HONE_SOURCE_DIR, "tools");
    scene.start();
    scene.fake.post("/_faults",
                    R"({"statuses": [{"method": "GET", "path": "/v1/sessions/", "status": 404, "times": 6}]})");
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
}

TEST_CASE("two calls of one managed turn get their results one by one") {
    Scene scene(HONE_SOURCE_DIR, "two_custom");
    scene.start();
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
    check_results(scene, 2);
    CHECK(scene.fake.results(scene.session).second == 0); // none was sent twice
}

TEST_CASE("a result whose sending fails reaches the provider once") {
    // 0: the connection ends after the event was accepted.
    for (const char* fault : {R"("status": 0, "after": true)", R"("status": 500, "after": true)", R"("status": 529)",
                              R"("status": 429, "headers": {"retry-after": "0"})", R"("status": 502, "times": 3)"}) {
        CAPTURE(fault);
        Scene scene(HONE_SOURCE_DIR, "two_custom");
        scene.start();
        scene.fake.post("/_faults",
                        R"({"statuses": [{"method": "POST", "path": "/events$", )" + std::string(fault) + "}]}");
        const Progress progress = must(scene.follow());
        CHECK(progress.phase == Phase::waiting);
        check_same(scene, progress);
        check_results(scene, 2);
    }
}

TEST_CASE("a follower that ends at any request is continued without a gap") {
    FakeApi fake(HONE_SOURCE_DIR, 1);
    constexpr int most_requests = 50; // of one turn
    for (const bool after : {false, true}) {
        for (int request = 1;; ++request) {
            CAPTURE(request);
            REQUIRE(request <= most_requests);
            Scene scene(fake, "custom");
            scene.pace.quiet = std::chrono::minutes(10); // as many requests on a busy machine as on an idle one
            scene.start();
            net::Cancel cancel;
            TestTransport transport;
            (after ? transport.end_after : transport.end_before) = request;
            const auto first = scene.follow(1, transport, cancel);
            if (first.ok()) {
                REQUIRE(request > 3); // stream, list and result at least
                break;
            }
            CHECK(first.error().code == Code::conflict);
            const Progress progress = must(scene.follow());
            CHECK(progress.phase == Phase::waiting);
            check_same(scene, progress);
            check_results(scene, 1);
        }
    }
}

TEST_CASE("a follower whose journal fails at any event is continued without a gap") {
    FakeApi fake(HONE_SOURCE_DIR, 1);
    Scene whole(fake, "custom");
    whole.start();
    const int64_t events = must(whole.follow()).sequence;
    for (int64_t append = 1; append <= events; append += 3) {
        CAPTURE(append);
        Scene scene(fake, "custom");
        scene.start();
        scene.journal.fail_at(static_cast<int>(append));
        const auto first = scene.follow();
        REQUIRE(!first.ok());
        CHECK(first.error().message == "the disk is full");
        scene.journal.fail_at(0);
        const Progress progress = must(scene.follow());
        check_same(scene, progress);
        check_results(scene, 1);
    }
}

TEST_CASE("two servers that follow one managed session record each event once") {
    const uint32_t seed = test_seed();
    Scene scene(HONE_SOURCE_DIR, "lagging", seed);
    scene.start();
    std::optional<Result<Progress>> other;
    std::thread second([&] { other = scene.follow(); });
    const auto first = scene.follow();
    second.join();
    check_same(scene, must(first));
    check_same(scene, must(*other));
    check_results(scene, 3);
}

TEST_CASE("a managed session stops at its budget") {
    Scene scene(HONE_SOURCE_DIR, "expensive");
    NewSession wanted;
    wanted.budget_cents = 500;
    scene.start(wanted);
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::budget_stopped);
    CHECK(progress.usage.input == 2'000'000);
    CHECK(progress.list_cost_cents == 600);
    check_same(scene, progress);
}

TEST_CASE("a managed session without its repository has failed to prepare") {
    Scene scene(HONE_SOURCE_DIR, "no_repository");
    NewSession wanted;
    wanted.repositories = {{"https://github.com/octo/private", "main", ""}};
    scene.start(wanted);
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::preparation_failed);
    CHECK(progress.reason.starts_with("repository_authentication_error"));
}

TEST_CASE("a call that needs an approval is denied") {
    Scene scene(HONE_SOURCE_DIR, "confirm");
    scene.start();
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    const auto events = scene.journal.all();
    const auto result = std::ranges::find(events, EventKind::tool_result, &Event::kind);
    CHECK(result->failed);
    CHECK(result->text == "This session has no approvals.");
}

TEST_CASE("a follow-up continues a managed session, and is sent once") {
    Scene scene(HONE_SOURCE_DIR, "custom");
    scene.start();
    must(scene.follow());
    scene.fake.post("/_faults",
                    R"({"statuses": [{"method": "POST", "path": "/events$", "status": 0, "after": true}]})");
    scene.say(2, "And now?");
    scene.say(2, "And now?"); // after a restart
    const Progress progress = must(scene.follow(2));
    CHECK(progress.phase == Phase::waiting);
    CHECK(progress.messages == 2);
    check_same(scene, progress);
    const auto events = scene.journal.all();
    CHECK(std::ranges::count(events, EventKind::user_message, &Event::kind) == 2);
}

TEST_CASE("an interrupt ends a managed turn, and the session takes the next message") {
    for (const char* play : {"long_tool", "empty_interrupt_id"}) {
        CAPTURE(play);
        Scene scene(HONE_SOURCE_DIR, play);
        scene.start();
        std::optional<Result<Progress>> followed;
        std::thread follower([&] { followed = scene.follow(); });
        wait_for([&] { return has_event(scene, "agent.tool_use"); });
        net::Cancel cancel;
        TestTransport transport;
        Api api(scene.options(), transport, scene.clock);
        must(Launch(api).interrupt(scene.session, cancel));
        follower.join();
        CHECK(must(*followed).phase == Phase::waiting);
        scene.say(2, "Continue.");
        const Progress progress = must(scene.follow(2));
        CHECK(progress.phase == Phase::waiting);
        const auto events = scene.journal.all();
        CHECK(std::ranges::find(events, EventKind::tool_result, &Event::kind)->failed);
        CHECK(std::ranges::find(events, EventKind::message, &Event::kind)->text == "I continue.");
    }
}

TEST_CASE("the end of a managed turn decides the phase") {
    struct End {
        const char* play;
        Phase phase;
        std::string_view reason;
    };
    for (const End& end :
         {End{"text", Phase::waiting, ""}, End{"rescheduled", Phase::waiting, ""},
          End{"refusal", Phase::turn_failed, "the model refused"},
          End{"exhausted", Phase::turn_failed, "model_overloaded_error"},
          End{"unknown_stop", Phase::turn_failed, "the turn stopped"}, End{"terminal", Phase::failed, "billing_error"},
          End{"terminate", Phase::failed, "the session"}, End{"deleted", Phase::lost, "the session was deleted"}}) {
        CAPTURE(end.play);
        Scene scene(HONE_SOURCE_DIR, end.play);
        scene.start();
        // On a busy machine the play deletes its session before the follower has read anything of it. It is then lost
        // only after the time for sessions that are not found everywhere yet.
        if (end.phase == Phase::lost) scene.pace.status_timeout = std::chrono::milliseconds(50);
        const Progress progress = must(scene.follow());
        CHECK(progress.phase == end.phase);
        CHECK(progress.reason.starts_with(end.reason));
        if (end.phase != Phase::lost) check_same(scene, progress);
    }
}

TEST_CASE("a session that is deleted before anything of it is read is lost") {
    Scene scene(HONE_SOURCE_DIR, "deleted");
    scene.start();
    wait_for([&] { return has_event(scene, "session.deleted"); });
    scene.pace.status_timeout = std::chrono::milliseconds(50);
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::lost);
    CHECK(progress.sequence == 1);
}

TEST_CASE("a message that the provider discards ends the wait for its turn") {
    Scene scene(HONE_SOURCE_DIR, "discards");
    scene.start();
    must(scene.follow());
    scene.say(2, "And now?");
    scene.pace.quiet = scene.pace.settle = std::chrono::milliseconds(50);
    const Progress progress = must(scene.follow(2));
    CHECK(progress.phase == Phase::waiting);
    CHECK(progress.messages == 1);
    check_same(scene, progress);
}

TEST_CASE("a session that is deleted between two turns is lost") {
    Scene scene(HONE_SOURCE_DIR, "text");
    scene.start();
    must(scene.follow());
    net::Cancel cancel;
    TestTransport transport;
    Api api(scene.options(), transport, scene.clock);
    must(Launch(api).forget(scene.session, cancel));
    const Progress progress = must(scene.follow(2));
    CHECK(progress.phase == Phase::lost);
}

TEST_CASE("a session that is archived at the provider while it waits for a result has failed") {
    Scene scene(HONE_SOURCE_DIR, "custom");
    scene.start();
    net::Cancel cancel;
    TestTransport transport;
    Api api(scene.options(), transport, scene.clock);
    wait_for([&] { return has_event(scene, "session.status_idle"); });
    wait_for([&] { return must(api.session(scene.session, cancel)).status == SessionStatus::idle; });
    must(Launch(api).stop(scene.session, cancel));
    scene.pace.quiet = scene.pace.settle = std::chrono::milliseconds(50); // it has ended without an event
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::failed);
}

TEST_CASE("a rejected credential ends a follower with an error that names it") {
    Scene scene(HONE_SOURCE_DIR, "text");
    scene.start();
    scene.fake.post("/_faults", R"({"statuses": [{"path": "/stream$", "status": 401}]})");
    const auto followed = scene.follow();
    REQUIRE(!followed.ok());
    CHECK(followed.error().code == Code::unauthorized);
    CHECK(followed.error().message == "Managed Agents returned 401 (authentication_error): scripted fault");
}

TEST_CASE("a request that the API could not serve in time is repeated") {
    for (const char* status : {"408", "409"}) {
        CAPTURE(status);
        Scene scene(HONE_SOURCE_DIR, "two_custom");
        scene.start();
        for (const char* fault : {R"("path": "/stream$")", R"("method": "GET", "path": "/events$")",
                                  R"("method": "POST", "path": "/events$")"})
            scene.fake.post("/_faults",
                            R"({"statuses": [{)" + std::string(fault) + R"(, "times": 2, "status": )" + status + "}]}");
        const Progress progress = must(scene.follow());
        CHECK(progress.phase == Phase::waiting);
        check_same(scene, progress);
        check_results(scene, 2);
    }
}

TEST_CASE("a stream that cannot be opened does not keep the history from being recorded") {
    Scene scene(HONE_SOURCE_DIR, "tools");
    scene.start();
    scene.fake.post("/_faults", R"({"statuses": [{"path": "/stream$", "status": 529, "times": 1000}]})");
    const Progress progress = must(scene.follow());
    CHECK(progress.phase == Phase::waiting);
    check_same(scene, progress);
}
