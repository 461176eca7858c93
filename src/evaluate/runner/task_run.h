// One run of a task: the example goes in as JSON, the output comes back as JSON, or the reason why not. The reference
// output of the example is not given. Thread-safe; blocks.
#pragma once

#include "evaluate/runner/experiment_tasks.h"
#include "evaluate/runner/replay_task.h"
#include "net/client/client.h"
#include "sandbox/provider/provider.h"

#include <functional>

namespace hone::evaluate {

struct TaskOutcome {
    std::string output = "null"; // JSON
    std::optional<std::string> error;
    std::optional<std::string> trace_id{};
    std::optional<std::string> out_of_budget{}; // why; the run counts as not tried
    std::optional<Recording> recording{};       // of a replay
    bool is_recorded = false;                   // the output, too, is the recorded one: nothing was run
};

class PromptTask; // prompt_task.h

// Folders that the task of one experiment uses; removed at its end.
class TaskFolder {
public:
    // Writes the files and the checkout of a command. `commit`: empty at the first attempt, filled in.
    static Result<std::unique_ptr<TaskFolder>> make(const std::string& directory, const ExperimentTask& task,
                                                    TaskSources* sources, std::string& commit);
    ~TaskFolder();
    TaskFolder(const TaskFolder&) = delete;
    TaskFolder& operator=(const TaskFolder&) = delete;

    std::string path;
    bool has_files = false;
    bool has_checkout = false;
    std::unique_ptr<PromptTask> prompt; // of kind prompt

private:
    explicit TaskFolder(std::string folder);
};

class TaskRunner {
public:
    // `provider` and `sources` may be null: then commands, or private addresses, are refused.
    TaskRunner(sandbox::Provider* provider, TaskSources* sources, telemetry::Spans* spans);

    // `abandoned`: true ends it with `conflict`. Other errors are about the machine; the run counts as not tried.
    Result<TaskOutcome> run(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                            const std::function<bool()>& abandoned);
    const Recordings& recordings() const { return m_recordings; }
    // Ends the requests that are under way.
    void abandon();

private:
    Result<TaskOutcome> run_command(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                                    const std::function<bool()>& abandoned) const;
    Result<TaskOutcome> replay(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                               const std::function<bool()>& abandoned);
    Result<TaskOutcome> post(const ExperimentTask& task, const PendingRun& run);
    Result<std::string> checked_address(const std::string& url) const;

    sandbox::Provider* const m_provider;
    TaskSources* const m_sources;
    const Recordings m_recordings;
    net::HttpClient m_client;
    net::Cancel m_cancel;
};

} // namespace hone::evaluate
