// What nobody else tells: ended runs, waiting reviews and budgets, each once, however often and by however many it is
// looked at.
#include "server/adapters/notice_finder.h"
#include "access/testing.h"

using namespace hone;
using namespace hone::server;
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
        broker::UsageLedger ledger(world.database);
        NoticeFinder news(world.database, world.clock, world.access, ledger, notices);
        NoticeFinder other(world.database, world.clock, world.access, ledger, notices);
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

TEST_CASE("owners get one notice when spans are not stored, and one when they are stored again") {
    access::testing::for_each_world([](World& world) {
        must(world.database.execute("DELETE FROM notices"));
        notice::Notices notices(world.database, world.clock);
        broker::UsageLedger ledger(world.database);
        telemetry::Backlog backlog;
        const BacklogSource source{"/data/telemetry", [&] { return backlog; }};
        const auto told_by = [&](NoticeFinder& news) {
            must(news.step());
            must(news.step());
            return kinds(world, notices);
        };
        NoticeFinder news(world.database, world.clock, world.access, ledger, notices, source);
        CHECK(told_by(news).empty());
        backlog = {12'345, 1 << 20, 59s, 7, 3, "the disk is full", false};
        CHECK(told_by(news).empty());
        backlog.oldest_wait = 185s;
        backlog.is_late = true;
        CHECK(told_by(news) == std::vector<std::string>{"spans_late"});
        const auto told = must(notices.list(world.admin, world.space, {}, {})).data.at(0);
        CHECK(told.title == "Spans are accepted but cannot be stored");
        CHECK(told.body.starts_with("12,345 spans have waited 3 min to be stored: the disk is full. They are safe"));
        // A server that starts again finds the same span at the front, and does not repeat itself.
        NoticeFinder restarted(world.database, world.clock, world.access, ledger, notices, source);
        CHECK(told_by(restarted) == std::vector<std::string>{"spans_late"});
        // Another server of the same database has its own.
        NoticeFinder other(world.database, world.clock, world.access, ledger, notices, {"/elsewhere", source.read});
        CHECK(told_by(other) == std::vector<std::string>{"spans_late", "spans_late"});
        // Not over while it is still far behind.
        backlog = {100, 1 << 10, 45s, 9, 3, "", false};
        CHECK(told_by(restarted).size() == 2);
        backlog = {};
        CHECK(told_by(restarted) == std::vector<std::string>{"spans_late", "spans_late", "spans_caught_up"});
        // The next time is told again.
        backlog = {1, 100, 61s, 20, 3, "", true};
        CHECK(told_by(restarted).size() == 4);
        CHECK(must(notices.list(world.admin, world.space, {}, {})).data.at(0).title == "Spans are stored late");
    });
}

TEST_CASE("a space and an automation get one notice a day when a budget is nearly used, and one when it is used up") {
    access::testing::for_each_world([](World& world) {
        for (const char* table : {"notices", "model_usage", "space_budgets", "automations"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        notice::Notices notices(world.database, world.clock);
        broker::UsageLedger ledger(world.database);
        NoticeFinder news(world.database, world.clock, world.access, ledger, notices);
        must(world.database.execute("INSERT INTO space_budgets (space_id, tokens_per_day, soft_percent, updated_at) "
                                    "VALUES (?, 1000, 80, 1)",
                                    world.space));
        const auto spend = [&](int64_t tokens, const std::string& automation = "") {
            broker::UsageRow row;
            row.space_id = world.space.text();
            row.automation_id = automation;
            row.day = broker::day_of(world.clock.now());
            row.id = make_id<notice::NoticeTag>(world.clock).text();
            row.started = world.clock.now();
            row.tokens.input = tokens;
            ledger.record(row);
            must(ledger.flush());
            must(news.step());
            must(news.step());
            return kinds(world, notices);
        };
        CHECK(spend(700).empty());
        CHECK(spend(150) == std::vector<std::string>{"budget_near"});
        CHECK(spend(50) == std::vector<std::string>{"budget_near"});
        CHECK(spend(200) == std::vector<std::string>{"budget_near", "budget_spent"});
        world.clock.advance(24h);
        CHECK(spend(900) == std::vector<std::string>{"budget_near", "budget_spent", "budget_near"});

        // One of an automation is its own.
        for (const char* table : {"notices", "space_budgets"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        const auto project = world.add_project(world.admin, world.space, "budgeted");
        must(world.database.execute(
            "INSERT INTO automations (id, space_id, project_id, name, description, prompt, trigger_type, "
            "trigger_setup, paused, pause_reason, overlap, catch_up, cool_off_seconds, cost_micro_usd_per_day, "
            "tokens_per_day, soft_percent, failure_limit, failure_streak, owner, owner_name, created_at, updated_at, "
            "revision, written_up_to, watch) VALUES ('auto_1',?,?,'nightly','','look','cron','{}',0,'','skip',"
            "'coalesce',0,NULL,100,80,0,0,'user_1','ada',1,1,1,1,'{}')",
            world.space, project.id));
        CHECK(spend(79, "auto_1").empty());
        CHECK(spend(500, "auto_2").empty());
        CHECK(spend(1, "auto_1") == std::vector<std::string>{"budget_near"});
        CHECK(spend(20, "auto_1") == std::vector<std::string>{"budget_near", "budget_spent"});
        const auto told = must(notices.list(world.admin, world.space, {}, {})).data.at(0);
        CHECK(told.title == "The daily budget of nightly is used up");
        CHECK(told.link == "/automations/auto_1");
    });
}
