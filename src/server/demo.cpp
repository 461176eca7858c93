// `hone demo`: the main job on the embedded default, without a key and without a network.
#include "demo/demo_traces.h"

#include "base/path.h"
#include "run/harness_store.h"
#include "server/demo_repository.h"
#include "server/server.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace hone::server {

namespace {

constexpr size_t traces_at_once = 500;
constexpr auto between_looks = std::chrono::milliseconds(50);
constexpr std::string_view prompt =
    "What goes wrong most in this project, since when, and what should be done about it?";

// A playbook; with the key of a model in the environment, Claude Code. The key goes into a skill and no further.
run::Settings demo_worker(skill::Skills& skills, const access::SpaceId& space, const std::string& data_dir,
                          const Server::Say& say) {
    run::Settings worker;
    worker.harness = "playbook";
    const char* key = std::getenv("ANTHROPIC_API_KEY");
    const char* endpoint = std::getenv("ANTHROPIC_BASE_URL");
    if ((key == nullptr || *key == 0) && (endpoint == nullptr || *endpoint == 0)) return worker;
    skill::NewSkill wanted;
    wanted.name = "claude";
    wanted.type = skill::SkillType::model;
    wanted.description = "The model of the environment in which the demo was started.";
    wanted.setup.variables["PROTOCOL"] = "anthropic";
    if (endpoint != nullptr && *endpoint != 0) {
        wanted.setup.variables["BASE_URL"] = endpoint;
        wanted.setup.variables["ALLOW_PRIVATE"] = "true"; // whoever starts the demo chose it: a gateway of their own
    }
    skill::Secrets secrets;
    if (key != nullptr && *key != 0) secrets.emplace("API_KEY", crypto::SecretBytes(std::string_view(key)));
    const auto made = skills.create(access::Caller::system(), space, wanted, secrets);
    if (!made.ok()) {
        say("The model of the environment cannot be used: " + made.error().message);
        return worker;
    }
    if (!run::HarnessStore(data_dir).find("claude-code").ok()) {
        say(fmt::format(
            "A model is there (skill claude), but no Claude Code: hone harness install claude-code --data-dir "
            "{}. Until then a playbook investigates.",
            quote_shell(data_dir)));
        return worker;
    }
    const char* model = std::getenv("ANTHROPIC_MODEL");
    worker.harness = "claude-code";
    worker.model = std::string(model != nullptr && *model != 0 ? model : "sonnet"); // Claude Code knows what that is
    worker.skills = std::vector{made.value().id.text()};
    return worker;
}

} // namespace

Result<> Server::open_demo(const Say& say) {
    const access::Caller caller = access::Caller::system();
    const auto rows = TRY(m_database->query("SELECT id FROM spaces WHERE name = 'default'"));
    if (rows.empty()) return conflict("the demo needs the space default; use a new --data-dir");
    const auto space = rows.front().id<access::SpaceTag>(0);
    run::Runs& runs = m_workshop->runs().runs;
    if (!TRY(runs.list(caller, space, {}, {.limit = 1, .cursor = {}})).data.empty()) {
        say("The demo is loaded already.");
        return {};
    }
    const std::string project = TRY(load_demo_traces(space, say));
    if (!m_sandboxes) return unavailable("no sandbox can be made here: " + m_no_sandboxes);
    // Signal looks by itself from now on; it finds what was planted and lets one worker investigate.
    signal::ConfigureSignal on;
    on.enabled = true;
    on.consent = true;
    TRY(m_signal->configure(caller, space, project, on));
    const run::RunId run = TRY(start_demo_run(space, say));
    const auto fix =
        propose_demo_fix(*m_repositories, runs, m_clock, space, std::string(demo::project_name), m_config.data_dir);
    say(fix.ok() ? fmt::format("A worker proposes a fix; its branch will wait for you at {}/inbox", m_url)
                 : "No fix is proposed: " + fix.error().message);
    TRY(tell_run(run, say));
    TRY(make_demo_automations(space, say));
    return tell_issues(space, project, say);
}

// The id of the project, once questions see all of its spans: the analyst should, too.
Result<std::string> Server::load_demo_traces(const access::SpaceId& space, const Say& say) {
    const Time now = m_clock.now();
    int64_t spans = 0;
    for (size_t at = 0; at < demo::trace_count; at += traces_at_once) {
        otlp::Batch batch = demo::make_traces(now, at, at + traces_at_once);
        spans += TRY(m_telemetry->ingester().take(batch, space.text(), demo::project_name)).accepted;
    }
    say(fmt::format("Loaded {} spans of three days into the project {}.", spans, demo::project_name));
    const auto project = TRY(m_access->projects.find(access::Caller::system(), space, demo::project_name));
    telemetry::Series series;
    series.scope.project = project.id.text();
    series.metrics = {telemetry::Metric::count};
    series.bucket = Duration(0);
    const auto seen = [&]() -> Result<int64_t> {
        const auto points = TRY(TRY(m_telemetry->store())->series(series));
        return points.empty() ? 0 : static_cast<int64_t>(points.front().values.front());
    };
    constexpr int most_looks = 600; // half a minute
    for (int i = 0; i < most_looks; ++i) {
        const auto count = seen();
        if (count.ok() && count.value() >= spans) break;
        std::this_thread::sleep_for(between_looks);
    }
    return project.id.text();
}

