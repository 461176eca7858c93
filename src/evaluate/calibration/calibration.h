// A calibration: how well one version of an evaluator agrees with people, measured on targets that people have
// labelled. Declared once for the API, the CLI and the database. Values only; any thread.
#pragma once

#include "evaluate/evaluators/evaluator_version.h"
#include "evaluate/statistics/agreement.h"
#include "telemetry/engine/eval_row.h"

namespace hone::evaluate {

struct CalibrationTag {
    static constexpr std::string_view kind = "calibration";
};
using CalibrationId = Id<CalibrationTag>;

enum class CalibrationState { queued, running, done, failed };
constexpr auto enum_names(CalibrationState) {
    return std::array{EnumName{CalibrationState::queued, "queued"}, EnumName{CalibrationState::running, "running"},
                      EnumName{CalibrationState::done, "done"}, EnumName{CalibrationState::failed, "failed"}};
}

struct StartCalibration {
    std::string project;
    std::string config;
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::trace;
    std::optional<int64_t> version;
    std::optional<std::string> failing_label;
    json::Defaulted<int64_t> repetitions = int64_t{3};
    json::Defaulted<int64_t> limit = int64_t{200};
    json::Defaulted<bool> canary = false;
    std::optional<int64_t> cost_limit_micro_usd;
    static constexpr Pack fields{
        Field{"project", &StartCalibration::project, "Id or name of the project whose targets people have labelled."},
        Field{"config", &StartCalibration::config, "Name of the human evals, such as that of an annotation config."},
        Field{"target", &StartCalibration::target, "span, trace or chat_session; trace if not given."},
        Field{"version", &StartCalibration::version, "Version of the evaluator; the newest if not given."},
        Field{"failing_label", &StartCalibration::failing_label,
              "Label whose precision and recall are shown; if not given, the one with the lowest score."},
        Field{"repetitions", &StartCalibration::repetitions,
              "Verdicts per target without the cache, 1 to 5; 3 if not given. The flip rate needs 2."},
        Field{"limit", &StartCalibration::limit, "Most targets, newest labels first, 1 to 1000; 200 if not given."},
        Field{
            "canary", &StartCalibration::canary,
            "Evaluate up to 50 of these targets again every week and after each change of the model, and send a notice "
            "when the verdicts have drifted."},
        Field{"cost_limit_micro_usd", &StartCalibration::cost_limit_micro_usd,
              "Stops when the verdicts have cost this much; no limit if not given."},
    };
};

// One verdict about one target.
struct CalibrationVerdict {
    std::optional<std::string> label;
    std::optional<double> score;
    static constexpr Pack fields{
        Field{"label", &CalibrationVerdict::label, "Label."},
        Field{"score", &CalibrationVerdict::score, "Score."},
    };
};

struct CalibrationItem {
    std::string target_id;
    std::string trace_id;
    std::string human;
    std::optional<double> human_score;
    int64_t raters = 1;
    bool is_held_out = false;
    std::vector<std::optional<CalibrationVerdict>> verdicts;
    std::string explanation;
    std::string error;
    int64_t cost_nano_usd = 0;
    int64_t duration_ms = 0;
    bool agrees = false;
    static constexpr Pack fields{
        Field{"target_id", &CalibrationItem::target_id, "Span id, trace id, or the chat session's name."},
        Field{"trace_id", &CalibrationItem::trace_id, "Its trace; empty for a chat session."},
        Field{"human", &CalibrationItem::human, "Label of people, by majority."},
        Field{"human_score", &CalibrationItem::human_score, "Score of that label."},
        Field{"raters", &CalibrationItem::raters, "People who labelled it."},
        Field{"is_held_out", &CalibrationItem::is_held_out, "Belongs to the part that is kept aside."},
        Field{"verdicts", &CalibrationItem::verdicts, "One per repetition; null: there was none."},
        Field{"explanation", &CalibrationItem::explanation, "Of the first verdict."},
        Field{"error", &CalibrationItem::error, "Why a verdict is missing."},
        Field{"cost_nano_usd", &CalibrationItem::cost_nano_usd,
              "Cost of all its verdicts, in billionths of a US dollar."},
        Field{"duration_ms", &CalibrationItem::duration_ms, "Time of all its verdicts."},
        Field{"agrees", &CalibrationItem::agrees, "The first verdict and people agree."},
    };
};

struct KappaView {
    int64_t count = 0;
    double agreement = 0;
    std::optional<double> kappa;
    std::optional<double> low;
    std::optional<double> high;
    static constexpr Pack fields{
        Field{"count", &KappaView::count, "Targets with a verdict and a label."},
        Field{"agreement", &KappaView::agreement, "Share of equal labels."},
        Field{"kappa", &KappaView::kappa, "Cohen's kappa; null below 10 targets, and when one label is all there is."},
        Field{"low", &KappaView::low, "Lower end of its 95 % interval."},
        Field{"high", &KappaView::high, "Upper end."},
    };
};

struct RateView {
    std::optional<double> rate;
    double low = 0;
    double high = 1;
    static constexpr Pack fields{
        Field{"rate", &RateView::rate, "null: there is nothing to count."},
        Field{"low", &RateView::low, "Lower end of Wilson's 95 % interval."},
        Field{"high", &RateView::high, "Upper end."},
    };
};

struct CalibrationResult {
    std::vector<std::string> labels;
    std::vector<std::vector<int64_t>> matrix;
    KappaView all;
    KappaView held_out;
    RateView precision;
    RateView recall;
    std::string failing_label;
    int64_t repeated = 0;
    int64_t flipped = 0;
    std::optional<double> flip_rate;
    int64_t without_verdict = 0;
    int64_t disputed = 0;
    std::optional<double> human_alpha;
    int64_t both_pass = 0;
    int64_t only_evaluator_passes = 0;
    int64_t only_people_pass = 0;
    int64_t both_fail = 0;
    int64_t verdicts = 0;
    int64_t cost_nano_usd = 0;
    int64_t mean_cost_nano_usd = 0;
    int64_t mean_ms = 0;
    std::vector<std::string> warnings;
    static constexpr Pack fields{
        Field{"labels", &CalibrationResult::labels, "Labels, in the order of the matrix."},
        Field{"matrix", &CalibrationResult::matrix, "Rows: labels of people. Columns: labels of the evaluator."},
        Field{"all", &CalibrationResult::all, "Agreement on all targets."},
        Field{"held_out", &CalibrationResult::held_out,
              "Agreement on the part kept aside, about 30 % of the targets, always the same ones."},
        Field{"precision", &CalibrationResult::precision, "Of the failing label: how often people agree with it."},
        Field{"recall", &CalibrationResult::recall, "Of the failing label: how many of people's it finds."},
        Field{"failing_label", &CalibrationResult::failing_label, "The failing label."},
        Field{"repeated", &CalibrationResult::repeated, "Targets with two or more verdicts."},
        Field{"flipped", &CalibrationResult::flipped, "Of these, those whose verdicts differ."},
        Field{"flip_rate", &CalibrationResult::flip_rate, "Share of these; null: none was repeated."},
        Field{"without_verdict", &CalibrationResult::without_verdict, "Targets without a verdict, or cannot_judge."},
        Field{"disputed", &CalibrationResult::disputed, "Targets left out because people are divided evenly."},
        Field{"human_alpha", &CalibrationResult::human_alpha,
              "Krippendorff's alpha of people on these targets; null: none has two labels."},
        Field{"both_pass", &CalibrationResult::both_pass, "Targets that pass for the evaluator and for people."},
        Field{"only_evaluator_passes", &CalibrationResult::only_evaluator_passes, "Only for the evaluator."},
        Field{"only_people_pass", &CalibrationResult::only_people_pass, "Only for people."},
        Field{"both_fail", &CalibrationResult::both_fail, "For neither."},
        Field{"verdicts", &CalibrationResult::verdicts, "Verdicts of all repetitions."},
        Field{"cost_nano_usd", &CalibrationResult::cost_nano_usd, "Their cost in billionths of a US dollar."},
        Field{"mean_cost_nano_usd", &CalibrationResult::mean_cost_nano_usd, "Cost of one verdict."},
        Field{"mean_ms", &CalibrationResult::mean_ms, "Time of one verdict in milliseconds."},
        Field{"warnings", &CalibrationResult::warnings, "What limits these numbers, in sentences."},
    };
};

struct Calibration {
    CalibrationId id;
    access::SpaceId space_id;
    EvaluatorId evaluator_id;
    int64_t number = 1;
    std::string name;
    access::ProjectId project_id;
    telemetry::EvalTarget target = telemetry::EvalTarget::trace;
    std::string config;
    int64_t repetitions = 3;
    bool is_canary = false;
    std::optional<CalibrationId> canary_of;
    CalibrationState state = CalibrationState::queued;
    std::string reason;
    CalibrationResult result;
    std::string alarm;
    std::string model;
    int64_t targets = 0;
    int64_t evaluated = 0;
    std::optional<int64_t> cost_limit_micro_usd;
    std::optional<Time> next_check_at;
    std::string started_by;
    Time created_at{};
    std::optional<Time> ended_at;
    std::string failing_label{}; // as requested; empty: the one with the lowest score
    static constexpr Pack fields{
        Field{"id", &Calibration::id, "Id."},
        Field{"space_id", &Calibration::space_id, "Id of the space."},
        Field{"evaluator_id", &Calibration::evaluator_id, "The evaluator."},
        Field{"number", &Calibration::number, "Its version."},
        Field{"name", &Calibration::name, "Its name."},
        Field{"project_id", &Calibration::project_id, "Project of the targets."},
        Field{"target", &Calibration::target, "span, trace or chat_session."},
        Field{"config", &Calibration::config, "Name of the human evals."},
        Field{"repetitions", &Calibration::repetitions, "Verdicts per target, without the cache."},
        Field{"is_canary", &Calibration::is_canary, "Its targets are evaluated again every week."},
        Field{"canary_of", &Calibration::canary_of, "Of a check: the calibration it repeats."},
        Field{"state", &Calibration::state, "queued, running, done or failed."},
        Field{"reason", &Calibration::reason, "Why it failed."},
        Field{"result", &Calibration::result, "The numbers; empty until it is done."},
        Field{"alarm", &Calibration::alarm, "Of a weekly check: how the verdicts have drifted; empty: they have not."},
        Field{"model", &Calibration::model, "Model that the verdicts name; empty: none."},
        Field{"targets", &Calibration::targets, "Targets that people have labelled."},
        Field{"evaluated", &Calibration::evaluated, "Targets that are evaluated until now."},
        Field{"cost_limit_micro_usd", &Calibration::cost_limit_micro_usd, "Limit of its cost."},
        Field{"next_check_at", &Calibration::next_check_at, "Time of the next weekly check."},
        Field{"started_by", &Calibration::started_by, "Name of the person, `weekly check`, or `change of the model`."},
        Field{"created_at", &Calibration::created_at, "Time of the start."},
        Field{"ended_at", &Calibration::ended_at, "Time of the end."},
    };
};

// Fills in every number from the items. `failing_label` empty: the label with the lowest score.
CalibrationResult calibration_result(std::vector<CalibrationItem>& items, const std::string& failing_label);
// Adds the warnings, once `disputed` and `human_alpha` are known.
void complete(CalibrationResult& result);

// Why the verdicts of a check differ too much from the first ones; empty: they do not. Exact McNemar of pass and fail
// with p < 0.01, or kappa that fell by 0.1.
std::string drift_of(const std::vector<CalibrationItem>& first, const std::vector<CalibrationItem>& now,
                     const CalibrationResult& before, const CalibrationResult& after);

// Whether a target belongs to the part that is kept aside.
bool is_held_out(std::string_view target_id);

} // namespace hone::evaluate
