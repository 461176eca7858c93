#include "run/managed/session_store.h"
#include "access/testing.h"
#include "run/managed/consents.h"
#include "run/managed/session_tools.h"
#include "run/runs.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;
using access::Role;
using managed::Appended;

namespace {

class AnyManaged final : public SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const Settings&) override { return {}; }
};

// A run with a session at the provider.
struct SessionYard {
    explicit SessionYard(World& given)
        : world(given),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, any),
          runs(given.database, given.clock, given.access, presets, any, transcript),
          store(given.database, given.clock, transcript) {
        world.add_project(world.admin, world.space, "shop");
        Settings settings;
        settings.provider = RunProvider::claude_managed;
        settings.harness = "claude-managed";
        settings.model = std::string("m");
        run = must(runs.start(world.admin, world.space, {.project = "shop", .prompt = "go", .settings = settings})).id;
        must(store.begin(run, world.space, "skl_1", "https://api.example.com"));
    }
    // Records an event as a follower does that has read `progress`.
    Appended append(managed::Progress& progress, const managed::Event& event) {
        managed::Progress after = progress;
        managed::apply(after, event);
        const auto appended = must(store.append(run, event, after, transcript_event(event, ""), 7));
        if (appended == Appended::recorded) progress = after;
        return appended;
    }
    size_t messages() {
        size_t count = 0;
        for (const RunEvent& event : must(transcript.after(run, 0, 1000)))
            count += event.kind == harness::EventKind::message;
        return count;
    }

    World& world;
    AnyManaged any;
    Transcript transcript;
    Presets presets;
    Runs runs;
    SessionStore store;
    RunId run;
};

managed::Event session_event(const std::string& id, managed::EventKind kind) {
    managed::Event event;
    event.id = id;
    event.kind = kind;
    event.text = "text of " + id;
    event.processed_at = "2026-11-17T10:00:00Z";
    return event;
}

class CountedCaller final : public ToolCaller {
public:
    Result<json::Array> list() override { return json::Array{}; }
    Result<managed::ToolReply> call(const std::string& name, const std::string&) override {
        ++calls;
        return managed::ToolReply{name + " done", false};
    }
    int calls = 0;
};

} // namespace

TEST_CASE("an event of a managed session is in the transcript once, though two followers record it") {
    for_each_world([](World& world) {
        SessionYard yard(world);
        managed::Progress one, two; // two followers
        CHECK(yard.append(one, session_event("e1", managed::EventKind::message)) == Appended::recorded);
        CHECK(yard.append(two, session_event("e1", managed::EventKind::message)) == Appended::duplicate);
        CHECK(yard.append(two, session_event("e2", managed::EventKind::message)) == Appended::behind);
        two = must(yard.store.progress(yard.run));
        CHECK(two.sequence == 1);
        managed::Event call = session_event("e2", managed::EventKind::model_request_end);
        call.usage = {100, 20, 3, 4};
        CHECK(yard.append(two, call) == Appended::recorded);
        CHECK(yard.messages() == 1);
        const Run run = must(yard.runs.find(world.admin, yard.run));
        CHECK(run.usage == harness::Usage{100, 3, 4, 20, 0});
        CHECK(run.cost_micro_usd == 7);
    });
}

TEST_CASE("a call of a managed session has its effect once and keeps its reply") {
    for_each_world([](World& world) {
        SessionYard yard(world);
        CountedCaller caller;
        net::Cancel cancel;
        const managed::ToolCall call{"call_1", "save_file", "{}", true};
        SessionTools first(yard.store, yard.run, caller, "process one", world.clock, Duration{}, cancel);
        SessionTools second(yard.store, yard.run, caller, "process two", world.clock, Duration{}, cancel);
        CHECK(must(first.run(call)).text == "save_file done");
        CHECK(must(second.run(call)).text == "save_file done");
        CHECK(caller.calls == 1);
        // A process was killed during the call: the call is not repeated, and its result states that.
        CHECK(must(yard.store.begin_call(yard.run, "call_2", "process one")).begun);
        world.clock.advance(std::chrono::seconds(1));
        SessionTools third(yard.store, yard.run, caller, "process two", world.clock, Duration{-1}, cancel);
        const auto reply = must(third.run({"call_2", "save_file", "{}", true}));
        CHECK(reply.is_error);
        CHECK(reply.text.find("may have had its effect") != std::string::npos);
        CHECK(caller.calls == 1);
    });
}

TEST_CASE("what a managed session left is found after its run is deleted or has ended") {
    for_each_world([](World& world) {
        SessionYard yard(world);
        CHECK(must(yard.store.left_over({})).empty());
        must(world.database.execute("UPDATE runs SET state = 'cancelled', server = 'local' WHERE id = ?", yard.run));
        CHECK(must(yard.store.left_over({})).empty());
        must(yard.store.set_stopping(yard.run));
        CHECK(must(yard.store.left_over(std::vector<std::string>{"local"})).empty());
        CHECK(must(yard.store.left_over({})).size() == 1);
        must(yard.store.set_stopped(yard.run));
        CHECK(must(yard.store.left_over({})).empty());
        CHECK_FALSE(yard.store.begin(yard.run, world.space, "skl_1", "https://api.example.com").ok());
        must(world.database.execute("DELETE FROM runs WHERE id = ?", yard.run));
        CHECK(must(yard.store.left_over(std::vector<std::string>{"local"})).size() == 1);
        must(yard.store.remove(yard.run));
        CHECK(must(yard.store.left_over({})).empty());
    });
}

TEST_CASE("only an owner consents that data leaves, and can withdraw it") {
    for_each_world([](World& world) {
        Consents consents(world.database, world.clock, world.access.audit);
        const std::string url = "https://api.anthropic.com";
        CHECK(outcome(consents.require(world.space, url)) == "forbidden");
        const auto member = world.join(world.space, "member@example.com", Role::admin);
        CHECK(outcome(consents.give(member, world.space, url)) == "forbidden");
        CHECK(outcome(consents.give(world.admin, world.space, "ftp://x")) == "invalid");
        CHECK(must(consents.give(world.admin, world.space, url + "/")).consents.size() == 1);
        CHECK(must(consents.give(world.admin, world.space, url)).consents.size() == 1);
        CHECK(outcome(consents.require(world.space, url)) == "ok");
        CHECK(outcome(consents.require(world.space, "https://other.example.com")) == "forbidden");
        CHECK(outcome(consents.find(member, world.space)) == "ok");
        CHECK(outcome(consents.withdraw(member, world.space, url)) == "forbidden");
        must(consents.withdraw(world.admin, world.space, url));
        CHECK(outcome(consents.require(world.space, url)) == "forbidden");
        CHECK(outcome(consents.withdraw(world.admin, world.space, url)) == "not_found");
    });
}
