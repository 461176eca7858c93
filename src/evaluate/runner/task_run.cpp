#include "evaluate/runner/task_run.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/evaluators/short_lived_file.h"
#include "evaluate/runner/prompt_task.h"
#include "net/client/address_range.h"
#include "net/http/url.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::evaluate {

namespace {

constexpr size_t kept_task_stderr = 4096;

constexpr std::string_view task_script = R"sh(set -e
if [ -f /task-checkout/files.tar ]; then tar -x -f /task-checkout/files.tar -C /workspace; fi
if [ -d /task-files ]; then cp -R /task-files/. /workspace/; fi
exec /bin/sh -c "$1" < /task/input.json
)sh";

struct TaskSandbox {
    std::unique_ptr<sandbox::Sandbox> box;
    ~TaskSandbox() {
        if (const auto done = box->destroy(); !done.ok())
            log(Level::warning, "sandbox of an experiment not removed", {{"why", done.error().message}});
    }
};

struct RunFolder {
    std::string path;
    ~RunFolder() { static_cast<void>(sandbox::remove_tree(path)); }
};

// What the task gets: never the output of the example.
std::string task_input(const PendingRun& run) {
    json::Object input{{"id", run.example.id.text()}};
    input["input"] = stored_json(run.example.input);
    input["metadata"] = stored_json(run.example.metadata);
    input["repetition"] = run.repetition;
    if (run.replay) input["replay"] = *run.replay;
    return json::print(input) + "\n";
}

TaskOutcome failed_run(std::string why) {
    return {"null", std::move(why)};
}

TaskOutcome output_of(std::string_view text, bool last_line) {
    text = trim(text);
    if (last_line) {
        const size_t line = text.rfind('\n');
        if (line != std::string_view::npos) text = trim(text.substr(line + 1));
    }
    if (text.empty()) return failed_run("the output is empty; write one JSON value");
    if (text.size() > largest_output) return failed_run("the output has more than 4 MiB");
    const auto value = json::parse(text);
    if (!value.ok())
        return failed_run(fmt::format("the output is not one JSON value ({}): {}", value.error().message,
                                      repair_utf8(truncate_utf8(text, 200))));
    return {json::print(value.value()), std::nullopt};
}

std::string end_of_stderr(std::string_view said) {
    said = trim(said);
    if (said.size() > kept_task_stderr) said.remove_prefix(said.size() - kept_task_stderr);
    std::string kept = repair_utf8(said);
    std::erase(kept, '\0');
    return kept.empty() ? kept : "; stderr: " + kept;
}

} // namespace

