// Calibrations: numbers against an example that was computed by hand, work that survives a crash, drift of canary sets.
#include "access/testing.h"
#include "evaluate/evaluate.h"

#include <cmath>
#include <set>

namespace hone::evaluate {

namespace {

using access::Caller, access::Role;
using access::testing::must, access::testing::outcome, access::testing::World;

bool is_about(std::optional<double> value, double expected) {
    return value && std::abs(*value - expected) < 5e-7;
}

CalibrationItem item(const std::string& id, const std::string& human, std::vector<std::string> verdicts) {
    CalibrationItem one;
    one.target_id = one.trace_id = id;
    one.human = human;
    one.human_score = human == "pass" ? 1 : 0;
    for (const std::string& label : verdicts) {
        if (label.empty())
            one.verdicts.emplace_back();
        else
            one.verdicts.emplace_back(CalibrationVerdict{label, label == "pass" ? 1.0 : 0.0});
    }
    one.cost_nano_usd = 2000;
    one.duration_ms = 30;
    return one;
}

// 60 both pass, 10 only the evaluator, 5 only people, 25 both fail.
std::vector<CalibrationItem> hundred() {
    std::vector<CalibrationItem> items;
    const auto add = [&](int count, const std::string& human, const std::string& verdict) {
        for (int i = 0; i < count; ++i)
            items.push_back(item("t" + std::to_string(items.size()), human, {verdict, verdict, verdict}));
    };
    add(60, "pass", "pass");
    add(10, "fail", "pass");
    add(5, "pass", "fail");
    add(25, "fail", "fail");
    return items;
}

// A calibration of code with a canary set of fifty targets, as one that was done a moment ago.
struct CanaryDesk {
    explicit CanaryDesk(World& given) : world(given), calibrations(given.database, given.clock, given.access, nullptr) {
        project = world.add_project(world.admin, world.space, "shop-" + std::to_string(++made));
        evaluator = make_id<EvaluatorTag>(world.clock);
        const Time now = world.clock.now();
        must(world.database.execute(
            "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
            "other_label, sample_percent, enabled, revision, judged_up_to, next_at, judged, matched, problem, "
            "created_by, created_by_name, created_at, updated_at) VALUES (?, ?, NULL, 'code', ?, '', '', '', '', '', "
            "100, 1, 1, ?, ?, 0, 0, '', '', '', ?, ?)",
            evaluator, world.space, evaluator.text(), now, now, now, now));
        add_version(1);
        std::vector<CalibrationItem> items;
        for (int i = 0; i < 50; ++i)
            items.push_back(item("t" + std::to_string(i), i < 30 ? "pass" : "fail", {i < 30 ? "pass" : "fail"}));
        CalibrationResult result = calibration_result(items, "");
        complete(result);
        first = make_id<CalibrationTag>(world.clock);
        must(world.database.execute(
            "INSERT INTO calibrations (id, space_id, evaluator_id, number, name, project_id, target, config, "
            "failing_label, repetitions, canary_of, is_canary, state, reason, result, alarm, lease_until, "
            "next_check_at, "
            "model, started_by_name, created_at) VALUES (?, ?, ?, 1, 'tone', ?, 'trace', 'correct', '', 1, NULL, 1, "
            "'done', '', ?, '', 0, ?, '', 'ada', 1)",
            first, world.space, evaluator, project.id, json::write(result),
            world.clock.now() + Calibrations::check_period));
        int64_t position = 0;
        for (const CalibrationItem& one : items)
            must(world.database.execute("INSERT INTO calibration_items (calibration_id, position, target_id, trace_id, "
                                        "human, human_score, raters, "
                                        "is_held_out, verdicts, explanation, error, cost_nano_usd, duration_ms) VALUES "
                                        "(?, ?, ?, ?, ?, ?, 1, 0, ?, "
                                        "'', '', 0, 0)",
                                        first, position++, one.target_id, one.trace_id, one.human, one.human_score,
                                        json::write(one.verdicts)));
        CalibrationHooks hooks;
        hooks.document = [](const std::string&, telemetry::EvalTarget, const std::string& id,
                            const std::string&) -> Result<json::Value> { return json::Value(id); };
        hooks.apply = [this](const EvaluatorVersion&, const std::vector<json::Value>& documents, int64_t,
                             const Calibration&) {
            std::vector<AppliedVerdict> verdicts;
            if (while_applying) while_applying();
            for (const json::Value& document : documents) {
                ++applied;
                const std::string id(document.get_string());
                const int number = std::stoi(id.substr(1));
                const std::string label = number < 30 - changed ? "pass" : "fail";
                AppliedVerdict one;
                one.verdict = CalibrationVerdict{label, label == "pass" ? 1.0 : 0.0};
                one.model = "model-2";
                one.is_out_of_budget = out_of_budget;
                verdicts.push_back(one);
            }
            return verdicts;
        };
        hooks.alarm = [this](const DriftAlarm& alarm) -> Result<> {
            alarms.push_back(alarm.why);
            return {};
        };
        hooks.model_changed = [this](const ModelChange& change) -> Result<> {
            changes.insert(change.before + " to " + change.after);
            return {};
        };
        calibrations.set_hooks(std::move(hooks));
    }
    void add_version(int64_t number) {
        EvaluatorVersion version;
        version.evaluator_id = evaluator;
        version.space_id = world.space;
        version.number = number;
        version.kind = EvaluatorKind::code;
        version.name = "tone";
        version.code = CodeDefinition{};
        must(world.database.write(
            [&](sql::Transaction& transaction) -> Result<> { return EvaluatorVersions::add(transaction, version); }));
    }
    // Until nothing is left to do.
    void work() {
        for (int i = 0; i < 100; ++i)
            if (must(calibrations.step()) != Duration::zero()) return;
        FAIL("the calibrations do not end");
    }
    std::vector<Calibration> all() {
        return must(calibrations.list(world.admin, world.space, evaluator, {.limit = 100, .cursor = {}})).data;
    }

