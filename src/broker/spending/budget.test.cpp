#include "broker/spending/budget.h"
#include "access/testing.h"

#include <doctest/doctest.h>
#include <thread>

using namespace hone;
using namespace hone::broker;
using access::testing::for_each_world;
using access::testing::must;
using access::testing::outcome;
using access::testing::World;

namespace {

struct Office {
    explicit Office(World& opened)
        : world(opened),
          ledger(opened.database),
          budgets(opened.database, ledger, opened.access.audit, opened.clock) {
        must(opened.database.execute("DELETE FROM model_usage"));
        account.space_id = opened.space.text();
        account.run_id = "run_1";
    }

    Result<Admission> reserve(int64_t tokens = 100, Duration wait = Duration{}) {
        return budgets.reserve(account, {tokens, 0}, cancel, Deadline::after(wait));
    }
    UsageRow row(int64_t tokens, std::optional<int64_t> cost = {}) {
        UsageRow made;
        made.id = "call_" + make_ulid(world.clock.now());
        made.space_id = account.space_id;
        made.run_id = account.run_id;
        made.automation_id = account.automation_id;
        made.project_id = "project_1";
        made.started = world.clock.now();
        made.model = "m";
        made.status = 200;
        made.tokens.output = tokens;
        made.cost_nano_usd = cost;
        made.complete = true;
        return made;
    }
    // One whole call.
    BudgetLevel call(int64_t tokens, std::optional<int64_t> cost = {}) {
        Admission admission = must(reserve(1));
        if (admission.level != BudgetLevel::hard) budgets.settle(std::move(admission.reservation), row(tokens, cost));
        return admission.level;
    }

    World& world;
    UsageLedger ledger;
    Budgets budgets;
    BudgetAccount account;
    Cancel cancel;
};

SpaceBudget day_limit(int64_t tokens) {
    SpaceBudget budget;
    budget.tokens_per_day = tokens;
    return budget;
}

} // namespace

TEST_CASE("a run goes from fine over soft to hard, and stays there for a new server") {
    for_each_world([](World& world) {
        BudgetAccount account;
        {
            Office office(world);
            office.account.run = {.tokens = 1000, .cost_nano_usd = {}, .soft_percent = 80};
            CHECK(office.call(500) == BudgetLevel::fine);
            CHECK(office.call(300) == BudgetLevel::fine);
            CHECK(office.call(199) == BudgetLevel::soft);
            CHECK(office.call(50) == BudgetLevel::soft); // one token was left: overshoot by one call
            const Admission refused = must(office.reserve());
            CHECK(refused.level == BudgetLevel::hard);
            CHECK(refused.message == "the run's budget of 1000 tokens is used up");
            account = office.account;
        }
        UsageLedger ledger(world.database);
        Budgets again(world.database, ledger, world.access.audit, world.clock);
        const Cancel cancel;
        CHECK(must(again.reserve(account, {1, 0}, cancel, Deadline::after(Duration{}))).level == BudgetLevel::hard);
        account.run_id = "run_2";
        CHECK(must(again.reserve(account, {1, 0}, cancel, Deadline::after(Duration{}))).level == BudgetLevel::fine);
    });
}

TEST_CASE("money is limited like tokens, and a call whose price is not known does not leave") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.run = {.tokens = {}, .cost_nano_usd = 2'000'000'000};
        CHECK(office.call(1'000'000'000) == BudgetLevel::fine);
        CHECK(office.call(10, 1'500'000'000) == BudgetLevel::fine);
        CHECK(office.call(10, 500'000'000) == BudgetLevel::fine);
        const Admission refused = must(office.reserve());
        CHECK(refused.level == BudgetLevel::hard);
        CHECK(refused.message == "the run's budget of $2.00 is used up");
    });
}

TEST_CASE("a space's budget holds for all its runs, for one day") {
    for_each_world([](World& world) {
        Office office(world);
        must(office.budgets.set_space_budget(world.admin, world.space,
                                             {.tokens_per_day = 100, .cost_micro_usd_per_day = {}, .capture = {}}));
        CHECK(office.call(60) == BudgetLevel::fine);
        office.account.run_id = "run_2";
        CHECK(office.call(60) == BudgetLevel::fine);
        CHECK(must(office.reserve()).message == "the space's budget for today of 100 tokens is used up");
        SUBCASE("a higher limit applies immediately") {
            must(office.budgets.set_space_budget(world.admin, world.space,
                                                 {.tokens_per_day = 200, .cost_micro_usd_per_day = {}, .capture = {}}));
            CHECK(office.call(1) == BudgetLevel::fine);
        }
        SUBCASE("the next day starts with nothing spent") {
            world.clock.advance(std::chrono::hours(24));
            CHECK(office.call(1) == BudgetLevel::fine);
        }
    });
}

TEST_CASE("what a space keeps of its calls stays when only its budget is changed") {
    for_each_world([](World& world) {
        Office office(world);
        CHECK(must(office.budgets.space_budget(world.admin, world.space)).capture == Capture::full);
        SpaceBudget wanted;
        wanted.capture = Capture::metadata;
        must(office.budgets.set_space_budget(world.admin, world.space, wanted));
        wanted.capture.reset();
        wanted.tokens_per_day = 5000;
        CHECK(must(office.budgets.set_space_budget(world.admin, world.space, wanted)).capture == Capture::metadata);
        CHECK(must(office.reserve()).capture == Capture::metadata);
    });
}

TEST_CASE("an automation's budget holds for all its runs of a day") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.automation_id = "aut_1";
        office.account.automation_day = {.tokens = 50, .cost_nano_usd = {}};
        CHECK(office.call(60) == BudgetLevel::fine);
        office.account.run_id = "run_2";
        CHECK(office.call(60) == BudgetLevel::hard);
        office.account.automation_id = "aut_2";
        CHECK(office.call(60) == BudgetLevel::fine);
    });
}

