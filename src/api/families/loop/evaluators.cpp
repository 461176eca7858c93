// Evaluators: rules that evaluate new spans, code that evaluates runs of experiments, and their versions.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListEvaluators {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListEvaluators::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListEvaluators::project, "Id or name of a project: only its evaluators."},
        Field{"limit", &ListEvaluators::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvaluators::cursor, "next_cursor of the previous response."},
    };
};

struct TestEvaluator {
    std::vector<json::Value> documents;
    std::optional<int64_t> version;
    static constexpr std::tuple fields{
        Field{"documents", &TestEvaluator::documents,
              "1 to 20 documents, as objects with input, output, reference and metadata."},
        Field{"version", &TestEvaluator::version, "Number of the version; the newest if not given."},
    };
};

struct TestedDocument {
    std::optional<evaluate::Verdict> verdict;
    std::optional<std::string> error;
    int64_t duration_ms = 0;
    static constexpr std::tuple fields{
        Field{"verdict", &TestedDocument::verdict, "Null: there is none."},
        Field{"error", &TestedDocument::error, "Why there is no verdict."},
        Field{"duration_ms", &TestedDocument::duration_ms, ""},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration longest_test = std::chrono::seconds(60);

Result<signal::EvaluatorId> evaluator_in_path(const Call& call) {
    return id_in_path<signal::EvaluatorTag>(call, "evaluator");
}

} // namespace

Result<List<signal::Evaluator>> list_evaluators(const Call& call, const ListEvaluators& query) {
    return call.services.signal.evaluators.list(call.caller, TRY(space_of(call, query.space)), query.project,
                                                TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::Evaluator>> create_evaluator(const Call& call, const InSpace& query,
                                                const signal::NewEvaluator& body) {
    signal::Signal& signal = call.services.signal;
    const auto space = TRY(space_of(call, query.space));
    One<signal::Evaluator> made{TRY(signal.evaluators.create(call.caller, space, body))};
    signal.wake();
    return made;
}

Result<One<signal::EvaluatorPreview>> preview_evaluator(const Call& call, const InSpace& query,
                                                        const signal::NewEvaluator& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<signal::EvaluatorPreview>{TRY(call.services.signal.evaluators.preview(call.caller, space, body))};
}

Result<One<signal::Evaluator>> get_evaluator(const Call& call) {
    const auto id = TRY(evaluator_in_path(call));
    return One<signal::Evaluator>{TRY(call.services.signal.evaluators.find(call.caller, id))};
}

Result<One<signal::Evaluator>> update_evaluator(const Call& call, const signal::EvaluatorChange& body) {
    signal::Signal& signal = call.services.signal;
    const auto id = TRY(evaluator_in_path(call));
    One<signal::Evaluator> changed{TRY(signal.evaluators.update(call.caller, id, body))};
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
    if (body.documents.empty() || body.documents.size() > 20) return invalid("documents has 1 to 20 documents");
    for (const json::Value& document : body.documents)
        if (!document.is_object()) return invalid("each of documents must be an object");
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    const auto family = TRY(evaluators.find(call.caller, id, access::Permission::eval_write));
    const auto version = TRY(evaluators.version(call.caller, id, body.version.value_or(family.revision)));
    if (!version.code)
        return invalid("the evaluator is a rule over spans: POST /v1/evaluator_preview counts what it matches");
    const SystemClock clock;
    const Duration until = clock.steady() + longest_test;
    auto results =
        call.services.evaluate.runner.run_code(version, body.documents, [&] { return clock.steady() > until; });
    if (!results.ok() && results.error().code == Code::conflict)
        return busy("the documents took longer than 60 seconds; send fewer");
    if (!results.ok()) return results.error();
    List<TestedDocument> list;
    for (auto& judged : results.value())
        list.data.push_back({std::move(judged.verdict), or_null(judged.error), judged.duration_ms});
    return list;
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route evaluators_table[] = {
    route<list_evaluators>("GET", "/v1/evaluators", need(project_read), "Evaluators of a space, oldest first."),
    route<create_evaluator>("POST", "/v1/evaluators", need(eval_write),
                            "Create an evaluator: a rule over new spans, or code for experiments."),
    route<preview_evaluator>("POST", "/v1/evaluator_preview", need(project_read),
                             "Count the spans of the last 24 hours that an evaluator would match.")
        .on(net::Lane::query),
    route<get_evaluator>("GET", "/v1/evaluators/{evaluator}", need(project_read), "An evaluator and its counts."),
    route<list_evaluator_versions>("GET", "/v1/evaluators/{evaluator}/versions", need(project_read),
                                   "Versions of an evaluator, newest first."),
    route<test_evaluator>("POST", "/v1/evaluators/{evaluator}/test", need(eval_write),
                          "Run code on a few documents without storing the results.")
        .on(net::Lane::query),
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