    World& world;
    Calibrations calibrations;
    access::Project project;
    EvaluatorId evaluator;
    CalibrationId first;
    int changed = 0; // verdicts that differ from the first ones
    int applied = 0;
    std::function<void()> while_applying{};
    bool out_of_budget = false;
    std::set<std::string> changes{};
    std::vector<std::string> alarms;
    static inline int made = 0;
};

} // namespace

TEST_CASE("a calibration has the numbers that were computed by hand") {
    auto items = hundred();
    // Two targets contradict themselves, one of three verdicts each.
    items[0].verdicts[2] = CalibrationVerdict{"fail", 0.0};
    items[99].verdicts[1] = CalibrationVerdict{"pass", 1.0};
    const CalibrationResult result = calibration_result(items, "");
    CHECK(result.labels == std::vector<std::string>{"fail", "pass"});
    CHECK(result.matrix == std::vector<std::vector<int64_t>>{{25, 10}, {5, 60}});
    CHECK(result.all.count == 100);
    CHECK(is_about(result.all.agreement, 0.85));
    // p_e = 0.70 * 0.65 + 0.30 * 0.35 = 0.56; kappa = (0.85 - 0.56) / 0.44; SE = sqrt(0.85 * 0.15 / 100) / 0.44.
    CHECK(is_about(result.all.kappa, 0.659091));
    CHECK(is_about(result.all.low, 0.659091 - 1.959963985 * 0.0811526));
    CHECK(is_about(result.all.high, 0.659091 + 1.959963985 * 0.0811526));
    CHECK(result.failing_label == "fail");
    CHECK(is_about(result.precision.rate, 0.833333));
    CHECK(is_about(result.recall.rate, 0.714286));
    CHECK(is_about(result.recall.low, wilson(25, 35).low));
    CHECK(result.repeated == 100);
    CHECK(result.flipped == 2);
    CHECK(is_about(result.flip_rate, 0.02));
    CHECK(result.verdicts == 300);
    CHECK(result.mean_cost_nano_usd == 2000 / 3);
    CHECK(result.mean_ms == 10);
    CHECK(result.both_pass == 60);
    CHECK(result.only_evaluator_passes == 10);
    CHECK(result.only_people_pass == 5);
    CHECK(result.both_fail == 25);
    // With these labels a rate of 0.8 of 1000 is 0.75.
    const auto corrected = corrected_rate(
        0.8, 1000, {result.both_pass, result.only_evaluator_passes, result.only_people_pass, result.both_fail});
    CHECK(is_about(corrected->rate, 0.75));
}

TEST_CASE("few labels are warned about, fewer than ten have no kappa, and one class has none at all") {
    std::vector<CalibrationItem> nine(9, item("t", "pass", {"pass"}));
    CalibrationResult result = calibration_result(nine, "");
    complete(result);
    CHECK(!result.all.kappa);
    CHECK(result.warnings.size() >= 1);
    CHECK(result.warnings.front().find("kappa is shown from 10 on") != std::string::npos);
    std::vector<CalibrationItem> one_class(60, item("t", "pass", {"pass"}));
    result = calibration_result(one_class, "");
    complete(result);
    CHECK(!result.all.kappa);
    CHECK(result.all.agreement == 1);
    std::vector<CalibrationItem> some = hundred();
    some.resize(20);
    result = calibration_result(some, "");
    complete(result);
    CHECK(result.warnings.front().find("few") != std::string::npos);
    std::vector<CalibrationItem> none;
    CHECK(calibration_result(none, "").all.count == 0);
}

TEST_CASE("cannot_judge and missing verdicts are counted, and never compared") {
    std::vector<CalibrationItem> items{item("a", "pass", {"pass"}), item("b", "pass", {""}),
                                       item("c", "fail", {std::string(cannot_judge)})};
    const CalibrationResult result = calibration_result(items, "");
    CHECK(result.all.count == 1);
    CHECK(result.without_verdict == 2);
    CHECK(items[0].agrees);
    CHECK_FALSE(items[1].agrees);
}

TEST_CASE("labels in other words are compared by their scores") {
    std::vector<CalibrationItem> items;
    for (int i = 0; i < 12; ++i) {
        CalibrationItem one = item("t" + std::to_string(i), i < 6 ? "pass" : "fail", {});
        one.human = i < 6 ? "good" : "bad";
        one.verdicts = {CalibrationVerdict{i < 6 ? "true" : "false", i < 6 ? 1.0 : 0.0}};
        items.push_back(one);
    }
    const CalibrationResult result = calibration_result(items, "");
    CHECK(result.labels == std::vector<std::string>{"fail", "pass"});
    CHECK(is_about(result.all.kappa, 1));
}

TEST_CASE("a canary set is evaluated again after a week, once, and raises no alarm when nothing changed") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        desk.work();
        CHECK(desk.applied == 0); // not due
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        desk.work();
        CHECK(desk.applied == 50);
        CHECK(desk.alarms.empty());
        const auto all = desk.all();
        REQUIRE(all.size() == 2);
        CHECK(all.front().canary_of == desk.first);
        CHECK(all.front().state == CalibrationState::done);
        CHECK(all.front().model == "model-2");
        desk.work();
        CHECK(desk.applied == 50);
    });
}

