// Scans of a project on the real engine: from spans to issues, runs and back.
#include "signal/testing.h"

#include <thread>

using namespace hone;
using namespace hone::signal;
using namespace hone::access::testing;
using hone::signal::testing::Shop;
using telemetry::testing::TestSpan;

TEST_CASE("Signal scans at its scheduled time, sends one notice, starts a worker and attaches its investigation") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    Shop shop(world);
    CHECK(must(shop.signal->step()) == 0);
    ConfigureSignal without_consent;
    without_consent.enabled = true;
    CHECK(outcome(shop.signal->configure(world.admin, world.space, shop.project.id.text(), without_consent)) ==
          "invalid");
    shop.send(60, 4);
    shop.enable();
    CHECK(must(shop.signal->step()) == 1);
    REQUIRE(shop.issues().size() == 1);
    Issue issue = shop.issues().front();
    CHECK(issue.detector == Detector::tool_failure);
    CHECK(issue.traces == 15);
    CHECK(issue.status == Status::investigating);
    REQUIRE(issue.investigation_run);
    CHECK(world.count("notices") == 1);
    // Nothing new came: not due before its time, and then nothing to look at.
    CHECK(must(shop.signal->step()) == 0);
    world.clock.advance(std::chrono::minutes(11));
    CHECK(must(shop.signal->step()) == 0);
    shop.send(20, 4);
    world.clock.advance(std::chrono::minutes(11));
    CHECK(must(shop.signal->step()) == 1);
    CHECK(world.count("notices") == 1);
    CHECK(world.count("runs") == 1);

    const run::Run run = must(shop.runs.find(world.admin, run::RunId(*issue.investigation_run)));
    CHECK(run.origin == run::Origin::automation);
    const run::Manifest manifest = must(shop.runs.manifest(world.admin, run.id));
    CHECK(manifest.prompt.find(issue.title) == std::string::npos);
    REQUIRE(manifest.trigger);
    CHECK(json::print(*manifest.trigger).find(issue.title) != std::string::npos);
    const auto save = [&](const run::RunId& by, const std::string& content) {
        return must(shop.artifacts.save({world.space, shop.project.id, by.text(), review::ArtifactKind::investigation,
                                         "Issue", "why", content, true}))
            .id.text();
    };
    const std::string artifact = save(run.id, "# Why");
    must(shop.signal->step());
    CHECK(shop.issues().front().investigation_id == artifact);
    CHECK(shop.issues().front().status == Status::investigating);
    must(shop.runs.cancel(world.admin, run.id));
    must(shop.signal->step());
    CHECK(shop.issues().front().status == Status::open);

    // A later one takes its place.
    const Issue again = must(shop.signal->investigate(world.admin, issue.id));
    CHECK(again.status == Status::investigating);
    CHECK(outcome(shop.signal->investigate(world.admin, issue.id)) == "conflict");
    const std::string newer = save(run::RunId(*again.investigation_run), "# Why, again");
    must(shop.signal->step());
    CHECK(shop.issues().front().investigation_id == newer);
    CHECK(outcome(shop.signal->fix(world.admin, issue.id)) == "conflict");
    CHECK(outcome(shop.signal->make_monitor(world.admin, issue.id)) == "unavailable");
}