TEST_CASE("a call waits while only reservations are in the way") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.run = {.tokens = 1000, .cost_nano_usd = {}};
        Admission first = must(office.reserve(1000));
        CHECK(outcome(office.reserve(1)) == "busy");
        SUBCASE("and leaves when the other used less") {
            Result<Admission> second = busy("not yet");
            std::thread waiter([&] { second = office.reserve(1, std::chrono::seconds(20)); });
            office.budgets.settle(std::move(first.reservation), office.row(10));
            waiter.join();
            CHECK(must(std::move(second)).level == BudgetLevel::fine);
        }
        SUBCASE("and is refused when the other used it up") {
            Result<Admission> second = busy("not yet");
            std::thread waiter([&] { second = office.reserve(1, std::chrono::seconds(20)); });
            office.budgets.settle(std::move(first.reservation), office.row(5000));
            waiter.join();
            CHECK(must(std::move(second)).level == BudgetLevel::hard);
        }
        SUBCASE("and leaves when the other never happened") {
            first = Admission{};
            CHECK(must(office.reserve(1)).level == BudgetLevel::fine);
        }
        SUBCASE("and stops when the run ends") {
            office.cancel.fire();
            CHECK(outcome(office.reserve(1, std::chrono::seconds(20))) == "conflict");
        }
    });
}

TEST_CASE("a cost limit of the run, the automation or the space refuses calls whose price is not known") {
    for_each_world([](World& world) {
        Office office(world);
        const auto level = [&] {
            return must(office.budgets.reserve(office.account, {10, 0, false}, office.cancel,
                                               Deadline::after(Duration{})))
                .level;
        };
        CHECK(level() == BudgetLevel::fine);
        office.account.run.tokens = 1000;
        CHECK(level() == BudgetLevel::fine);
        office.account.run.cost_nano_usd = 1;
        CHECK(level() == BudgetLevel::unpriced);
        office.account.run = {};
        office.account.automation_id = "atm_1";
        office.account.automation_day.cost_nano_usd = 1;
        CHECK(level() == BudgetLevel::unpriced);
        office.account.automation_day = {};
        CHECK(level() == BudgetLevel::fine);
        SpaceBudget budget;
        budget.cost_micro_usd_per_day = 1'000'000;
        must(office.budgets.set_space_budget(world.admin, world.space, budget));
        CHECK(level() == BudgetLevel::unpriced);
    });
}

TEST_CASE(
    "calls that use at most what they reserve exceed a limit by less than one call, however many run in parallel") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.run = {.tokens = 10'000, .cost_nano_usd = {}};
        std::atomic<int64_t> used{0};
        std::vector<std::thread> workers;
        for (int i = 0; i < 8; ++i)
            workers.emplace_back([&] {
                for (;;) {
                    auto admission = office.reserve(700, std::chrono::seconds(30));
                    if (!admission.ok() || admission.value().level == BudgetLevel::hard) return;
                    used += 700;
                    office.budgets.settle(std::move(admission.value().reservation), office.row(700));
                }
            });
        for (std::thread& worker : workers) worker.join();
        CHECK(used >= 10'000);
        CHECK(used < 10'000 + 700);
    });
}

TEST_CASE("parallel calls exceed a limit by no more than one call each") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.run = {.tokens = 10'000, .cost_nano_usd = {}};
        constexpr int threads = 4;
        std::atomic<int64_t> used{0};
        std::vector<std::thread> workers;
        for (int i = 0; i < threads; ++i)
            workers.emplace_back([&] {
                for (;;) {
                    auto admission = office.reserve(100, std::chrono::seconds(30));
                    if (!admission.ok() || admission.value().level == BudgetLevel::hard) return;
                    used += 130;
                    office.budgets.settle(std::move(admission.value().reservation), office.row(130));
                }
            });
        for (std::thread& worker : workers) worker.join();
        CHECK(used >= 10'000);
        CHECK(used <= 10'000 + threads * 130);
        must(office.ledger.flush());
        CHECK(must(office.ledger.spent_by_run("run_1")).tokens == used);
    });
}

