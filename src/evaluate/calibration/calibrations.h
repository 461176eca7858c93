// Calibrations in the database: started by people, worked on by the server that holds the lease, a few targets at a
// time, each stored when it is there, so that a killed server repeats only those. Weekly checks repeat a canary set and
// report drift. Thread-safe; one thread calls step().
#pragma once

#include "access/access.h"
#include "access/page.h"
#include "evaluate/calibration/calibration.h"
#include "evaluate/evaluators/evaluator_versions.h"
#include "evaluate/evaluators/replied_models.h"
#include "telemetry/spans.h"

#include <functional>

namespace hone::evaluate {

// One verdict of an evaluator, or why there is none.
struct AppliedVerdict {
    std::optional<CalibrationVerdict> verdict{};
    std::string explanation{};
    std::string error{};
    std::string model{};
    int64_t cost_nano_usd = 0;
    int64_t duration_ms = 0;
    bool is_out_of_budget = false;
    bool is_stopped = false; // the server stops: not tried
};

// A drift of an evaluator, for a notice.
struct DriftAlarm {
    Calibration check;
    std::string why;
};

// A provider that has another model behind the name that an evaluator requests, for a notice.
struct ModelChange {
    Calibration check;
    std::string before; // as responses named it
    std::string after;
};

// What calibrations need of other parts. Implemented by server/.
struct CalibrationHooks {
    // The document of a target; not_found: it is gone.
    std::function<Result<json::Value>(const std::string& project, telemetry::EvalTarget target, const std::string& id,
                                      const std::string& trace_id)>
        document{};
    // Without the cache. In the order of the documents.
    std::function<std::vector<AppliedVerdict>(const EvaluatorVersion& version,
                                              const std::vector<json::Value>& documents, int64_t repetition,
                                              const Calibration& owner)>
        apply{};
    std::function<Result<>(const DriftAlarm& alarm)> alarm{};
    // Can be called twice for the same change.
    std::function<Result<>(const ModelChange& change)> model_changed{};
};

// The pass rate of an evaluator in production, corrected by people's labels.
struct CorrectedRateView {
    std::string calibration_id;
    int64_t evals = 0;
    double rate = 0;
    double corrected = 0;
    double low = 0;
    double high = 1;
    double people_rate = 0;
    int64_t labels = 0;
    static constexpr Pack fields{
        Field{"calibration_id", &CorrectedRateView::calibration_id, "Calibration whose labels correct it."},
        Field{"evals", &CorrectedRateView::evals,
              "Evals of the calibrated version in this time, at most the newest 10000."},
        Field{"rate", &CorrectedRateView::rate,
              "Share that passes by the evaluator: a score of 0.5 or more, weighted by inclusion."},
        Field{"corrected", &CorrectedRateView::corrected, "The same, corrected by labels of people (PPI++)."},
        Field{"low", &CorrectedRateView::low, "Lower end of its 95 % interval."},
        Field{"high", &CorrectedRateView::high, "Upper end."},
        Field{"people_rate", &CorrectedRateView::people_rate, "Share that passes by the labels of people alone."},
        Field{"labels", &CorrectedRateView::labels, "Labels of people."},
    };
};

class Calibrations {
public:
    static constexpr Duration lease = std::chrono::minutes(5);
    static constexpr Duration check_period = std::chrono::hours(24 * 7);
    static constexpr int64_t canary_targets = 50;

    // `spans` may be null: nothing can be calibrated.
    Calibrations(sql::Database& database, const Clock& clock, access::Access& access, telemetry::Spans* spans)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_versions(database),
          m_replied(database, clock),
          m_spans(spans) {}
    // Once, before requests come.
    void set_hooks(CalibrationHooks hooks) { m_hooks = std::move(hooks); }

    // `version` was found by the caller. Needs eval_write in the project of the labels.
    Result<Calibration> start(const access::Caller& caller, const EvaluatorVersion& version,
                              const StartCalibration& wanted);
    // Of an evaluator that the caller may read; newest first.
    Result<access::Page<Calibration>> list(const access::Caller& caller, const access::SpaceId& space,
                                           const EvaluatorId& evaluator, const access::PageRequest& page) const;
    Result<Calibration> find(const access::Caller& caller, const CalibrationId& id,
                             access::Permission permission = access::Permission::project_read) const;
    // Disagreements first.
    Result<std::vector<CalibrationItem>> items(const access::Caller& caller, const CalibrationId& id) const;
    Result<> remove(const access::Caller& caller, const CalibrationId& id);
    // By the newest calibration of this evaluator in the project.
    Result<CorrectedRateView> corrected_rate(const access::Caller& caller, const access::SpaceId& space,
                                             const EvaluatorId& evaluator, const std::string& project, Time from) const;

    // All leases end. For a server that has the database alone: those of a server that was killed would last.
    Result<> end_leases();
    // Evaluates some targets of one calibration, or makes the weekly checks that are due; how long to wait. `server`:
    // the name of this one. A server that was frozen while another took its calibration over writes nothing into it.
    Result<Duration> step(const std::string& server = {});
    // The checks that are due, or whose evaluator has a newer version, or responses that name another model than before
    // the last check. Returns how many it made.
    Result<int64_t> make_checks();

private:
    Result<std::vector<CalibrationItem>> labelled(const Calibration& calibration, const StartCalibration& wanted,
                                                  CalibrationResult& result) const;
    Result<CalibrationId> insert(const Calibration& calibration, const std::vector<CalibrationItem>& items,
                                 const access::Caller& caller);
    Result<std::vector<CalibrationItem>> read_items(const CalibrationId& id) const;
    enum class Progress { more, complete, taken_over };
    Result<Progress> evaluate_some(Calibration& calibration, const std::string& server);
    Result<> finish(Calibration& calibration, const std::string& server);
    Result<> release(const Calibration& calibration, const std::string& server, Time until);
    Result<> fail(const Calibration& calibration, const std::string& server, const std::string& why);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    EvaluatorVersions m_versions;
    RepliedModels m_replied;
    telemetry::Spans* const m_spans;
    CalibrationHooks m_hooks;
};

} // namespace hone::evaluate