TEST_CASE("verdicts that changed in one direction raise one alarm: two do not suffice, eight do") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        desk.changed = 2; // exact p = 0.5, kappa falls by 0.08
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        desk.work();
        CHECK(desk.alarms.empty());
        desk.changed = 8; // exact p = 0.0078
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        desk.work();
        REQUIRE(desk.alarms.size() == 1);
        CHECK(desk.alarms.front().find("8 verdicts changed to fail") != std::string::npos);
        CHECK(desk.alarms.front().find("Kappa fell from 1.00") != std::string::npos);
        CHECK(desk.all().front().alarm == desk.alarms.front());
    });
}

TEST_CASE("a new version of the evaluator is checked immediately") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        desk.add_version(2);
        desk.work();
        const auto all = desk.all();
        REQUIRE(all.size() == 2);
        CHECK(all.front().number == 2);
        CHECK(desk.applied == 50);
        desk.work();
        CHECK(desk.applied == 50);
    });
}

TEST_CASE("a response that names another model for the same request is followed by a check and a notice") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        RepliedModels replied(world.database, world.clock);
        must(replied.note(desk.evaluator, 1, "model-2026-05"));
        must(replied.note(desk.evaluator, 1, "model-2026-05"));
        must(replied.note(desk.evaluator, 7, "of a version that is not stored"));
        desk.work();
        CHECK(desk.applied == 0); // one name is no change
        world.clock.advance(std::chrono::hours(1));
        must(replied.note(desk.evaluator, 1, "model-2026-11"));
        world.clock.advance(std::chrono::seconds(1));
        desk.changed = 8;
        desk.work();
        CHECK(desk.applied == 50);
        CHECK(desk.changes == std::set<std::string>{"model-2026-05 to model-2026-11"});
        REQUIRE(desk.alarms.size() == 1); // the verdicts of the new model differ
        REQUIRE(desk.all().size() == 2);
        CHECK(desk.all().front().started_by == "change of the model");
        // Once for each name, also when responses alternate between both.
        world.clock.advance(std::chrono::hours(1));
        must(replied.note(desk.evaluator, 1, "model-2026-05"));
        must(replied.note(desk.evaluator, 1, "model-2026-11"));
        desk.work();
        CHECK(desk.applied == 50);
    });
}

