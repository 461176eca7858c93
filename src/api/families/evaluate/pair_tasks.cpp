// Comparisons of the outputs of two experiments by a model: start, stop, resume, the pairs, and what people prefer.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListPairTasks {
    static constexpr bool is_query = true;
    std::optional<std::string> experiment;
    static constexpr Pack fields{
        Field{"experiment", &ListPairTasks::experiment, "Id of an experiment, as base or other; needed."},
    };
};

struct PairBudget {
    static constexpr bool is_query = true;
    std::optional<int64_t> budget_tokens;
    std::optional<int64_t> budget_micro_usd;
    static constexpr Pack fields{
        Field{"budget_tokens", &PairBudget::budget_tokens, "New limit of its tokens; the old one if not given."},
        Field{"budget_micro_usd", &PairBudget::budget_micro_usd, "New limit of its cost; the old one if not given."},
    };
};

struct ListPairs {
    static constexpr bool is_query = true;
    std::optional<std::string> winner;
    std::optional<std::string> example;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"winner", &ListPairs::winner, "Only these: base, other, tie, inconsistent or undecided."},
        Field{"example", &ListPairs::example, "Only those of this example, by its id."},
        Field{"limit", &ListPairs::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListPairs::cursor, "next_cursor of the previous response."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<evaluate::PairTaskId> pair_task_in_path(const Call& call) {
    return id_in_path<evaluate::PairTaskTag>(call, "pair_task");
}

Result<evaluate::Experiment> compared_experiment(const Call& call, const std::string& text, const std::string& dataset,
                                                 const std::optional<std::string>& space) {
    const evaluate::Experiments& experiments = call.services.evaluate.experiments;
    const std::string plain = plain_id("Experiment", text);
    if (const auto id = parse_id<evaluate::ExperimentTag>(plain); id.ok())
        return experiments.find(call.caller, id.value());
    if (dataset.empty()) return not_found("experiment " + std::string(truncate_utf8(text, 100)));
    const auto of = TRY(
        call.services.evaluate.datasets.find(call.caller, TRY(space_of(call, space)), plain_id("Dataset", dataset)));
    return experiments.find_by_name(call.caller, of.id, plain);
}

// NAME, or NAME@NUMBER.
Result<evaluate::EvaluatorVersion> named_version(const Call& call, const access::SpaceId& space,
                                                 const std::string& text) {
    const signal::Evaluators& evaluators = call.services.signal.evaluators;
    const size_t at = text.rfind('@');
    const auto family = TRY(evaluators.find_named(call.caller, space, text.substr(0, at)));
    int64_t number = family.revision;
    if (at != std::string::npos) {
        const auto wanted = parse_integer(std::string_view(text).substr(at + 1));
        if (!wanted.ok() || wanted.value() < 1) return invalid("evaluator has no version number after @");
        number = wanted.value();
    }
    return evaluators.version(call.caller, family.id, number);
}

} // namespace

Result<One<evaluate::PairTask>> start_pair_task(const Call& call, const InSpace& query,
                                                const evaluate::StartPairs& body) {
    const auto base = TRY(compared_experiment(call, body.base, *body.dataset, query.space));
    const auto other = TRY(compared_experiment(call, body.other, *body.dataset, query.space));
    const auto version = TRY(named_version(call, base.space_id, body.evaluator));
    One<evaluate::PairTask> started{TRY(call.services.evaluate.pairs.start(
        call.caller, base.id, other.id, version, {*body.concurrency, body.budget_tokens, body.budget_micro_usd}))};
    call.services.evaluate.pair_runner.wake();
    return started;
}

Result<List<evaluate::PairTask>> list_pair_tasks(const Call& call, const ListPairTasks& query) {
    if (!query.experiment) return invalid("query parameter experiment is missing");
    const auto experiment = TRY(compared_experiment(call, *query.experiment, "", std::nullopt));
    List<evaluate::PairTask> list;
    list.data = TRY(call.services.evaluate.pairs.list(call.caller, experiment.id));
    return list;
}

Result<One<evaluate::PairTask>> get_pair_task(const Call& call) {
    return One<evaluate::PairTask>{TRY(call.services.evaluate.pairs.find(call.caller, TRY(pair_task_in_path(call))))};
}

Result<One<evaluate::PairTask>> stop_pair_task(const Call& call) {
    return One<evaluate::PairTask>{TRY(call.services.evaluate.pairs.stop(call.caller, TRY(pair_task_in_path(call))))};
}

Result<One<evaluate::PairTask>> resume_pair_task(const Call& call, const PairBudget& query) {
    One<evaluate::PairTask> resumed{TRY(call.services.evaluate.pairs.resume(
        call.caller, TRY(pair_task_in_path(call)), query.budget_tokens, query.budget_micro_usd))};
    call.services.evaluate.pair_runner.wake();
    return resumed;
}

Result<NoContent> delete_pair_task(const Call& call) {
    TRY(call.services.evaluate.pairs.remove(call.caller, TRY(pair_task_in_path(call))));
    return NoContent{};
}

Result<List<evaluate::PairEval>> list_pairs(const Call& call, const ListPairs& query) {
    evaluate::PairFilter filter;
    if (query.winner) {
        filter.winner = parse_enum<evaluate::PairWinner>(*query.winner);
        if (!filter.winner) return invalid("winner must be base, other, tie, inconsistent or undecided");
    }
    if (query.example) filter.example = TRY(parse_id<evaluate::ExampleTag>(plain_id("DatasetExample", *query.example)));
    return call.services.evaluate.pairs.pairs(call.caller, TRY(pair_task_in_path(call)), filter,
                                              TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::PairEval>> label_pair(const Call& call, const evaluate::LabelPair& body) {
    const auto example = TRY(parse_id<evaluate::ExampleTag>(plain_id("DatasetExample", body.example)));
    return One<evaluate::PairEval>{TRY(call.services.evaluate.pairs.label(call.caller, TRY(pair_task_in_path(call)),
                                                                          example, *body.repetition, body.winner))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route pair_tasks_table[] = {
    route<start_pair_task>("POST", "/v1/pair_tasks", need(experiment_write),
                           "Compare the outputs of two experiments with a pairwise evaluator, in both orders. Also "
                           "needs run_start."),
    route<list_pair_tasks>("GET", "/v1/pair_tasks", need(dataset_read),
                           "Pairwise comparisons of an experiment with others, newest first."),
    route<get_pair_task>("GET", "/v1/pair_tasks/{pair_task}", need(dataset_read),
                         "State and counts of a pairwise comparison."),
    route<stop_pair_task>("POST", "/v1/pair_tasks/{pair_task}/stop", need(experiment_write),
                          "Stop a pairwise comparison; pairs that have begun are finished and stored."),
    route<resume_pair_task>("POST", "/v1/pair_tasks/{pair_task}/resume", need(experiment_write),
                            "Compare the pairs that are missing or failed. Also needs run_start."),
    route<delete_pair_task>("DELETE", "/v1/pair_tasks/{pair_task}", need(experiment_write),
                            "Delete a pairwise comparison with its verdicts."),
    route<list_pairs>("GET", "/v1/pair_tasks/{pair_task}/pairs", need(dataset_read),
                      "The verdicts of each pair in both orders, by example and repetition."),
    route<label_pair>("POST", "/v1/pair_tasks/{pair_task}/labels", need(queue_answer),
                      "State which output of a compared pair you prefer, as a person."),
};

} // namespace

std::span<const Route> pair_tasks_routes() {
    return pair_tasks_table;
}

} // namespace hone::api