TEST_CASE("a resolved issue comes back with new failures, not with old ones; a spent budget starts no worker") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    Shop shop(world);
    shop.send(60, 4);
    SignalSettings settings;
    settings.tokens_per_day = 0;
    shop.enable(settings);
    CHECK(must(shop.signal->step()) == 1);
    CHECK(world.count("runs") == 0);
    const IssueId id = shop.issues().front().id;
    world.clock.advance(std::chrono::minutes(11));
    must(shop.signal->issues.update(world.admin, id, {.status = Status::resolved}));
    shop.send(40, 0, std::chrono::nanoseconds(-1'000'000'000));
    world.clock.advance(std::chrono::minutes(11));
    CHECK(must(shop.signal->step()) == 1);
    CHECK(shop.issues().front().status == Status::resolved);
    shop.send(40, 4);
    world.clock.advance(std::chrono::minutes(11));
    CHECK(must(shop.signal->step()) == 1);
    CHECK(shop.issues().front().status == Status::open);
    CHECK(shop.issues().front().reopened == 1);
    CHECK(world.count("notices") == 2);
    const auto scans = must(shop.signal->scans(world.admin, world.space, shop.project.id.text(), {})).data;
    REQUIRE(scans.size() == 3);
    CHECK(scans.front().reopened == 1);
    CHECK(scans.back().new_issues == 1);
    for (const Scan& scan : scans) CHECK(scan.rows_read > 0);
}

TEST_CASE("every scan and every worker of Signal is a row in its history, whether it started or not") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    Shop shop(world);
    CHECK(shop.ledger().empty());
    shop.send(60, 4);
    shop.enable();
    CHECK(must(shop.signal->step()) == 1);
    CHECK(shop.ledger() == std::vector<std::string>{"fired investigate", "fired scan"});
    world.clock.advance(std::chrono::minutes(11));
    CHECK(must(shop.signal->step()) == 0);
    CHECK(shop.ledger().front() == "skipped nothing_new scan");
    // Nobody looked for an hour: one row for what was missed, one for the look that covers it.
    shop.send(20, 0);
    world.clock.advance(std::chrono::minutes(65));
    CHECK(must(shop.signal->step()) == 1);
    const auto rows = shop.ledger();
    REQUIRE(rows.size() == 5);
    CHECK(rows[0] == "fired scan");
    CHECK(rows[1] == "skipped coalesced scan");
    // By hand, also when the automation is paused.
    must(shop.signal->scan_now(world.admin, world.space, shop.project.id.text()));
    CHECK(shop.ledger().front() == "fired scan");
    const auto view = must(shop.signal->view(world.admin, world.space, shop.project.id.text()));
    REQUIRE(view.automation_id);
    const auto automation = must(shop.automations.find(world.admin, {}, *view.automation_id));
    CHECK(automation.managed_by == "signal");
    CHECK(automation.next_at == view.next_scan_at);
    CHECK(outcome(shop.automations.remove(world.admin, automation)) == "conflict");
    // A worker's tokens are the scan's.
    must(database.execute("UPDATE runs SET input_tokens = 700, output_tokens = 50"));
    const auto scans = must(shop.signal->scans(world.admin, world.space, shop.project.id.text(), {})).data;
    CHECK(scans.back().tokens == 750);
    CHECK(scans.front().tokens == 0);
    CHECK(scans.back().memory_bytes > 0);
    // Paused, it looks without workers and says so once a day.
    must(shop.automations.pause(world.admin, automation, "too dear"));
    must(database.execute("DELETE FROM issue_runs"));
    must(database.execute("UPDATE issues SET status = 'open', investigated_at = NULL"));
    for (int i = 0; i < 2; ++i) {
        shop.send(20, 4);
        world.clock.advance(std::chrono::minutes(11));
        CHECK(must(shop.signal->step()) == 1);
    }
    const auto after = shop.ledger();
    CHECK(std::count(after.begin(), after.end(), "skipped paused investigate") == 1);
    // One whose server was ended in the middle is given up.
    must(database.execute("UPDATE automation_slots SET outcome = 'due' WHERE id = (SELECT MAX(id) FROM "
                          "automation_slots WHERE outcome = 'fired' AND run_id IS NULL)"));
    world.clock.advance(std::chrono::minutes(31));
    must(shop.signal->step());
    const auto given_up = shop.ledger();
    CHECK(std::count(given_up.begin(), given_up.end(), "failed interrupted scan") == 1);
    ConfigureSignal off;
    off.enabled = false;
    must(shop.signal->configure(world.admin, world.space, shop.project.id.text(), off));
    CHECK(must(shop.automations.find(world.admin, {}, *view.automation_id)).pause_reason == "Signal is off");
}

TEST_CASE("two servers that race for the scans of Signal make each of them once") {
    for (const sql::Engine engine : {sql::Engine::sqlite, sql::Engine::postgres}) {
        CAPTURE(static_cast<int>(engine));
        sql::Database& database = kept_database(engine);
        empty_tables(database);
        World world(database);
        Shop shop(world);
        Signal other(shop.parts());
        SignalSettings settings;
        settings.max_investigations = int64_t{1};
        shop.enable(settings);
        constexpr int rounds = 6;
        for (int round = 0; round < rounds; ++round) {
            shop.send(24, 4);
            std::thread rival([&] { must(other.step()); });
            must(shop.signal->step());
            rival.join();
            world.clock.advance(std::chrono::minutes(11));
        }
        CHECK(world.count("signal_scans") == rounds);
        CHECK(world.count("runs") == 1);
        const auto rows = shop.ledger();
        CHECK(std::count(rows.begin(), rows.end(), "fired scan") == rounds);
        CHECK(std::count(rows.begin(), rows.end(), "fired investigate") == 1);
        CHECK(rows.size() == rounds + 1);
        CHECK(world.count("notices") == 1);
    }
}

