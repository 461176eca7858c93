#include "signal/analysis/clusters.h"

#include "base/text.h"
#include "signal/analysis/small_clusters.h"
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/text/message_template.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <memory>
#include <tuple>

namespace hone::signal {

namespace {

// When templates that differ in one word only are so many, the word is a value.
constexpr size_t many_variants = 4;
constexpr size_t most_names = 20; // that a filter lists

using Key = std::tuple<std::string, std::string, std::vector<std::string>>; // name, exception, words

void add(std::map<Key, Cluster>& clusters, const Key& key, const Cluster& cluster) {
    auto [at, is_new] = clusters.try_emplace(key, cluster);
    if (is_new) return;
    at->second.traces += cluster.traces;
    at->second.traces_before += cluster.traces_before;
    for (const std::string& name : cluster.names)
        if (std::find(at->second.names.begin(), at->second.names.end(), name) == at->second.names.end())
            at->second.names.push_back(name);
    for (const std::string& tool : cluster.tools)
        if (std::find(at->second.tools.begin(), at->second.tools.end(), tool) == at->second.tools.end())
            at->second.tools.push_back(tool);
    at->second.by_tool = at->second.by_tool && cluster.by_tool;
    if (at->second.tool_around != cluster.tool_around) at->second.tool_around.clear();
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
    if (!cluster.is_merged) return fixed_part(cluster.cause.detail.empty() ? cluster.cause.type : cluster.cause.detail);
    std::string best, run;
    for (const std::string_view word : split(cluster.pattern, ' ')) {
        const bool is_fixed = word != "*" && word != "#" && word != "URL" && word != "PATH";
        run = is_fixed ? (run.empty() ? "" : run + " ") + std::string(word) : "";
        if (run.size() > best.size() && cluster.message.find(run) != std::string::npos) best = run;
    }
    return best;
}

// Which part a failed span belongs to, as a number of FailedPart.
constexpr std::string_view part_sql =
    "multiIf(match(exception_type, '(?i)(ratelimit|toomanyrequests|overloaded|quotaexceeded|resourceexhausted)') OR "
    "multiSearchAnyCaseInsensitive(whole, ['ratelimiterror', 'rate_limit_error', 'rate limit exceeded', 'rate limit "
    "reached', 'too many requests', 'overloaded_error', 'insufficient_quota', 'resource_exhausted']), 2, kind = "
    "'tool' OR around != '', 0, {}, 1, 3)";

// A model call that two instrumentations saw: the inner span shows that it failed, the outer one also why.
constexpr std::string_view silent_twin_sql =
    "(kind = 'llm' AND exception_message = '' AND status_message = '' AND (trace_id, parent_id) IN (SELECT trace_id, "
    "toString(span_id) FROM hone.spans WHERE {0} AND status = 'error' AND kind = 'llm' AND (exception_message != '' OR "
    "status_message != '')))";

// Successful calls of tools with failed steps below: such a step is a phase of the call, and it is the tool that
// failed.
constexpr std::string_view tools_above_sql =
    "SELECT trace_id AS tool_trace, toString(span_id) AS tool_span, any(if(tool_name != '', tool_name, name)) AS "
    "tool_above FROM hone.spans WHERE {0} AND kind = 'tool' AND status != 'error' AND (trace_id, toString(span_id)) IN "
    "(SELECT trace_id, parent_id FROM hone.spans WHERE {0} AND status = 'error' AND kind = 'chain' AND parent_id != "
    "'') "
    "GROUP BY tool_trace, tool_span";

// The clusters of all parts, queried once.
Result<std::shared_ptr<const std::vector<Cluster>>> clusters_of_window(Survey& survey) {
    if (survey.clusters()) return survey.clusters();
    const std::string sql = fmt::format(
        "SELECT * FROM (SELECT any(name), exception_type, any(message), any(in_exception), uniqIf(trace_id, start_ns "
        ">= {{from:Int64}}) AS traces, uniqIf(trace_id, start_ns < {{from:Int64}}) AS traces_before, "
        "groupUniqArray({2})(name), count(), part, tool, around FROM (SELECT name, if(kind = 'tool' AND tool_name != "
        "name, tool_name, '') AS tool, if(kind = 'chain', toString(tool_above), '') AS around, exception_type, "
        "trace_id, start_ns, exception_message != '' AS in_exception, if(exception_message != '', exception_message, "
        "status_message) AS whole, {1} AS part, if(length(whole) > 1200, concat(leftUTF8(whole, 400), '\\n', "
        "rightUTF8(whole, 800)), whole) AS message FROM (SELECT name, kind, tool_name, exception_type, "
        "exception_message, status_message, trace_id, parent_id, start_ns FROM hone.spans WHERE {0} AND status = "
        "'error' AND NOT {3} AND (trace_id, toString(span_id)) NOT IN (SELECT trace_id, parent_id FROM hone.spans "
        "WHERE {0} AND status = 'error' AND parent_id != '' AND NOT {3})) AS failed LEFT ANY JOIN ({4}) AS tools ON "
        "failed.trace_id = tools.tool_trace AND failed.parent_id = tools.tool_span) GROUP BY part, tool, around, "
        "replaceRegexpAll(name, '[0-9]+', '0') AS place, exception_type, replaceRegexpAll(message, '[0-9]+', '0') AS "
        "pattern HAVING traces > 0 ORDER BY traces DESC, place, exception_type, pattern LIMIT 3000 BY part)",
        in_both, fmt::format(fmt::runtime(part_sql), unreadable_types), most_names,
        fmt::format(fmt::runtime(silent_twin_sql), in_both), fmt::format(fmt::runtime(tools_above_sql), in_both));
    std::map<FailedPart, std::map<Key, Cluster>> parts;
    TRY(survey.query(sql, [&](const ResultRow& row) {
        Cluster cluster;
        if (const std::string tool = row.text(9); !tool.empty()) cluster.tools.push_back(tool);
        cluster.by_tool = !cluster.tools.empty();
        cluster.tool_around = row.text(10);
        cluster.name = normalised_name(!cluster.tool_around.empty() ? cluster.tool_around
                                       : cluster.by_tool            ? cluster.tools.front()
                                                                    : row.text(0));
        cluster.exception = row.text(1);
        cluster.message = row.text(2);
        cluster.in_exception = row.integer(3) != 0;
        cluster.traces = row.integer(4);
        cluster.traces_before = row.integer(5);
        for (const json::Value& name : row.list(6)) cluster.names.push_back(ResultRow::to_text(name));
        cluster.spans = row.integer(7);
        cluster.part = static_cast<FailedPart>(row.integer(8));
        cluster.cause = innermost_cause(cluster.message);
        const std::string pattern = cause_template(cluster.cause);
        std::vector<std::string> words;
        for (const std::string_view word : split(pattern, ' '))
            if (!word.empty()) words.emplace_back(word);
        add(parts[cluster.part], {cluster.name, cluster.exception, std::move(words)}, cluster);
    }));
    auto all = std::make_shared<std::vector<Cluster>>();
    for (const auto& [part, clusters] : parts)
        for (auto& [key, cluster] : merge_variants(clusters)) {
            cluster.pattern = join_words(std::get<2>(key));
            all->push_back(std::move(cluster));
        }
    survey.keep_clusters(all);
    return std::shared_ptr<const std::vector<Cluster>>(all);
}

// How many traces have a span of these names; at most all.
Survey::Seen seen_of(const Survey& survey, const Cluster& cluster) {
    Survey::Seen seen;
    const auto add = [&](const Survey::Seen& one) {
        seen.traces = std::max(seen.traces, one.traces);
        seen.traces_before = std::max(seen.traces_before, one.traces_before);
    };
    if (!cluster.tool_around.empty()) {
        add(survey.seen_tool(cluster.tool_around));
        add(survey.seen(cluster.tool_around));
    } else if (cluster.by_tool)
        for (const std::string& tool : cluster.tools) add(survey.seen_tool(tool));
    else
        for (const std::string& name : cluster.names) add(survey.seen(name));
    return seen;
}

// Failures of several places with one typed cause in the same words are one: the cause is not in the place.
void merge_places(std::vector<Cluster>& clusters) {
    constexpr size_t telling = 5; // words, the type included
    std::map<std::pair<std::string, std::string>, size_t> first;
    std::vector<Cluster> merged;
    for (Cluster& cluster : clusters) {
        const auto words = split(cluster.pattern, ' ');
        const auto fixed = std::count_if(words.begin(), words.end(), [](std::string_view word) {
            return word != "*" && word != "#" && word != "URL" && word != "PATH";
        });
        if (cluster.cause.type.empty() || cluster.has_rest || static_cast<size_t>(fixed) < telling) {
            merged.push_back(std::move(cluster));
            continue;
        }
        const auto [at, is_new] = first.try_emplace({cluster.exception, cluster.pattern}, merged.size());
        if (is_new) {
            merged.push_back(std::move(cluster));
            continue;
        }
        Cluster& into = merged[at->second];
        into.traces += cluster.traces;
        into.traces_before += cluster.traces_before;
        into.spans += cluster.spans;
        into.ended += cluster.ended;
        into.most_in_trace = std::max(into.most_in_trace, cluster.most_in_trace);
        into.names.insert(into.names.end(), cluster.names.begin(), cluster.names.end());
        into.tools.insert(into.tools.end(), cluster.tools.begin(), cluster.tools.end());
        into.by_tool = into.by_tool && cluster.by_tool;
        if (into.tool_around != cluster.tool_around) into.tool_around.clear();
        into.ids.insert(into.ids.end(), cluster.ids.begin(), cluster.ids.end());
        into.reports.insert(into.reports.end(), cluster.reports.begin(), cluster.reports.end());
    }
    clusters = std::move(merged);
}

std::string quoted_list(const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + quote_filter(value);
    return list;
}

// Severity from what the failures did to their traces.
Severity severity_of(const Cluster& cluster) {
    if (!cluster.is_small) return severity_of_share(cluster.share);
    if (cluster.ended > 0) return cluster.share >= 0.25 && cluster.traces >= 3 ? Severity::critical : Severity::high;
    if (cluster.share >= 0.25 && cluster.traces >= 5) return Severity::high;
    return cluster.most_in_trace >= 3 || cluster.traces >= 3 ? Severity::medium : Severity::low;
}

std::string filter_of(const Cluster& cluster) {
    if (cluster.has_rest) {
        std::vector<std::string> ids = cluster.ids;
        ids.insert(ids.end(), cluster.reports.begin(), cluster.reports.end());
        return filter_of_spans(ids);
    }
    std::string filter = "status = error and name ";
    const std::string begin = cluster.name.substr(0, cluster.name.find('#'));
    if (cluster.names.size() == 1)
        filter += "= " + quote_filter(cluster.names.front());
    else if (cluster.names.size() < most_names || begin.size() < 3)
        filter += "in (" + quoted_list(cluster.names) + ")";
    else
        filter += "~ " + quote_filter(begin);
    if (cluster.by_tool && cluster.tools.size() < most_names)
        filter += " and tool in (" + quoted_list(cluster.tools) + ")";
    if (!cluster.exception.empty()) filter += " and exception = " + quote_filter(cluster.exception);
    const std::string part = cluster.parts.size() > 1 ? cluster.cause.type : common_part(cluster);
    if (part.size() >= 4 && cluster.message.find(part) != std::string::npos)
        filter += std::string(cluster.in_exception ? " and exception_message" : " and status_message") + " ~ " +
                  quote_filter(part);
    return cluster.reports.empty() ? filter : "(" + filter + ") or " + filter_of_spans(cluster.reports);
}

} // namespace

bool is_unreadable_type(std::string_view exception) {
    const std::string lowered = lowercase_ascii(exception);
    for (const std::string_view word :
         {"jsondecode", "jsonparse", "outputpars", "parseerror", "parsererror", "validationerror", "schemaerror"})
        if (lowered.find(word) != std::string::npos) return true;
    return false;
}

std::string filter_of_spans(const std::vector<std::string>& ids) {
    const std::vector<std::string> listed(ids.begin(),
                                          ids.begin() + static_cast<ptrdiff_t>(std::min(ids.size(), most_listed)));
    return "span_id in (" + quoted_list(listed) + ")";
}

Result<std::vector<Cluster>> recurring_clusters(Survey& survey, FailedPart part) {
    std::vector<Cluster> all;
    bool is_small = survey.traces() < small_window;
    if (is_small) {
        const auto sample = TRY(read_sample(survey));
        is_small = sample->is_whole;
        if (is_small) all = small_clusters(*sample, part);
    }
    if (!is_small) {
        const auto clusters = TRY(clusters_of_window(survey));
        std::copy_if(clusters->begin(), clusters->end(), std::back_inserter(all),
                     [&](const Cluster& cluster) { return cluster.part == part; });
    }
    merge_places(all);
    std::vector<Cluster> recurring;
    for (Cluster& cluster : all) {
        const Survey::Seen seen = seen_of(survey, cluster);
        cluster.share = share_of(cluster.traces, std::max(seen.traces, cluster.traces));
        cluster.least_share = least_share_of(cluster.traces, std::max(seen.traces, cluster.traces));
        cluster.share_before = share_of(cluster.traces_before, std::max(seen.traces_before, cluster.traces_before));
        // Of a small window only the window was read.
        cluster.z = cluster.is_small
                        ? 0
                        : proportion_z(cluster.traces, std::max(seen.traces, cluster.traces), cluster.traces_before,
                                       std::max(seen.traces_before, cluster.traces_before));
        if (cluster.is_small || recurs(cluster)) recurring.push_back(std::move(cluster));
    }
    std::stable_sort(recurring.begin(), recurring.end(),
                     [](const Cluster& a, const Cluster& b) { return a.traces > b.traces; });
    if (recurring.size() > 20) recurring.resize(20);
    return recurring;
}

Candidate candidate_of(const Cluster& cluster, Detector detector, std::string_view what) {
    Candidate candidate;
    candidate.detector = detector;
    candidate.subject = cluster.name + "\n" + cluster.exception + "\n" + (cluster.has_rest ? "*" : cluster.pattern);
    // The name as spans have it, where there is only one.
    const std::vector<std::string>& names = cluster.by_tool ? cluster.tools : cluster.names;
    const bool is_only = names.size() == 1 && normalised_name(names.front()) == cluster.name;
    const std::string name = plain_line(is_only ? names.front() : cluster.name, 80);
    const std::string stated = plain_line(cluster.has_rest          ? "rare causes"
                                          : cluster.pattern.empty() ? cluster.exception
                                                                    : cluster.pattern,
                                          110);
    candidate.title = stated.empty() ? fmt::format("{} {}", name, what) : fmt::format("{} {}: {}", name, what, stated);
    candidate.explanation =
        fmt::format("{} of the traces that have {} fail with this cause.", percent(cluster.share), name);
    if (cluster.ended > 0)
        candidate.explanation += fmt::format(" {} of {} traces end with it.", cluster.ended, cluster.traces);
    else if (cluster.is_small)
        candidate.explanation += fmt::format(" The traces continue after it; it costs up to {} attempt{} in a trace.",
                                             cluster.most_in_trace, cluster.most_in_trace == 1 ? "" : "s");
    if (cluster.is_small && cluster.traces < 5)
        candidate.explanation += " The project has few traces, so the confidence is low.";
    candidate.explanation += " Failures are grouped by where they begin and by their innermost cause; numbers, ids, "
                             "quoted code and data are left out.";
    candidate.severity = severity_of(cluster);
    candidate.about = "errors|" + cluster.name;
    candidate.clear = std::max(6.0, cluster.z);
    candidate.least = cluster.is_small ? 1 : 3;
    candidate.filter = filter_of(cluster);
    candidate.facts.push_back({"message", plain_line(cluster.message, 300)});
    if (!cluster.cause.type.empty() && cluster.cause.type.size() + 3 < cluster.message.size())
        candidate.facts.push_back(
            {"innermost cause", plain_line(cluster.cause.type + ": " + cluster.cause.detail, 200)});
    if (cluster.parts.size() > 1)
        for (size_t i = 0; i < std::min<size_t>(cluster.parts.size(), 6); ++i)
            candidate.facts.push_back(
                {"cause " + std::to_string(i + 1),
                 fmt::format("{} ({} spans)", plain_line(cluster.parts[i].first, 120), cluster.parts[i].second)});
    if (!cluster.exception.empty()) candidate.facts.push_back({"exception", plain_line(cluster.exception, 100)});
    candidate.facts.push_back({"share of " + name, percent(cluster.share)});
    if (!cluster.reports.empty())
        candidate.facts.push_back({"model calls that receive the error", std::to_string(cluster.reports.size())});
    if (cluster.z >= 3) candidate.facts.push_back({"share before", percent(cluster.share_before)});
    return candidate;
}

} // namespace hone::signal