TEST_CASE("servers that share a space's budget exceed it by less than one call, however many calls run") {
    sql::testing::FreshDatabase fresh(sql::Engine::postgres, sql::testing::Schema::migrated);
    World world(fresh.database());
    Office first(world), second(world), third(world);
    must(first.budgets.set_space_budget(world.admin, world.space, day_limit(5'000)));
    std::atomic<int64_t> used{0};
    std::atomic<int> failed{0};
    std::vector<std::thread> calls;
    int server = 0;
    for (Office* office : {&first, &second, &third}) {
        office->account.run_id = "run_" + std::to_string(++server);
        for (int i = 0; i < 2; ++i)
            calls.emplace_back([&, office] {
                for (;;) {
                    auto admission = office->reserve(130, std::chrono::seconds(60));
                    if (!admission.ok()) ++failed;
                    if (!admission.ok() || admission.value().level == BudgetLevel::hard) return;
                    used += 130;
                    office->budgets.settle(std::move(admission.value().reservation), office->row(130));
                }
            });
    }
    for (std::thread& call : calls) call.join();
    CHECK(failed == 0);
    CHECK(used >= 5'000);
    CHECK(used < 5'000 + 130);
    CHECK(world.count("budget_holds") == 0);
    CHECK(must(first.ledger.spent_by_space(world.space.text(), day_of(world.clock.now()))).tokens == used);
}

TEST_CASE("the reservation of a server that was killed counts for an hour") {
    sql::testing::FreshDatabase fresh(sql::Engine::postgres, sql::testing::Schema::migrated);
    World world(fresh.database());
    Office office(world);
    must(office.budgets.set_space_budget(world.admin, world.space, day_limit(200)));
    must(world.database.execute("INSERT INTO budget_holds (id, budget, tokens, cost_nano_usd, created_at) VALUES "
                                "('hold_1', ?, 150, 0, ?)",
                                "space " + world.space.text() + " " + day_of(world.clock.now()), world.clock.now()));
    const auto one = must(office.reserve(100)); // 150 are below 200
    CHECK(outcome(office.reserve(100)) == "busy");
    world.clock.advance(std::chrono::minutes(61));
    CHECK(must(office.reserve(100)).level == BudgetLevel::fine);
}

TEST_CASE("estimated tokens count for the budget and are reported apart") {
    for_each_world([](World& world) {
        Office office(world);
        office.account.run = {.tokens = 100, .cost_nano_usd = {}};
        Admission admission = must(office.reserve());
        UsageRow row = office.row(10);
        row.estimated_tokens = 200;
        row.complete = false;
        office.budgets.settle(std::move(admission.reservation), row);
        CHECK(must(office.reserve()).level == BudgetLevel::hard);
        must(office.ledger.flush());
        const std::string today = day_of(world.clock.now());
        const auto sums = must(office.ledger.report(world.admin, world.space, {.from_day = today, .to_day = today}));
        REQUIRE(sums.size() == 1);
        CHECK(sums[0].group == today);
        CHECK(sums[0].tokens.total() == 10);
        CHECK(sums[0].estimated_tokens == 200);
        CHECK(sums[0].incomplete_calls == 1);
        CHECK(sums[0].unpriced_calls == 1);
    });
}

TEST_CASE("reports are grouped, bounded and seen by the space's own people only") {
    for_each_world([](World& world) {
        Office office(world);
        for (int i = 0; i < 3; ++i) {
            office.account.run_id = "run_" + std::to_string(i);
            office.call(10 * (i + 1), 1000);
        }
        must(office.ledger.flush());
        UsageQuery query{.from_day = "2026-01-01", .to_day = "2026-12-31", .group_by = UsageGroup::run, .limit = 2};
        const auto sums = must(office.ledger.report(world.admin, world.space, query));
        REQUIRE(sums.size() == 2);
        CHECK(sums[0].group == "run_2");
        CHECK(sums[0].cost_nano_usd == 1000);
        const access::SpaceId other = world.add_space("other");
        const access::Caller stranger = world.join(other, "eve@example.com", access::Role::owner);
        CHECK(outcome(office.ledger.report(stranger, world.space, query)) == "not_found");
        CHECK(outcome(office.budgets.space_budget(stranger, world.space)) == "not_found");
        const access::Caller viewer = world.join(world.space, "vera@example.com", access::Role::viewer);
        CHECK(outcome(office.ledger.report(viewer, world.space, query)) == "ok");
        CHECK(outcome(office.budgets.set_space_budget(viewer, world.space, {})) == "forbidden");
    });
}
