#include "server/demo/demo_evaluation.h"

#include "demo/demo_traces.h"
#include "server/demo/demo_model.h"
#include "server/demo/demo_progress.h"

#include <fmt/format.h>
#include <thread>

namespace hone::server {

namespace {

constexpr auto evaluation_poll = std::chrono::milliseconds(50);
constexpr std::string_view loop_evaluator = "no-repeated-calls";
constexpr std::string_view reply_evaluator = "helps-the-customer";
constexpr std::string_view judge_evaluator = "helps-the-customer-scripted-model";
constexpr std::string_view model_skill = "scripted-model";
constexpr std::string_view label_config = "helpful";

constexpr std::string_view loop_source = R"py(def evaluate(document):
    calls = document["output"].get("tool_calls", 0)
    if calls > 3:
        return {"label": "fail", "explanation": f"{calls} calls of a tool with the same arguments"}
    return {"label": "pass", "explanation": f"{calls} calls"}
)py";

// Finds what is not there, and overlooks terms that were not found: people see more.
constexpr std::string_view reply_source = R"py(def evaluate(document):
    text = str(document["output"])
    if "I cannot see your order" in text:
        return {"label": "fail", "explanation": "the order was not looked up"}
    return "pass"
)py";

constexpr std::string_view judge_prompt =
    "You evaluate replies of a support agent.\n\nTicket:\n{{input}}\n\nReply:\n{{output}}\n\n"
    "Does the reply help the customer? pass: it does, or states what happens next. fail: the customer is no further "
    "than before.";

evaluate::OutputConfig pass_or_fail() {
    evaluate::OutputConfig output;
    output.type = evaluate::OutputType::categorical;
    output.values = std::vector<evaluate::OutputValue>{{"pass", 1.0}, {"fail", 0.0}};
    return output;
}

evaluate::CodeDefinition code_of(std::string_view source) {
    evaluate::CodeDefinition code;
    code.source = source;
    code.output = pass_or_fail();
    return code;
}

std::string address_of_model(uint16_t port) {
    return fmt::format("http://127.0.0.1:{}", port);
}

} // namespace

Result<> DemoEvaluation::make_evaluators(const access::SpaceId& space) {
    for (const auto& [name, source, description] :
         {std::tuple(loop_evaluator, loop_source, "A tool is called at most three times."),
          std::tuple(reply_evaluator, reply_source, "The reply is about the customer's order.")}) {
        signal::NewEvaluator wanted;
        wanted.name = name;
        wanted.kind = evaluate::EvaluatorKind::code;
        wanted.description = std::string(description);
        wanted.code = code_of(source);
        TRY(is_new(m_parts.signal.evaluators.create(access::Caller::system(), space, wanted)));
    }
    return m_parts.model_port == 0 ? Result<>{} : make_judge(space);
}

// An LLM judge as any other: its calls go through the gateway, are counted, limited and traced.
Result<> DemoEvaluation::make_judge(const access::SpaceId& space) {
    const access::Caller caller = access::Caller::system();
    skill::NewSkill model;
    model.name = model_skill;
    model.type = skill::SkillType::model;
    model.description =
        "The scripted model of the demo: fixed rules on this machine, no model. Only hone demo serves it.";
    model.setup.variables = {{"PROTOCOL", "openai"},
                             {"BASE_URL", address_of_model(m_parts.model_port)},
                             {"MODELS", std::string(demo_model_name)},
                             {"ALLOW_PRIVATE", "true"}, // it listens on loopback, as a local model does
                             {"PRICES", fmt::format("{} 0 0", demo_model_name)}};
    if (!TRY(is_new(m_parts.skills.create(caller, space, model, {})))) TRY(connect_model(space));
    signal::NewEvaluator wanted;
    wanted.name = judge_evaluator;
    wanted.kind = evaluate::EvaluatorKind::llm;
    wanted.description = std::string("The same by an LLM judge. Its model is scripted: it follows fixed rules.");
    evaluate::LlmDefinition& llm = wanted.llm.emplace();
    llm.model.name = demo_model_name;
    llm.model.skill = std::string(model_skill);
    llm.messages = {{"user", std::string(judge_prompt)}};
    llm.output = pass_or_fail();
    TRY(m_parts.evaluate.judges.pin(caller, space, llm));
    TRY(is_new(m_parts.signal.evaluators.create(caller, space, wanted)));
    return {};
}

Result<> DemoEvaluation::connect_model(const access::SpaceId& space) {
    const access::Caller caller = access::Caller::system();
    const auto found = m_parts.skills.find(caller, space, model_skill);
    if (!found.ok() || m_parts.model_port == 0) return {};
    const std::string address = address_of_model(m_parts.model_port);
    for (const skill::VariableView& variable : found.value().variables)
        if (variable.name == "BASE_URL" && variable.value == address) return {};
    skill::SkillChange change;
    change.variables["BASE_URL"] = address;
    TRY(m_parts.skills.update(caller, found.value().id, change, {}));
    return {};
}