TEST_CASE("a model that a weekly check is the first to see is in a notice, without a second check") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        RepliedModels replied(world.database, world.clock);
        must(replied.note(desk.evaluator, 1, "before"));
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        must(desk.calibrations.step()); // the first targets of the check
        world.clock.advance(std::chrono::seconds(1));
        must(replied.note(desk.evaluator, 1, "after"));
        world.clock.advance(std::chrono::seconds(1));
        desk.work();
        CHECK(desk.changes == std::set<std::string>{"before to after"});
        CHECK(desk.applied == 50);
        CHECK(desk.all().size() == 2);
        CHECK(desk.all().front().started_by == "weekly check");
        desk.work();
        CHECK(desk.applied == 50);
    });
}

TEST_CASE("a provider that names another model each time does not fill the database") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        RepliedModels replied(world.database, world.clock);
        for (int i = 0; i < 100; ++i) must(replied.note(desk.evaluator, 1, "model-" + std::to_string(i)));
        must(replied.note(desk.evaluator, 1, std::string("a\0b\xff", 4)));
        CHECK(world.count("replied_models WHERE evaluator_id = '" + desk.evaluator.text() + "'") ==
              RepliedModels::most_names);
    });
}

TEST_CASE("a server that dies in the middle loses only the targets that it worked on") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        must(desk.calibrations.step()); // the first ten
        CHECK(desk.applied == 10);
        // As if another server had claimed the next ten and died: its lease has to end first.
        must(world.database.execute("UPDATE calibrations SET lease_until = ? WHERE state = 'running'",
                                    world.clock.now() + Calibrations::lease));
        CHECK(must(desk.calibrations.step()) != Duration::zero());
        CHECK(desk.applied == 10);
        world.clock.advance(Calibrations::lease + std::chrono::seconds(1));
        desk.work();
        CHECK(desk.applied == 50);
    });
}

