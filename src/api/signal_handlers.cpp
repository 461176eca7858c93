#include "api/signal_handlers.h"

#include "api/handlers.h"
#include "api/path_id.h"

namespace hone::api {

namespace {

Result<signal::IssueId> issue_in_path(const Call& call) {
    return id_in_path<signal::IssueTag>(call, "issue");
}

Result<signal::EvaluatorId> evaluator_in_path(const Call& call) {
    return id_in_path<signal::EvaluatorTag>(call, "evaluator");
}

// "high,critical"
template <class Enum>
Result<std::vector<Enum>> words_of(std::string_view parameter, const std::optional<std::string>& list) {
    std::vector<Enum> words;
    if (!list) return words;
    if (*list == "all") {
        for (const auto& entry : enum_names(Enum{})) words.push_back(entry.value);
        return words;
    }
    for (const std::string_view word : split(*list, ',')) {
        const auto value = parse_enum<Enum>(trim(word));
        if (!value)
            return invalid("query parameter " + std::string(parameter) + " must be some of " +
                           json::detail::enum_choices<Enum>() + ", with commas");
        words.push_back(*value);
    }
    return words;
}

Result<Time> since(const Call& call, const std::optional<int64_t>& hours) {
    const int64_t wanted = hours.value_or(168);
    if (wanted < 1 || wanted > 2160) return invalid("query parameter hours must be between 1 and 2160");
    return call.services.clock.now() - std::chrono::hours(wanted);
}

Result<access::SpaceId> signal_space_of(const Call& call, const std::optional<std::string>& space) {
    return call.access().spaces.choose(call.caller, space);
}

} // namespace

Result<signal::Signal*> signal_of(const Call& call) {
    if (call.services.signal == nullptr) return unavailable("this server has no Signal");
    return &call.services.signal->signal;
}

Result<One<signal::SignalView>> get_signal(const Call& call, const InSpace& query) {
    return One<signal::SignalView>{
        TRY(TRY(signal_of(call))->view(call.caller, TRY(signal_space_of(call, query.space)), call.at("project")))};
}

Result<One<signal::SignalView>> put_signal(const Call& call, const InSpace& query,
                                           const signal::ConfigureSignal& body) {
    return One<signal::SignalView>{
        TRY(TRY(signal_of(call))
                ->configure(call.caller, TRY(signal_space_of(call, query.space)), call.at("project"), body))};
}

Result<One<signal::Scan>> scan_project(const Call& call, const InSpace& query) {
    return One<signal::Scan>{
        TRY(TRY(signal_of(call))->scan_now(call.caller, TRY(signal_space_of(call, query.space)), call.at("project")))};
}

Result<List<signal::Scan>> list_scans(const Call& call, const ListScans& query) {
    return TRY(signal_of(call))
        ->scans(call.caller, TRY(signal_space_of(call, query.space)), call.at("project"),
                TRY(page_of(query.limit, query.cursor)));
}

Result<List<signal::SeverityVolume>> get_issue_volumes(const Call& call, const AskProjectVolume& query) {
    signal::Signal& signal = *TRY(signal_of(call));
    const auto project = TRY(find_project(call, query.space, call.at("project"), access::Permission::issue_read));
    return List<signal::SeverityVolume>{TRY(signal.issues.project_volume(project.id, TRY(since(call, query.hours)))),
                                        {}};
}

Result<List<signal::Issue>> list_issues(const Call& call, const ListIssues& query) {
    signal::IssueFilter filter;
    filter.project = query.project;
    filter.statuses = TRY(words_of<signal::Status>("status", query.status));
    filter.severities = TRY(words_of<signal::Severity>("severity", query.severity));
    filter.detector = query.detector;
    filter.assignee = query.assignee == "me" ? call.caller.user.text() : query.assignee;
    return TRY(signal_of(call))
        ->issues.list(call.caller, TRY(signal_space_of(call, query.space)), filter,
                      TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::Issue>> report_issue(const Call& call, const InSpace& query, const ReportIssue& body) {
    signal::Signal& signal = *TRY(signal_of(call));
    const auto project = TRY(find_project(call, query.space, body.project, access::Permission::issue_write));
    return One<signal::Issue>{TRY(signal.issues.report(
        call.caller, project.space_id, project.id, call.caller.name,
        {body.title, body.explanation, body.severity, body.filter, body.trace_ids, body.subject}))};
}

Result<One<IssueDetail>> get_issue(const Call& call) {
    signal::Signal& signal = *TRY(signal_of(call));
    IssueDetail detail;
    detail.issue = TRY(signal.issues.find(call.caller, TRY(issue_in_path(call))));
    detail.fingerprints = TRY(signal.issues.fingerprints(detail.issue));
    return One<IssueDetail>{std::move(detail)};
}

Result<One<signal::Issue>> update_issue(const Call& call, const signal::IssueChange& body) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->issues.update(call.caller, TRY(issue_in_path(call)), body))};
}

