// Scans of a project on the real engine: from spans to issues, runs and back.
#include "signal/signal.h"
#include "access/testing.h"
#include "telemetry/store_fixture.h"

using namespace hone;
using namespace hone::signal;
using namespace hone::access::testing;
using telemetry::testing::Fixture;
using telemetry::testing::TestSpan;

namespace {

class AnySettings final : public run::SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const run::Settings&) override { return {}; }
};

// The project of a name is the one that access made.
class OneProject final : public telemetry::ProjectDirectory {
public:
    Result<telemetry::ProjectRef> resolve(std::string_view, std::string_view name) override {
        return telemetry::ProjectRef{std::string(name), 0, nullptr, 1.0, {}, {}, {}};
    }
};

struct Shop {
    explicit Shop(World& given)
        : world(given),
          transcript(given.database, given.clock),
          presets(given.database, given.clock, given.access.audit, any),
          runs(given.database, given.clock, given.access, presets, any, transcript),
          artifacts(given.database, given.clock, given.access, directory.path()),
          notices(given.database, given.clock) {
        for (const char* table :
             {"issue_runs", "issue_history", "issue_volume", "issue_fingerprints", "issues", "signal_scans",
              "signal_settings", "artifacts", "run_inputs", "run_events", "runs", "notices"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        project = world.add_project(world.admin, world.space, "shop " + std::to_string(++made));
        telemetry::TelemetryOptions options;
        options.directory = directory.path() + "/telemetry";
        options.engine.program = {HONE_ENGINE_PROGRAM};
        options.wal.commit_interval = std::chrono::milliseconds(1);
        options.loader.gather = std::chrono::milliseconds(5);
        telemetry = must(telemetry::Telemetry::open(options, projects, world.clock));
        signal.emplace(
            Parts{world.database, world.clock, world.access, runs, presets, artifacts, telemetry.get(), &notices});
    }
    // Traces with a tool that fails in every `nth`.
    void send(int count, int nth, Duration ago = std::chrono::minutes(5)) {
        std::vector<TestSpan> spans;
        const int64_t start = to_ns(world.clock.now() - ago);
        for (int i = 0; i < count; ++i) {
            const auto trace = static_cast<uint64_t>(++traces);
            TestSpan root{.trace = trace, .id = trace * 2, .start_ns = start, .name = "ticket"};
            TestSpan tool{.trace = trace, .id = trace * 2 + 1, .parent = trace * 2, .start_ns = start + 1};
            tool.name = "lookup";
            tool.attributes = telemetry::testing::text_attribute("openinference.span.kind", "TOOL");
            tool.status = nth > 0 && i % nth == 0 ? 2 : 1;
            spans.push_back(root);
            spans.push_back(tool);
        }
        const std::string body = telemetry::testing::request(spans);
        REQUIRE(telemetry->ingest({body, "application/json", "", project.id.text(), "space"}).status == 200);
        REQUIRE(telemetry->loader().wait_loaded(telemetry->log_stats().next_sequence, std::chrono::seconds(60)));
    }
    void enable(SignalSettings settings = {}) {
        ConfigureSignal on;
        on.enabled = on.consent = true;
        on.settings = std::move(settings);
        must(signal->configure(world.admin, world.space, project.id.text(), on));
    }
    std::vector<Issue> issues() {
        IssueFilter filter;
        filter.project = project.id.text();
        for (const auto& status : enum_names(Status{})) filter.statuses.push_back(status.value);
        return must(signal->issues.list(world.admin, world.space, filter, {})).data;
    }

    static inline int made = 0;
    World& world;
    telemetry::TemporaryDirectory directory;
    AnySettings any;
    OneProject projects;
    run::Transcript transcript;
    run::Presets presets;
    run::Runs runs;
    review::Artifacts artifacts;
    notice::Notices notices;
    access::Project project;
    std::unique_ptr<telemetry::Telemetry> telemetry;
    std::optional<Signal> signal;
    int64_t traces = 0;
};

} // namespace

TEST_CASE("Signal scans when its time comes, tells once, starts a worker and attaches what it wrote") {
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