TEST_CASE("a server that was frozen while another took its calibration over changes nothing when it thaws") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        must(desk.calibrations.step("a")); // the first ten
        const auto row = [&] {
            const auto rows = must(world.database.query(
                "SELECT state || ' ' || server || ' ' || CAST(lease_until AS TEXT), id FROM calibrations WHERE "
                "canary_of IS NOT NULL"));
            return rows.front().text(0);
        };
        CHECK(row() == "running  0");
        // It evaluates the next ten, and does not come back from the model before another server has the calibration.
        const auto take_over = [&] {
            must(world.database.execute("UPDATE calibrations SET server = 'b', lease_until = ? WHERE state = 'running'",
                                        world.clock.now() + Calibrations::lease));
        };
        const std::string verdicts =
            "calibration_items i JOIN calibrations c ON c.id = i.calibration_id WHERE c.canary_of IS NOT NULL AND "
            "i.verdicts <> '[]'";
        CHECK(world.count(verdicts) == 10);
        std::string taken;
        desk.while_applying = [&] {
            take_over();
            taken = row();
        };
        must(desk.calibrations.step("a"));
        CHECK(taken.starts_with("running b "));
        CHECK(row() == taken);
        CHECK(world.count(verdicts) == 10);
        // Nor does it fail what it cannot continue.
        desk.out_of_budget = true;
        must(world.database.execute("UPDATE calibrations SET server = '', lease_until = 0 WHERE state = 'running'"));
        must(desk.calibrations.step("a"));
        CHECK(row() == taken);
        // The other one, when it thaws.
        desk.while_applying = {};
        desk.out_of_budget = false;
        world.clock.advance(Calibrations::lease + std::chrono::seconds(1));
        desk.work();
        CHECK(world.count(verdicts) == 50);
        CHECK(row().starts_with("done "));
    });
}

TEST_CASE("a server that has the database alone continues a calibration without waiting for the lease") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        must(desk.calibrations.step());
        must(world.database.execute("UPDATE calibrations SET lease_until = ? WHERE state = 'running'",
                                    world.clock.now() + Calibrations::lease));
        desk.work();
        CHECK(desk.applied == 10);
        must(desk.calibrations.end_leases());
        desk.work();
        CHECK(desk.applied == 50);
        CHECK(desk.all().front().state == CalibrationState::done);
    });
}

TEST_CASE("a limit that is used up ends the calibration with the reason") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        CalibrationHooks hooks;
        hooks.document = [](const std::string&, telemetry::EvalTarget, const std::string& id,
                            const std::string&) -> Result<json::Value> { return json::Value(id); };
        hooks.apply = [](const EvaluatorVersion&, const std::vector<json::Value>& documents, int64_t,
                         const Calibration&) {
            AppliedVerdict spent;
            spent.is_out_of_budget = true;
            spent.error = "0.10 USD";
            return std::vector<AppliedVerdict>(documents.size(), spent);
        };
        desk.calibrations.set_hooks(std::move(hooks));
        world.clock.advance(Calibrations::check_period + std::chrono::seconds(1));
        desk.work();
        CHECK(desk.all().front().state == CalibrationState::failed);
        CHECK(desk.all().front().reason.find("0.10 USD") != std::string::npos);
    });
}

TEST_CASE("a calibration is seen by those who see its project") {
    access::testing::for_each_world([](World& world) {
        CanaryDesk desk(world);
        const auto other =
            must(world.access.spaces.create(world.admin, "cal-" + std::to_string(++CanaryDesk::made), ""));
        const Caller outsider =
            world.join(other.id, "c" + std::to_string(++CanaryDesk::made) + "@example.com", Role::owner);
        CHECK(outcome(desk.calibrations.find(outsider, desk.first)) == "not_found");
        const Caller viewer =
            world.join(world.space, "c" + std::to_string(++CanaryDesk::made) + "@example.com", Role::viewer);
        CHECK(must(desk.calibrations.items(viewer, desk.first)).size() == 50);
        CHECK(outcome(desk.calibrations.remove(viewer, desk.first)) == "forbidden");
        must(desk.calibrations.remove(world.admin, desk.first));
        CHECK(desk.all().empty());
    });
}

} // namespace hone::evaluate
