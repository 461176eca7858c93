#include "evaluate/runner/playground.h"

#include "base/log.h"
#include "evaluate/datasets/dataset_rows.h"
#include "evaluate/runner/prompt_task.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::evaluate {

using access::Caller, access::Permission;

namespace {

constexpr std::string_view playground_project = "hone-playground";
constexpr int64_t sampled_examples = 20; // of a dataset, for an estimate
constexpr int64_t bytes_per_token = 4;
constexpr size_t shortest_attachment = 2000; // letters of base64 without a break
constexpr int64_t tokens_of_attachment = 1500;

bool is_base64(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' ||
           c == '=';
}

int64_t to_ms(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

std::string error_event(const std::string& message) {
    return json::print(json::Object{{"message", message}});
}

} // namespace

int64_t estimated_input_tokens(std::string_view body) {
    int64_t text = 0;
    int64_t attachments = 0;
    for (size_t at = 0; at < body.size();) {
        size_t end = at;
        while (end < body.size() && is_base64(body[end])) ++end;
        if (end - at >= shortest_attachment)
            ++attachments;
        else
            text += static_cast<int64_t>(std::max<size_t>(end - at, 1));
        at = std::max(end, at + 1);
    }
    return (text + bytes_per_token - 1) / bytes_per_token + attachments * tokens_of_attachment;
}

Playground::~Playground() {
    std::list<Live> live;
    {
        const Lock lock(m_mutex);
        m_ending = true;
        live.swap(m_live);
    }
    for (Live& one : live) one.call->cancel();
    for (Live& one : live) one.thread.join();
}

void Playground::join_finished() {
    std::list<Live> finished;
    {
        const Lock lock(m_mutex);
        for (auto one = m_live.begin(); one != m_live.end();) {
            const auto next = std::next(one);
            if (one->finished) finished.splice(finished.end(), m_live, one);
            one = next;
        }
    }
    for (Live& one : finished) one.thread.join();
}

// Where the trace goes: a project that the caller may write to, or the hidden one of the space.
Result<access::Project> Playground::project_of(const Caller& caller, const access::SpaceId& space,
                                               const std::string& wanted) const {
    if (!wanted.empty()) {
        access::Project project = TRY(m_access.projects.find(caller, space, wanted, Permission::trace_write));
        if (project.space_id != space) return not_found("project " + std::string(truncate_utf8(wanted, 100)));
        return project;
    }
    const std::string name(playground_project);
    auto known = m_access.projects.find(Caller::system(), space, name);
    if (known.ok() || known.error().code != Code::not_found) return known;
    auto made = m_access.projects.create_for_experiment(Caller::system(), space, name);
    if (made.ok() || made.error().code != Code::conflict) return made;
    return m_access.projects.find(Caller::system(), space, name); // another request made it meanwhile
}

Result<ModelCalls*> Playground::models_for(const Caller& caller, const access::SpaceId& space) const {
    TRY(caller.require(Permission::run_start, space));
    TRY(caller.require(Permission::dataset_read, space));
    ModelCalls* const models = m_sources == nullptr ? nullptr : m_sources->models();
    if (models == nullptr) return unavailable("this server calls no models");
    return models;
}

Result<Playground::Chosen> Playground::choose(const Caller& caller, const access::SpaceId& space,
                                              const PlaygroundRun& wanted) const {
    if (!wanted.parameters.value.is_object()) return invalid("parameters must be an object");
    if (!wanted.variables.value.is_object()) return invalid("variables must be an object");
    const bool is_inline = !wanted.prompt_version.value.is_null();
    if (is_inline == !wanted.prompt.value.empty())
        return invalid("give prompt, the name of a prompt, or prompt_version, the content of a version");
    Chosen chosen;
    chosen.target = {*wanted.provider, *wanted.model, wanted.parameters.value.get_object(), true};
    if (is_inline) {
        chosen.content = TRY(Prompts::checked_content(*wanted.prompt_version));
        return chosen;
    }
    PromptVersion version = TRY(find_prompt_version(caller, space, m_prompts, *wanted.prompt));
    chosen.content = std::move(version.content);
    chosen.version_id = version.id.text();
    return chosen;
}

Result<std::shared_ptr<PlaygroundCall>> Playground::prepare(const Caller& caller, const access::SpaceId& space,
                                                            const PlaygroundRun& wanted) {
    ModelCalls* const models = TRY(models_for(caller, space));
    if (*wanted.timeout_ms < 1000 || *wanted.timeout_ms > 600'000)
        return invalid("timeout_ms must be between 1000 and 600000");
    const Chosen chosen = TRY(choose(caller, space, wanted));
    auto call = std::make_shared<PlaygroundCall>();
    call->m_who = caller.principal();
    if (!chosen.version_id.empty())
        call->m_outgoing.attributes = {{"prompt.vendor", "hone"}, {"prompt.id", chosen.version_id}};
    call->m_outgoing.request =
        TRY(make_prompt_request(chosen.content, chosen.target, wanted.variables.value.get_object()));
    call->m_outgoing.timeout = std::chrono::milliseconds(*wanted.timeout_ms);
    const PromptRequest& request = call->m_outgoing.request;
    {
        const Lock lock(m_mutex);
        const auto of_caller = std::count_if(m_live.begin(), m_live.end(), [&](const Live& one) {
            return !one.finished && one.call->m_who == call->m_who;
        });
        const auto of_all = std::count_if(m_live.begin(), m_live.end(), [](const Live& one) { return !one.finished; });
        if (static_cast<size_t>(of_caller) >= most_calls_of_one || static_cast<size_t>(of_all) >= most_calls)
            return busy(
                fmt::format("too many calls of the playground are under way: {} of one person and {} of all are "
                            "the most; wait until one ends",
                            most_calls_of_one, most_calls));
    }
    ModelOwner owner;
    owner.space_id = space;
    owner.id = "playground";
    owner.skill_id = TRY(models->find_skill(caller, space, *wanted.skill, request.protocol, request.model));
    const access::Project project = TRY(project_of(caller, space, *wanted.project));
    owner.project_id = project.id.text();
    owner.project_name = project.name;
    call->m_project_id = owner.project_id;
    call->m_outgoing.attributes.emplace_back("user.id", caller.name);
    call->m_session = TRY(models->open(owner));
    return call;
}

Result<CallsEstimate> Playground::estimate(const Caller& caller, const access::SpaceId& space,
                                           const EstimateCalls& wanted) const {
    ModelCalls* const models = TRY(models_for(caller, space));
    if (*wanted.repetitions < 1 || *wanted.repetitions > most_repetitions)
        return invalid(fmt::format("repetitions must be between 1 and {}", most_repetitions));
    const Chosen chosen = TRY(choose(caller, space, wanted.call));
    CallsEstimate made;
    std::vector<json::Object> inputs;
    int64_t count = 1;
    if (wanted.dataset.value.empty()) {
        inputs.push_back(wanted.call.variables.value.get_object());
    } else {
        const Dataset dataset = TRY(m_datasets.find(caller, space, *wanted.dataset));
        count = dataset.example_count;
        std::vector<SplitId> splits;
        if (!wanted.split.value.empty()) {
            const auto found = TRY(m_datasets.find_splits(caller, dataset.id, {*wanted.split}));
            count = found.front().example_count;
            splits.push_back(found.front().id);
        }
        for (const Example& example :
             TRY(m_datasets.examples(caller, dataset.id, newest_version, splits, -1, sampled_examples)))
            inputs.push_back(stored_json(example.input).get_object());
        if (inputs.empty()) return invalid("the dataset has no examples to run on");
    }
    // The mean over the examples that fill the template. The others fail without a call.
    int64_t tokens = 0;
    int64_t fitting = 0;
    PromptRequest request;
    std::optional<Error> first_error;
    for (const json::Object& input : inputs) {
        auto one = make_prompt_request(chosen.content, chosen.target, input);
        if (one.ok()) {
            request = std::move(one).value();
            tokens += estimated_input_tokens(request.body);
            ++fitting;
        } else if (!first_error) {
            first_error = one.error();
        }
    }
    if (fitting == 0) return *first_error;
    const int64_t input_tokens = (tokens + fitting - 1) / fitting;
    const std::string skill =
        TRY(models->find_skill(caller, space, *wanted.call.skill, request.protocol, request.model));
    const CallForecast forecast = TRY(models->forecast(space, skill, request, input_tokens));
    made.model = request.model;
    made.calls = count * *wanted.repetitions;
    made.input_tokens = input_tokens * made.calls;
    made.output_tokens = forecast.output_tokens * made.calls;
    made.measured_calls = forecast.measured_calls;
    if (forecast.cost_nano_usd) made.cost_micro_usd = *forecast.cost_nano_usd * made.calls / 1000;
    return made;
}

Result<std::vector<OfferedModel>> Playground::list_models(const Caller& caller, const access::SpaceId& space,
                                                          const ModelListRequest& wanted) const {
    TRY(caller.require(Permission::run_start, space));
    const bool is_stored = !wanted.skill.value.empty();
    if (is_stored != wanted.variables.value.empty() || (is_stored && !wanted.key.value.empty()))
        return invalid("give skill, the id or name of a model skill, or variables of one that is not stored");
    if (!is_stored) TRY(caller.require(Permission::skill_write, space));
    ModelCalls* const models = m_sources == nullptr ? nullptr : m_sources->models();
    if (models == nullptr) return unavailable("this server calls no models");
    return models->list_models(caller, space, wanted);
}

void Playground::run(PlaygroundCall& call, const Send& send) const {
    const Duration began = m_clock.steady();
    PlaygroundReply last;
    size_t sent = 0;
    OutgoingCall outgoing = call.m_outgoing;
    outgoing.watch = [&](const std::string& text) {
        if (text.size() <= sent) return true;
        if (!last.first_text_ms) last.first_text_ms = to_ms(m_clock.steady() - began);
        const bool is_received = send("text", json::print(json::Object{{"text", text.substr(sent)}}));
        sent = text.size();
        return is_received;
    };
    const auto sent_call = call.m_session->send(outgoing);
    last.duration_ms = to_ms(m_clock.steady() - began);
    if (!sent_call.ok()) {
        send("error", error_event(sent_call.error().code == Code::busy
                                      ? fmt::format("the model took longer than {} ms", to_ms(outgoing.timeout))
                                      : sent_call.error().message));
        return;
    }
    const ModelReply& reply = sent_call.value();
    if (!reply.error.empty()) {
        send("error", error_event(reply.error));
        return;
    }
    last.text = reply.text;
    for (const ModelToolUse& use : reply.tool_calls) last.tool_calls.push_back({use.id, use.name, use.arguments});
    last.finish_reason = reply.finish_reason;
    last.model = reply.model;
    last.input_tokens = reply.input_tokens;
    last.output_tokens = reply.output_tokens;
    last.estimated_tokens = reply.estimated_tokens;
    if (reply.cost_nano_usd) last.cost_micro_usd = *reply.cost_nano_usd / 1000;
    last.project_id = call.m_project_id;
    if (!reply.trace_id.empty()) last.trace_id = reply.trace_id;
    send("done", json::write(last));
}

void Playground::start(std::shared_ptr<PlaygroundCall> call, Send send, std::function<void()> ended) {
    join_finished();
    const Lock lock(m_mutex);
    if (m_ending) return ended();
    Live& live = m_live.emplace_back();
    live.call = call;
    live.thread = std::thread([this, &live, call = std::move(call), send = std::move(send), ended = std::move(ended)] {
        try {
            run(*call, send);
        } catch (const std::exception& error) {
            log(Level::error, "a call of the playground failed", {{"error", error.what()}});
        }
        ended();
        const Lock done(m_mutex);
        live.finished = true;
    });
}

} // namespace hone::evaluate
