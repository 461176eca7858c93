// Query strings and bodies of the routes about Signal and issues, declared once.
#pragma once

#include "api/requests.h"
#include "signal/evaluator.h"
#include "signal/issues.h"
#include "signal/settings.h"

namespace hone::api {

struct ListScans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListScans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListScans::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListScans::cursor, "next_cursor of the answer before."},
    };
};

struct ListIssues {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> status;
    std::optional<std::string> severity;
    std::optional<signal::Detector> detector;
    std::optional<std::string> assignee;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListIssues::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListIssues::project, "Id or name: only its issues."},
        Field{"status", &ListIssues::status,
              "Statuses, with commas, or `all`; open,investigating,fix_proposed if not given."},
        Field{"severity", &ListIssues::severity, "Severities, with commas: high,critical."},
        Field{"detector", &ListIssues::detector, "Only what this one found."},
        Field{"assignee", &ListIssues::assignee, "Id of a user; `me`: the caller."},
        Field{"limit", &ListIssues::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListIssues::cursor, "next_cursor of the answer before."},
    };
};

struct ListEvaluators {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListEvaluators::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListEvaluators::project, "Id or name: only its evaluators."},
        Field{"limit", &ListEvaluators::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListEvaluators::cursor, "next_cursor of the answer before."},
    };
};

struct ReportIssue {
    std::string project;
    std::string title;
    std::string explanation;
    std::optional<signal::Severity> severity;
    std::optional<std::string> filter;
    std::optional<std::vector<std::string>> trace_ids;
    std::optional<std::string> subject;
    static constexpr std::tuple fields{
        Field{"project", &ReportIssue::project, "Id or name."},
        Field{"title", &ReportIssue::title, "One line; what goes wrong where."},
        Field{"explanation", &ReportIssue::explanation, "What was seen, and why it matters."},
        Field{"severity", &ReportIssue::severity, "medium if not given."},
        Field{"filter", &ReportIssue::filter, "The spans it is about, in the filter language."},
        Field{"trace_ids", &ReportIssue::trace_ids, "Examples; at most 20."},
        Field{"subject", &ReportIssue::subject,
              "What identifies the problem when it is reported again; the words of the title if not given."},
    };
};

struct IssueDetail {
    signal::Issue issue;
    std::vector<signal::Fingerprint> fingerprints;
    static constexpr std::tuple fields{
        Field{"issue", &IssueDetail::issue, "The issue."},
        Field{"fingerprints", &IssueDetail::fingerprints, "What it is recognised by; several after a merge."},
    };
};

struct MergeIssue {
    signal::IssueId issue;
    static constexpr std::tuple fields{
        Field{"issue", &MergeIssue::issue, "Issue that becomes a part of this one."},
    };
};

struct SplitIssue {
    std::string fingerprint;
    static constexpr std::tuple fields{
        Field{"fingerprint", &SplitIssue::fingerprint, "What gets an issue of its own."},
    };
};

struct CommentOnIssue {
    std::string text;
    static constexpr std::tuple fields{
        Field{"text", &CommentOnIssue::text, "Plain text or Markdown, at most 20,000 bytes."},
    };
};

struct AskVolume {
    static constexpr bool is_query = true;
    std::optional<int64_t> hours;
    static constexpr std::tuple fields{
        Field{"hours", &AskVolume::hours, "How far back, 1 to 2160; 168 if not given."},
    };
};

struct AskProjectVolume {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> hours;
    static constexpr std::tuple fields{
        Field{"space", &AskProjectVolume::space, "Id or name of the space; the caller's first one if not given."},
        Field{"hours", &AskProjectVolume::hours, "How far back, 1 to 2160; 168 if not given."},
    };
};

} // namespace hone::api
