// Chat sessions whose last trace fails: users who left.
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"

#include <algorithm>

namespace hone::signal {

Result<> detect_session_failures(Survey& survey, std::vector<Candidate>& found) {
    const std::string roots = std::string(in_both) + " AND chat_session != '' AND parent_id = ''";
    int64_t failed = 0, all = 0, failed_before = 0, all_before = 0;
    TRY(survey.query(
        fmt::format("SELECT countIf(failed AND last >= {{from:Int64}}), countIf(last >= {{from:Int64}}), "
                    "countIf(failed AND last < {{from:Int64}}), countIf(last < {{from:Int64}}) FROM (SELECT "
                    "argMax(status, start_ns) = 'error' AS failed, max(start_ns) AS last FROM hone.spans "
                    "WHERE {} GROUP BY chat_session)",
                    roots),
        [&](const ResultRow& row) {
            failed = row.integer(0);
            all = row.integer(1);
            failed_before = row.integer(2);
            all_before = row.integer(3);
        }));
    const double share = share_of(failed, all);
    const double z = proportion_z(failed, all, failed_before, all_before);
    if (failed < 5 || (share < 0.15 && z < 6)) return {};
    Candidate candidate;
    candidate.detector = Detector::session_failure;
    candidate.subject = "sessions";
    candidate.title = "Chat sessions end in failure";
    candidate.explanation =
        fmt::format("In {} of {} chat sessions the last trace failed and the user sent nothing more.", failed, all);
    candidate.severity = share >= 0.25 ? Severity::high : Severity::medium;
    candidate.filter = "root = true and status = error";
    candidate.narrower =
        fmt::format("toString(trace_id) IN (SELECT toString(argMax(trace_id, start_ns)) FROM hone.spans "
                    "WHERE {} GROUP BY chat_session HAVING argMax(status, start_ns) = 'error')",
                    roots);
    candidate.about = "sessions|";
    candidate.clear = std::max(6.0, z);
    candidate.facts = {{"failed sessions", std::to_string(failed)},
                       {"share", percent(share)},
                       {"share before", percent(share_of(failed_before, all_before))}};
    found.push_back(std::move(candidate));
    return {};
}

} // namespace hone::signal
