#include "server/evaluation/evaluator_runs.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace hone::server {

using access::Caller;

namespace {

constexpr Duration verdict_poll = std::chrono::milliseconds(200);
// A run waits for a place and its sandbox is made, before its own time begins.
constexpr Duration longest_start = std::chrono::minutes(10);
constexpr int64_t ms_per_minute = 60'000;

} // namespace

Result<std::string> EvaluatorRuns::project_of(const evaluate::JudgeRequest& request) const {
    if (!request.target.project_id.empty()) return request.target.project_id;
    const std::string name(evaluate::judge_project);
    const access::SpaceId& space = request.version.space_id;
    auto found = m_access.projects.find(Caller::system(), space, name);
    if (!found.ok() && found.error().code == Code::not_found)
        found = m_access.projects.create_for_experiment(Caller::system(), space, name);
    if (!found.ok()) return found.error();
    return found.value().id.text();
}

Result<run::Settings> EvaluatorRuns::restricted(const access::SpaceId& space, run::Settings settings) const {
    settings.repos.value.clear(); // a document is evaluated, nothing is changed
    std::vector<std::string> models;
    for (const std::string& id : settings.skills.value)
        if (TRY(m_skills.find(Caller::system(), space, id)).type == skill::SkillType::model) models.push_back(id);
    settings.skills.value = std::move(models);
    run::SandboxSettings& sandbox = settings.sandbox.value;
    sandbox.network.value = broker::EgressMode::none;
    sandbox.allow_hosts.value.clear();
    sandbox.secret_env.value.clear();
    return settings;
}

Result<run::RunId> EvaluatorRuns::start(const evaluate::JudgeRequest& request, const evaluate::AgentDefinition& agent,
                                        const std::string& prompt) const {
    const access::SpaceId& space = request.version.space_id;
    const run::Preset preset = TRY(m_presets.find(Caller::system(), space, agent.preset));
    if (preset.settings.harness == "playbook")
        return invalid("preset " + preset.name + " has a playbook, which cannot evaluate: choose one with a model");
    run::StartRun wanted;
    wanted.project = TRY(project_of(request));
    wanted.prompt = prompt;
    wanted.title = "Evaluate: " + request.version.name;
    run::Settings settings = TRY(restricted(space, preset.settings));
    const int64_t most = settings.budget.value.tokens.value_or(*agent.max_tokens);
    settings.budget.value.tokens = std::min(most, *agent.max_tokens);
    settings.sandbox.value.wall_clock_minutes = std::max<int64_t>(1, *agent.timeout_ms / ms_per_minute);
    wanted.settings = std::move(settings);
    run::AutomationStart automation;
    automation.id = "evaluator:" + request.version.evaluator_id.text();
    automation.name = "Evaluator " + request.version.name;
    automation.trigger = json::Object{{"kind", "evaluator"},
                                      {"evaluator", request.version.name},
                                      {"version", request.version.number},
                                      {"document", request.document}};
    automation.together = [&](sql::Transaction& transaction, const run::RunId& run) {
        return m_verdicts.expect(transaction, run.text(), space);
    };
    return TRY(m_runs.start_for(automation, Caller::system(), space, wanted)).id;
}

Result<evaluate::AgentReport> EvaluatorRuns::run(const evaluate::JudgeRequest& request,
                                                 const evaluate::AgentDefinition& agent, const std::string& prompt) {
    evaluate::AgentReport report;
    const run::RunId id = TRY(start(request, agent, prompt));
    report.run_id = id.text();
    const Duration began = m_clock.steady();
    std::optional<Duration> works_since;
    for (;;) {
        const run::Run run = TRY(m_runs.find(Caller::system(), id));
        report.verdict = TRY(m_verdicts.find(report.run_id));
        const bool is_over = run::is_over(run.state);
        if (run.state == run::State::running && !works_since) works_since = m_clock.steady();
        if (report.verdict || is_over) {
            // The verdict is there: what the worker would still do costs only.
            if (!is_over) static_cast<void>(m_runs.cancel(Caller::system(), id));
            report.tokens =
                run.usage.input + run.usage.cache_read + run.usage.cache_write + run.usage.output + run.usage.reasoning;
            if (run.cost_micro_usd)
                report.cost_nano_usd = *run.cost_micro_usd * 1000;
            else
                report.cost_nano_usd.reset();
            report.is_timeout = run.state == run::State::timed_out;
            report.is_out_of_budget = run.state == run::State::budget_stopped;
            if (!report.verdict)
                report.error = fmt::format("the run ended as {} without a verdict{}", name_of(run.state),
                                           run.reason.empty() ? "" : ": " + run.reason);
            return report;
        }
        const Duration now = m_clock.steady();
        const bool is_late = works_since ? now - *works_since > std::chrono::milliseconds(*agent.timeout_ms)
                                         : now - began > longest_start;
        const bool is_stopped = request.stopped && request.stopped();
        if (is_late || is_stopped) {
            static_cast<void>(m_runs.cancel(Caller::system(), id));
            if (is_stopped) return conflict("the server stops");
            report.is_timeout = true;
            report.error = works_since ? fmt::format("the run took longer than {} ms", *agent.timeout_ms)
                                       : "the run could not begin within 10 minutes";
            return report;
        }
        std::this_thread::sleep_for(verdict_poll);
    }
}

} // namespace hone::server
