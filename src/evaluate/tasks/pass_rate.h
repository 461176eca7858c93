// The share of an evaluator's verdicts that pass, with its interval, in four digits: what lists of evaluators show.
// Values, and one function that reads the jobs of tasks; any thread, blocks.
#pragma once

#include "access/projects.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "sql/sql.h"

#include <map>

namespace hone::evaluate {

struct PassRate {
    int64_t version = 1;
    int64_t scored = 0;
    double rate = 0;
    double low = 0;
    double high = 1;
    static constexpr Pack fields{
        Field{"version", &PassRate::version, "Version of the evaluator that gave these verdicts."},
        Field{"scored", &PassRate::scored, "Number of these verdicts."},
        Field{"rate", &PassRate::rate,
              "Share that passes: a score of 0.5 or more. Verdicts of a sample are weighted by their inclusion."},
        Field{"low", &PassRate::low, "Lower end of Wilson's 95 % interval."},
        Field{"high", &PassRate::high, "Upper end."},
    };
};

// Of verdicts that all count the same.
PassRate pass_rate_of(int64_t version, int64_t passes, int64_t of);

// By the verdicts that tasks in the projects of `seen` (about the column `t.project_id`) made after `since`, for each
// task the newest `most_verdicts_read`; of the newest version that has some. An evaluator is left out when it has none
// with a score, or when its scores are not between 0 and 1.
constexpr int64_t most_verdicts_read = 10'000;
Result<std::map<std::string, PassRate>> pass_rates(sql::Database& database, const std::vector<EvaluatorId>& evaluators,
                                                   const access::Projects::Condition& seen, Time since);

} // namespace hone::evaluate
