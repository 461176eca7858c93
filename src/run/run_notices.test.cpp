// Ended runs and pending reviews: one notice each, however often and by how many servers they are found.
#include "run/run_notices.h"
#include "access/testing.h"

using namespace hone;
using access::testing::must;
using access::testing::World;
using namespace std::chrono_literals;

namespace {

void add_run(World& world, const std::string& id, const access::ProjectId& project, std::optional<Time> ended) {
    must(world.database.execute(
        "INSERT INTO runs (id, space_id, project_id, origin, title, harness, model, manifest, state, reason, "
        "started_by, "
        "started_by_name, rights, priority, turns, last_event, input_tokens, cache_read_tokens, cache_write_tokens, "
        "output_tokens, reasoning_tokens, thread, trace_id, harness_session, spool_offset, wish, created_at, "
        "queued_at, "
        "ended_at) VALUES "
        "(?,?,?,'session','look','playbook','','{}','succeeded','','user_1','ada@example.com','{}',0,1,"
        "1,0,0,0,0,0,'run_1','00','',0,'',1,1,?)",
        id, world.space, project, ended));
}

std::vector<std::string> kinds(World& world, notice::Notices& notices) {
    std::vector<std::string> all;
    for (const auto& each : must(notices.list(world.admin, world.space, {}, {})).data)
        all.insert(all.begin(), std::string(name_of(each.kind)));
    return all;
}

} // namespace

TEST_CASE("ended runs and pending reviews get one notice") {
    access::testing::for_each_world([](World& world) {
        for (const char* table : {"notices", "runs"}) must(world.database.execute("DELETE FROM " + std::string(table)));
        const auto project = world.add_project(world.admin, world.space, "shop");
        notice::Notices notices(world.database, world.clock);
        run::RunNotices source(world.database, world.clock);
        notice::Finder news(world.clock, notices, {&source});
        notice::Finder other(world.clock, notices, {&source});
        add_run(world, "run_1", project.id, world.clock.now());
        add_run(world, "run_2", project.id, std::nullopt);
        must(news.step());
        must(news.step());
        must(other.step());
        CHECK(kinds(world, notices) == std::vector<std::string>{"run_finished"});
        const auto told = must(notices.list(world.admin, world.space, {}, {})).data.at(0);
        CHECK(told.title == "Run succeeded: look");
        CHECK(told.link == "/runs/run_1");

        must(world.database.execute(
            "INSERT INTO artifacts (id, space_id, project_id, run_id, kind, name, summary, media_type, bytes, digest, "
            "review, comment, created_at) VALUES ('artifact_1',?,?,'run_2','labels','wrong answers','','text/plain',3,"
            "'ab','pending','',?)",
            world.space, project.id, world.clock.now()));
        world.clock.advance(5s);
        must(news.step());
        must(other.step());
        CHECK(kinds(world, notices) == std::vector<std::string>{"run_finished", "review_waiting"});
        // A session that goes on ends again.
        must(world.database.execute("UPDATE runs SET ended_at = ? WHERE id = 'run_1'", world.clock.now()));
        must(news.step());
        CHECK(kinds(world, notices).size() == 3);
    });
}