Result<std::unique_ptr<TaskFolder>> TaskFolder::make(const std::string& directory, const ExperimentTask& task,
                                                     TaskSources* sources, std::string& commit) {
    std::unique_ptr<TaskFolder> folder(new TaskFolder(directory + "/task-" + make_ulid(SystemClock().now())));
    if (task.task.kind == TaskKind::prompt) {
        folder->prompt = TRY(PromptTask::open(task, sources));
        return folder;
    }
    TRY(make_readable_directory(folder->path));
    for (const auto& [path, content] : *task.task.files) {
        folder->has_files = true;
        const std::string place = folder->path + "/files/" + path;
        TRY(make_readable_directory(folder->path + "/files"));
        for (size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
            TRY(make_readable_directory(folder->path + "/files/" + path.substr(0, slash)));
        TRY(write_short_lived(place, content));
    }
    if (!task.task.repo.value.empty()) {
        if (sources == nullptr) return unavailable("this server has no repositories");
        folder->has_checkout = true;
        TRY(make_readable_directory(folder->path + "/checkout"));
        const bool is_pushed = task.task.ref.value.starts_with(pushed_prefix);
        const std::string& ref = commit.empty() || is_pushed ? *task.task.ref : commit;
        commit = TRY(sources->write_archive(task.space_id, *task.task.repo, ref, folder->path + "/checkout/files.tar"));
    }
    return folder;
}

TaskFolder::TaskFolder(std::string folder) : path(std::move(folder)) {}

TaskFolder::~TaskFolder() {
    static_cast<void>(sandbox::remove_tree(path));
}

TaskRunner::TaskRunner(sandbox::Provider* provider, TaskSources* sources, telemetry::Spans* spans)
    : m_provider(provider),
      m_sources(sources),
      m_recordings(spans) {}

void TaskRunner::abandon() {
    m_cancel.cancel();
    if (m_sources != nullptr && m_sources->models() != nullptr) m_sources->models()->stop();
}

Result<TaskOutcome> TaskRunner::run(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                                    const std::function<bool()>& abandoned) {
    if (task.task.kind == TaskKind::replay) return replay(task, folder, run, abandoned);
    if (task.task.kind == TaskKind::http) return post(task, run);
    if (task.task.kind == TaskKind::prompt) return folder.prompt->run(run, abandoned);
    return run_command(task, folder, run, abandoned);
}

Result<TaskOutcome> TaskRunner::replay(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                                       const std::function<bool()>& abandoned) {
    Recording recording = TRY(m_recordings.find(task, run.example));
    TaskOutcome outcome;
    if (!recording.replay.reason.empty()) {
        outcome = failed_run("cannot be replayed: " + recording.replay.reason);
    } else if (task.task.command.value.empty() && task.task.url.value.empty()) {
        outcome = recording.error ? failed_run(*recording.error) : TaskOutcome{json::print(recording.output), {}};
        outcome.is_recorded = true;
    } else {
        PendingRun again = run;
        again.example.input = json::print(recording.input);
        json::Object recorded{{"trace_id", recording.trace_id}, {"span_id", recording.span_id}};
        if (recording.replay.tools == ReplayTools::recorded) recorded["tools"] = recording.tools;
        again.replay = std::move(recorded);
        outcome = TRY(task.task.url.value.empty() ? run_command(task, folder, again, abandoned) : post(task, again));
    }
    outcome.recording = std::move(recording);
    return outcome;
}

Result<TaskOutcome> TaskRunner::run_command(const ExperimentTask& task, const TaskFolder& folder, const PendingRun& run,
                                            const std::function<bool()>& abandoned) const {
    if (m_provider == nullptr) return unavailable("this machine cannot isolate commands; `hone check` states why");
    const RunFolder input{folder.path + "/run-" + make_ulid(SystemClock().now())};
    TRY(make_readable_directory(input.path));
    TRY(write_short_lived(input.path + "/input.json", task_input(run)));
    sandbox::SandboxSpec spec;
    spec.root = *task.task.image;
    spec.mounts.value.push_back({input.path, "/task", true});
    if (folder.has_files) spec.mounts.value.push_back({folder.path + "/files", "/task-files", true});
    if (folder.has_checkout) spec.mounts.value.push_back({folder.path + "/checkout", "/task-checkout", true});
    spec.limits.value.output_bytes = int64_t{8} << 20;
    spec.limits.value.disk_bytes = int64_t{1} << 30;
    spec.limits.value.wall_clock_ms = *task.task.timeout_ms + 30'000;
    spec.labels.value = {{"experiment", task.experiment_id.text()}};
    sandbox::Command command;
    command.argv = {"/bin/sh", "-c", std::string(task_script), "task", *task.task.command};
    command.env = *task.task.env;
    command.env.value.emplace("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env.value.emplace("HOME", "/workspace");
    command.env.value.emplace("LANG", "C.UTF-8");
    command.env.value["HONE_EXPERIMENT"] = task.experiment_id.text();
    command.env.value["HONE_EXAMPLE"] = run.example.id.text();
    command.env.value["HONE_REPETITION"] = std::to_string(run.repetition);
    command.timeout_ms = *task.task.timeout_ms;
    spec.command = command;
    const TaskSandbox sandbox{TRY(m_provider->start(spec))};
    std::string out, said;
    for (int64_t offset = 0;;) {
        if (abandoned()) return conflict("the server stops");
        const sandbox::Output output = TRY(sandbox.box->output(0, offset, 200));
        for (const auto& part : output.parts) {
            if (part.stream == sandbox::Stream::out)
                out += part.bytes;
            else
                said += part.bytes;
        }
        if (said.size() > 4 * kept_task_stderr) said.erase(0, said.size() - 2 * kept_task_stderr);
        offset = output.next;
        if (output.finished) break;
    }
    const sandbox::CommandResult ended = TRY(sandbox.box->wait(0, 10'000));
    for (const sandbox::LimitHit hit : ended.limits_hit) {
        if (hit == sandbox::LimitHit::timeout)
            return failed_run(fmt::format("the command took longer than {} ms", *task.task.timeout_ms) +
                              end_of_stderr(said));
        return failed_run("the command ran into a limit: " + std::string(name_of(hit)) + end_of_stderr(said));
    }
    if (ended.error) return failed_run("the command could not be started: " + *ended.error);
    if (ended.signal)
        return failed_run(fmt::format("the command was ended by signal {}", *ended.signal) + end_of_stderr(said));
    if (ended.exit_code != 0)
        return failed_run(fmt::format("the command exited with status {}", ended.exit_code.value_or(-1)) +
                          end_of_stderr(said));
    return output_of(out, *task.task.last_line);
}

// The address is checked and the connection goes to the same one, so a name that changes in between leads nowhere else.
Result<std::string> TaskRunner::checked_address(const std::string& url) const {
    const net::Url parsed = TRY(net::parse_url(url));
    const bool allows_private = m_sources != nullptr && m_sources->allows_private(parsed.host, parsed.port);
    const auto reach = allows_private ? net::Reach::also_private : net::Reach::public_only;
    const auto endpoints = TRY(net::resolve(parsed.host, parsed.port));
    for (const net::Endpoint& endpoint : endpoints) {
        auto why = net::refused_range(endpoint, reach);
        if (!why && !allows_private && net::is_own_address(endpoint)) why = "address of this machine";
        if (why)
            return forbidden(fmt::format("{} is at a {}; an owner of the installation can allow it with "
                                         "egress_private_hosts",
                                         parsed.host, *why));
    }
    if (endpoints.empty()) return unavailable(parsed.host + " has no address");
    return endpoints.front().text;
}

Result<TaskOutcome> TaskRunner::post(const ExperimentTask& task, const PendingRun& run) {
    const auto address = checked_address(*task.task.url);
    if (!address.ok()) return failed_run(address.error().message);
    // An application that continues it has its spans in this trace.
    const std::string trace = to_hex(crypto::random_bytes(16));
    net::ClientRequest request;
    request.method = "POST";
    request.url = *task.task.url;
    request.body = task_input(run);
    request.headers = {{"Content-Type", "application/json"},
                       {"Accept", "application/json"},
                       {"X-Hone-Experiment", task.experiment_id.text()},
                       {"traceparent", "00-" + trace + "-" + to_hex(crypto::random_bytes(8)) + "-01"}};
    request.connect_to = address.value();
    request.max_response_bytes = largest_output;
    request.total_timeout = std::chrono::milliseconds(*task.task.timeout_ms);
    request.cancel = &m_cancel;
    const auto response = m_client.send(request);
    if (!response.ok() && m_cancel.is_cancelled()) return conflict("the server stops");
    TaskOutcome outcome;
    if (!response.ok()) {
        outcome = failed_run("the request failed: " + response.error().message);
    } else if (const int status = response.value().status; status < 200 || status > 299) {
        outcome = failed_run(fmt::format("the address responded with status {}{}: {}", status,
                                         status / 100 == 3 ? " (redirects are not followed)" : "",
                                         repair_utf8(truncate_utf8(trim(response.value().body), 300))));
    } else {
        outcome = output_of(response.value().body, false);
    }
    outcome.trace_id = trace;
    return outcome;
}

} // namespace hone::evaluate
