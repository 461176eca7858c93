// What the server runs for an experiment: a command in a sandbox or an HTTP address, once per example and repetition,
// or the recorded trace of the example again, then the evaluators. Declared once for the API, the CLI and the database.
// Values only; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"
#include "evaluate/experiments/experiment.h"

namespace hone::evaluate {

enum class TaskKind { command, http, evaluate, prompt, replay };
constexpr auto enum_names(TaskKind) {
    return std::array{EnumName{TaskKind::command, "command"}, EnumName{TaskKind::http, "http"},
                      EnumName{TaskKind::evaluate, "evaluate"}, EnumName{TaskKind::prompt, "prompt"},
                      EnumName{TaskKind::replay, "replay"}};
}

// `queued`: waits for a server. `running`: a server has it until its lease ends. `stopped`: by a person; what was
// running is finished and stored. `done`: every run was tried. `failed`: nothing could be run. `budget_stopped`: the
// time is used up. From the last four, `resume` leads back to `queued`.
enum class TaskState { queued, running, stopped, done, failed, budget_stopped };
constexpr auto enum_names(TaskState) {
    return std::array{EnumName{TaskState::queued, "queued"},   EnumName{TaskState::running, "running"},
                      EnumName{TaskState::stopped, "stopped"}, EnumName{TaskState::done, "done"},
                      EnumName{TaskState::failed, "failed"},   EnumName{TaskState::budget_stopped, "budget_stopped"}};
}

// What a replay does about the tools that the recorded trace called. `none`: it called none.
enum class ReplayTools { none, live, recorded };
constexpr auto enum_names(ReplayTools) {
    return std::array{EnumName{ReplayTools::none, "none"}, EnumName{ReplayTools::live, "live"},
                      EnumName{ReplayTools::recorded, "recorded"}};
}

struct TaskDefinition {
    TaskKind kind = TaskKind::command;
    json::Defaulted<std::string> command;
    json::Defaulted<std::map<std::string, std::string>> files;
    json::Defaulted<std::string> repo;
    json::Defaulted<std::string> ref;
    json::Defaulted<std::string> image = std::string("host");
    json::Defaulted<std::map<std::string, std::string>> env;
    json::Defaulted<bool> last_line = false;
    json::Defaulted<std::string> url;
    json::Defaulted<int64_t> timeout_ms = int64_t{120'000};
    // Of kind prompt.
    json::Defaulted<std::string> prompt;
    json::Defaulted<json::Value> prompt_version = json::Value(nullptr);
    json::Defaulted<std::string> provider;
    json::Defaulted<std::string> model;
    json::Defaulted<std::string> skill;
    json::Defaulted<json::Value> parameters = json::Value(json::Object{});
    std::optional<ReplayTools> replay_tools;
    static constexpr Pack fields{
        Field{
            "kind", &TaskDefinition::kind,
            "command: in a sandbox without network. http: one POST per run. evaluate: no runs, only the evaluators on "
            "the runs that there are. prompt: one call of a model per run. replay: the recorded trace of each example "
            "again, with its recorded input, through the command or the url; without both, the recorded outputs are "
            "the "
            "runs."},
        Field{
            "command", &TaskDefinition::command,
            "Shell command. It reads {id, input, metadata, repetition} as JSON on stdin and writes its output as JSON "
            "to stdout. It never gets the reference output."},
        Field{"files", &TaskDefinition::files,
              "Files of the command by their path, at most 2 MiB together; they are in its working directory."},
        Field{"repo", &TaskDefinition::repo,
              "Id or name of a registered repository; its files are in the working directory of the command."},
        Field{"ref", &TaskDefinition::ref, "Branch, tag or commit of the repository; its default if not given."},
        Field{"image", &TaskDefinition::image, "Image of the sandbox; `host`: the server's own programs."},
        Field{"env", &TaskDefinition::env,
              "Environment variables of the command. Not for secrets: they are stored as given."},
        Field{"last_line", &TaskDefinition::last_line,
              "The last line of stdout is the output; lines before it are ignored."},
        Field{"url", &TaskDefinition::url,
              "Address that gets the same JSON by POST and responds with the output as JSON."},
        Field{"timeout_ms", &TaskDefinition::timeout_ms, "Time of one run, 100 to 3600000."},
        Field{
            "prompt", &TaskDefinition::prompt,
            "Prompt whose variables get the input of the example: NAME for its newest version, NAME@TAG, NAME:NUMBER, "
            "or the id of a version. Stored as the id of the version."},
        Field{"prompt_version", &TaskDefinition::prompt_version,
              "Content of the version, as POST /v1/prompts has it: given instead of `prompt`, or stored with it."},
        Field{"provider", &TaskDefinition::provider, "Model provider instead of the version's, such as ANTHROPIC."},
        Field{"model", &TaskDefinition::model, "Model instead of the version's."},
        Field{"skill", &TaskDefinition::skill,
              "Id or name of the model skill; if not given, the one of the space that offers the model."},
        Field{"parameters", &TaskDefinition::parameters,
              "Invocation parameters that replace those of the version; null removes one."},
        Field{"replay_tools", &TaskDefinition::replay_tools,
              "Of a replay: recorded: the application gets the recorded results of its tools as replay.tools. live: it "
              "calls them. If not given, a command calls them in its sandbox, and for a url traces that called tools "
              "are not replayed."},
    };
};

// The commit of a branch that a run pushed, as the `ref` of a task: it is in the run's quarantine. Only the server
// itself starts such tasks.
constexpr std::string_view pushed_prefix = "run:";
inline std::string pushed_ref(const std::string& run, const std::string& commit) {
    return std::string(pushed_prefix) + run + ":" + commit;
}

struct StartTask {
    TaskDefinition task;
    json::Defaulted<std::vector<std::string>> evaluators;
    json::Defaulted<int64_t> concurrency = int64_t{4};
    std::optional<int64_t> budget_seconds;
    std::optional<int64_t> budget_micro_usd;
    static constexpr Pack fields{
        Field{"task", &StartTask::task, "What is run for each example."},
        Field{"evaluators", &StartTask::evaluators,
              "Evaluators by id or name, of rules PROJECT/NAME, each with @NUMBER for a version other than the newest. "
              "Code evaluates outputs. Rules evaluate the spans of the run's trace, so they need runs with a trace: of "
              "clients, of a url, or recorded ones."},
        Field{"concurrency", &StartTask::concurrency, "Runs at the same time, 1 to 16; 4 if not given."},
        Field{"budget_seconds", &StartTask::budget_seconds,
              "Stops when the experiment has run for this long, all attempts together; no limit if not given."},
        Field{
            "budget_micro_usd", &StartTask::budget_micro_usd,
            "Stops when the model calls of a task of kind prompt have cost this much, in millionths of a US dollar; no "
            "limit if not given. The model needs a price."},
    };
};

struct TaskEvaluator {
    EvaluatorId evaluator_id;
    int64_t number = 1;
    std::string name;
    int64_t evals = 0;
    int64_t failed_evals = 0;
    std::optional<access::ProjectId> project_id{}; // of a rule
    static constexpr Pack fields{
        Field{"evaluator_id", &TaskEvaluator::evaluator_id, "Id of the evaluator."},
        Field{"number", &TaskEvaluator::number, "Its version."},
        Field{"name", &TaskEvaluator::name, "Name of the evals."},
        Field{"evals", &TaskEvaluator::evals, "Runs with a verdict."},
        Field{"failed_evals", &TaskEvaluator::failed_evals, "Runs for which it failed."},
    };
};

// What was replayed of an example, or why it could not be.
struct Replay {
    ExampleId example_id;
    std::optional<std::string> source_project;
    std::optional<std::string> source_trace;
    std::optional<std::string> source_span;
    ReplayTools tools = ReplayTools::none;
    int64_t tool_results = 0;
    std::string reason;
    static constexpr Pack fields{
        Field{"example_id", &Replay::example_id, "Id of the example."},
        Field{"source_project", &Replay::source_project, "Project of the recorded trace."},
        Field{"source_trace", &Replay::source_trace, "The recorded trace."},
        Field{"source_span", &Replay::source_span, "The span whose input is replayed."},
        Field{"tools", &Replay::tools,
              "none: no tools were called, or nothing was run. live: the application called its tools. recorded: it "
              "got recorded results."},
        Field{"tool_results", &Replay::tool_results, "Recorded results that the application got instead of calls."},
        Field{"reason", &Replay::reason, "Why it was not replayed; empty: it was."},
    };
};

struct ExperimentTask {
    ExperimentId experiment_id;
    access::SpaceId space_id;
    TaskDefinition task;
    int64_t concurrency = 4;
    std::optional<int64_t> budget_seconds;
    std::optional<int64_t> budget_micro_usd;
    TaskState state = TaskState::queued;
    std::string reason;
    std::string commit_name;
    int64_t spent_ms = 0;
    int64_t spent_tokens = 0;
    int64_t spent_micro_usd = 0;
    std::string project_id;
    std::string project_name;
    std::vector<TaskEvaluator> evaluators;
    int64_t expected_runs = 0;
    int64_t successful_runs = 0;
    int64_t failed_runs = 0;
    int64_t not_replayed = 0;
    std::string started_by;
    Time created_at{};
    Time attempt_at{};
    std::optional<Time> started_at;
    std::optional<Time> ended_at;
    std::vector<std::string> source_projects{}; // of replays: those whose traces may be read
    static constexpr Pack fields{
        Field{"experiment_id", &ExperimentTask::experiment_id, "Id of the experiment."},
        Field{"space_id", &ExperimentTask::space_id, "Id of the space."},
        Field{"task", &ExperimentTask::task, "What is run for each example."},
        Field{"concurrency", &ExperimentTask::concurrency, "Runs at the same time."},
        Field{"budget_seconds", &ExperimentTask::budget_seconds, "Time limit of all attempts together."},
        Field{"budget_micro_usd", &ExperimentTask::budget_micro_usd, "Limit of the cost of its model calls."},
        Field{"state", &ExperimentTask::state, "queued, running, stopped, done, failed or budget_stopped."},
        Field{"reason", &ExperimentTask::reason, "Why it failed or was stopped."},
        Field{"commit_name", &ExperimentTask::commit_name, "Commit of the repository that is run."},
        Field{"spent_ms", &ExperimentTask::spent_ms, "Time of all attempts until now."},
        Field{"spent_tokens", &ExperimentTask::spent_tokens,
              "Tokens of the model calls of the task and its evaluators."},
        Field{"spent_micro_usd", &ExperimentTask::spent_micro_usd,
              "Their cost in millionths of a US dollar; calls of models without a price count as 0."},
        Field{"project_id", &ExperimentTask::project_id, "Project that has the traces of its runs."},
        Field{"project_name", &ExperimentTask::project_name, "Its name."},
        Field{"evaluators", &ExperimentTask::evaluators, "Evaluators with their fixed versions and their counts."},
        Field{"expected_runs", &ExperimentTask::expected_runs, "Examples times repetitions."},
        Field{"successful_runs", &ExperimentTask::successful_runs, "Runs with an output."},
        Field{"failed_runs", &ExperimentTask::failed_runs, "Runs with an error."},
        Field{"not_replayed", &ExperimentTask::not_replayed, "Of a replay: examples that could not be replayed."},
        Field{"started_by", &ExperimentTask::started_by, "Name of the user or key that started it."},
        Field{"created_at", &ExperimentTask::created_at, "Time of creation."},
        Field{"attempt_at", &ExperimentTask::attempt_at, "Runs and evals that failed before this time are retried."},
        Field{"started_at", &ExperimentTask::started_at, "Time of the first run."},
        Field{"ended_at", &ExperimentTask::ended_at, "Time when it was done, failed or stopped."},
    };
};

} // namespace hone::evaluate