std::vector<std::string_view> DemoEvaluation::reply_evaluators() const {
    if (m_parts.model_port == 0) return {reply_evaluator};
    return {reply_evaluator, judge_evaluator};
}

// Ids of traces whose root matches, newest first.
Result<std::vector<std::string>> DemoEvaluation::traces(const std::string& project, const std::string& filter,
                                                        size_t count) {
    telemetry::ListSpans request;
    request.scope.project = project;
    request.scope.filter = filter;
    request.conditions.parent_id = "";
    request.limit = count;
    telemetry::SpanStore& store = *TRY(m_parts.spans.store());
    std::vector<std::string> ids;
    for (const auto& span : TRY(store.list_spans(request)).spans) ids.push_back(span.trace_id);
    return ids;
}

Result<> DemoEvaluation::label(const access::SpaceId& space, const std::string& project) {
    const access::Caller caller = access::Caller::system();
    evaluate::AnnotationConfigContent content;
    content.name = label_config;
    content.type = evaluate::AnnotationConfigType::categorical;
    content.direction = evaluate::ScoreDirection::maximize;
    content.description = "Does the reply help the customer?";
    content.labels = {{"pass", 1.0}, {"fail", 0.0}};
    evaluate::AnnotationConfigs& configs = m_parts.evaluate.annotation_configs;
    TRY(is_new(configs.create(caller, space, content)));
    const auto config = TRY(configs.find(caller, space, label_config));
    const auto of = TRY(m_parts.access.projects.find(caller, space, project));
    TRY(configs.assign(caller, of, config));
    // Sixty traces: orders that could not be looked up, warranties without terms, and replies that help.
    std::vector<telemetry::Eval> evals;
    for (const auto& [filter, count, label] :
         {std::tuple("status = error", size_t{20}, "fail"),
          std::tuple("output ~ \"could not find our warranty\"", size_t{8}, "fail"),
          std::tuple("output ~ \"arrives tomorrow\"", size_t{16}, "pass"),
          std::tuple("output ~ \"is attached\"", size_t{16}, "pass")})
        for (const std::string& trace : TRY(traces(of.id.text(), filter, count))) {
            telemetry::Eval eval;
            eval.project = of.id.text();
            eval.target = telemetry::EvalTarget::trace;
            eval.target_id = trace;
            eval.name = label_config;
            eval.annotator = "demo";
            eval.identifier = "demo";
            eval.label = label;
            eval.score = eval.label == "pass" ? 1 : 0;
            evals.push_back(std::move(eval));
        }
    const size_t count = evals.size();
    TRY(m_parts.spans.evals.upsert(std::move(evals)));
    m_print(fmt::format("{} traces have labels of people.", count));
    for (const std::string_view name : reply_evaluators()) TRY(calibrate(space, of, name));
    evaluate::NewQueue queue;
    queue.name = "tickets";
    queue.project = of.id.text();
    queue.configs = {std::string(label_config)};
    queue.instructions = std::string("Read the ticket and the reply. Does the reply help the customer?");
    TRY(is_new(m_parts.evaluate.queues.create(caller, space, queue)));
    TRY(m_parts.evaluate.queues.fill(caller, TRY(m_parts.evaluate.queues.find(caller, space, queue.name)), 72, 40));
    m_print(fmt::format("40 tickets wait for labels: {}/s/default/queues", m_parts.url));
    return {};
}

Result<> DemoEvaluation::calibrate(const access::SpaceId& space, const access::Project& project,
                                   std::string_view name) {
    const access::Caller caller = access::Caller::system();
    const auto evaluator = TRY(m_parts.signal.evaluators.find_named(caller, space, std::string(name)));
    evaluate::Calibrations& calibrations = m_parts.evaluate.calibrations;
    if (!TRY(calibrations.list(caller, space, evaluator.id, {})).data.empty()) return {};
    evaluate::StartCalibration wanted;
    wanted.project = project.id.text();
    wanted.config = label_config;
    TRY(calibrations.start(caller, TRY(m_parts.signal.evaluators.version(caller, evaluator.id, evaluator.revision)),
                           wanted));
    return {};
}