Result<One<signal::Issue>> merge_issue(const Call& call, const MergeIssue& body) {
    return One<signal::Issue>{
        TRY(TRY(signal_of(call))->issues.merge(call.caller, TRY(issue_in_path(call)), body.issue))};
}

Result<One<signal::Issue>> split_issue(const Call& call, const SplitIssue& body) {
    return One<signal::Issue>{
        TRY(TRY(signal_of(call))->issues.split(call.caller, TRY(issue_in_path(call)), body.fingerprint))};
}

Result<List<signal::IssueComment>> list_issue_comments(const Call& call, const PageQuery& query) {
    return TRY(signal_of(call))
        ->issues.comments(call.caller, TRY(issue_in_path(call)), TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::IssueComment>> comment_on_issue(const Call& call, const CommentOnIssue& body) {
    return One<signal::IssueComment>{
        TRY(TRY(signal_of(call))->issues.comment(call.caller, TRY(issue_in_path(call)), body.text))};
}

Result<List<signal::Change>> list_issue_history(const Call& call, const PageQuery& query) {
    return TRY(signal_of(call))
        ->issues.history(call.caller, TRY(issue_in_path(call)), TRY(page_of(query.limit, query.cursor)));
}

Result<List<signal::VolumePoint>> get_issue_volume(const Call& call, const AskVolume& query) {
    return List<signal::VolumePoint>{
        TRY(TRY(signal_of(call))->issues.volume(call.caller, TRY(issue_in_path(call)), TRY(since(call, query.hours)))),
        {}};
}

Result<One<signal::Issue>> investigate_issue(const Call& call) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->investigate(call.caller, TRY(issue_in_path(call))))};
}

Result<One<signal::Issue>> fix_issue(const Call& call) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->fix(call.caller, TRY(issue_in_path(call))))};
}

Result<One<signal::Issue>> monitor_issue(const Call& call) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->make_monitor(call.caller, TRY(issue_in_path(call))))};
}

Result<One<signal::Issue>> evaluate_issue(const Call& call) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->make_evaluator(call.caller, TRY(issue_in_path(call))))};
}

Result<One<signal::ForgeIssueDraft>> get_forge_issue_draft(const Call& call) {
    return One<signal::ForgeIssueDraft>{
        TRY(TRY(signal_of(call))->forge_issue_draft(call.caller, TRY(issue_in_path(call))))};
}

Result<One<signal::Issue>> link_forge_issue(const Call& call, const signal::ForgeIssueWish& body) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->link_forge_issue(call.caller, TRY(issue_in_path(call)), body))};
}

Result<One<signal::Issue>> unlink_forge_issue(const Call& call) {
    return One<signal::Issue>{TRY(TRY(signal_of(call))->unlink_forge_issue(call.caller, TRY(issue_in_path(call))))};
}

Result<List<signal::Evaluator>> list_evaluators(const Call& call, const ListEvaluators& query) {
    return TRY(signal_of(call))
        ->evaluators.list(call.caller, TRY(signal_space_of(call, query.space)), query.project,
                          TRY(page_of(query.limit, query.cursor)));
}

Result<One<signal::Evaluator>> create_evaluator(const Call& call, const InSpace& query,
                                                const signal::NewEvaluator& body) {
    signal::Signal& signal = *TRY(signal_of(call));
    const auto space = TRY(signal_space_of(call, query.space));
    One<signal::Evaluator> made{TRY(signal.evaluators.create(call.caller, space, body))};
    signal.wake();
    return made;
}

Result<One<signal::EvaluatorPreview>> preview_evaluator(const Call& call, const InSpace& query,
                                                        const signal::NewEvaluator& body) {
    const auto space = TRY(signal_space_of(call, query.space));
    return One<signal::EvaluatorPreview>{TRY(TRY(signal_of(call))->evaluators.preview(call.caller, space, body))};
}

Result<One<signal::Evaluator>> get_evaluator(const Call& call) {
    return One<signal::Evaluator>{
        TRY(TRY(signal_of(call))->evaluators.find(call.caller, TRY(evaluator_in_path(call))))};
}

Result<One<signal::Evaluator>> update_evaluator(const Call& call, const signal::EvaluatorChange& body) {
    signal::Signal& signal = *TRY(signal_of(call));
    const auto id = TRY(evaluator_in_path(call));
    One<signal::Evaluator> changed{TRY(signal.evaluators.update(call.caller, id, body))};
    signal.wake();
    return changed;
}

Result<NoContent> delete_evaluator(const Call& call) {
    TRY(TRY(signal_of(call))->evaluators.remove(call.caller, TRY(evaluator_in_path(call))));
    return NoContent{};
}

} // namespace hone::api
