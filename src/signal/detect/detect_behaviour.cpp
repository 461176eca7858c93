// Behaviour of agents and failures that only texts report, as findings: cases of one kind at one place are one finding
// with the decisive excerpt. Where it is seen is a list of spans: no filter can state it.
#include "signal/analysis/clusters.h"
#include "signal/analysis/small_clusters.h"
#include "signal/analysis/statistics.h"
#include "signal/analysis/words.h"
#include "signal/detect/behaviour.h"
#include "signal/detect/detectors.h"
#include "signal/text/message_template.h"

#include <algorithm>
#include <map>
#include <set>

namespace hone::signal {

namespace {

struct Seen {
    std::vector<const Sighting*> cases;
    std::set<size_t> traces;
    std::string place, about;
    int64_t count() const { return static_cast<int64_t>(traces.size()); }
};

// Cases by place and by what they are about.
std::vector<Seen> grouped(const std::vector<Sighting>& sightings) {
    std::map<std::pair<std::string, std::string>, Seen> groups;
    for (const Sighting& sighting : sightings) {
        Seen& seen = groups[{sighting.place, sighting.about}];
        seen.place = sighting.place;
        seen.about = sighting.about;
        seen.cases.push_back(&sighting);
        seen.traces.insert(sighting.trace);
    }
    std::vector<Seen> made;
    for (auto& [key, seen] : groups) made.push_back(std::move(seen));
    std::stable_sort(made.begin(), made.end(), [](const Seen& a, const Seen& b) { return a.count() > b.count(); });
    return made;
}

// A few cases are evidence in a small window; in a large one they must be a clear share of the sample.
bool is_reported(const Sample& sample, const Seen& seen) {
    if (sample.is_whole && static_cast<int64_t>(sample.traces.size()) < small_window)
        return seen.count() >= 2 || seen.cases.size() >= 3;
    return seen.count() >= 5 && least_share_of(seen.count(), static_cast<int64_t>(sample.traces.size())) >= 0.01;
}

Candidate behaviour_of(const Sample& sample, const Seen& seen, Detector detector, std::string title,
                       std::string explanation, Severity severity) {
    Candidate candidate;
    candidate.detector = detector;
    candidate.subject = seen.place + "\n" + seen.about;
    candidate.title = std::move(title);
    candidate.explanation = std::move(explanation);
    candidate.severity = severity;
    std::vector<std::string> ids;
    for (const Sighting* sighting : seen.cases) ids.push_back(sighting->span);
    candidate.filter = filter_of_spans(ids);
    candidate.about = fmt::format("{}|{}", name_of(detector), seen.place);
    candidate.least = 1;
    candidate.sampled_share = share_of(seen.count(), static_cast<int64_t>(sample.traces.size()));
    candidate.facts.push_back({"excerpt", seen.cases.back()->excerpt});
    candidate.facts.push_back({"cases", std::to_string(seen.cases.size())});
    candidate.facts.push_back({"share of traces", percent(candidate.sampled_share)});
    if (!sample.is_whole)
        candidate.facts.push_back({"sample", fmt::format("{} traces were read completely", sample.traces.size())});
    return candidate;
}

std::string_view first_line(std::string_view text) {
    return text.substr(0, text.find('\n'));
}

Severity by_share(const Sample& sample, const Seen& seen) {
    const double share = share_of(seen.count(), static_cast<int64_t>(sample.traces.size()));
    return share >= 0.2 && seen.count() >= 3 ? Severity::high : share >= 0.03 ? Severity::medium : Severity::low;
}

} // namespace

Result<> detect_text_failures(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    std::vector<Sighting> sightings;
    std::vector<Cause> causes;
    for (const TextFailure& failure : text_failures(*sample)) {
        const SampledTrace& trace = sample->traces[failure.trace];
        const SampledSpan& span = trace.spans[failure.span];
        const size_t agent = trace.above(failure.span, "agent");
        const std::string kind = failure.cause.type.empty() ? cause_template(failure.cause) : failure.cause.type;
        const bool is_message = span.kind == "llm";
        const std::string place =
            normalised_name(is_message && agent != SampledTrace::none ? trace.spans[agent].name : span.name);
        const std::string stated =
            failure.cause.type.empty() ? failure.cause.detail : failure.cause.type + ": " + failure.cause.detail;
        sightings.push_back({failure.trace, span.span_id, place, kind + (is_message ? "\nmessage" : "\nresult"),
                             plain_line(stated, 240)});
    }
    for (const Seen& seen : grouped(sightings)) {
        if (!is_reported(*sample, seen)) continue;
        const bool is_message = seen.about.ends_with("\nmessage");
        const std::string place = plain_line(seen.place, 80), cause = plain_line(first_line(seen.about), 100);
        found.push_back(behaviour_of(
            *sample, seen, Detector::reported_error,
            is_message ? fmt::format("{} receives an error that no span records: {}", place, cause)
                       : fmt::format("{} returns an error as its result: {}", place, cause),
            fmt::format(
                "{} {} with a report of an error, while no span of the trace fails with this cause. "
                "Results are read as JSON first (error fields, status codes), then by how they begin; documents "
                "that mention errors do not count.",
                seen.cases.size(), is_message ? "messages to the model begin" : "results begin"),
            by_share(*sample, seen)));
    }
    return {};
}

Result<> detect_unused_tools(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    const auto unused = unused_tools(*sample);
    for (const Seen& seen : grouped(unused)) {
        if (!is_reported(*sample, seen)) continue;
        const std::string place = plain_line(seen.place, 80);
        const bool is_named = seen.about == "named";
        found.push_back(behaviour_of(
            *sample, seen, Detector::unused_tools,
            is_named ? fmt::format("{} names its tools and returns a result without calling one", place)
                     : fmt::format("{} returns results without using any of its tools", place),
            fmt::format("In {} traces the agent returns a result without a single call of a tool, so nothing in the "
                        "trace supports the result.{} In other traces it uses its tools.",
                        seen.count(), is_named ? " Its own text states that it uses one of them." : ""),
            is_named ? Severity::high : by_share(*sample, seen)));
    }
    std::vector<Sighting> announced = announced_calls(*sample);
    // One finding for each agent; the tools are facts of it.
    std::map<std::string, std::set<std::string>> tools;
    for (Sighting& sighting : announced) {
        tools[sighting.place].insert(sighting.about);
        sighting.about = "announced";
    }
    for (const Seen& seen : grouped(announced)) {
        if (!is_reported(*sample, seen)) continue;
        std::string list;
        for (const std::string& tool : tools[seen.place]) list += (list.empty() ? "" : ", ") + tool;
        const std::string place = plain_line(seen.place, 80);
        Candidate candidate = behaviour_of(
            *sample, seen, Detector::unused_tools,
            fmt::format("{} announces a call of {} and does not make it", place, plain_line(list, 60)),
            fmt::format("In {} steps the model states that it uses a tool, but the step has no call of it: the tool is "
                        "named in a sentence or a comment, and the code only prints the request.",
                        seen.cases.size()),
            by_share(*sample, seen));
        candidate.facts.push_back({"tools", plain_line(list, 200)});
        found.push_back(std::move(candidate));
    }
    return {};
}

Result<> detect_invalid_calls(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    const auto invalid = invalid_calls(*sample);
    for (const Seen& seen : grouped(invalid)) {
        if (!is_reported(*sample, seen)) continue;
        const std::string place = plain_line(seen.place, 80), tool = plain_line(first_line(seen.about), 60);
        const bool is_unknown = seen.about.ends_with("\nunknown");
        Candidate candidate = behaviour_of(
            *sample, seen, Detector::invalid_tool_call,
            is_unknown ? fmt::format("{} calls {}, which is not one of its tools", place, tool)
                       : fmt::format("{} calls {} with arguments that do not fit its schema", place, tool),
            is_unknown
                ? fmt::format("In {} calls the model names a tool that the request does not offer.", seen.cases.size())
                : fmt::format("In {} calls the arguments are not JSON, lack a required one, or have one that the "
                              "schema in the request does not list.",
                              seen.cases.size()),
            by_share(*sample, seen));
        candidate.about = "call|" + std::string(first_line(seen.about));
        found.push_back(std::move(candidate));
    }
    return {};
}

Result<> detect_repeated_steps(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    const auto repeated = repeated_steps(*sample);
    for (const Seen& seen : grouped(repeated)) {
        if (!is_reported(*sample, seen)) continue;
        const std::string place = plain_line(seen.place, 80);
        const bool alternates = seen.about == "alternates";
        found.push_back(behaviour_of(
            *sample, seen, Detector::agent_loop,
            alternates ? fmt::format("{} goes back and forth between two steps", place)
                       : fmt::format("{} repeats nearly the same step", place),
            alternates
                ? fmt::format("In {} traces two steps take turns at least twice.", seen.count())
                : fmt::format("In {} traces a step has at least 80 % of its words in common with two earlier steps of "
                              "the same agent: it makes no progress.",
                              seen.count()),
            by_share(*sample, seen)));
    }
    return {};
}

Result<> detect_ignored_instructions(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    const auto ignored = ignored_instructions(*sample);
    for (const Seen& seen : grouped(ignored)) {
        if (!is_reported(*sample, seen)) continue;
        const std::string place = plain_line(seen.place, 80);
        const std::string wanted = seen.about == "JSON" ? "JSON only"
                                   : seen.about.starts_with('<')
                                       ? "the tag " + seen.about.substr(1, seen.about.size() - 2)
                                       : "at most " + seen.about;
        found.push_back(behaviour_of(
            *sample, seen, Detector::ignored_instruction,
            fmt::format("{} does not follow its instruction: {}", place, plain_line(wanted, 60)),
            fmt::format(
                "{} outputs do not comply with an instruction that is in their own prompt and can be checked: {}.",
                seen.cases.size(), plain_line(wanted, 60)),
            std::min(Severity::medium, by_share(*sample, seen))));
    }
    return {};
}

Result<> detect_missing_results(Survey& survey, std::vector<Candidate>& found) {
    const auto sample = TRY(read_sample(survey));
    const auto missing = missing_results(*sample);
    for (const Seen& seen : grouped(missing)) {
        if (!is_reported(*sample, seen)) continue;
        const std::string place = plain_line(seen.place, 80);
        const bool is_limit = seen.about == "steps";
        found.push_back(behaviour_of(*sample, seen, Detector::missing_result,
                                     is_limit ? fmt::format("{} ends at its limit of steps", place)
                                              : fmt::format("{} ends without a result", place),
                                     is_limit
                                         ? fmt::format("In {} traces the agent used all its steps.", seen.count())
                                         : fmt::format("In {} traces the agent's output is empty, while it has one "
                                                       "in most others.",
                                                       seen.count()),
                                     std::max(Severity::medium, by_share(*sample, seen))));
    }
    const auto growing = growing_contexts(*sample);
    for (const Seen& seen : grouped(growing)) {
        if (!is_reported(*sample, seen)) continue;
        found.push_back(behaviour_of(
            *sample, seen, Detector::growing_context,
            fmt::format("The conversation of {} grows until a call fails", plain_line(seen.place, 80)),
            fmt::format(
                "In {} traces the input becomes at least four times as long, then a call is cut off or rejected.",
                seen.count()),
            by_share(*sample, seen)));
    }
    return {};
}

} // namespace hone::signal
