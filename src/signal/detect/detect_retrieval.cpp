// Searches that find nothing.
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <algorithm>

namespace hone::signal {

Result<> detect_empty_retrieval(Survey& survey, std::vector<Candidate>& found) {
    // One that never finds anything is an application that does not record its documents.
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, countIf(documents = 0 AND start_ns >= {{from:Int64}}) AS empty, countIf(start_ns "
        ">= {{from:Int64}}), countIf(documents = 0 AND start_ns < {{from:Int64}}), countIf(start_ns < "
        "{{from:Int64}}) FROM hone.spans WHERE {} AND kind = 'retriever' AND status != 'error' GROUP BY name HAVING "
        "empty >= 5 AND countIf(documents > 0) > 0 ORDER BY empty DESC, name LIMIT 20)",
        in_both);
    return survey.query(sql, [&](const ResultRow& row) {
        const std::string name = row.text(0), shown = plain_line(name, 80);
        const int64_t empty = row.integer(1), all = row.integer(2);
        const double share = share_of(empty, all);
        const double z = proportion_z(empty, all, row.integer(3), row.integer(4));
        if (share < 0.03 && z < 6) return;
        Candidate candidate;
        candidate.detector = Detector::empty_retrieval;
        candidate.subject = name;
        candidate.title = fmt::format("{} finds nothing", shown);
        candidate.explanation =
            fmt::format("{} of {} searches return no document. The index lacks what is searched for, "
                        "or the filter on it is too narrow.",
                        empty, all);
        candidate.severity = share >= 0.3 ? Severity::high : share >= 0.05 ? Severity::medium : Severity::low;
        candidate.filter = "kind = retriever and documents = 0 and status != error and name = " + quote_filter(name);
        candidate.about = "retrieval|" + name;
        candidate.clear = std::max(6.0, z);
        candidate.facts = {{"empty searches", std::to_string(empty)},
                           {"share", percent(share)},
                           {"share before", percent(share_of(row.integer(3), row.integer(4)))}};
        found.push_back(std::move(candidate));
    });
}

} // namespace hone::signal
