#include "automation/budget_notices.h"
#include "access/testing.h"

using namespace hone;
using access::testing::must;
using access::testing::World;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> kinds(World& world, notice::Notices& notices) {
    std::vector<std::string> all;
    for (const auto& each : must(notices.list(world.admin, world.space, {}, {})).data)
        all.insert(all.begin(), std::string(name_of(each.kind)));
    return all;
}

} // namespace

TEST_CASE("a space and an automation get one notice a day when a budget is nearly used, and one when it is used up") {
    access::testing::for_each_world([](World& world) {
        for (const char* table : {"notices", "model_usage", "space_budgets", "automations"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        notice::Notices notices(world.database, world.clock);
        broker::UsageLedger ledger(world.database);
        automation::BudgetNotices source(world.database, world.clock, ledger);
        notice::Finder news(world.clock, notices, {&source});
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
