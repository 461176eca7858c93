#include "evaluate/judges/judge.h"

#include "base/text.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/judges/judge_text.h"
#include "evaluate/judges/llm_judge.h"
#include "net/http/url.h"

#include <fmt/format.h>
#include <set>
#include <thread>

namespace hone::evaluate {

using access::Caller;

namespace {

constexpr size_t most_judge_messages = 20;
constexpr size_t largest_judge_template = 256 << 10;
constexpr size_t largest_instructions = 64 << 10;
constexpr Duration session_idle = std::chrono::minutes(2);
constexpr Duration session_age = std::chrono::minutes(5);
constexpr int most_attempts = 5;
constexpr Duration first_retry = std::chrono::seconds(1);
constexpr Duration longest_retry = std::chrono::seconds(30);
constexpr Duration longest_pending = std::chrono::minutes(10);

constexpr std::pair<std::string_view, std::string_view> providers_of_protocols[] = {
    {"openai", "OPENAI"}, {"anthropic", "ANTHROPIC"}, {"gemini", "GOOGLE"}};

JudgeOutcome failed_outcome(JudgeReason reason, std::string why, bool is_temporary = false) {
    JudgeOutcome outcome;
    outcome.reason = reason;
    outcome.error = std::move(why);
    outcome.is_temporary = is_temporary;
    return outcome;
}

JudgeOutcome outcome_of_code(const CodeResult& result) {
    JudgeOutcome outcome;
    outcome.verdict = result.verdict;
    outcome.duration_ms = result.duration_ms;
    if (result.verdict) return outcome;
    outcome.error = result.error;
    const bool is_missing = result.error.starts_with("argument ");
    const bool is_off = result.error.find("does not fit the output") != std::string::npos;
    outcome.reason = is_missing ? JudgeReason::missing_variable
                     : is_off   ? JudgeReason::off_config
                                : JudgeReason::code_failed;
    return outcome;
}

// Agents and remote services get no files: they cannot evaluate a document that needs one.
std::optional<JudgeOutcome> without_files(const JudgeRequest& request) {
    const EvaluatorVersion& version = request.version;
    if (request.files == nullptr || !(version.agent || version.remote)) return std::nullopt;
    const auto arguments =
        arguments_of(version.agent ? *version.agent->mapping : *version.remote->mapping, request.document);
    if (!arguments.ok()) return std::nullopt; // reported where they are needed
    const auto files = given_files(arguments.value(), *request.files);
    if (files.empty()) return std::nullopt;
    JudgeOutcome outcome;
    outcome.verdict = Verdict{};
    outcome.verdict->label = std::string(cannot_judge);
    outcome.verdict->explanation =
        fmt::format("the document names the file {}, which {} does not get", files.front()->about.name,
                    version.agent ? "an agent" : "a remote service");
    return outcome;
}

Result<> check_mapping(const std::map<std::string, MappedArgument>& mapping) {
    // The same rules as for code, whose definition has the same mapping.
    CodeDefinition like;
    like.source = "-";
    like.mapping = mapping;
    return check(like);
}

// The name of a variable, or the first name of its path in the document.
std::string document_part(const LlmDefinition& llm, const std::string& variable) {
    const auto mapped = llm.mapping.value.find(variable);
    if (mapped != llm.mapping.value.end() && mapped->second.literal) return "";
    const std::string path = mapped != llm.mapping.value.end() ? mapped->second.path.value_or(variable) : variable;
    const std::string_view plain = path.starts_with("$.") ? std::string_view(path).substr(2) : path;
    return std::string(plain.substr(0, plain.find_first_of(".[")));
}

Result<> check_pairwise(const LlmDefinition& llm) {
    if (json::write(*llm.output) != json::write(pairwise_output()))
        return invalid("output of a pairwise evaluator is fixed: the labels a, b and tie; leave it out");
    std::set<std::string> parts;
    for (const JudgeMessage& message : llm.messages) {
        const auto names = variables_of(message.content);
        if (!names.ok()) continue; // reported with its place by the caller
        for (const std::string& name : names.value()) parts.insert(document_part(llm, name));
    }
    if (!parts.contains("a") || !parts.contains("b"))
        return invalid("messages of a pairwise evaluator need the variables {{a}} and {{b}}: the two outputs");
    return {};
}

std::string session_key(const JudgeRequest& request, const std::string& skill_id) {
    return fmt::format("{}\n{}\n{}\n{}\n{}", request.version.space_id.text(), request.owner, skill_id,
                       request.token_limit.value_or(-1), request.cost_limit_nano_usd.value_or(-1));
}

} // namespace

Result<OutputConfig> output_of(const EvaluatorVersion& version) {
    if (version.code) return *version.code->output;
    if (version.llm) return *version.llm->output;
    if (version.agent) return *version.agent->output;
    if (version.remote) return *version.remote->output;
    return invalid("evaluator " + version.name + " is a rule over spans, which has no output for documents");
}

OutputConfig pairwise_output() {
    OutputConfig output;
    output.type = OutputType::categorical;
    output.values = std::vector<OutputValue>{
        {std::string(first_is_better), 1}, {std::string(second_is_better), 0}, {std::string(neither_is_better), 0.5}};
    return output;
}

Result<> require_single(const EvaluatorVersion& version) {
    if (!version.is_pairwise()) return {};
    return invalid("evaluator " + version.name +
                   " compares the outputs of two experiments: apply it with `hone experiment compare --pairwise`");
}

Result<> check(const LlmDefinition& llm) {
    TRY(check(*llm.output));
    if (*llm.pairwise) TRY(check_pairwise(llm));
    TRY(check_mapping(*llm.mapping));
    if (trim(llm.model.name).empty() || llm.model.name.size() > 200) return invalid("model.name has 1 to 200 bytes");
    if (!llm.model.provider.value.empty()) TRY(protocol_of_provider(*llm.model.provider));
    if (!llm.model.parameters.value.is_object()) return invalid("model.parameters must be an object");
    for (const std::string_view name : {"tools", "tool_choice", "response_format", "stream", "messages", "model"})
        if (llm.model.parameters.value.get_object().contains(name))
            return invalid("model.parameters must not have " + std::string(name) +
                           ": the evaluator sets how the verdict is reported");
    if (llm.messages.empty() || llm.messages.size() > most_judge_messages)
        return invalid(fmt::format("messages has 1 to {} messages", most_judge_messages));
    size_t bytes = 0;
    bool has_user = false;
    std::set<std::string> variables;
    for (size_t i = 0; i < llm.messages.size(); ++i) {
        const JudgeMessage& message = llm.messages[i];
        if (message.role != "system" && message.role != "user" && message.role != "assistant")
            return invalid(fmt::format("messages[{}].role must be system, user or assistant", i));
        has_user = has_user || message.role == "user";
        bytes += message.content.size();
        if (bytes > largest_judge_template)
            return too_large(fmt::format("messages have more than {} KiB", largest_judge_template >> 10));
        if (!is_valid_utf8(message.content) || message.content.find('\0') != std::string::npos)
            return invalid(fmt::format("messages[{}] is not text", i));
        const auto names = variables_of(message.content);
        if (!names.ok()) return invalid(fmt::format("messages[{}]: {}", i, names.error().message));
        for (const std::string& name : names.value()) {
            variables.insert(name);
            if (llm.mapping.value.contains(name)) continue;
            const auto found = value_at(json::Object{}, name);
            if (!found.ok() && found.error().code == Code::invalid)
                return invalid(fmt::format("messages[{}]: {}", i, found.error().message));
        }
    }
    if (!has_user) return invalid("messages has no message of the role user");
    if (variables.empty()) return invalid("messages have no variable: the model would get nothing to evaluate");
    for (const auto& [name, argument] : *llm.mapping)
        if (!variables.contains(name)) return invalid("mapping." + name + " is not a variable of the messages");
    if (*llm.votes != 1 && *llm.votes != 3 && *llm.votes != 5) return invalid("votes must be 1, 3 or 5");
    if (*llm.timeout_ms < 1000 || *llm.timeout_ms > 300'000)
        return invalid("timeout_ms must be between 1000 and 300000");
    return {};
}

Result<> check(const AgentDefinition& agent) {
    TRY(check(*agent.output));
    TRY(check_mapping(*agent.mapping));
    if (trim(agent.preset).empty()) return invalid("preset is empty: name the preset of the run");
    if (trim(agent.instructions).empty()) return invalid("instructions are empty: state what is evaluated");
    if (agent.instructions.size() > largest_instructions)
        return too_large(fmt::format("instructions have more than {} KiB", largest_instructions >> 10));
    if (*agent.timeout_ms < 10'000 || *agent.timeout_ms > 1'800'000)
        return invalid("timeout_ms must be between 10000 and 1800000");
    if (*agent.max_tokens < 1000 || *agent.max_tokens > 2'000'000)
        return invalid("max_tokens must be between 1000 and 2000000");
    return {};
}

Result<> check(const RemoteDefinition& remote) {
    TRY(check(*remote.output));
    TRY(check_mapping(*remote.mapping));
    if (remote.url.size() > 2000) return invalid("url has at most 2000 bytes");
    const auto url = net::parse_url(remote.url);
    if (!url.ok()) return invalid("url: " + url.error().message);
    if (*remote.timeout_ms < 1000 || *remote.timeout_ms > 120'000)
        return invalid("timeout_ms must be between 1000 and 120000");
    return {};
}

void Judges::stop() {
    m_cancel.cancel();
    const Lock lock(m_mutex);
    for (const auto& [key, session] : m_sessions) session.session->cancel();
}

bool Judges::is_stopped(const JudgeRequest& request) {
    return m_cancel.is_cancelled() || (request.stopped && request.stopped());
}

JudgeOutcome Judges::judge(const JudgeRequest& request) {
    if (is_stopped(request)) return failed_outcome(JudgeReason::stopped, "the server stops", true);
    if (auto refused = without_files(request)) return std::move(*refused);
    switch (request.version.kind) {
    case EvaluatorKind::llm:
        return LlmJudge(*this, request).run();
    case EvaluatorKind::code:
        return judge_code(request);
    case EvaluatorKind::agent:
        return judge_agent(request);
    case EvaluatorKind::remote:
        return judge_remote(request);
    case EvaluatorKind::rule:
        break;
    }
    return failed_outcome(JudgeReason::unavailable, "the evaluator is a rule over spans: it has no documents");
}

JudgeOutcome Judges::judge_persistently(const JudgeRequest& request) {
    const Duration began = m_parts.clock.steady();
    Duration pause = first_retry;
    for (int attempt = 1;;) {
        JudgeOutcome outcome = judge(request);
        if (!outcome.is_temporary || outcome.reason == JudgeReason::stopped) return outcome;
        const bool is_over =
            outcome.is_pending ? m_parts.clock.steady() - began > longest_pending : ++attempt > most_attempts;
        if (is_over) return outcome;
        const Duration wait = std::min(std::max(outcome.retry_after, pause), longest_retry);
        constexpr Duration step = std::chrono::milliseconds(50);
        for (Duration waited{}; waited < wait; waited += step) {
            if (is_stopped(request)) return failed_outcome(JudgeReason::stopped, "the server stops", true);
            std::this_thread::sleep_for(step);
        }
        pause *= 2;
    }
}

JudgeOutcome Judges::judge_code(const JudgeRequest& request) {
    return judge_all(request.version, {request.document}, request).front();
}

std::vector<JudgeOutcome> Judges::judge_all(const EvaluatorVersion& version, const std::vector<json::Value>& documents,
                                            const JudgeRequest& like) {
    std::vector<JudgeOutcome> outcomes;
    if (version.kind != EvaluatorKind::code) {
        for (const json::Value& document : documents) {
            JudgeRequest request{version, document};
            request.owner = like.owner;
            request.use_cache = like.use_cache;
            request.repetition = like.repetition;
            request.target = like.target;
            request.token_limit = like.token_limit;
            request.cost_limit_nano_usd = like.cost_limit_nano_usd;
            request.stopped = like.stopped;
            outcomes.push_back(judge_persistently(request));
        }
        return outcomes;
    }
    const auto fill = [&](const JudgeOutcome& outcome) { return std::vector(documents.size(), outcome); };
    if (!m_parts.run_code) return fill(failed_outcome(JudgeReason::unavailable, "this server runs no code"));
    const auto results = m_parts.run_code(version, documents, [&] { return is_stopped(like); });
    if (!results.ok() && results.error().code == Code::conflict)
        return fill(failed_outcome(JudgeReason::stopped, "the server stops", true));
    if (!results.ok()) return fill(failed_outcome(JudgeReason::provider, results.error().message, true));
    for (const CodeResult& result : results.value()) outcomes.push_back(outcome_of_code(result));
    return outcomes;
}

Result<std::vector<JudgeOutcome>> Judges::test(const Caller& caller, const EvaluatorVersion& version,
                                               const std::vector<json::Value>& documents, bool use_cache,
                                               const std::function<bool()>& stopped) {
    // Models and workers cost money: what starts a run may use them.
    if (version.llm || version.agent) TRY(caller.require(access::Permission::run_start, version.space_id));
    const json::Value nothing;
    JudgeRequest like{version, nothing};
    like.owner = "evaluator_tests";
    like.use_cache = use_cache;
    like.stopped = stopped;
    return judge_all(version, documents, like);
}

Result<> Judges::pin(const Caller& caller, const access::SpaceId& space, LlmDefinition& llm) const {
    TRY(caller.require(access::Permission::eval_write, space));
    const bool has_output = llm.output.value.type != OutputType::boolean || !llm.output.value.values.value.empty();
    if (*llm.pairwise && !has_output) llm.output = pairwise_output();
    TRY(check(llm));
    return pin_model(caller, space, llm.model);
}

Result<> Judges::pin_model(const Caller& caller, const access::SpaceId& space, JudgeModel& model) const {
    ModelCalls* const models = m_parts.models ? m_parts.models() : nullptr;
    if (models == nullptr) return unavailable("this server calls no models");
    if (!model.provider.value.empty()) {
        const std::string protocol = TRY(protocol_of_provider(*model.provider));
        model.skill = TRY(models->find_skill(caller, space, *model.skill, protocol, model.name));
        return {};
    }
    std::optional<Error> first;
    for (const auto& [protocol, provider] : providers_of_protocols) {
        auto found = models->find_skill(caller, space, *model.skill, std::string(protocol), model.name);
        if (found.ok()) {
            model.skill = std::move(found).value();
            model.provider = std::string(provider);
            return {};
        }
        if (!first) first = found.error();
    }
    return *first;
}

// The hidden project that has the spans of judges; made on first use.
Result<access::Project> Judges::project_of(const access::SpaceId& space) {
    {
        const Lock lock(m_mutex);
        const auto known = m_projects.find(space.text());
        if (known != m_projects.end()) return known->second;
    }
    access::Projects& projects = m_parts.access.projects;
    const std::string name(judge_project);
    auto found = projects.find(Caller::system(), space, name);
    if (!found.ok() && found.error().code == Code::not_found) {
        found = projects.create_for_experiment(Caller::system(), space, name);
        // Another request made it meanwhile.
        if (!found.ok() && found.error().code == Code::conflict) found = projects.find(Caller::system(), space, name);
    }
    if (!found.ok()) return found;
    const Lock lock(m_mutex);
    m_projects[space.text()] = found.value();
    return found;
}

Result<std::shared_ptr<ModelSession>> Judges::session_for(const JudgeRequest& request, const std::string& skill_id) {
    const std::string key = session_key(request, skill_id);
    const Duration now = m_parts.clock.steady();
    std::vector<std::shared_ptr<ModelSession>> idle; // ended without the lock
    {
        const Lock lock(m_mutex);
        for (auto one = m_sessions.begin(); one != m_sessions.end();) {
            const bool is_idle = one->first != key && now - one->second.used > session_idle;
            if (is_idle) idle.push_back(std::move(one->second.session));
            one = is_idle ? m_sessions.erase(one) : std::next(one);
        }
        const auto known = m_sessions.find(key);
        // A session keeps the credential that it was opened with: not forever.
        if (known != m_sessions.end() && now - known->second.opened > session_age) {
            idle.push_back(std::move(known->second.session));
            m_sessions.erase(known);
        } else if (known != m_sessions.end()) {
            known->second.used = now;
            return known->second.session;
        }
    }
    const access::Project project = TRY(project_of(request.version.space_id));
    ModelOwner owner;
    owner.space_id = request.version.space_id;
    owner.id = request.owner.empty() ? "evaluators" : request.owner;
    owner.project_id = project.id.text();
    owner.project_name = project.name;
    owner.skill_id = skill_id;
    owner.token_limit = request.token_limit;
    owner.cost_limit_nano_usd = request.cost_limit_nano_usd;
    std::shared_ptr<ModelSession> made = TRY(m_parts.models()->open(owner));
    const Lock lock(m_mutex);
    Session& kept = m_sessions[key];
    if (!kept.session) {
        kept.session = std::move(made);
        kept.opened = now;
    }
    kept.used = now;
    return kept.session;
}

void Judges::forget_session(const JudgeRequest& request, const std::string& skill_id) {
    std::shared_ptr<ModelSession> ended;
    const Lock lock(m_mutex);
    const auto known = m_sessions.find(session_key(request, skill_id));
    if (known == m_sessions.end()) return;
    ended = std::move(known->second.session);
    m_sessions.erase(known);
}

Result<std::string> Judges::make_signing_secret(const Caller& caller, const access::SpaceId& space,
                                                const EvaluatorId& id) const {
    TRY(caller.require(access::Permission::eval_write, space));
    if (m_parts.remote == nullptr) return unavailable("this server calls no remote evaluators");
    std::string made = TRY(m_parts.remote->make_signing_secret(space, id));
    TRY(m_parts.access.audit.record(caller, {"evaluator_secret_create", space, id.text(), json::Object{}}));
    return made;
}

} // namespace hone::evaluate
