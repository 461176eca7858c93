#include "evaluate/runner/prompt_task.h"

#include "base/text.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/runner/task_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr int most_tries = 4; // of a call that the provider refuses for now
constexpr Duration first_pause = std::chrono::seconds(1);
constexpr Duration longest_pause = std::chrono::seconds(30);
constexpr int64_t nano_per_micro = 1000;

PromptTarget target_of(const TaskDefinition& task) {
    return {*task.provider, *task.model, task.parameters.value.get_object(), false};
}

TaskOutcome failed_call(std::string why, const ModelReply* reply = nullptr) {
    TaskOutcome outcome{"null", std::move(why)};
    if (reply != nullptr && !reply->trace_id.empty()) outcome.trace_id = reply->trace_id;
    return outcome;
}

// The output of a run: always the same form, so that evaluators need not guess.
TaskOutcome output_of_reply(const ModelReply& reply, bool is_json) {
    json::Object output{{"content", reply.text}};
    if (is_json) {
        auto value = json::parse(trim(reply.text));
        if (!value.ok())
            return failed_call("the reply is not the JSON that the response format requires: " +
                                   std::string(truncate_utf8(reply.text, 200)),
                               &reply);
        output["json"] = std::move(value).value();
    }
    json::Array calls;
    for (const ModelToolUse& call : reply.tool_calls) {
        json::Object made{{"id", call.id}, {"name", call.name}};
        auto arguments = json::parse(call.arguments);
        made["arguments"] = arguments.ok() ? std::move(arguments).value() : json::Value(call.arguments);
        calls.push_back(std::move(made));
    }
    if (!calls.empty()) output["tool_calls"] = std::move(calls);
    if (!reply.finish_reason.empty()) output["finish_reason"] = reply.finish_reason;
    output["model"] = reply.model;
    json::Object usage{{"input_tokens", reply.input_tokens}, {"output_tokens", reply.output_tokens}};
    if (reply.estimated_tokens > 0) usage["estimated_tokens"] = reply.estimated_tokens;
    output["usage"] = std::move(usage);
    TaskOutcome outcome{json::print(output), std::nullopt};
    if (outcome.output.size() > largest_output) return failed_call("the output has more than 4 MiB", &reply);
    if (!reply.trace_id.empty()) outcome.trace_id = reply.trace_id;
    return outcome;
}

// Waits in short steps, so that a server can stop. False: it stops.
bool wait_for(Duration pause, const std::function<bool()>& abandoned) {
    constexpr Duration step = std::chrono::milliseconds(50);
    for (Duration waited{}; waited < pause; waited += step) {
        if (abandoned()) return false;
        std::this_thread::sleep_for(step);
    }
    return !abandoned();
}

} // namespace

Result<PromptVersion> find_prompt_version(const Caller& caller, const access::SpaceId& space, const Prompts& prompts,
                                          const std::string& text) {
    if (text.starts_with(std::string(PromptVersionTag::kind) + "_")) {
        const auto absent = [&] { return not_found("prompt version " + std::string(truncate_utf8(text, 100))); };
        const auto id = parse_id<PromptVersionTag>(text);
        if (!id.ok()) return absent();
        const PromptVersion found = TRY(prompts.version(caller, id.value()));
        if (TRY(prompts.find(caller, space, found.prompt_id.text())).space_id != space) return absent();
        return found;
    }
    const size_t mark = text.find_first_of("@:");
    const std::string name = text.substr(0, mark);
    const Prompt prompt = TRY(prompts.find(caller, space, name));
    if (prompt.space_id != space) return not_found("prompt " + std::string(truncate_utf8(name, 100)));
    if (mark == std::string::npos) return prompts.latest(caller, prompt.id);
    const std::string which = text.substr(mark + 1);
    if (text[mark] == '@') return prompts.tagged(caller, prompt.id, which);
    const auto number = parse_integer(which);
    if (!number.ok() || number.value() < 1)
        return invalid("prompt: " + std::string(truncate_utf8(text, 100)) + " has no version number after the colon");
    return prompts.numbered(caller, prompt.id, number.value());
}