Result<> DemoEvaluation::print_agreement(const access::SpaceId& space) {
    const access::Caller caller = access::Caller::system();
    constexpr int most_polls = 600; // half a minute
    for (const std::string_view name : reply_evaluators()) {
        const auto evaluator = TRY(m_parts.signal.evaluators.find_named(caller, space, std::string(name)));
        const auto newest = [&]() -> Result<evaluate::Calibration> {
            auto all = TRY(m_parts.evaluate.calibrations.list(caller, space, evaluator.id, {})).data;
            if (all.empty()) return not_found("the calibration of " + std::string(name));
            return std::move(all.front());
        };
        auto calibration = TRY(newest());
        const auto is_over = [&] {
            return calibration.state == evaluate::CalibrationState::done ||
                   calibration.state == evaluate::CalibrationState::failed;
        };
        for (int i = 0; i < most_polls && !is_over(); ++i) {
            std::this_thread::sleep_for(evaluation_poll);
            calibration = TRY(newest());
        }
        const evaluate::KappaView& agreement = calibration.result.all;
        m_print(fmt::format("The evaluator {} {}: {}/s/default/evaluators/{}?tab=calibration", name,
                            !is_over()        ? "is being calibrated with the labels"
                            : agreement.kappa ? fmt::format("agrees with people: kappa {:.2f} on {} traces",
                                                            *agreement.kappa, agreement.count)
                                              : "could not be calibrated: " + calibration.reason,
                            m_parts.url, evaluator.id.text()));
    }
    return {};
}

Result<> DemoEvaluation::watch(const access::SpaceId& space, const std::string& project) {
    for (const std::string_view name : reply_evaluators()) TRY(watch_with(space, project, name));
    m_parts.evaluate.eval_runner.wake();
    return {};
}

Result<> DemoEvaluation::watch_with(const access::SpaceId& space, const std::string& project, std::string_view name) {
    const access::Caller caller = access::Caller::system();
    const auto find = [&](const std::string& wanted_name,
                          std::optional<int64_t> number) -> Result<evaluate::EvaluatorVersion> {
        const auto family = TRY(m_parts.signal.evaluators.find_named(caller, space, wanted_name));
        return m_parts.signal.evaluators.version(caller, family.id, number.value_or(family.revision));
    };
    evaluate::NewEvalTask wanted;
    wanted.project = project;
    wanted.evaluator = name;
    evaluate::EvalTasks& tasks = m_parts.evaluate.eval_tasks;
    auto there = TRY(tasks.list(caller, space, project, {}, {})).data;
    std::erase_if(there, [&](const evaluate::EvalTask& one) { return one.evaluator_name != name; });
    const auto task = there.empty() ? TRY(tasks.create(caller, space, wanted, find)) : there.front();
    evaluate::NewBackfill past;
    past.from = m_parts.clock.now() - std::chrono::hours(72);
    past.most_targets = int64_t{200};
    if (TRY(tasks.backfills(caller, task.id, {})).data.empty()) TRY(tasks.start_backfill(caller, task.id, past));
    m_print(fmt::format("{} evaluates new traces from now on: {}/s/default/eval_tasks/{}", name, m_parts.url,
                        task.id.text()));
    return {};
}

Result<> DemoEvaluation::replay(const access::SpaceId& space, const std::string& project) {
    const access::Caller caller = access::Caller::system();
    signal::IssueFilter filter;
    filter.project = project;
    std::optional<signal::IssueId> issue;
    for (const signal::Issue& one : TRY(m_parts.signal.issues.list(caller, space, filter, {})).data)
        if (one.title.find("check_stock") != std::string::npos) issue = one.id;
    if (!issue) return not_found("an issue about check_stock");
    constexpr int most_polls = 1200; // a minute
    review::ArtifactFilter branches;
    branches.kind = review::ArtifactKind::branch;
    std::optional<review::ArtifactId> branch;
    for (int i = 0; i < most_polls && !branch; ++i) {
        for (const review::Artifact& one : TRY(m_parts.artifacts.list(caller, space, branches, {})).data)
            branch = one.id;
        if (!branch) std::this_thread::sleep_for(evaluation_poll);
    }
    if (!branch) return not_found("the branch of the proposed fix");
    signal::StartReplay wanted;
    wanted.issue = issue->text();
    if (const auto before = m_parts.replays.find(caller, *branch, 0);
        !before.ok() || before.value().state == review::ReplayState::failed)
        TRY(m_parts.replays.start(caller, *branch, wanted));
    for (int i = 0; i < most_polls; ++i) {
        const review::BranchReplay replay = TRY(m_parts.replays.find(caller, *branch, 0));
        if (replay.state == review::ReplayState::done) {
            m_print(fmt::format("The fix was replayed, {}: {}: {}/s/default/inbox/{}?tab=overview",
                                name_of(replay.outcome), review::replay_sentence(replay), m_parts.url, branch->text()));
            return {};
        }
        if (replay.state == review::ReplayState::failed) return unavailable("the replay failed: " + replay.reason);
        std::this_thread::sleep_for(evaluation_poll);
    }
    m_print(fmt::format("The fix is being replayed: {}/s/default/inbox/{}", m_parts.url, branch->text()));
    return {};
}

} // namespace hone::server
