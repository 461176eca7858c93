// Runs among several servers: which one may claim and write a run, and runs of servers that are lost.
#include "access/testing.h"
#include "run/run_store.h"
#include "run/runs.h"
#include "run/worker/dispatcher.h"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace hone;
using namespace hone::run;
using namespace hone::access::testing;

namespace {

class NoChecks final : public SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const Settings&) override { return {}; }
};

// Two servers, each with a store of its own, on one database.
struct TwoServers {
    explicit TwoServers(World& given)
        : world(given),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, checks),
          runs(given.database, given.clock, given.access, presets, checks, transcript),
          left(given.database, given.clock, transcript),
          right(given.database, given.clock, transcript) {
        world.add_project(world.admin, world.space, "shop");
    }
    RunId start() {
        Settings settings;
        settings.harness = "command";
        settings.command = std::vector<std::string>{"/bin/cat"};
        world.clock.advance(std::chrono::seconds(1));
        return must(runs.start(world.admin, world.space, {.project = "shop", .prompt = "work", .settings = settings}))
            .id;
    }
    RunId start_managed() {
        Settings settings;
        settings.provider = RunProvider::claude_managed;
        settings.harness = "claude-managed";
        settings.model = std::string("m");
        return must(runs.start(world.admin, world.space, {.project = "shop", .prompt = "work", .settings = settings}))
            .id;
    }
    bool has_event(const RunId& id, std::string_view text) {
        return std::ranges::any_of(must(transcript.after(id, 0, 1000)),
                                   [&](const RunEvent& event) { return event.text.find(text) != std::string::npos; });
    }
    State state(const RunId& id) { return must(runs.find(world.admin, id)).state; }
    std::string last_text(const RunId& id) { return must(transcript.after(id, 0, 1000)).back().text; }

    World& world;
    NoChecks checks;
    Transcript transcript;
    Presets presets;
    Runs runs;
    RunStore left;
    RunStore right;
    const std::vector<std::string> left_alone{"left"};
    const std::vector<std::string> right_alone{"right"};
};

} // namespace

TEST_CASE("a frozen worker writes nothing after another server took its run over") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        CHECK(must(two.left.claim("left", {}, two.right_alone)) == id);
        must(two.left.harness_started(id, 1, State::preparing, {}));
        CHECK_FALSE(must(two.left.is_taken_over(id)));
        CHECK(must(two.right.take_over("right", two.left_alone)).empty()); // left reports
        CHECK(must(two.right.take_over("right", {})) == std::vector<RunId>{id});
        CHECK(two.state(id) == State::lost);
        CHECK(two.last_text(id).find("server left") != std::string::npos);
        CHECK(must(two.right.take_over("right", {})).empty());

        const int64_t events = must(two.runs.find(world.admin, id)).last_event;
        CHECK(must(two.left.is_taken_over(id)));
        CHECK(outcome(two.left.progress(id, {RunEvent{}}, 10, "x")) == "conflict");
        CHECK(outcome(two.left.add_step(id, "step", "text")) == "conflict");
        CHECK(outcome(two.left.move(id, State::running, State::succeeded, "", "")) == "conflict");
        CHECK(outcome(two.left.sandbox_ended(id)) == "conflict");
        must(two.left.begin_ending(id, State::failed, "x"));
        CHECK(world.count("runs WHERE wish <> ''") == 0);
        CHECK(outcome(two.left.set_usage(id, {}, 5)) == "conflict");
        CHECK(outcome(two.left.set_manifest(id, {})) == "conflict");
        CHECK(outcome(two.left.mark_inputs_unsent(id)) == "conflict");
        CHECK(outcome(two.left.mark_input_sent(id, 1, "s", 0, true)) == "conflict");
        CHECK(must(two.left.take_command(id)) == RunCommand::cancel); // which ends the worker
        CHECK(must(two.runs.find(world.admin, id)).last_event == events);

        // A follow-up makes it a run of the other server, and the first still has nothing to write there.
        must(two.runs.send_message(world.admin, id, "continue"));
        CHECK(must(two.right.claim("right", {}, {})) == id);
        CHECK(outcome(two.left.move(id, State::preparing, State::failed, "", "")) == "conflict");
        must(two.right.harness_started(id, 1, State::preparing, {}));
        CHECK(two.state(id) == State::running);
    });
}

