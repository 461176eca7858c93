// Evaluators: rules that evaluate new spans; code, models, agents and remote services that evaluate documents; and
// their versions.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/judges/builtin.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListEvaluators {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListEvaluators::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListEvaluators::project, "Id or name of a project: only its evaluators."},
        Field{"limit", &ListEvaluators::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvaluators::cursor, "next_cursor of the previous response."},
    };
};

// Lists have no definitions.
struct ListedEvaluator : signal::Evaluator {
    bool pairwise = false;
    static constexpr auto fields =
        joined(signal::Evaluator::fields,
               Pack{Field{"pairwise", &ListedEvaluator::pairwise,
                          "Of llm: it compares the outputs of two experiments instead of evaluating one."}});
};

struct TestEvaluator {
    json::Defaulted<std::vector<json::Value>> documents;
    json::Defaulted<std::vector<evaluate::TargetName>> targets;
    std::optional<int64_t> version;
    std::optional<evaluate::LlmDefinition> llm;
    std::optional<evaluate::CodeDefinition> code;
    json::Defaulted<bool> cache = true;
    static constexpr Pack fields{
        Field{"documents", &TestEvaluator::documents,
              "Up to 20 documents, as objects with input, output, reference and metadata."},
        Field{"targets", &TestEvaluator::targets, "Up to 20 spans, traces or chat sessions instead of documents."},
        Field{"version", &TestEvaluator::version, "Number of the version; the newest if not given."},
        Field{"llm", &TestEvaluator::llm, "Of llm: a definition that is not saved, instead of a version."},
        Field{"code", &TestEvaluator::code, "Of code: a definition that is not saved, instead of a version."},
        Field{"cache", &TestEvaluator::cache, "Whether stored verdicts of equal documents are used."},
    };
};

struct TestedDocument {
    std::optional<evaluate::Verdict> verdict;
    std::optional<std::string> error;
    std::optional<std::string> reason;
    int64_t duration_ms = 0;
    bool cached = false;
    int64_t tokens = 0;
    int64_t estimated_tokens = 0;
    std::optional<int64_t> cost_micro_usd;
    std::optional<std::string> judge_trace;
    std::optional<json::Value> document;
    static constexpr Pack fields{
        Field{"verdict", &TestedDocument::verdict, "Null: there is none."},
        Field{"error", &TestedDocument::error, "Why there is no verdict."},
        Field{"reason", &TestedDocument::reason,
              "Kind of the failure: missing_variable, too_large, timeout, provider, rejected, unparsable, off_config, "
              "budget, code_failed, unavailable, target_gone."},
        Field{"duration_ms", &TestedDocument::duration_ms, ""},
        Field{"cached", &TestedDocument::cached, "Whether the verdict was stored before: nothing was spent."},
        Field{"tokens", &TestedDocument::tokens, "Of the model."},
        Field{"estimated_tokens", &TestedDocument::estimated_tokens,
              "Of these, estimated: the provider did not report them. The cost is estimated with them."},
        Field{"cost_micro_usd", &TestedDocument::cost_micro_usd, "Null: the model has no price."},
        Field{"judge_trace", &TestedDocument::judge_trace,
              "Trace of the model's call in the hidden project hone-evals, or id of the agent's run."},
        Field{"document", &TestedDocument::document, "Of a target: the document that was evaluated."},
    };
};

