// A new version of a service, or of a prompt, that is slower, uses more tokens, fails more or has worse evals than the
// one before it.
#include "signal/analysis/eval_changes.h"
#include "signal/analysis/shifts.h"
#include "signal/analysis/words.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

namespace hone::signal {

namespace {

// Where a version is written, and whose it is.
struct Source {
    std::string_view word;    // in titles
    std::string_view owner;   // column: the service, or the span that uses the prompt
    std::string_view version; // expression
    std::string_view filter;  // left side in the filter language
    std::string_view owner_filter;
    std::string_view condition; // spans that can have one
};
constexpr Source sources[] = {
    {"version", "service", "version", "version", "service", "version != ''"},
    {"prompt version", "name", "attribute_index['llm.prompt_template.version']",
     "attributes[\"llm.prompt_template.version\"]", "name",
     "kind = 'llm' AND mapContains(attribute_index, 'llm.prompt_template.version')"},
};

struct Release {
    std::string owner;
    std::string before;
    std::string after;
    int64_t since_ns = 0;
};

constexpr int64_t least_spans = 50;

// The newest version of each owner that appeared in the scanned time, and the one it replaced.
Result<std::vector<Release>> releases(Survey& survey, const Source& source) {
    struct Seen {
        std::string version;
        int64_t first_ns = 0, last_ns = 0;
    };
    std::map<std::string, std::vector<Seen>> owners;
    TRY(survey.query(fmt::format("SELECT * FROM (SELECT {0} AS owner, {1} AS released, min(start_ns) AS first, "
                                 "max(start_ns) FROM hone.spans WHERE {2} AND {3} GROUP BY owner, released HAVING "
                                 "count() >= {4} ORDER BY first, released LIMIT 1000)",
                                 source.owner, source.version, in_both, source.condition, least_spans),
                     [&](const ResultRow& row) {
                         owners[row.text(0)].push_back({row.text(1), row.integer(2), row.integer(3)});
                     }));
    std::vector<Release> found;
    for (const auto& [owner, versions] : owners) {
        if (versions.size() < 2 || versions.back().last_ns < survey.window().from_ns) continue;
        found.push_back(
            {owner, versions[versions.size() - 2].version, versions.back().version, versions.back().first_ns});
        if (found.size() >= 10) break;
    }
    return found;
}

// `change` is the sentence that names what became worse.
Candidate regression(const Source& source, const Release& release, std::string_view metric, const std::string& name,
                     const std::string& change) {
    Candidate candidate;
    candidate.detector = Detector::version_regression;
    candidate.subject = fmt::format("{}\n{}\n{}\n{}\n{}", source.word, release.owner, release.after, metric, name);
    candidate.about = std::string(metric) + "|" + name;
    candidate.filter =
        fmt::format("name = {} and {} = {}", quote_filter(name), source.filter, quote_filter(release.after));
    if (source.owner_filter != "name")
        candidate.filter += fmt::format(" and {} = {}", source.owner_filter, quote_filter(release.owner));
    candidate.explanation =
        fmt::format("{} Spans of {} {} are compared with those of {}, which it replaced on {} UTC.", change,
                    source.word, plain_line(release.after, 60), plain_line(release.before, 60),
                    to_text(from_ns(release.since_ns)).substr(0, 16));
    candidate.facts = {{std::string(source.word), plain_line(release.after, 60)},
                       {"before it", plain_line(release.before, 60)},
                       {"since", to_text(from_ns(release.since_ns)).substr(0, 16) + " UTC"}};
    return candidate;
}

class Comparison {
public:
    Comparison(Survey& survey, const Source& source, const Release& release, std::vector<Candidate>& found)
        : m_survey(survey),
          m_source(source),
          m_release(release),
          m_found(found),
          m_owned(fmt::format("{} = {{n_owner:String}} AND {}", source.owner, source.condition)),
          m_is_before(fmt::format("{} = {{n_before:String}}", source.version)),
          m_is_after(fmt::format("{} = {{n_after:String}}", source.version)),
          m_bind([&release](telemetry::ClickHouseQuery& query) {
              query.bind("n_owner", release.owner).bind("n_before", release.before).bind("n_after", release.after);
          }) {}

