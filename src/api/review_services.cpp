#include "api/review_services.h"

#include "base/log.h"

namespace hone::api {

namespace {

// Whom a run stands for: the person behind a session, also behind their key.
std::string starter_of(const sql::Row& row) {
    const auto rights = json::parse(row.text(1));
    if (rights.ok() && rights.value().is_object())
        if (const json::Value* user = rights.value().get_object().if_contains("user");
            user != nullptr && user->is_string() && !user->get_string().empty())
            return std::string(user->get_string());
    return row.text(0);
}

} // namespace

Result<review::RunFacts> ReviewServices::facts(const std::string& run) {
    const run::RunId id(run);
    const run::Run found = TRY(runs.runs.find(access::Caller::system(), id));
    const run::Manifest manifest = TRY(runs.runs.manifest(access::Caller::system(), id));
    const auto rows = TRY(database.query("SELECT started_by, rights FROM runs WHERE id = ?", id));
    const run::SandboxSettings& sandbox = *manifest.settings.sandbox;
    review::RunFacts facts;
    facts.space = found.space_id;
    facts.project = found.project_id;
    facts.starter = rows.empty() ? "" : starter_of(rows.front());
    facts.title = found.title;
    const auto fixed = TRY(database.query("SELECT issue_id FROM issue_runs WHERE run_id = ? AND kind = 'fix'", id));
    if (!fixed.empty()) facts.fix_of = fixed.front().text(0);
    facts.policy = *manifest.settings.review;
    facts.approved = *manifest.settings.outputs.value.branch == run::OutputPolicy::automatic;
    facts.image = *sandbox.image;
    facts.init_script = *sandbox.init_script;
    facts.init_seconds = *sandbox.init_seconds;
    facts.env = *sandbox.env;
    facts.minimum_tier = *sandbox.minimum_tier;
    facts.limits.memory_bytes = *sandbox.memory_bytes;
    facts.limits.cpus = *sandbox.cpus;
    facts.limits.pids = *sandbox.pids;
    facts.limits.disk_bytes = *sandbox.disk_bytes;
    facts.limits.wall_clock_ms = *sandbox.wall_clock_minutes * 60'000;
    return facts;
}

void ReviewServices::publish_labels(const review::ArtifactId& artifact) {
    if (!labels) return;
    if (const auto done = labels->publish(artifact); !done.ok())
        log(Level::warning, "labels not published yet", {{"artifact", artifact.text()}, {"why", done.error().message}});
}

Result<> ReviewServices::note(const std::string& run, const review::ArtifactId& artifact, const std::string& line) {
    const run::Run found = TRY(runs.runs.find(access::Caller::system(), run::RunId(run)));
    run::RunEvent event;
    event.kind = harness::EventKind::artifact;
    event.turn = found.turns;
    event.text = line;
    event.artifact = artifact.text();
    return runs.transcript.append(found.id, {event});
}

Result<> ReviewServices::tell(const access::Caller& caller, const std::string& run, const std::string& message) {
    TRY(runs.runs.say(caller, run::RunId(run), message));
    return {};
}

} // namespace hone::api
