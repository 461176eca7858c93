// A project with Signal on the real engine, for tests: spans are sent, scans are made by hand.
#pragma once

#include "access/testing.h"
#include "signal/signal.h"
#include "telemetry/query/evals.h"
#include "telemetry/store_fixture.h"

namespace hone::signal::testing {

using access::testing::must;
using access::testing::World;
using telemetry::testing::TestSpan;

class AnySettings final : public run::SettingsCheck {
public:
    Result<> check(const access::Caller&, const access::SpaceId&, const run::Settings&) override { return {}; }
};

inline std::unique_ptr<secret::MasterKeys> some_keys() {
    secret::MasterKeyOptions options;
    options.value = crypto::SecretBytes{std::string_view("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")};
    return must(secret::MasterKeys::open(std::move(options)));
}

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
          notices(given.database, given.clock),
          keys(some_keys()),
          automations(given.database, given.clock, given.access, presets, *keys) {
        for (const char* table : {"signal_sightings", "signal_readings", "issue_runs", "issue_history", "issue_volume",
                                  "issue_fingerprints", "issues", "signal_scans", "signal_settings", "artifacts",
                                  "run_inputs", "run_events", "runs", "notices", "automations", "evaluators"})
            must(world.database.execute("DELETE FROM " + std::string(table)));
        project = world.add_project(world.admin, world.space, "shop " + std::to_string(++made));
        telemetry::TelemetryOptions options;
        options.directory = directory.path() + "/telemetry";
        options.engine.program = {HONE_ENGINE_PROGRAM};
        options.wal.commit_interval = std::chrono::milliseconds(1);
        options.loader.gather = std::chrono::milliseconds(5);
        telemetry = must(telemetry::Telemetry::open(options, projects, world.clock));
        signal.emplace(parts());
    }
    Parts parts() {
        return {world.database, world.clock,     world.access, runs,        presets,
                artifacts,      telemetry.get(), &notices,     &automations};
    }
    // Newest first: "fired scan", "skipped nothing_new scan".
    std::vector<std::string> ledger() {
        std::vector<std::string> rows;
        const auto view = must(signal->view(world.admin, world.space, project.id.text()));
        if (!view.automation_id) return rows;
        const auto automation = must(automations.find(world.admin, {}, *view.automation_id));
        for (const auto& slot : must(automations.slots(automation, {}, {.limit = 1000, .cursor = {}})).data) {
            std::string line(name_of(slot.outcome));
            if (slot.reason != automation::SlotReason::none) line += " " + std::string(name_of(slot.reason));
            rows.push_back(line + " " + std::string(slot.values.as_object().at("type").as_string()));
        }
        return rows;
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
        send(spans);
    }
    void send(const std::vector<TestSpan>& spans) {
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
    std::unique_ptr<secret::MasterKeys> keys;
    automation::Automations automations;
    access::Project project;
    std::unique_ptr<telemetry::Telemetry> telemetry;
    std::optional<Signal> signal;
    int64_t traces = 0;
};

} // namespace hone::signal::testing
