#include "server/demo/demo.h"

#include "base/path.h"
#include "demo/demo_traces.h"
#include "run/harnesses/harness_store.h"
#include "server/demo/demo_progress.h"
#include "server/demo/demo_repository.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <thread>

namespace hone::server {

namespace {

constexpr size_t traces_at_once = 500;
constexpr auto poll_period = std::chrono::milliseconds(50);
constexpr std::string_view prompt =
    "What goes wrong most in this project, since when, and what should be done about it?";

} // namespace

Result<> Demo::open() {
    const access::Caller caller = access::Caller::system();
    const auto found = m_parts.access.spaces.find(caller, "default");
    if (!found.ok()) return conflict("the demo needs the space default; use a new --data-dir");
    const access::SpaceId space = found.value().id;
    const auto before = TRY(read_demo_progress(m_parts.data_dir));
    const bool has_runs = !TRY(m_parts.runs.list(caller, space, {}, {.limit = 1, .cursor = {}})).data.empty();
    if (before ? before->state == DemoState::done : has_runs) {
        TRY(evaluation().connect_model(space));
        if (before && m_parts.model_port != 0) {
            DemoProgress known = *before;
            known.model_port = m_parts.model_port;
            TRY(write_demo_progress(m_parts.data_dir, known));
        }
        m_print("The demo is loaded already.");
        return {};
    }
    if (before) m_print("The demo was interrupted and continues.");
    DemoProgress progress = before.value_or(DemoProgress{DemoState::begun, m_parts.clock.now(), {}});
    if (m_parts.model_port != 0) progress.model_port = m_parts.model_port;
    const std::string project = TRY(load_traces(space, progress));
    if (m_parts.git == nullptr) return unavailable("no sandbox can be created here: " + m_parts.no_sandboxes);
    TRY(run_workers(space, project));
    progress.state = DemoState::done;
    return write_demo_progress(m_parts.data_dir, progress);
}

DemoEvaluation Demo::evaluation() const {
    return DemoEvaluation({m_parts.clock, m_parts.access, m_parts.spans, m_parts.evaluate, m_parts.signal,
                           m_parts.replays, m_parts.artifacts, m_parts.skills, m_parts.url, m_parts.model_port},
                          m_print);
}

// Each part creates what is missing: the demo may have been killed in the middle of any of them.
Result<> Demo::run_workers(const access::SpaceId& space, const std::string& project) {
    // Signal scans by itself from now on; it finds the planted faults and starts one worker to investigate.
    signal::ConfigureSignal on;
    on.enabled = true;
    on.consent = true;
    TRY(m_parts.signal.configure(access::Caller::system(), space, project, on));
    DemoEvaluation measuring = evaluation();
    TRY(measuring.make_evaluators(space));
    const run::RunId run = TRY(start_run(space));
    const auto fix = propose_demo_fix(*m_parts.git, m_parts.runs, m_parts.clock, space, std::string(demo::project_name),
                                      m_parts.data_dir);
    m_print(fix.ok() ? fmt::format("A worker proposes a fix; review its branch at {}/inbox", m_parts.url)
                     : "No fix is proposed: " + fix.error().message);
    TRY(print_run(run));
    TRY(make_automations(space));
    TRY(print_issues(space, project));
    TRY(measuring.label(space, project));
    TRY(measuring.watch(space, project));
    if (fix.ok()) {
        const auto replayed = measuring.replay(space, project);
        if (!replayed.ok()) m_print("The fix is not replayed: " + replayed.error().message);
    }
    return measuring.print_agreement(space);
}

// The id of the project, once queries return all of its spans: the analyst needs them, too.
Result<std::string> Demo::load_traces(const access::SpaceId& space, DemoProgress& progress) {
    TRY(write_demo_progress(m_parts.data_dir, progress));
    int64_t spans = 0;
    for (size_t at = 0; at < demo::trace_count; at += traces_at_once) {
        otlp::Batch batch = demo::make_traces(progress.began, at, at + traces_at_once);
        spans += static_cast<int64_t>(batch.spans.size());
        if (progress.state == DemoState::begun)
            TRY(m_parts.telemetry.ingester().take(batch, space.text(), demo::project_name));
    }
    if (progress.state == DemoState::begun)
        m_print(fmt::format("Loaded {} spans of three days into the project {}.", spans, demo::project_name));
    progress.state = DemoState::loaded;
    TRY(write_demo_progress(m_parts.data_dir, progress));
    const auto project = TRY(m_parts.access.projects.find(access::Caller::system(), space, demo::project_name));
    telemetry::Series series;
    series.scope.project = project.id.text();
    series.metrics = {telemetry::Metric::count};
    series.bucket = Duration(0);
    const auto seen = [&]() -> Result<int64_t> {
        telemetry::SpanStore& store = *TRY(m_parts.telemetry.store());
        const auto points = TRY(store.series(series));
        return points.empty() ? 0 : static_cast<int64_t>(points.front().values.front());
    };
    constexpr int most_polls = 600; // half a minute
    for (int i = 0; i < most_polls; ++i) {
        const auto count = seen();
        if (count.ok() && count.value() >= spans) break;
        std::this_thread::sleep_for(poll_period);
    }
    return project.id.text();
}

Result<run::RunId> Demo::start_run(const access::SpaceId& space) {
    run::Runs& runs = m_parts.runs;
    const access::Caller caller = access::Caller::system();
    run::StartRun start;
    start.project = std::string(demo::project_name);
    start.prompt = std::string(prompt);
    start.title = "What goes wrong most?";
    if (const auto started = TRY(find_demo_run(runs, space, *start.title))) return started->id;
    start.settings = choose_worker(space);
    auto started = runs.start(caller, space, start);
    if (!started.ok() && start.settings->harness != "playbook") {
        m_print("Claude Code cannot investigate: " + started.error().message + ". A playbook does.");
        start.settings.emplace().harness = "playbook";
        started = runs.start(caller, space, start);
    }
    const run::Run run = TRY(std::move(started));
    m_print(fmt::format("Started an investigation in a sandbox: {}/runs/{}", m_parts.url, run.id.text()));
    return run.id;
}

run::Settings Demo::choose_worker(const access::SpaceId& space) {
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
        wanted.setup.variables["ALLOW_PRIVATE"] =
            "true"; // the person who starts the demo chose it: a gateway of their own
    }
    skill::Secrets secrets;
    if (key != nullptr && *key != 0) secrets.emplace("API_KEY", crypto::SecretBytes(std::string_view(key)));
    auto made = m_parts.skills.find(access::Caller::system(), space, wanted.name);
    if (!made.ok()) made = m_parts.skills.create(access::Caller::system(), space, wanted, secrets);
    if (!made.ok()) {
        m_print("The model of the environment cannot be used: " + made.error().message);
        return worker;
    }
    if (!run::HarnessStore(m_parts.data_dir).find("claude-code").ok()) {
        m_print(fmt::format("The model skill claude was created, but Claude Code is not installed: hone harness "
                            "install claude-code --data-dir {}. Until then a playbook investigates.",
                            quote_shell(m_parts.data_dir)));
        return worker;
    }
    const char* model = std::getenv("ANTHROPIC_MODEL");
    worker.harness = "claude-code";
    worker.model = std::string(model != nullptr && *model != 0 ? model : "sonnet"); // Claude Code knows what that is
    worker.skills = std::vector{made.value().id.text()};
    return worker;
}

