// Experiments of kind prompt: a version of a prompt, filled with the input of each example, goes to a model. The
// session belongs to one experiment on this server. Thread-safe; blocks.
#pragma once

#include "evaluate/prompts/model_session.h"
#include "evaluate/prompts/prompts.h"
#include "evaluate/runner/experiment_tasks.h"

namespace hone::evaluate {

struct TaskOutcome;

// Checks a task and fixes what it names: the version, the provider, the model and the skill.
Result<> pin_prompt_task(const access::Caller& caller, const Experiment& experiment, const Prompts& prompts,
                         TaskDefinition& task, TaskSources* sources);
// The metadata of the experiment with what was pinned, so that the prompt finds its experiments.
json::Value metadata_of_prompt_task(const Experiment& experiment, const TaskDefinition& task);
// What its model calls have used until now.
Result<> add_spending(ExperimentTask& task, TaskSources* sources);
// The version that a text names: NAME, NAME@TAG, NAME:NUMBER or the id of a version.
Result<PromptVersion> find_prompt_version(const access::Caller& caller, const access::SpaceId& space,
                                          const Prompts& prompts, const std::string& text);

class PromptTask {
public:
    static Result<std::unique_ptr<PromptTask>> open(const ExperimentTask& task, TaskSources* sources);

    // `abandoned`: the server stops. Errors: conflict then, or what keeps every run from beginning.
    Result<TaskOutcome> run(const PendingRun& run, const std::function<bool()>& abandoned) const;
    void cancel() { m_session->cancel(); }

private:
    PromptTask(const ExperimentTask& task, std::unique_ptr<ModelSession> session);

    const TaskDefinition m_task;
    const std::string m_experiment_id;
    json::Value m_content;
    std::unique_ptr<ModelSession> m_session;
};

} // namespace hone::evaluate