    Result<> slower() {
        const auto all = TRY(compare_names(m_survey, "duration_ns", m_owned + " AND status != 'error'", m_is_before,
                                           m_is_after, m_bind));
        for (const Compared& compared : all) {
            const Shift shift = compare(compared.before, compared.after);
            if (!is_clearly_greater(shift, compared, 1.5, 5e7)) continue;
            Candidate candidate =
                regression(m_source, m_release, "latency", compared.name,
                           fmt::format("The median duration of {} went from {} to {}.", plain_line(compared.name, 80),
                                       seconds(shift.before), seconds(shift.after)));
            candidate.change = shift.ratio();
            candidate.extra_ns = shift.after - shift.before;
            candidate.clear = shift.z;
            candidate.title = fmt::format("{} became {} slower with {} {}", plain_line(compared.name, 80),
                                          times(shift.ratio()), m_source.word, plain_line(m_release.after, 40));
            candidate.severity = shift.ratio() >= 2 && candidate.extra_ns >= 5e8 ? Severity::high : Severity::medium;
            candidate.facts.push_back({"median before", seconds(shift.before)});
            candidate.facts.push_back({"median now", seconds(shift.after)});
            m_found.push_back(std::move(candidate));
        }
        return {};
    }

    Result<> costlier() {
        const auto all =
            TRY(compare_names(m_survey, all_tokens, fmt::format("{} AND kind = 'llm' AND {} > 0", m_owned, all_tokens),
                              m_is_before, m_is_after, m_bind));
        for (const Compared& compared : all) {
            const Shift shift = compare(compared.before, compared.after);
            if (!is_clearly_greater(shift, compared, 1.5, 150)) continue;
            Candidate candidate = regression(
                m_source, m_release, "tokens", compared.name,
                fmt::format("A usual call of {} used {:.0f} tokens and uses {:.0f} now, input and output together.",
                            plain_line(compared.name, 80), shift.before, shift.after));
            candidate.change = shift.ratio();
            candidate.clear = shift.z;
            candidate.title = fmt::format("{} uses {} as many tokens with {} {}", plain_line(compared.name, 80),
                                          times(shift.ratio()), m_source.word, plain_line(m_release.after, 40));
            candidate.severity = shift.ratio() >= 4 ? Severity::high : Severity::medium;
            candidate.facts.push_back({"median tokens before", fmt::format("{:.0f}", shift.before)});
            candidate.facts.push_back({"median tokens now", fmt::format("{:.0f}", shift.after)});
            m_found.push_back(std::move(candidate));
        }
        return {};
    }

    Result<> failing() {
        const std::string sql = fmt::format(
            "SELECT * FROM (SELECT name, countIf(failed AND is_after) AS hits, countIf(is_after), countIf(failed AND "
            "is_before), countIf(is_before) FROM (SELECT name, status = 'error' AS failed, ({0}) AS is_after, ({1}) AS "
            "is_before FROM hone.spans WHERE {2} AND {3} AND (trace_id, toString(span_id)) NOT IN (SELECT trace_id, "
            "parent_id FROM hone.spans WHERE {2} AND status = 'error' AND parent_id != '')) GROUP BY name HAVING hits "
            ">= 5 ORDER BY "
            "hits DESC, name LIMIT 100)",
            m_is_after, m_is_before, in_both, m_owned);
        return m_survey.query(
            sql,
            [&](const ResultRow& row) {
                const double now = share_of(row.integer(1), row.integer(2));
                const double before = share_of(row.integer(3), row.integer(4));
                const double z = proportion_z(row.integer(1), row.integer(2), row.integer(3), row.integer(4));
                if (row.integer(4) < least_spans || z < 6 || now < before * 2 || now < 0.02) return;
                Candidate candidate =
                    regression(m_source, m_release, "errors", row.text(0),
                               fmt::format("{} of the spans of {} fail; it was {} before.", percent(now),
                                           plain_line(row.text(0), 80), percent(before)));
                candidate.filter += " and status = error";
                candidate.change = now / std::max(before, 0.001);
                candidate.clear = z;
                candidate.title = fmt::format("{} fails more often with {} {}", plain_line(row.text(0), 80),
                                              m_source.word, plain_line(m_release.after, 40));
                candidate.severity = severity_of_share(now);
                candidate.facts.push_back({"failed before", percent(before)});
                candidate.facts.push_back({"fail now", percent(now)});
                m_found.push_back(std::move(candidate));
            },
            m_bind);
    }