// What its worker does, until it has a result.
Result<> Demo::print_run(const run::RunId& id) {
    const access::Caller caller = access::Caller::system();
    run::Runs& runs = m_parts.runs;
    int64_t printed = 0;
    for (;;) {
        for (const run::RunEvent& event : TRY(runs.events(caller, id, printed, 100))) {
            printed = event.seq;
            if (event.kind == harness::EventKind::message || event.step || event.failed) m_print("  " + event.text);
        }
        const run::Run run = TRY(runs.find(caller, id));
        const bool waits = run.state == run::State::waiting;
        if (waits || run::is_over(run.state)) {
            m_print(fmt::format("The investigation {}.{}",
                                waits ? "is finished; send follow-ups in the session" : name_of(run.state),
                                run.reason.empty() ? "" : " " + run.reason));
            return {};
        }
        std::this_thread::sleep_for(poll_period);
    }
}

// What Signal found, once it has scanned and its first worker is done.
Result<> Demo::print_issues(const access::SpaceId& space, const std::string& project) {
    const access::Caller caller = access::Caller::system();
    signal::IssueFilter filter;
    filter.project = project;
    constexpr int most_polls = 2400; // two minutes: the machine may be slow
    std::vector<signal::Issue> issues;
    for (int i = 0; i < most_polls; ++i) {
        const auto view = TRY(m_parts.signal.view(caller, space, project));
        issues = TRY(m_parts.signal.issues.list(caller, space, filter, {})).data;
        const bool is_investigated = std::any_of(issues.begin(), issues.end(), [](const signal::Issue& issue) {
            return issue.investigation_id && issue.status != signal::Status::investigating;
        });
        if (view.last_scan && (is_investigated || view.last_scan->investigations == 0)) break;
        std::this_thread::sleep_for(poll_period);
    }
    m_print(fmt::format("Signal found {} issues: {}/s/default/projects/{}/signal", issues.size(), m_parts.url,
                        demo::project_name));
    for (const signal::Issue& issue : issues)
        m_print(fmt::format("  {:3}  {}{}", issue.score, issue.title, issue.investigation_id ? " (investigated)" : ""));
    return {};
}

// One automation by the clock and one by a metric, which fires at its first evaluation; a monitor of the same.
Result<> Demo::make_automations(const access::SpaceId& space) {
    const access::Caller caller = access::Caller::system();
    run::Settings worker;
    worker.harness = "playbook";
    TRY(is_new(
        m_parts.presets.create(caller, space, "analyst", "Reads the project's traces; needs no model.", worker)));
    automation::Automations& automations = m_parts.automations;
    automation::NewAutomation morning;
    morning.name = "morning-report";
    morning.description = std::string("What went wrong since yesterday.");
    morning.project = std::string(demo::project_name);
    morning.preset = "analyst";
    morning.prompt = std::string(prompt);
    morning.trigger.schedule = "0 6 * * mon-fri";
    morning.trigger.time_zone = "Europe/Berlin";
    const auto made = automations.create(caller, space, morning);
    if (TRY(is_new(made))) TRY(automations.run_now(caller, made.value()));
    automation::NewAutomation failing = morning;
    failing.name = "failing-tools";
    failing.description = std::string("Investigates when tools fail too often.");
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
    TRY(is_new(automations.create(caller, space, failing)));
    monitor::NewMonitor slow;
    slow.project = std::string(demo::project_name);
    slow.name = "slow responses";
    slow.description = "The 95th percentile of whole traces.";
    slow.settings.metric = telemetry::Metric::latency_p95;
    slow.settings.filter = std::string("kind = agent");
    slow.settings.condition.type = monitor::ConditionType::change;
    slow.settings.condition.threshold = 1.5;
    TRY(is_new(m_parts.monitors.create(caller, space, slow)));
    m_print(fmt::format("Two automations and a monitor were created: {}/s/default/automations", m_parts.url));
    return {};
}

} // namespace hone::server