TEST_CASE("a process that resumes a run stops the one before from writing it") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        CHECK(must(two.left.claim("left", {})) == id);
        RunStore restarted(world.database, world.clock, two.transcript);
        CHECK(outcome(restarted.add_step(id, "step", "text")) == "conflict"); // not yet its own
        CHECK(must(restarted.resume(id, "left")));
        CHECK_FALSE(must(two.right.resume(id, "right")));
        CHECK(outcome(two.left.add_step(id, "step", "text")) == "conflict");
        must(restarted.add_step(id, "step", "text"));
        must(restarted.move(id, State::preparing, State::failed, "x", "x"));
        CHECK_FALSE(must(restarted.resume(id, "left")));   // it is over
        restarted.release(id, restarted.epoch_of(id) - 1); // of an earlier worker
        CHECK(restarted.epoch_of(id) == 2);
        restarted.release(id, restarted.epoch_of(id));
        CHECK(restarted.epoch_of(id) == -1);
        CHECK(outcome(restarted.add_step(id, "step", "text")) == "conflict");
    });
}

TEST_CASE("a follow-up goes to the server with the workspace, or to another with an empty one when that is lost") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        CHECK(must(two.left.claim("left", {}, two.right_alone)) == id);
        must(two.left.harness_started(id, 1, State::preparing, {}));
        must(two.left.progress(id, {}, 5, "conversation 1"));
        must(two.left.mark_input_sent(id, 1, "sandbox", 0, true));
        must(two.left.move(id, State::running, State::succeeded, "", "done"));
        must(two.runs.send_message(world.admin, id, "continue"));
        CHECK_FALSE(must(two.right.claim("right", {}, two.left_alone)).has_value());
        CHECK(must(two.left.claim("left", {}, two.right_alone)) == id);
        CHECK(must(two.left.read(id)).harness_session == "conversation 1");
        must(two.left.move(id, State::preparing, State::failed, "", "failed"));
        const RunId fork = must(two.runs.fork(world.admin, id, "another way")).id;
        world.clock.advance(std::chrono::seconds(1));
        must(two.runs.send_message(world.admin, id, "continue"));
        CHECK_FALSE(must(two.right.claim("right", {}, two.left_alone)).has_value());

        // Left is lost: both start on right, without what was on left.
        CHECK(must(two.right.claim("right", {}, {})) == fork);
        CHECK_FALSE(must(two.right.read(fork)).fork_of.has_value());
        CHECK(must(two.right.claim("right", {}, {})) == id);
        CHECK(must(two.right.read(id)).harness_session.empty());
        for (const RunInput& input : must(two.right.inputs(id))) CHECK_FALSE(input.sent_at_offset.has_value());
        const auto events = must(two.transcript.after(id, 0, 100));
        CHECK(std::ranges::any_of(events, [](const RunEvent& event) {
            return event.text == "The workspace is on server left, which has not reported for some time. The run "
                                 "starts with an empty workspace.";
        }));
        for (const RunId& run : {id, fork})
            CHECK(world.count("run_files WHERE server = 'right' AND run_id = '" + run.text() + "'") == 1);
    });
}

TEST_CASE("a run that had not begun is queued again when its server is lost") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        CHECK(must(two.left.claim("left", {})) == id);
        CHECK(must(two.right.take_over("right", {})) == std::vector<RunId>{id});
        CHECK(two.state(id) == State::queued);
        CHECK(world.count("run_files WHERE server IS NOT NULL AND run_id = '" + id.text() + "'") == 0);
        // Also where the first server is listed again: nothing of the run is there.
        CHECK(must(two.right.claim("right", {}, two.left_alone)) == id);
    });
}

TEST_CASE("a managed session of a lost server continues on another one, and its first server lets it go") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const Places managed{.backend = Backend::managed};
        const RunId id = two.start_managed();
        CHECK_FALSE(must(two.left.claim("left", {})).has_value()); // not for sandboxes
        CHECK(must(two.left.claim("left", managed, two.right_alone)) == id);
        must(two.left.mark_input_sent(id, 1, "sesn_1", 0, true));
        must(two.left.move(id, State::preparing, State::running, "", "Running."));
        CHECK(must(two.right.adopt("right", two.left_alone)).empty()); // left reports
        CHECK(must(two.right.take_over("right", {})).empty());         // of sandboxes only
        CHECK(must(two.right.adopt("right", {})) == std::vector<RunId>{id});
        CHECK(must(two.right.adopt("right", {})).empty());
        CHECK(two.state(id) == State::running);
        CHECK(must(two.left.is_taken_over(id)));
        CHECK_FALSE(must(two.right.is_taken_over(id)));
        CHECK(must(two.left.adopt("left", two.right_alone)).empty());
        CHECK(outcome(two.left.add_step(id, "step", "text")) == "conflict");
        CHECK(outcome(two.left.mark_input_sent(id, 1, "sesn_1", 0, true)) == "conflict");
        must(two.right.move(id, State::running, State::waiting, "", "Waiting."));
    });
}