TEST_CASE("an evaluator made from an issue marks each of its spans once, and the others of that name") {
    sql::Database& database = kept_database(sql::Engine::sqlite);
    empty_tables(database);
    World world(database);
    Shop shop(world);
    shop.send(60, 4);
    must(shop.signal->scan(shop.project.id, "test", false));
    const IssueId id = shop.issues().front().id;
    const Issue issue = must(shop.signal->make_evaluator(world.admin, id));
    REQUIRE(issue.evaluator_id);
    CHECK(outcome(shop.signal->make_evaluator(world.admin, id)) == "conflict");
    const EvaluatorId rule(*issue.evaluator_id);
    const auto now = [&] { return must(shop.signal->evaluators.find(world.admin, rule)); };
    must(shop.signal->step());
    CHECK(now().judged == 60);
    CHECK(now().matched == 15);
    // Again, from the beginning and by another server: nothing is marked twice.
    must(database.execute("UPDATE evaluators SET judged_up_to = 0, next_at = 0"));
    Signal other(shop.parts());
    must(other.step());
    CHECK(now().judged == 60);
    shop.send(20, 4, std::chrono::seconds(1));
    world.clock.advance(Evaluators::cadence);
    must(shop.signal->step());
    CHECK(now().judged == 80);
    CHECK(now().matched == 20);
    const auto listed = [&] {
        return must(shop.signal->evaluators.list(world.admin, world.space, std::nullopt, {})).data.front().pass_rate;
    };
    REQUIRE(listed()); // spans that match fail
    CHECK(listed()->scored == 80);
    CHECK(listed()->rate == 0.75);
    CHECK(listed()->low == 0.6452); // Wilson of 60 of 80
    CHECK(listed()->high == 0.8319);
    telemetry::Evals evals(shop.telemetry->engine(), world.clock);
    telemetry::ListEvals wanted;
    wanted.project = shop.project.id.text();
    wanted.limit = 1000;
    const auto written = must(evals.list(wanted)).evals;
    REQUIRE(written.size() == 80);
    CHECK(std::count_if(written.begin(), written.end(), [](const auto& eval) { return eval.label == "fail"; }) == 20);
    for (const auto& eval : written) CHECK(eval.kind == telemetry::EvalKind::code);
    // Off, it leaves things alone; what came meanwhile stays as it is.
    must(shop.signal->evaluators.update(world.admin, rule, {.enabled = false}));
    shop.send(20, 4, std::chrono::seconds(1));
    world.clock.advance(Evaluators::cadence);
    must(shop.signal->step());
    CHECK(now().judged == 80);
    CHECK(outcome(shop.signal->evaluators.update(world.admin, rule, {.condition = "status ="})) == "invalid");
    CHECK(listed()); // off, with the same definition
    must(shop.signal->evaluators.update(world.admin, rule, {.condition = "status = ok"}));
    CHECK(!listed()); // what it is now has evaluated nothing
    NewEvaluator tried;
    tried.name = "x";
    tried.project = shop.project.id.text();
    tried.condition = std::string("status = error and kind = tool");
    const auto seen = must(shop.signal->evaluators.preview(world.admin, world.space, tried));
    CHECK(seen.spans == 200);
    CHECK(seen.matched == 25);
    must(shop.signal->evaluators.remove(world.admin, rule));
    CHECK(!must(shop.signal->issues.find(world.admin, id)).evaluator_id);
}

TEST_CASE("an issue is opened on a forge once, or linked by its address") {
    struct Door final : ForgeIssues {
        Result<std::string> open_issue(const access::Caller&, const Issue&, const std::string& repo,
                                       const std::string& title, const std::string& body) override {
            said = repo + ": " + title + "\n" + body;
            if (is_away) return unavailable("the forge is away");
            return "https://forge.example/shop/shop/issues/" + std::to_string(++opened);
        }
        std::string said;
        int opened = 0;
        bool is_away = true;
    } door;
    for_each_world([&](World& world) {
        Shop shop(world);
        door = {};
        const Issue made = must(shop.signal->issues.report(world.admin, world.space, shop.project.id, "ada",
                                                           {"Orders are lost", "seen twice", {}, {}, {}, {}}));
        const std::string digest = must(shop.signal->forge_issue_draft(world.admin, made.id)).digest;
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop", .digest = digest})) ==
              "unavailable");
        shop.signal->set_forge_issues(door);
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop"})) == "invalid");
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop", .digest = "0"})) ==
              "conflict");
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {})) == "conflict");
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop", .digest = digest})) ==
              "unavailable");
        door.is_away = false;
        const Issue opened =
            must(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop", .digest = digest}));
        CHECK(opened.forge_issue == "https://forge.example/shop/shop/issues/1");
        CHECK(door.said.starts_with("shop: Orders are lost\nseen twice"));
        CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.repo = "shop", .digest = digest})) ==
              "conflict");
        CHECK(door.opened == 1);
        CHECK(!must(shop.signal->unlink_forge_issue(world.admin, made.id)).forge_issue);
        for (const char* bad : {"javascript:alert(1)", "https://", "https://ada:pw@forge.example/1", "https://a b/1",
                                "https://forge.example/\"onclick", "forge.example/7"})
            CHECK(outcome(shop.signal->link_forge_issue(world.admin, made.id, {.url = bad})) == "invalid");
        const Issue linked =
            must(shop.signal->link_forge_issue(world.admin, made.id, {.url = "https://forge.example/shop/7"}));
        CHECK(linked.forge_issue == "https://forge.example/shop/7");
        const auto history = must(shop.signal->issues.history(world.admin, made.id, {})).data;
        CHECK(history.front().detail == "linked https://forge.example/shop/7");
    });
}
