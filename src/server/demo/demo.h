// `hone demo`: loads a project with known faults, switches Signal on and lets a playbook investigate, once per data
// directory; a demo that was killed continues with the next start. Needs no key and no network. On the main thread.
#pragma once

#include "access/access.h"
#include "automation/automations.h"
#include "forge/git.h"
#include "monitor/monitors.h"
#include "run/runs.h"
#include "run/settings/presets.h"
#include "server/demo/demo_evaluation.h"
#include "signal/signal.h"
#include "skill/skills.h"
#include "telemetry/telemetry.h"

#include <functional>

namespace hone::server {

struct DemoProgress;

struct DemoParts {
    sql::Database& database;
    const Clock& clock;
    access::Access& access;
    telemetry::Telemetry& telemetry;
    run::Runs& runs;
    run::Presets& presets;
    skill::Skills& skills;
    signal::Signal& signal;
    automation::Automations& automations;
    monitor::Monitors& monitors;
    review::Artifacts& artifacts;
    evaluate::Evaluate& evaluate;
    signal::FixReplays& replays;
    telemetry::Spans& spans;
    const forge::Git* git = nullptr; // null: `no_sandboxes` states why
    std::string no_sandboxes = {};
    std::string url = {}; // of this server
    std::string data_dir = {};
    uint16_t model_port = 0; // of the scripted model; 0: there is none
};

class Demo {
public:
    // Prints one line for a person.
    using Print = std::function<void(const std::string&)>;

    Demo(const DemoParts& parts, Print print) : m_parts(parts), m_print(std::move(print)) {}

    // Returns when the investigations are there.
    Result<> open();

private:
    Result<std::string> load_traces(const access::SpaceId& space, DemoProgress& progress);
    Result<> run_workers(const access::SpaceId& space, const std::string& project);
    Result<run::RunId> start_run(const access::SpaceId& space);
    // A playbook; with the key of a model in the environment, Claude Code. The key goes into a skill and no further.
    run::Settings choose_worker(const access::SpaceId& space);
    Result<> print_run(const run::RunId& id);
    Result<> print_issues(const access::SpaceId& space, const std::string& project);
    Result<> make_automations(const access::SpaceId& space);
    DemoEvaluation evaluation() const;

    const DemoParts m_parts;
    const Print m_print;
};

} // namespace hone::server
