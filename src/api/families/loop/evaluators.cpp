// Evaluators: rules that evaluate new spans.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
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

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

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

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route evaluators_table[] = {
    route<list_evaluators>("GET", "/v1/evaluators", need(project_read), "Evaluators of a space, oldest first."),
    route<create_evaluator>("POST", "/v1/evaluators", need(eval_write), "Create an evaluator of new spans."),
    route<preview_evaluator>("POST", "/v1/evaluator_preview", need(project_read),
                             "Count the spans of the last 24 hours that an evaluator would match.")
        .on(net::Lane::query),
    route<get_evaluator>("GET", "/v1/evaluators/{evaluator}", need(project_read), "An evaluator and its counts."),
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