Result<> pin_prompt_task(const Caller& caller, const Experiment& experiment, const Prompts& prompts,
                         TaskDefinition& task, TaskSources* sources) {
    // Calls of models cost money: what starts a run may make them.
    TRY(caller.require(Permission::run_start, experiment.space_id));
    ModelCalls* const models = sources == nullptr ? nullptr : sources->models();
    if (models == nullptr) return unavailable("this server calls no models");
    if (!task.parameters.value.is_object()) return invalid("parameters must be an object");
    const bool is_inline = !task.prompt_version.value.is_null();
    if (is_inline == !task.prompt.value.empty())
        return invalid("give prompt, the name of a prompt, or prompt_version, the content of a version");
    if (is_inline) {
        task.prompt_version.value = TRY(Prompts::checked_content(task.prompt_version.value));
    } else {
        const PromptVersion version = TRY(find_prompt_version(caller, experiment.space_id, prompts, *task.prompt));
        task.prompt = version.id.text();
        task.prompt_version.value = version.content;
    }
    const PromptRequest request = TRY(check_prompt_request(*task.prompt_version, target_of(task)));
    task.model = request.model;
    task.skill = TRY(models->find_skill(caller, experiment.space_id, *task.skill, request.protocol, request.model));
    return {};
}

json::Value metadata_of_prompt_task(const Experiment& experiment, const TaskDefinition& task) {
    json::Value metadata = experiment.metadata;
    if (!metadata.is_object()) metadata = json::Object{};
    if (!task.prompt.value.empty()) metadata.get_object()["prompt_version_id"] = *task.prompt;
    metadata.get_object()["model"] = *task.model;
    return metadata;
}

Result<> add_spending(ExperimentTask& task, TaskSources* sources) {
    if (sources == nullptr || sources->models() == nullptr) return {};
    if (task.task.kind != TaskKind::prompt && task.evaluators.empty()) return {};
    const ModelSpending spent = TRY(sources->models()->spent(task.experiment_id.text()));
    task.spent_tokens = spent.tokens;
    task.spent_micro_usd = spent.cost_nano_usd / nano_per_micro;
    return {};
}

PromptTask::PromptTask(const ExperimentTask& task, std::unique_ptr<ModelSession> session)
    : m_task(task.task),
      m_experiment_id(task.experiment_id.text()),
      m_session(std::move(session)) {}

Result<std::unique_ptr<PromptTask>> PromptTask::open(const ExperimentTask& task, TaskSources* sources) {
    ModelCalls* const models = sources == nullptr ? nullptr : sources->models();
    if (models == nullptr) return unavailable("this server calls no models");
    ModelOwner owner{task.space_id,     task.experiment_id.text(), task.project_id,
                     task.project_name, *task.task.skill,          std::nullopt};
    if (task.budget_micro_usd) owner.cost_limit_nano_usd = *task.budget_micro_usd * nano_per_micro;
    auto session = TRY(models->open(owner));
    return std::unique_ptr<PromptTask>(new PromptTask(task, std::move(session)));
}

Result<TaskOutcome> PromptTask::run(const PendingRun& run, const std::function<bool()>& abandoned) const {
    const json::Value input = stored_json(run.example.input);
    const auto request = make_prompt_request(*m_task.prompt_version, target_of(m_task),
                                             input.is_object() ? input.get_object() : json::Object{{"input", input}});
    if (!request.ok()) return failed_call(request.error().message);
    OutgoingCall outgoing{request.value()};
    outgoing.timeout = std::chrono::milliseconds(*m_task.timeout_ms);
    outgoing.attributes = {{"hone.experiment_id", m_experiment_id},
                           {"hone.example_id", run.example.id.text()},
                           {"hone.repetition", std::to_string(run.repetition)}};
    if (!m_task.prompt.value.empty()) {
        outgoing.attributes.emplace_back("prompt.vendor", "hone");
        outgoing.attributes.emplace_back("prompt.id", *m_task.prompt);
    }
    const json::Object& version = m_task.prompt_version.value.get_object();
    const bool is_json = version.contains("response_format");
    Duration pause = first_pause;
    for (int attempt = 1;; ++attempt) {
        const auto sent_call = m_session->send(outgoing);
        if (!sent_call.ok() && (sent_call.error().code == Code::conflict || abandoned()))
            return conflict("the server stops");
        if (!sent_call.ok() && sent_call.error().code == Code::busy)
            return failed_call(fmt::format("the model took longer than {} ms", *m_task.timeout_ms));
        if (!sent_call.ok()) return failed_call("the call of the model failed: " + sent_call.error().message);
        const ModelReply& reply = sent_call.value();
        if (reply.out_of_budget) {
            TaskOutcome stopped;
            stopped.out_of_budget = reply.error;
            return stopped;
        }
        if (reply.error.empty()) return output_of_reply(reply, is_json && reply.tool_calls.empty());
        if (!reply.is_temporary || attempt >= most_tries) return failed_call(reply.error, &reply);
        if (!wait_for(std::clamp(reply.retry_after, pause, longest_pause), abandoned))
            return conflict("the server stops");
        pause = std::min(pause * 2, longest_pause);
    }
}

} // namespace hone::evaluate
