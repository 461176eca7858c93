// Unusable outputs: cut off at the token limit, refused or filtered, or not in the form a program expects.
#include "signal/analysis/clusters.h"
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <algorithm>

namespace hone::signal {

namespace {

constexpr std::string_view cut_reasons = "lower(finish_reason) IN ('length', 'max_tokens', 'max_output_tokens')";
constexpr std::string_view cut_filter =
    R"(finish_reason in ("length", "max_tokens", "MAX_TOKENS", "Length", "LENGTH", "max_output_tokens"))";
constexpr std::string_view refusal_reasons[] = {"content_filter", "refusal", "safety", "SAFETY", "blocked"};
constexpr std::string_view refusal_phrases[] = {
    "I can't help with",    "I cannot help with",    "I can't assist with",    "I cannot assist with",
    "I'm unable to assist", "I am unable to assist", "I'm sorry, but I can't", "As an AI language model, I"};

// What people see. The query that counts does not use the text index as the filter does: words like "I" and "with"
// are in most outputs, and one search for all phrases is ten times faster.
std::string refusal_filter() {
    std::string reasons, phrases;
    for (const std::string_view one : refusal_reasons) reasons += (reasons.empty() ? "" : ", ") + quote_filter(one);
    for (const std::string_view one : refusal_phrases) phrases += " or output ~ " + quote_filter(one);
    return "kind = llm and (finish_reason in (" + reasons + ")" + phrases + ")";
}

// Calls of a model that end in some way, by name and model.
struct Ending {
    std::string name, model;
    int64_t hits = 0, calls = 0, hits_before = 0, calls_before = 0;
    double share() const { return share_of(hits, calls); }
    double z() const { return proportion_z(hits, calls, hits_before, calls_before); }
    bool recurs(double wanted) const { return hits >= 5 && (least_share_of(hits, calls) >= wanted * 0.6 || z() >= 6); }
};

Result<std::vector<Ending>> endings(Survey& survey, std::string_view condition, const Survey::Bind& bind = {}) {
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, model, countIf(hit AND start_ns >= {{from:Int64}}) AS hits, countIf(start_ns >= "
        "{{from:Int64}}), countIf(hit AND start_ns < {{from:Int64}}), countIf(start_ns < {{from:Int64}}) FROM (SELECT "
        "name, model, start_ns, ({}) AS hit FROM hone.spans WHERE {} AND kind = 'llm') GROUP BY name, model HAVING "
        "hits >= 5 ORDER BY hits DESC, name, model LIMIT 20)",
        condition, in_both);
    std::vector<Ending> all;
    TRY(survey.query(
        sql,
        [&](const ResultRow& row) {
            all.push_back({row.text(0), row.text(1), row.integer(2), row.integer(3), row.integer(4), row.integer(5)});
        },
        bind));
    return all;
}

Candidate output_candidate_of(const Ending& ending, Detector detector, std::string title, std::string explanation,
                              std::string_view filter) {
    Candidate candidate;
    candidate.detector = detector;
    candidate.subject = ending.name + "\n" + ending.model;
    candidate.title = std::move(title);
    candidate.explanation = std::move(explanation);
    candidate.severity = severity_of_share(ending.share());
    if (candidate.severity == Severity::critical) candidate.severity = Severity::high;
    candidate.filter = std::string(filter) + " and name = " + quote_filter(ending.name);
    if (!ending.model.empty()) candidate.filter += " and model = " + quote_filter(ending.model);
    candidate.clear = std::max(6.0, ending.z());
    candidate.facts = {{"answers", std::to_string(ending.hits)},
                       {"share of the calls", percent(ending.share())},
                       {"share before", percent(share_of(ending.hits_before, ending.calls_before))}};
    return candidate;
}

} // namespace

Result<> detect_cut_outputs(Survey& survey, std::vector<Candidate>& found) {
    for (const Ending& ending : TRY(endings(survey, cut_reasons))) {
        if (!ending.recurs(0.01)) continue;
        const std::string name = plain_line(ending.name, 80), model = plain_line(ending.model, 60);
        found.push_back(output_candidate_of(
            ending, Detector::truncated_output,
            fmt::format("Outputs of {} are cut off in {}", model.empty() ? "the model" : model, name),
            fmt::format("{} of {} outputs end because the limit of output tokens was reached.", ending.hits,
                        ending.calls),
            "kind = llm and " + std::string(cut_filter)));
    }
    return {};
}

Result<> detect_refusals(Survey& survey, std::vector<Candidate>& found) {
    // First only those that match; the calls they are compared with need no texts.
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, model, countIf(start_ns >= {{from:Int64}}) AS hits, countIf(start_ns < "
        "{{from:Int64}}) FROM hone.spans WHERE {} AND kind = 'llm' AND (finish_reason IN {{reasons:Array(String)}} OR "
        "multiSearchAnyCaseInsensitive(output, {{phrases:Array(String)}})) GROUP BY name, model HAVING hits >= 5 ORDER "
        "BY hits DESC, name, model LIMIT 20)",
        in_both);
    std::vector<Ending> hits;
    TRY(survey.query(
        sql,
        [&](const ResultRow& row) {
            Ending ending{row.text(0), row.text(1)};
            ending.hits = row.integer(2);
            ending.hits_before = row.integer(3);
            hits.push_back(std::move(ending));
        },
        [&](telemetry::ClickHouseQuery& query) {
            query.bind("reasons", std::vector<std::string>(std::begin(refusal_reasons), std::end(refusal_reasons)))
                .bind("phrases", std::vector<std::string>(std::begin(refusal_phrases), std::end(refusal_phrases)));
        }));
    for (Ending& ending : hits) {
        TRY(survey.query(
            "SELECT countIf(start_ns >= {from:Int64}), countIf(start_ns < {from:Int64}) FROM hone.spans "
            "WHERE " +
                std::string(in_both) +
                " AND kind = 'llm' AND name = {n_name:String} AND model = "
                "{n_model:String}",
            [&](const ResultRow& row) {
                ending.calls = row.integer(0);
                ending.calls_before = row.integer(1);
            },
            [&](telemetry::ClickHouseQuery& query) {
                query.bind("n_name", ending.name).bind("n_model", ending.model);
            }));
        if (!ending.recurs(0.02)) continue;
        const std::string name = plain_line(ending.name, 80), model = plain_line(ending.model, 60);
        found.push_back(output_candidate_of(
            ending, Detector::refused_output,
            fmt::format("{} refuses requests in {}", model.empty() ? "The model" : model, name),
            fmt::format("{} of {} outputs were filtered, or contain a typical refusal.", ending.hits, ending.calls),
            refusal_filter()));
    }
    return {};
}

Result<> detect_unparsable(Survey& survey, std::vector<Candidate>& found) {
    for (const Cluster& cluster : TRY(recurring_clusters(survey, FailedPart::unreadable)))
        found.push_back(signal::candidate_of(cluster, Detector::unparsable_output, "cannot parse an output"));
    // Outputs that are marked as JSON and are not.
    for (const Ending& ending :
         TRY(endings(survey, "output_mime = 'application/json' AND status != 'error' AND output != '' AND NOT "
                             "isValidJSON(if(output_mime = 'application/json', output, ''))"))) {
        if (!ending.recurs(0.02)) continue;
        const std::string name = plain_line(ending.name, 80);
        Candidate candidate = output_candidate_of(
            ending, Detector::unparsable_output, fmt::format("Outputs of {} are marked as JSON and are not", name),
            fmt::format("{} of {} outputs are marked as application/json and cannot be parsed.", ending.hits,
                        ending.calls),
            "kind = llm");
        candidate.narrower = "output_mime = 'application/json' AND output != '' AND NOT isValidJSON(output)";
        found.push_back(std::move(candidate));
    }
    return {};
}

} // namespace hone::signal
