#include "signal/replay/fix_traces.h"

#include "evaluate/content/canonical.h"
#include "evaluate/runner/replay_task.h"
#include "signal/issue_traces.h"

#include <algorithm>
#include <map>

namespace hone::signal {

using review::ReplaySet;

namespace {

constexpr size_t most_replay_candidates = 60; // of each set: reading one takes several queries
constexpr size_t most_of_issue = 10'000;      // traces of the issue that the control set leaves out
constexpr size_t largest_candidate = 1 << 20;

// Chooses for one set until it is full or the candidates end.
class TraceChooser {
public:
    TraceChooser(telemetry::Spans& spans, const review::ReplaySettings& settings, const Issue& issue)
        : m_issue(issue),
          m_recordings(&spans) {
        m_task.task.kind = evaluate::TaskKind::replay;
        m_task.task.command = *settings.command;
        m_task.task.replay_tools = *settings.live_tools ? evaluate::ReplayTools::live : evaluate::ReplayTools::recorded;
        m_task.source_projects = {issue.project_id.text()};
    }

    Result<> take(ReplaySet set, const telemetry::SpanPayload& root) {
        evaluate::NewExample example;
        example.names_files = false; // what the application sent
        example.input = evaluate::span_part(root.input, "input");
        // What the application did wrong is no reference, and the control set needs none.
        example.metadata = json::Object{{"trace_id", root.row.trace_id}, {"set", name_of(set)}};
        example.source = evaluate::ExampleSource{m_issue.project_id.text(), root.row.trace_id, root.row.span_id};
        example.example_id = "span:" + root.row.span_id;
        example.splits = {std::string(name_of(set))};
        if (root.input.size() > largest_candidate) {
            result.not_replayed.push_back({set, root.row.trace_id, "its input has more than 1 MiB"});
            return {};
        }
        if (!m_inputs.insert(json::print(example.input)).second) return {}; // the same input once
        evaluate::Example recorded;
        recorded.source_project = example.source->project;
        recorded.source_trace = example.source->trace;
        recorded.source_span = example.source->span;
        const evaluate::Recording recording = TRY(m_recordings.find(m_task, recorded));
        if (!recording.replay.reason.empty())
            result.not_replayed.push_back({set, root.row.trace_id, recording.replay.reason});
        else
            result.examples.push_back({set, std::move(example), recording.replay.tool_results});
        return {};
    }
    int64_t count(ReplaySet set) const { return std::ranges::count(result.examples, set, &ChosenTraces::One::set); }

    ChosenTraces result;

private:
    const Issue& m_issue;
    const evaluate::Recordings m_recordings;
    evaluate::ExperimentTask m_task;
    std::set<std::string> m_inputs;
};

} // namespace

Result<ChosenTraces> choose_traces(telemetry::Spans& spans, const Issues& issues,
                                   const review::ReplaySettings& settings, const Issue& issue) {
    TRY(spans.wait_until_loaded());
    const auto traces = TRY(traces_of_issue(spans, issues, issue, most_of_issue));
    if (traces.empty()) return not_found("a trace of the issue");
    TraceChooser chooser(spans, settings, issue);
    telemetry::ListSpans request;
    request.scope.project = issue.project_id.text();
    request.conditions.parent_id = ""; // the whole of a trace is its root's input and output
    request.limit = most_replay_candidates;
    request.conditions.trace_ids = {
        traces.begin(), traces.begin() + static_cast<std::ptrdiff_t>(std::min(traces.size(), most_replay_candidates))};
    std::map<std::string, int64_t> entry_points;
    for (const auto& root : TRY(spans.payloads(request)).spans) {
        ++entry_points[root.row.name];
        if (chooser.count(ReplaySet::evidence) < *settings.evidence) TRY(chooser.take(ReplaySet::evidence, root));
    }
    if (entry_points.empty()) return not_found("a root span of a trace of the issue");
    const auto entry = std::ranges::max_element(entry_points, {}, [](const auto& one) { return one.second; });
    const std::set<std::string> of_issue(traces.begin(), traces.end());
    request.conditions.trace_ids.clear();
    request.conditions.names = {entry->first};
    request.conditions.statuses = {otlp::StatusCode::ok, otlp::StatusCode::unset};
    size_t read = 0;
    while (*settings.control > 0 && read < most_replay_candidates) {
        const auto page = TRY(spans.payloads(request));
        for (const auto& root : page.spans) {
            if (of_issue.contains(root.row.trace_id)) continue;
            if (++read > most_replay_candidates || chooser.count(ReplaySet::control) >= *settings.control)
                return std::move(chooser.result);
            TRY(chooser.take(ReplaySet::control, root));
        }
        if (page.next_cursor.empty()) break;
        request.cursor = page.next_cursor;
    }
    return std::move(chooser.result);
}

} // namespace hone::signal