TEST_CASE("a managed session that is queued again on another server keeps what was sent: it has no workspace") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const Places managed{.backend = Backend::managed};
        const RunId id = two.start_managed();
        CHECK(must(two.left.claim("left", managed, two.right_alone)) == id);
        must(two.left.mark_input_sent(id, 1, "sesn_1", 0, true));
        must(two.left.move(id, State::preparing, State::running, "", "Running."));
        must(two.left.move(id, State::running, State::succeeded, "", "done"));
        must(two.runs.send_message(world.admin, id, "continue"));
        CHECK(must(two.right.claim("right", managed, {})) == id); // left is lost
        CHECK_FALSE(two.has_event(id, "workspace"));
        CHECK(world.count("run_inputs WHERE told_at_offset IS NOT NULL AND sandbox_id = 'sesn_1'") == 1);
        CHECK(world.count("run_inputs WHERE told_at_offset IS NULL") == 1);
        CHECK(world.count("run_files WHERE server = 'right' AND run_id = '" + id.text() + "'") == 1);
    });
}

TEST_CASE("a run that was postponed is claimed after its pause, and others before it") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        CHECK(must(two.left.claim("left", {})) == id);
        must(two.left.postpone(id, std::chrono::seconds(30)));
        must(two.left.move(id, State::preparing, State::queued, "no room", "Queued again."));
        CHECK_FALSE(must(two.left.claim("left", {})).has_value());
        const RunId later = two.start();
        CHECK(must(two.left.claim("left", {})) == later);
        CHECK(must(two.runs.find(world.admin, id)).reason == "no room");
        world.clock.advance(std::chrono::seconds(30));
        CHECK(must(two.right.claim("right", {})) == id);
        CHECK_FALSE(two.left.postpone(id, std::chrono::seconds(30)).ok()); // it is of another server
    });
}

TEST_CASE("many servers claim a queue at the same time, each run once") {
    for (const sql::Engine engine : sql::testing::all_engines) {
        INFO("on ", sql::testing::engine_name(engine));
        sql::testing::FreshDatabase fresh(engine, sql::testing::Schema::migrated);
        World world(fresh.database());
        TwoServers two(world);
        constexpr int count = 40;
        for (int i = 0; i < count; ++i) two.start();
        std::vector<std::vector<RunId>> claimed(4);
        std::vector<std::thread> threads;
        for (size_t server = 0; server < claimed.size(); ++server)
            threads.emplace_back([&, server] {
                RunStore store(world.database, world.clock, two.transcript);
                const std::string name = "server " + std::to_string(server);
                std::vector<std::string> others;
                for (size_t i = 0; i < claimed.size(); ++i)
                    if (i != server) others.push_back("server " + std::to_string(i));
                for (;;) {
                    const auto next = store.claim(name, {.all = count, .per_space = count}, others);
                    if (next.ok() && !next.value()) return;
                    if (next.ok()) claimed[server].push_back(*next.value());
                }
            });
        for (std::thread& thread : threads) thread.join();
        size_t all = 0;
        for (const auto& runs : claimed) all += runs.size();
        CHECK(all == count);
        CHECK(world.count("runs WHERE epoch = 1 AND state = 'preparing'") == count);
    }
}

namespace {

// Ends without the end of its run in the database, as when that is away; the second one ends it.
class ForgetfulWorker final : public RunWorker {
public:
    ForgetfulWorker(RunStore& store, const RunId& run, int number) : m_store(store), m_run(run), m_number(number) {}
    void run() override {
        if (m_number > 1)
            if (const auto moved = m_store.move(m_run, State::preparing, State::failed, "", "failed"); !moved.ok())
                FAIL_CHECK(moved.error().message);
        m_is_finished = true;
    }
    void wake() override {}
    void release() override {}
    bool is_finished() const override { return m_is_finished; }

private:
    RunStore& m_store;
    const RunId m_run;
    const int m_number;
    std::atomic<bool> m_is_finished{false};
};

} // namespace

TEST_CASE("a run whose worker could not write its end, or that was claimed without one, gets a worker") {
    for_each_world([](World& world) {
        TwoServers two(world);
        const RunId id = two.start();
        std::atomic<int> made = 0;
        DispatcherOptions options;
        options.server = "left";
        DispatcherParts parts{
            two.left, world.clock,
            [&](const RunId& run) { return std::make_unique<ForgetfulWorker>(two.left, run, ++made); },
            [](const std::vector<RunId>&) -> Result<> { return {}; },
            [](const std::string&, const std::vector<std::string>&) -> Result<std::vector<RunId>> {
                return std::vector<RunId>();
            }};
        Dispatcher dispatcher(options, parts);
        must(dispatcher.step());
        while (made == 1) {
            world.clock.advance(std::chrono::seconds(1)); // a worker that cannot work does not begin all the time
            must(dispatcher.step());
            std::this_thread::yield();
        }
        while (two.state(id) == State::preparing) std::this_thread::yield();
        CHECK(two.state(id) == State::failed);
        for (int i = 0; i < 20; ++i) {
            world.clock.advance(std::chrono::seconds(1));
            must(dispatcher.step());
        }
        CHECK(made == 2);
    });
}
