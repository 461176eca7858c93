#include "api/core/run_followers.h"
#include "access/testing.h"
#include "net/testing/raw_client.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::api;
using namespace hone::access::testing;

namespace {

// A client that reads when the test says so.
class Client final : public net::EventStream {
public:
    bool send(std::string_view, std::string_view id, std::string_view data) override {
        const Lock lock(m_mutex);
        if (!m_open) return false;
        m_ids.emplace_back(id);
        m_pending += data.size();
        m_told.notify_all();
        return true;
    }
    bool is_open() const override {
        const Lock lock(m_mutex);
        return m_open;
    }
    size_t pending() const override {
        const Lock lock(m_mutex);
        return m_reads ? 0 : m_pending;
    }
    void on_close(std::function<void()>) override {}
    void close() override {
        const Lock lock(m_mutex);
        m_open = false;
    }
    void cut() override { close(); }

    void read() {
        const Lock lock(m_mutex);
        m_reads = true;
    }
    void stop_reading() {
        const Lock lock(m_mutex);
        m_reads = false;
        m_pending = 0;
    }
    size_t count() const {
        const Lock lock(m_mutex);
        return m_ids.size();
    }
    // Waits for so many events; their numbers, in the order they came.
    std::vector<std::string> ids(size_t count) {
        const Lock lock(m_mutex);
        while (m_ids.size() < count)
            if (m_told.wait_for(m_mutex, std::chrono::seconds(60)) == std::cv_status::timeout) break;
        return m_ids;
    }

private:
    mutable Mutex m_mutex;
    Condition m_told;
    std::vector<std::string> m_ids GUARDED_BY(m_mutex);
    size_t m_pending GUARDED_BY(m_mutex) = 0;
    bool m_open GUARDED_BY(m_mutex) = true;
    bool m_reads GUARDED_BY(m_mutex) = true;
};

struct Stage {
    explicit Stage(World& world) : m_world(world), transcript(world.database, world.clock) {
        project = world.add_project(world.admin, world.space, "shop");
    }
    run::RunId add_run() {
        const run::RunId id = make_id<run::RunTag>(m_world.clock);
        const Time now = m_world.clock.now();
        must(m_world.database.execute(
            "INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, state, reason, started_by, "
            "started_by_name, "
            "rights, manifest, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens, "
            "output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, "
            "queued_at) VALUES (?, ?, ?, 'session', 't', 'command', '', 'running', '', 'x', 'x', '{}', '{}', 0, 0, 0, "
            "0, "
            "0, 0, 0, 0, ?, '', '', 0, '', ?, ?)",
            id, m_world.space, project.id, id.text(), now, now));
        return id;
    }
    void say(const run::RunId& run, size_t count, size_t bytes = 10) {
        std::vector<run::RunEvent> events(count);
        for (run::RunEvent& event : events) event.text = std::string(bytes, 'x');
        must(transcript.append(run, std::move(events)));
    }

    World& m_world;
    run::Transcript transcript;
    access::Project project;
};

std::vector<std::string> numbers(size_t count) {
    std::vector<std::string> all;
    for (size_t i = 1; i <= count; ++i) all.push_back(std::to_string(i));
    return all;
}

} // namespace

TEST_CASE("every follower of a run receives every event once and in order, however late and slow it is") {
    for_each_world([](World& world) {
        Stage stage(world);
        const run::RunId run = stage.add_run(), other = stage.add_run();
        stage.say(run, 3);
        RunFollowers followers(stage.transcript, world.clock);
        const auto early = std::make_shared<Client>(), late = std::make_shared<Client>(),
                   slow = std::make_shared<Client>(), elsewhere = std::make_shared<Client>();
        followers.follow(run, 0, early);
        followers.follow(run, 0, slow);
        followers.follow(other, 0, elsewhere);
        CHECK(early->ids(3) == numbers(3));
        slow->stop_reading();
        stage.say(run, 450, 4000); // more than one reading, and more than is kept for one who does not read
        followers.follow(run, 400, late);
        CHECK(early->ids(453) == numbers(453));
        CHECK(late->ids(53).front() == "401");
        CHECK(late->ids(53).size() == 53);
        CHECK(slow->count() < 300);
        slow->read();
        CHECK(slow->ids(453) == numbers(453));
        CHECK(elsewhere->count() == 0);
        CHECK(followers.count() == 4);
        late->close();
        stage.say(run, 1);
        stage.say(other, 1);
        CHECK(early->ids(454) == numbers(454));
        CHECK(elsewhere->ids(1) == numbers(1));
        CHECK(net::testing::eventually([&] { return followers.count() == 3; }));
    });
}

TEST_CASE("who waits for news learns which runs have some") {
    for_each_world([](World& world) {
        Stage stage(world);
        const run::RunId one = stage.add_run(), two = stage.add_run();
        stage.say(one, 1);
        run::TranscriptChanges news = stage.transcript.wait(0, {}, {});
        CHECK(news.runs == std::set<run::RunId>{one});
        stage.say(two, 2);
        stage.say(one, 1);
        news = stage.transcript.wait(news.seen, {}, {});
        CHECK(news.runs == std::set<run::RunId>{one, two});
        CHECK_FALSE(news.any_run);
        CHECK(stage.transcript.wait(news.seen, {}, {}).any_run); // in vain: another server may have written
        for (int i = 0; i < 2000; ++i) stage.transcript.announce(one);
        CHECK(stage.transcript.wait(news.seen, {}, {}).any_run); // too many to know
    });
}
