// Calibrations: how well an evaluator agrees with people.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct CorrectedRateQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> project;
    std::optional<int64_t> hours;
    static constexpr Pack fields{
        Field{"project", &CorrectedRateQuery::project, "Id or name of the project; needed."},
        Field{"hours", &CorrectedRateQuery::hours, "Evals of this many last hours, 1 to 8760; 168 if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<signal::Evaluator> calibrated_evaluator(const Call& call, access::Permission permission) {
    const auto id = TRY(id_in_path<evaluate::EvaluatorTag>(call, "evaluator"));
    return call.services.signal.evaluators.find(call.caller, id, permission);
}

Result<evaluate::Calibration> calibration_in_path(const Call& call) {
    const auto evaluator = TRY(calibrated_evaluator(call, access::Permission::project_read));
    const auto id = TRY(id_in_path<evaluate::CalibrationTag>(call, "calibration"));
    auto found = TRY(call.services.evaluate.calibrations.find(call.caller, id));
    if (found.evaluator_id != evaluator.id) return not_found("calibration " + id.text());
    return found;
}

} // namespace

Result<List<evaluate::Calibration>> list_calibrations(const Call& call, const PageQuery& query) {
    const auto evaluator = TRY(calibrated_evaluator(call, access::Permission::project_read));
    return call.services.evaluate.calibrations.list(call.caller, evaluator.space_id, evaluator.id,
                                                    TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::Calibration>> start_calibration(const Call& call, const evaluate::StartCalibration& body) {
    const auto evaluator = TRY(calibrated_evaluator(call, access::Permission::eval_write));
    const auto version = TRY(
        call.services.signal.evaluators.version(call.caller, evaluator.id, body.version.value_or(evaluator.revision)));
    return One<evaluate::Calibration>{TRY(call.services.evaluate.calibrations.start(call.caller, version, body))};
}

Result<One<evaluate::Calibration>> get_calibration(const Call& call) {
    return One<evaluate::Calibration>{TRY(calibration_in_path(call))};
}

Result<List<evaluate::CalibrationItem>> list_calibration_items(const Call& call) {
    const auto of = TRY(calibration_in_path(call));
    List<evaluate::CalibrationItem> list;
    list.data = TRY(call.services.evaluate.calibrations.items(call.caller, of.id));
    return list;
}

Result<NoContent> delete_calibration(const Call& call) {
    TRY(calibrated_evaluator(call, access::Permission::eval_write));
    const auto of = TRY(calibration_in_path(call));
    TRY(call.services.evaluate.calibrations.remove(call.caller, of.id));
    return NoContent{};
}

Result<One<evaluate::CorrectedRateView>> get_corrected_rate(const Call& call, const CorrectedRateQuery& query) {
    const auto evaluator = TRY(calibrated_evaluator(call, access::Permission::project_read));
    if (!query.project) return invalid("query parameter project is missing");
    const int64_t hours = query.hours.value_or(168);
    if (hours < 1 || hours > 8760) return invalid("hours must be between 1 and 8760");
    return One<evaluate::CorrectedRateView>{TRY(call.services.evaluate.calibrations.corrected_rate(
        call.caller, evaluator.space_id, evaluator.id, *query.project,
        call.services.clock.now() - std::chrono::hours(hours)))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route calibrations_table[] = {
    route<list_calibrations>("GET", "/v1/evaluators/{evaluator}/calibrations", need(project_read),
                             "Calibrations of an evaluator and its weekly checks, newest first."),
    route<start_calibration>("POST", "/v1/evaluators/{evaluator}/calibrations", need(eval_write),
                             "Compare a version of an evaluator with the labels of people.")
        .on(net::Lane::query),
    route<get_calibration>("GET", "/v1/evaluators/{evaluator}/calibrations/{calibration}", need(project_read),
                           "A calibration with its numbers."),
    route<list_calibration_items>("GET", "/v1/evaluators/{evaluator}/calibrations/{calibration}/items",
                                  need(project_read), "Its targets with labels and verdicts, disagreements first."),
    route<delete_calibration>("DELETE", "/v1/evaluators/{evaluator}/calibrations/{calibration}", need(eval_write),
                              "Delete a calibration; of a canary, its weekly checks end."),
    route<get_corrected_rate>("GET", "/v1/evaluators/{evaluator}/corrected_rate", need(project_read),
                              "Pass rate of the evaluator, corrected by the labels of people.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> calibrations_routes() {
    return calibrations_table;
}

} // namespace hone::api
