// evaluate::AgentRuns over run/: a run with the preset of the evaluator, the document in its trigger file, limits of
// time and tokens, and the verdict that it reports with one tool. The document is untrusted, so the run reaches models
// and tools that read (api/mcp/tools.cpp), and nothing else. Thread-safe; blocks until the run is over.
#pragma once

#include "evaluate/judges/agent_verdicts.h"
#include "evaluate/judges/judge.h"
#include "run/runs.h"
#include "run/settings/presets.h"
#include "skill/skills.h"

namespace hone::server {

class EvaluatorRuns final : public evaluate::AgentRuns {
public:
    EvaluatorRuns(sql::Database& database, const Clock& clock, access::Access& access, run::Runs& runs,
                  run::Presets& presets, skill::Skills& skills)
        : m_clock(clock),
          m_access(access),
          m_runs(runs),
          m_presets(presets),
          m_skills(skills),
          m_verdicts(database, clock) {}

    Result<evaluate::AgentReport> run(const evaluate::JudgeRequest& request, const evaluate::AgentDefinition& agent,
                                      const std::string& prompt) override;

private:
    Result<run::RunId> start(const evaluate::JudgeRequest& request, const evaluate::AgentDefinition& agent,
                             const std::string& prompt) const;
    // The settings of the preset, without all that a document could make the worker misuse.
    Result<run::Settings> restricted(const access::SpaceId& space, run::Settings settings) const;
    // The project that the worker reads: of the target, else the hidden one of evaluators.
    Result<std::string> project_of(const evaluate::JudgeRequest& request) const;

    const Clock& m_clock;
    access::Access& m_access;
    run::Runs& m_runs;
    run::Presets& m_presets;
    skill::Skills& m_skills;
    const evaluate::AgentVerdicts m_verdicts;
};

} // namespace hone::server