struct SigningSecret {
    std::string signing_secret;
    static constexpr Pack fields{
        Field{"signing_secret", &SigningSecret::signing_secret,
              "Key of the HMAC-SHA-256 in X-Hone-Signature, over X-Hone-Time, a dot and the body. Shown only now."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration longest_test = std::chrono::seconds(60);

Result<signal::EvaluatorId> evaluator_in_path(const Call& call) {
    return id_in_path<signal::EvaluatorTag>(call, "evaluator");
}

TestedDocument tested(evaluate::JudgeOutcome outcome) {
    TestedDocument shown;
    shown.verdict = std::move(outcome.verdict);
    shown.error = or_null(outcome.error);
    if (outcome.reason != evaluate::JudgeReason::none) shown.reason = std::string(name_of(outcome.reason));
    shown.duration_ms = outcome.duration_ms;
    shown.cached = outcome.is_cached;
    shown.tokens = outcome.tokens();
    shown.estimated_tokens = outcome.estimated_tokens;
    if (outcome.cost_nano_usd) shown.cost_micro_usd = *outcome.cost_nano_usd / 1000;
    shown.judge_trace = or_null(outcome.trace_id);
    return shown;
}

// The version to test: a stored one, or a definition that is not saved.
Result<evaluate::EvaluatorVersion> tested_version(const Call& call, const signal::Evaluator& family,
                                                  const TestEvaluator& body) {
    auto version =
        TRY(call.services.signal.evaluators.version(call.caller, family.id, body.version.value_or(family.revision)));
    if (body.llm) {
        if (!version.llm) return invalid("llm belongs to an evaluator of kind llm");
        evaluate::LlmDefinition draft = *body.llm;
        TRY(call.services.evaluate.judges.pin(call.caller, family.space_id, draft));
        version.llm = std::move(draft);
    }
    if (body.code) {
        if (!version.code) return invalid("code belongs to an evaluator of kind code");
        TRY(evaluate::check(*body.code));
        version.code = body.code;
    }
    version.content_hash = evaluate::definition_hash(version);
    return version;
}

} // namespace

Result<List<ListedEvaluator>> list_evaluators(const Call& call, const ListEvaluators& query) {
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    auto page = TRY(evaluators.list(call.caller, TRY(space_of(call, query.space)), query.project,
                                    TRY(page_of(query.limit, query.cursor))));
    List<ListedEvaluator> list;
    list.next_cursor = std::move(page.next_cursor);
    for (signal::Evaluator& one : page.data) {
        ListedEvaluator listed{std::move(one)};
        if (listed.kind == evaluate::EvaluatorKind::llm)
            listed.pairwise = TRY(evaluators.version(call.caller, listed.id, listed.revision)).is_pairwise();
        list.data.push_back(std::move(listed));
    }
    return list;
}

Result<One<signal::Evaluator>> create_evaluator(const Call& call, const InSpace& query,
                                                const signal::NewEvaluator& body) {
    signal::Signal& signal = call.services.signal;
    const auto space = TRY(space_of(call, query.space));
    signal::NewEvaluator wanted = body;
    if (wanted.llm) TRY(call.services.evaluate.judges.pin(call.caller, space, *wanted.llm));
    One<signal::Evaluator> made{TRY(signal.evaluators.create(call.caller, space, wanted))};
    signal.wake();
    return made;
}

Result<One<signal::EvaluatorPreview>> preview_evaluator(const Call& call, const InSpace& query,
                                                        const signal::NewEvaluator& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::EvaluatorPreview>{TRY(call.services.signal.evaluators.preview(call.caller, space, body))};
}

Result<One<signal::Evaluator>> get_evaluator(const Call& call) {
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    One<signal::Evaluator> found{TRY(evaluators.find(call.caller, TRY(evaluator_in_path(call))))};
    TRY(evaluators.add_pass_rates(call.caller, found.data.space_id, {&found.data, 1}));
    return found;
}

Result<One<signal::Evaluator>> update_evaluator(const Call& call, const signal::EvaluatorChange& body) {
    signal::Signal& signal = call.services.signal;
    const auto id = TRY(evaluator_in_path(call));
    signal::EvaluatorChange wanted = body;
    if (wanted.llm) {
        const auto space = TRY(signal.evaluators.find(call.caller, id, access::Permission::eval_write)).space_id;
        TRY(call.services.evaluate.judges.pin(call.caller, space, *wanted.llm));
    }
    One<signal::Evaluator> changed{TRY(signal.evaluators.update(call.caller, id, wanted))};
    signal.wake();
    return changed;
}

Result<NoContent> delete_evaluator(const Call& call) {
    const auto id = TRY(evaluator_in_path(call));
    TRY(call.services.signal.evaluators.remove(call.caller, id));
    return NoContent{};
}

Result<List<signal::EvaluatorVersion>> list_evaluator_versions(const Call& call, const PageQuery& query) {
    const auto id = TRY(evaluator_in_path(call));
    const access::PageRequest page = TRY(page_of(query.limit, query.cursor));
    const std::string after = TRY(page.after());
    const auto below = after.empty() ? Result<int64_t>(INT64_MAX) : parse_integer(after);
    if (!below.ok()) return invalid("cursor is not valid for this list");
    auto versions = TRY(call.services.signal.evaluators.versions(call.caller, id));
    std::erase_if(versions, [&](const auto& version) { return version.number >= below.value(); });
    if (versions.size() > static_cast<size_t>(page.limit)) versions.resize(static_cast<size_t>(page.limit) + 1);
    return access::make_page(std::move(versions), page,
                             [](const auto& version) { return std::to_string(version.number); });
}

Result<List<TestedDocument>> test_evaluator(const Call& call, const TestEvaluator& body) {
    const auto id = TRY(evaluator_in_path(call));
    const size_t count = body.documents.value.size() + body.targets.value.size();
    if (count < 1 || count > 20) return invalid("documents and targets are 1 to 20 together");
    for (const json::Value& document : *body.documents)
        if (!document.is_object()) return invalid("each of documents must be an object");
    const auto family = TRY(call.services.signal.evaluators.find(call.caller, id, access::Permission::eval_write));
    const auto version = TRY(tested_version(call, family, body));
    if (version.kind == evaluate::EvaluatorKind::rule)
        return invalid("the evaluator is a rule over spans: POST /v1/evaluator_preview counts what it matches");
    List<TestedDocument> list;
    std::vector<json::Value> documents = *body.documents;
    std::vector<size_t> places; // of each document in the list
    for (size_t i = 0; i < documents.size(); ++i) {
        places.push_back(i);
        list.data.emplace_back();
    }
    for (const evaluate::TargetName& target : *body.targets) {
        auto document = call.services.evaluate.documents.read(call.caller, family.space_id, target);
        TestedDocument shown;
        if (document.ok()) {
            places.push_back(list.data.size());
            documents.push_back(document.value());
            shown.document = std::move(document).value();
        } else if (document.error().code == Code::not_found || document.error().code == Code::invalid) {
            shown.error = document.error().message;
            shown.reason = "target_gone";
        } else {
            return document.error();
        }
        list.data.push_back(std::move(shown));
    }
    const Clock& clock = call.services.clock;
    const Duration until = clock.steady() + longest_test;
    auto outcomes = TRY(call.services.evaluate.judges.test(call.caller, version, documents, *body.cache,
                                                           [&] { return clock.steady() > until; }));
    for (size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i].reason == evaluate::JudgeReason::stopped)
            return busy("the documents took longer than 60 seconds; send fewer");
        if (outcomes[i].reason == evaluate::JudgeReason::unavailable) return unavailable(outcomes[i].error);
        auto document = std::move(list.data[places[i]].document);
        list.data[places[i]] = tested(std::move(outcomes[i]));
        list.data[places[i]].document = std::move(document);
    }
    return list;
}

