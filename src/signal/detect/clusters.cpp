#include "signal/detect/clusters.h"

#include "base/text.h"
#include "signal/detect/message_template.h"
#include "signal/detect/statistics.h"
#include "signal/detect/words.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace hone::signal {

namespace {

// When templates that differ in one word only are so many, the word is a value.
constexpr size_t many_variants = 4;

using Key = std::tuple<std::string, std::string, std::vector<std::string>>; // name, exception, words

void add(std::map<Key, Cluster>& clusters, const Key& key, const Cluster& cluster) {
    auto [at, is_new] = clusters.try_emplace(key, cluster);
    if (is_new) return;
    at->second.traces += cluster.traces;
    at->second.traces_before += cluster.traces_before;
}

// Replaces the one word in which many templates differ by "*".
std::map<Key, Cluster> merge_variants(const std::map<Key, Cluster>& clusters) {
    std::map<Key, std::vector<const Key*>> alike;
    for (const auto& [key, cluster] : clusters)
        for (size_t i = 0; i < std::get<2>(key).size(); ++i) {
            Key blank = key;
            std::get<2>(blank)[i] = "*";
            // What is left must still identify the message.
            const auto& words = std::get<2>(blank);
            if (std::count_if(words.begin(), words.end(), [](const auto& w) { return w != "*" && w != "#"; }) >= 2)
                alike[blank].push_back(&key);
        }
    std::map<Key, Key> becomes;
    for (const auto& [blank, variants] : alike)
        if (variants.size() >= many_variants)
            for (const Key* variant : variants) becomes.try_emplace(*variant, blank);
    std::map<Key, Cluster> merged;
    for (const auto& [key, cluster] : clusters) {
        const auto found = becomes.find(key);
        Cluster copy = cluster;
        copy.is_merged = found != becomes.end();
        add(merged, copy.is_merged ? found->second : key, copy);
    }
    return merged;
}

bool recurs(const Cluster& cluster) {
    if (cluster.traces >= 5 && cluster.least_share >= 0.006) return true;
    if (cluster.traces >= 3 && cluster.share >= 0.3) return true; // little traffic, much of it fails
    return cluster.traces >= 5 && cluster.z >= 5;
}

// What all messages of the cluster have in common, word for word.
std::string common_part(const Cluster& cluster) {
    if (!cluster.is_merged) return fixed_part(cluster.message);
    std::string best, run;
    for (const std::string_view word : split(cluster.pattern, ' ')) {
        const bool is_fixed = word != "*" && word != "#" && word != "URL" && word != "PATH";
        run = is_fixed ? (run.empty() ? "" : run + " ") + std::string(word) : "";
        if (run.size() > best.size() && cluster.message.find(run) != std::string::npos) best = run;
    }
    return best;
}

} // namespace

Result<std::vector<Cluster>> recurring_clusters(Survey& survey, std::string_view condition) {
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT name, exception_type, any(message), any(in_exception), uniqIf(trace_id, start_ns >= "
        "{{from:Int64}}) AS traces, uniqIf(trace_id, start_ns < {{from:Int64}}) AS traces_before FROM (SELECT name, "
        "exception_type, trace_id, start_ns, exception_message != '' AS in_exception, "
        "substringUTF8(if(exception_message != '', exception_message, status_message), 1, 400) AS message FROM "
        "hone.spans WHERE {0} AND status = 'error' AND ({1}) AND (trace_id, toString(span_id)) NOT IN (SELECT "
        "trace_id, parent_id FROM hone.spans WHERE {0} AND status = 'error' AND parent_id != '')) GROUP BY name, "
        "exception_type, replaceRegexpAll(message, '[0-9]+', '0') AS pattern HAVING traces > 0 ORDER BY traces DESC, "
        "name, "
        "exception_type, pattern LIMIT 3000)",
        in_both, condition);
    std::map<Key, Cluster> clusters;
    TRY(survey.query(sql, [&](const ResultRow& row) {
        Cluster cluster;
        cluster.name = row.text(0);
        cluster.exception = row.text(1);
        cluster.message = row.text(2);
        cluster.in_exception = row.integer(3) != 0;
        cluster.traces = row.integer(4);
        cluster.traces_before = row.integer(5);
        add(clusters, {cluster.name, cluster.exception, template_words(cluster.message)}, cluster);
    }));
    std::vector<Cluster> recurring;
    for (auto& [key, cluster] : merge_variants(clusters)) {
        cluster.pattern = join_words(std::get<2>(key));
        const Survey::Seen seen = survey.seen(cluster.name);
        cluster.share = share_of(cluster.traces, std::max(seen.traces, cluster.traces));
        cluster.least_share = least_share_of(cluster.traces, std::max(seen.traces, cluster.traces));
        cluster.share_before = share_of(cluster.traces_before, std::max(seen.traces_before, cluster.traces_before));
        cluster.z = proportion_z(cluster.traces, std::max(seen.traces, cluster.traces), cluster.traces_before,
                                 std::max(seen.traces_before, cluster.traces_before));
        if (recurs(cluster)) recurring.push_back(cluster);
    }
    std::stable_sort(recurring.begin(), recurring.end(),
                     [](const Cluster& a, const Cluster& b) { return a.traces > b.traces; });
    if (recurring.size() > 20) recurring.resize(20);
    return recurring;
}

Candidate candidate_of(const Cluster& cluster, Detector detector, std::string_view what) {
    Candidate candidate;
    candidate.detector = detector;
    candidate.subject = cluster.name + "\n" + cluster.exception + "\n" + cluster.pattern;
    const std::string name = plain_line(cluster.name, 80);
    const std::string said = plain_line(cluster.pattern.empty() ? cluster.exception : cluster.pattern, 110);
    candidate.title = said.empty() ? fmt::format("{} {}", name, what) : fmt::format("{} {}: {}", name, what, said);
    candidate.explanation = fmt::format(
        "{} of the traces that hold {} fail with this message. Messages are grouped by their words; numbers, ids and "
        "quoted texts are left out. Only spans where a failure begins are counted.",
        percent(cluster.share), name);
    candidate.severity = severity_of_share(cluster.share);
    candidate.about = "errors|" + cluster.name;
    candidate.clear = std::max(6.0, cluster.z);
    candidate.filter = "status = error and name = " + quote_filter(cluster.name);
    if (!cluster.exception.empty()) candidate.filter += " and exception = " + quote_filter(cluster.exception);
    if (const std::string part = common_part(cluster); part.size() >= 4)
        candidate.filter += std::string(cluster.in_exception ? " and exception_message" : " and status_message") +
                            " ~ " + quote_filter(part);
    candidate.facts.push_back({"message", plain_line(cluster.message, 300)});
    if (!cluster.exception.empty()) candidate.facts.push_back({"exception", plain_line(cluster.exception, 100)});
    candidate.facts.push_back({"share of " + name, percent(cluster.share)});
    if (cluster.z >= 3) candidate.facts.push_back({"share before", percent(cluster.share_before)});
    return candidate;
}

} // namespace hone::signal
