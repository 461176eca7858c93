#include "server/demo/demo_evaluation.h"

#include "demo/demo_traces.h"

#include <fmt/format.h>
#include <thread>

namespace hone::server {

namespace {

constexpr auto evaluation_poll = std::chrono::milliseconds(50);
constexpr std::string_view loop_evaluator = "no-repeated-calls";
constexpr std::string_view reply_evaluator = "helps-the-customer";
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

evaluate::CodeDefinition pass_or_fail(std::string_view source) {
    evaluate::CodeDefinition code;
    code.source = source;
    code.output.value.type = evaluate::OutputType::categorical;
    code.output.value.values = std::vector<evaluate::OutputValue>{{"pass", 1.0}, {"fail", 0.0}};
    return code;
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
        wanted.code = pass_or_fail(source);
        TRY(m_parts.signal.evaluators.create(access::Caller::system(), space, wanted));
    }
    return {};
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
    const auto config = TRY(m_parts.evaluate.annotation_configs.create(caller, space, content));
    const auto of = TRY(m_parts.access.projects.find(caller, space, project));
    TRY(m_parts.evaluate.annotation_configs.assign(caller, of, config));
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
    const auto evaluator = TRY(m_parts.signal.evaluators.find_named(caller, space, std::string(reply_evaluator)));
    evaluate::StartCalibration wanted;
    wanted.project = of.id.text();
    wanted.config = label_config;
    TRY(m_parts.evaluate.calibrations.start(
        caller, TRY(m_parts.signal.evaluators.version(caller, evaluator.id, evaluator.revision)), wanted));
    evaluate::NewQueue queue;
    queue.name = "tickets";
    queue.project = of.id.text();
    queue.configs = {std::string(label_config)};
    queue.instructions = std::string("Read the ticket and the reply. Does the reply help the customer?");
    const auto made = TRY(m_parts.evaluate.queues.create(caller, space, queue));
    TRY(m_parts.evaluate.queues.fill(caller, made, 72, 40));
    m_print(fmt::format("{} traces have labels of people; the evaluator {} is calibrated with them: "
                        "{}/s/default/evaluators/{}?tab=calibration",
                        count, reply_evaluator, m_parts.url, evaluator.id.text()));
    m_print(fmt::format("40 tickets wait for labels: {}/s/default/queues", m_parts.url));
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