Result<List<evaluate::Builtin>> list_builtins(const Call&) {
    List<evaluate::Builtin> list;
    for (const evaluate::Builtin& one : evaluate::builtins()) list.data.push_back(one);
    return list;
}

Result<One<SigningSecret>> make_signing_secret(const Call& call) {
    const auto id = TRY(evaluator_in_path(call));
    const auto family = TRY(call.services.signal.evaluators.find(call.caller, id, access::Permission::eval_write));
    if (family.kind != evaluate::EvaluatorKind::remote)
        return invalid("only evaluators of kind remote have a signing secret");
    SigningSecret made;
    made.signing_secret = TRY(call.services.evaluate.judges.make_signing_secret(call.caller, family.space_id, id));
    return One<SigningSecret>{std::move(made)};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route evaluators_table[] = {
    route<list_evaluators>("GET", "/v1/evaluators", need(project_read), "Evaluators of a space, oldest first."),
    route<create_evaluator>(
        "POST", "/v1/evaluators", need(eval_write),
        "Create an evaluator: a rule over new spans, or code, a model, an agent or a remote service for "
        "documents."),
    route<preview_evaluator>("POST", "/v1/evaluator_preview", need(project_read),
                             "Count the spans of the last 24 hours that an evaluator would match.")
        .on(net::Lane::query),
    route<get_evaluator>("GET", "/v1/evaluators/{evaluator}", need(project_read), "An evaluator and its counts."),
    route<list_evaluator_versions>("GET", "/v1/evaluators/{evaluator}/versions", need(project_read),
                                   "Versions of an evaluator, newest first."),
    route<test_evaluator>(
        "POST", "/v1/evaluators/{evaluator}/test", need(eval_write),
        "Apply an evaluator to a few documents or targets without storing the results. Models and agents "
        "also need run_start.")
        .on(net::Lane::query),
    route<list_builtins>("GET", "/v1/evaluator_builtins", login,
                         "Built-in evaluators to start from, each with an example."),
    route<make_signing_secret>("POST", "/v1/evaluators/{evaluator}/signing_secret", need(eval_write),
                               "Make a new signing secret of a remote evaluator, which replaces the one before."),
    route<update_evaluator>("PATCH", "/v1/evaluators/{evaluator}", need(eval_write),
                            "Change, enable or disable an evaluator."),
    route<delete_evaluator>("DELETE", "/v1/evaluators/{evaluator}", need(eval_write),
                            "Delete an evaluator; its evals are kept."),
};

} // namespace

std::span<const Route> evaluators_routes() {
    return evaluators_table;
}

} // namespace hone::api