    // Of spans, and of traces by the version of their spans. A chat session can have several versions.
    Result<> evaluated() {
        for (const EvalTargets& targets : {evaluated_spans, evaluated_traces}) {
            const Survey::Bind bind = [&](telemetry::ClickHouseQuery& query) {
                m_bind(query);
                query.bind("n_target", targets.name);
            };
            const std::string rows = fmt::format(
                "SELECT name, label, score, weight, is_after FROM ({0}) AS given INNER JOIN (SELECT {1} AS id, "
                "max({2}) "
                "AS is_after, max({3}) AS is_before FROM hone.spans WHERE {4} AND {5} AND {1} IN (SELECT target_id "
                "FROM "
                "hone.evals WHERE project = {{project:String}} AND target = {{n_target:String}}) GROUP BY id HAVING "
                "is_after != is_before) AS known ON given.target_id = known.id",
                evals_of_targets, targets.column, m_is_after, m_is_before, in_both, m_owned);
            const EvalSplit split{rows, "is_after = 1", "is_after = 0", bind};
            for (const WorseEval& worse : TRY(worse_evals(m_survey, split))) add_eval(targets, worse);
        }
        return {};
    }

private:
    void add_eval(const EvalTargets& targets, const WorseEval& worse) {
        const std::string shown = plain_line(worse.name, 80);
        const bool is_score = worse.usual.empty();
        const auto number = [&](double value) { return is_score ? fmt::format("{:.2f}", value) : percent(value); };
        const std::string what = is_score ? "mean score" : "share of " + plain_line(worse.usual, 60);
        Candidate candidate = regression(m_source, m_release, "eval", worse.name,
                                         fmt::format("The {} of the eval {} on {} went from {} to {}.", what, shown,
                                                     targets.plural, number(worse.before), number(worse.now)));
        candidate.subject += "\n" + std::string(targets.name);
        candidate.filter = fmt::format(
            "{} = {} and {} = {} and {}[{}].{}", m_source.filter, quote_filter(m_release.after), m_source.owner_filter,
            quote_filter(m_release.owner), targets.filter, quote_filter(worse.name), worse_in_filter(worse));
        narrow_to_worse(candidate, targets, worse);
        candidate.title = fmt::format("The eval {} became worse with {} {}: {} instead of {}", shown, m_source.word,
                                      plain_line(m_release.after, 40), number(worse.now), number(worse.before));
        candidate.severity = severity_of(worse);
        candidate.clear = worse.z;
        candidate.facts.push_back({what + " before", number(worse.before)});
        candidate.facts.push_back({what + " now", number(worse.now)});
        candidate.facts.push_back({"evals now", std::to_string(worse.evals_now)});
        m_found.push_back(std::move(candidate));
    }

    Survey& m_survey;
    const Source& m_source;
    const Release& m_release;
    std::vector<Candidate>& m_found;
    const std::string m_owned, m_is_before, m_is_after;
    const Survey::Bind m_bind;
};

} // namespace

Result<> detect_version_regressions(Survey& survey, std::vector<Candidate>& found) {
    for (const Source& source : sources)
        for (const Release& release : TRY(releases(survey, source))) {
            Comparison comparison(survey, source, release, found);
            TRY(comparison.slower());
            TRY(comparison.costlier());
            TRY(comparison.failing());
            TRY(comparison.evaluated());
        }
    return {};
}

} // namespace hone::signal