Result<run::RunId> Server::start_demo_run(const access::SpaceId& space, const Say& say) {
    run::Runs& runs = m_workshop->runs().runs;
    const access::Caller caller = access::Caller::system();
    run::StartRun start;
    start.project = std::string(demo::project_name);
    start.prompt = std::string(prompt);
    start.title = "What goes wrong most?";
    start.settings = demo_worker(*m_skills, space, m_config.data_dir, say);
    auto started = runs.start(caller, space, start);
    if (!started.ok() && start.settings->harness != "playbook") {
        say("Claude Code cannot investigate: " + started.error().message + ". A playbook does.");
        start.settings.emplace().harness = "playbook";
        started = runs.start(caller, space, start);
    }
    const run::Run run = TRY(std::move(started));
    say(fmt::format("Started an investigation in a sandbox: {}/runs/{}", m_url, run.id.text()));
    return run.id;
}

// What its worker says and does, until it has answered.
Result<> Server::tell_run(const run::RunId& id, const Say& say) {
    const access::Caller caller = access::Caller::system();
    run::Runs& runs = m_workshop->runs().runs;
    int64_t told = 0;
    for (;;) {
        for (const run::RunEvent& event : TRY(runs.events(caller, id, told, 100))) {
            told = event.seq;
            if (event.kind == harness::EventKind::message || event.step || event.failed) say("  " + event.text);
        }
        const run::Run run = TRY(runs.find(caller, id));
        const bool waits = run.state == run::State::waiting;
        if (waits || run::is_over(run.state)) {
            say(fmt::format("The investigation {}.{}", waits ? "is there; you may ask on" : name_of(run.state),
                            run.reason.empty() ? "" : " " + run.reason));
            return {};
        }
        std::this_thread::sleep_for(between_looks);
    }
}

// What Signal found, once it has looked and its first worker is done.
Result<> Server::tell_issues(const access::SpaceId& space, const std::string& project, const Say& say) {
    const access::Caller caller = access::Caller::system();
    signal::IssueFilter filter;
    filter.project = project;
    constexpr int most_waits = 2400; // two minutes: the machine may be slow
    std::vector<signal::Issue> issues;
    for (int i = 0; i < most_waits; ++i) {
        const auto view = TRY(m_signal->view(caller, space, project));
        issues = TRY(m_signal->issues.list(caller, space, filter, {})).data;
        const bool is_investigated = std::any_of(issues.begin(), issues.end(), [](const signal::Issue& issue) {
            return issue.investigation_id && issue.status != signal::Status::investigating;
        });
        if (view.last_scan && (is_investigated || view.last_scan->investigations == 0)) break;
        std::this_thread::sleep_for(between_looks);
    }
    say(fmt::format("Signal found {} issues: {}/s/default/projects/{}/signal", issues.size(), m_url,
                    demo::project_name));
    for (const signal::Issue& issue : issues)
        say(fmt::format("  {:3}  {}{}", issue.score, issue.title, issue.investigation_id ? " (investigated)" : ""));
    return {};
}

// One automation by the clock and one by a metric, which fires at its first look; a monitor that watches the same.
Result<> Server::make_demo_automations(const access::SpaceId& space, const Say& say) {
    const access::Caller caller = access::Caller::system();
    run::Settings worker;
    worker.harness = "playbook";
    TRY(m_workshop->runs().presets.create(caller, space, "analyst", "Looks at the project's traces; needs no model.",
                                          worker));
    automation::Automations& automations = m_automations->automations();
    automation::NewAutomation morning;
    morning.name = "morning-report";
    morning.description = std::string("What went wrong since yesterday.");
    morning.project = std::string(demo::project_name);
    morning.preset = "analyst";
    morning.prompt = std::string(prompt);
    morning.trigger.schedule = "0 6 * * mon-fri";
    morning.trigger.time_zone = "Europe/Berlin";
    const auto made = TRY(automations.create(caller, space, morning));
    TRY(automations.run_now(caller, made));
    automation::NewAutomation failing = morning;
    failing.name = "failing-tools";
    failing.description = std::string("Looks into it when tools fail too often.");
    failing.prompt = "Tools fail more often than they should. What happened, since when, and what should be done?";
    failing.trigger = {};
    failing.trigger.type = automation::TriggerType::metric;
    failing.trigger.metric = telemetry::Metric::errors;
    failing.trigger.filter = "kind = tool";
    failing.trigger.comparator = automation::Comparator::at_least;
    failing.trigger.threshold = 5;
    failing.trigger.window_seconds = 86'400;
    failing.trigger.every_seconds = 60;
    failing.cool_off_seconds = int64_t{6} * 3600;
    TRY(automations.create(caller, space, failing));
    monitor::MonitorWish slow;
    slow.project = std::string(demo::project_name);
    slow.name = "slow answers";
    slow.description = "The 95th percentile of whole traces.";
    slow.settings.metric = telemetry::Metric::latency_p95;
    slow.settings.filter = std::string("kind = agent");
    slow.settings.condition.type = monitor::ConditionType::change;
    slow.settings.condition.threshold = 1.5;
    TRY(m_monitors->services().monitors.create(caller, space, slow));
    say(fmt::format("Two automations and a monitor go on by themselves: {}/s/default/automations", m_url));
    return {};
}

} // namespace hone::server
