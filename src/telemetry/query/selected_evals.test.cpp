#include "telemetry/query/evals.h"
#include "telemetry/store_fixture.h"

namespace hone::telemetry::testing {

namespace {

constexpr int64_t many_spans = 700'000; // more than fit into one part

void run_sql(const std::string& sql) {
    ClickHouseQuery query(sql);
    query.deadline = 60s;
    query.set("mutations_sync", "1");
    const auto done = fixture().telemetry->engine().query(query);
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : done.error().message));
}

std::string read_sql(const std::string& sql) {
    const auto found = fixture().telemetry->engine().query(ClickHouseQuery(sql + " FORMAT TSV"));
    REQUIRE_MESSAGE(found.ok(), (found.ok() ? "" : found.error().message));
    return found.value();
}

// Every tenth span failed.
void fill_project(const std::string& project, int64_t spans) {
    run_sql("INSERT INTO hone.spans (project, trace_id, span_id, start_ns, received_ns, status) SELECT 'project_" +
            project + "', leftPad(lower(hex(intDiv(number, 10) + 1)), 32, '0'), leftPad(lower(hex(number + 1)), 16, " +
            "'0'), " + std::to_string(base_ns) + " + number, " + std::to_string(base_ns) +
            " + number, if(number % 10 = 0, 'error', 'ok') FROM numbers(" + std::to_string(spans) + ")");
}

SelectedEvals failed_spans(const std::string& project, std::string name, std::string narrower = "1") {
    SelectedEvals wanted;
    wanted.spans.sql =
        "SELECT span_id, status = 'error' AS is_match FROM hone.spans WHERE project = {project:String} AND " + narrower;
    wanted.spans.bind("project", "project_" + project);
    wanted.match.project = "project_" + project;
    wanted.match.name = std::move(name);
    wanted.match.annotator = wanted.match.identifier = "evaluator_1";
    wanted.match.kind = EvalKind::code;
    wanted.match.label = "fail";
    wanted.match.score = 0.25;
    wanted.match.metadata = R"({"it's":"a \"rule\"\\"})";
    wanted.other.emplace("pass", std::nullopt);
    return wanted;
}

// Rows and different targets of a table; FINAL for the current ones.
std::string rows_and_targets(const std::string& table, const std::string& name) {
    return read_sql("SELECT count(), uniqExact(target_id), uniqExact(id) FROM hone." + table + " WHERE name = '" +
                    name + "'");
}

} // namespace

TEST_CASE("evals made inside the engine are all there, once, with the ids that requests give them") {
    Fixture& f = fixture();
    f.store();
    fill_project("filled", many_spans);
    Evals evals(f.telemetry->engine(), f.clock);
    const SelectedEvals wanted = failed_spans("filled", "all");
    const auto written = evals.write_selected(wanted);
    REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().message));
    CHECK(written.value().written == many_spans);
    CHECK(written.value().matched == many_spans / 10);
    const std::string all = "700000\t700000\t700000\n";
    CHECK(rows_and_targets("eval_history", "all") == all);
    CHECK(rows_and_targets("evals FINAL", "all") == all);
    CHECK(
        read_sql("SELECT label, score, count() FROM hone.evals FINAL WHERE name = 'all' GROUP BY ALL ORDER BY label") ==
        "fail\t0.25\t70000\npass\t\\N\t630000\n");

    const auto again = evals.write_selected(wanted);
    REQUIRE(again.ok());
    CHECK(again.value().written == 0);
    CHECK(rows_and_targets("eval_history", "all") == all);

    // A request updates the same eval: its id and its creation stay.
    f.clock.advance(1s);
    Eval changed = wanted.match;
    changed.target_id = hex_number(1, 16);
    changed.label = "corrected";
    const auto upserted = evals.upsert({changed});
    REQUIRE(upserted.ok());
    CHECK(upserted.value()[0].created_ns < upserted.value()[0].updated_ns);
    const auto history = evals.history("project_filled", EvalTarget::span, changed.target_id);
    REQUIRE(history.ok());
    REQUIRE(history.value().size() == 2);
    CHECK(history.value()[0].id == history.value()[1].id);
    CHECK(history.value()[0].metadata == wanted.match.metadata);
    CHECK(rows_and_targets("evals FINAL", "all") == all);
}

TEST_CASE("evals that a crash left in the middle are completed, and none is written twice") {
    Fixture& f = fixture();
    f.store();
    fill_project("broken", 1000);
    Evals evals(f.telemetry->engine(), f.clock);
    // The history has a part of the spans, and a part of these became current.
    const std::string first_half = "start_ns < " + std::to_string(base_ns + 500);
    REQUIRE(evals.write_selected(failed_spans("broken", "half", first_half)).ok());
    run_sql("ALTER TABLE hone.evals DELETE WHERE name = 'half' AND target_id > '" + hex_number(100, 16) + "'");
    f.clock.advance(1s);
    const auto rest = evals.write_selected(failed_spans("broken", "half"));
    REQUIRE_MESSAGE(rest.ok(), (rest.ok() ? "" : rest.error().message));
    CHECK(rest.value().written == 900);
    CHECK(rest.value().matched == 90);
    CHECK(rows_and_targets("eval_history", "half") == "1000\t1000\t1000\n");
    CHECK(rows_and_targets("evals FINAL", "half") == "1000\t1000\t1000\n");

    // What a person deleted is written again, by a rule that is applied to it again.
    REQUIRE(evals.remove({"project_broken", EvalTarget::span, "half", {}, {}, {}, {}, {}, false}).value() == 1000);
    CHECK(rows_and_targets("evals FINAL", "half") == "0\t0\t0\n");
    f.clock.advance(1s);
    SelectedEvals failures = failed_spans("broken", "half");
    failures.other.reset();
    const auto anew = evals.write_selected(failures);
    REQUIRE(anew.ok());
    CHECK(anew.value().written == 100);
    CHECK(rows_and_targets("evals FINAL", "half") == "100\t100\t100\n");
}

TEST_CASE("a span that is stored twice gets one eval made inside the engine, of its own project only") {
    Fixture& f = fixture();
    f.store();
    fill_project("twice", 10);
    fill_project("twice", 10);
    fill_project("beside", 10);
    Evals evals(f.telemetry->engine(), f.clock);
    CHECK(evals.write_selected(failed_spans("twice", "once")).value().written == 10);
    CHECK(rows_and_targets("eval_history", "once") == "10\t10\t10\n");
    CHECK(read_sql("SELECT DISTINCT project FROM hone.evals WHERE name = 'once'") == "project_twice\n");
}

} // namespace hone::telemetry::testing
