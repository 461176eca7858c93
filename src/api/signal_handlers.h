// Handlers of Signal and issues.
#pragma once

#include "api/call.h"
#include "api/signal_requests.h"
#include "api/signal_services.h"

namespace hone::api {

Result<One<signal::SignalView>> get_signal(const Call&, const InSpace&);
Result<One<signal::SignalView>> put_signal(const Call&, const InSpace&, const signal::ConfigureSignal&);
Result<One<signal::Scan>> scan_project(const Call&, const InSpace&);
Result<List<signal::Scan>> list_scans(const Call&, const ListScans&);
Result<List<signal::SeverityVolume>> get_issue_volumes(const Call&, const AskProjectVolume&);

Result<List<signal::Issue>> list_issues(const Call&, const ListIssues&);
Result<One<signal::Issue>> report_issue(const Call&, const InSpace&, const ReportIssue&);
Result<One<IssueDetail>> get_issue(const Call&);
Result<One<signal::Issue>> update_issue(const Call&, const signal::IssueChange&);
Result<One<signal::Issue>> merge_issue(const Call&, const MergeIssue&);
Result<One<signal::Issue>> split_issue(const Call&, const SplitIssue&);
Result<List<signal::IssueComment>> list_issue_comments(const Call&, const PageQuery&);
Result<One<signal::IssueComment>> comment_on_issue(const Call&, const CommentOnIssue&);
Result<List<signal::Change>> list_issue_history(const Call&, const PageQuery&);
Result<List<signal::VolumePoint>> get_issue_volume(const Call&, const AskVolume&);
Result<One<signal::Issue>> investigate_issue(const Call&);
Result<One<signal::Issue>> fix_issue(const Call&);
Result<One<signal::Issue>> monitor_issue(const Call&);
Result<One<signal::Issue>> evaluate_issue(const Call&);
Result<One<signal::ForgeIssueDraft>> get_forge_issue_draft(const Call&);
Result<One<signal::Issue>> link_forge_issue(const Call&, const signal::ForgeIssueWish&);
Result<One<signal::Issue>> unlink_forge_issue(const Call&);

Result<List<signal::Evaluator>> list_evaluators(const Call&, const ListEvaluators&);
Result<One<signal::Evaluator>> create_evaluator(const Call&, const InSpace&, const signal::NewEvaluator&);
Result<One<signal::EvaluatorPreview>> preview_evaluator(const Call&, const InSpace&, const signal::NewEvaluator&);
Result<One<signal::Evaluator>> get_evaluator(const Call&);
Result<One<signal::Evaluator>> update_evaluator(const Call&, const signal::EvaluatorChange&);
Result<NoContent> delete_evaluator(const Call&);

Result<signal::Signal*> signal_of(const Call& call);

} // namespace hone::api
