// An evaluator: a rule that evaluates the new spans of a project without a model, or code, a model, an agent or a
// remote service that evaluates documents: runs of experiments, and what online tasks give it. Every change makes a
// version. Declared once for the API, the CLI and the UI. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "evaluate/evaluators/evaluator_version.h"
#include "evaluate/tasks/pass_rate.h"
#include "signal/issue.h"
#include "json/json.h"

#include <optional>

namespace hone::signal {

using evaluate::EvaluatorId, evaluate::EvaluatorKind, evaluate::EvaluatorTag, evaluate::EvaluatorVersion;

struct Evaluator {
    EvaluatorId id;
    access::SpaceId space_id;
    std::optional<access::ProjectId> project_id;
    EvaluatorKind kind = EvaluatorKind::rule;
    std::string name;
    std::string description;
    std::string filter;
    std::string condition;
    std::string label;
    std::optional<double> score;
    std::string other_label;
    std::optional<double> other_score;
    int64_t sample_percent = 100;
    bool enabled = true;
    std::optional<IssueId> issue_id;
    int64_t revision = 1;
    int64_t judged = 0;
    int64_t matched = 0;
    int64_t judged_before = 0; // not shown, as `matched_before`: of the versions with other definitions
    int64_t matched_before = 0;
    std::optional<evaluate::PassRate> pass_rate;
    Time judged_up_to{};
    std::optional<Time> last_at;
    std::string problem;
    std::optional<evaluate::CodeDefinition> code;
    std::optional<evaluate::LlmDefinition> llm;
    std::optional<evaluate::AgentDefinition> agent;
    std::optional<evaluate::RemoteDefinition> remote;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Evaluator::id, "Id."},
        Field{"space_id", &Evaluator::space_id, "Id of the space."},
        Field{"project_id", &Evaluator::project_id, "Project whose spans a rule evaluates; null for the other kinds."},
        Field{
            "kind", &Evaluator::kind,
            "rule: evaluates new spans. code, llm, agent, remote: evaluate runs of experiments and targets of tasks."},
        Field{"name", &Evaluator::name,
              "Name of the evals it writes; unique in its project, without a project in its space."},
        Field{"description", &Evaluator::description, "Purpose, as text."},
        Field{"filter", &Evaluator::filter, "The spans it evaluates; empty: all."},
        Field{"condition", &Evaluator::condition, "Filter that a span must match, in the filter language."},
        Field{"label", &Evaluator::label, "Label of spans that match."},
        Field{"score", &Evaluator::score, "Score of spans that match."},
        Field{"other_label", &Evaluator::other_label,
              "Label of evaluated spans that do not match; empty: they get no eval."},
        Field{"other_score", &Evaluator::other_score, "Score of evaluated spans that do not match."},
        Field{"sample_percent", &Evaluator::sample_percent, "Share of the traces it evaluates, 1 to 100."},
        Field{"enabled", &Evaluator::enabled, "Whether it evaluates new spans."},
        Field{"issue_id", &Evaluator::issue_id, "Issue that it was created from."},
        Field{"revision", &Evaluator::revision,
              "Number of the newest version; every change makes one, and each eval stores it."},
        Field{"judged", &Evaluator::judged, "Number of evals written."},
        Field{"matched", &Evaluator::matched, "Number of evals of spans that match."},
        Field{"pass_rate", &Evaluator::pass_rate,
              "Share of verdicts that pass: of the last 24 hours, of a rule since its definition was changed. Null: it "
              "has no verdicts that pass or fail."},
        Field{"judged_up_to", &Evaluator::judged_up_to, "Spans received before this time are evaluated."},
        Field{"last_at", &Evaluator::last_at, "Time of the last evaluation."},
        Field{"problem", &Evaluator::problem, "Error of the last evaluation; empty: none."},
        Field{"code", &Evaluator::code, "Of code: its newest definition; null in lists."},
        Field{"llm", &Evaluator::llm, "Of llm: its newest definition; null in lists."},
        Field{"agent", &Evaluator::agent, "Of agent: its newest definition; null in lists."},
        Field{"remote", &Evaluator::remote, "Of remote: its newest definition; null in lists."},
        Field{"created_by", &Evaluator::created_by, "Name of the user or key that created it."},
        Field{"created_at", &Evaluator::created_at, "Time of creation."},
        Field{"updated_at", &Evaluator::updated_at, "Time of the last change."},
    };
};

struct NewEvaluator {
    std::string name;
    json::Defaulted<EvaluatorKind> kind = EvaluatorKind::rule;
    json::Defaulted<std::string> description;
    json::Defaulted<std::string> project;
    json::Defaulted<std::string> filter;
    json::Defaulted<std::string> condition;
    json::Defaulted<std::string> label = std::string("fail");
    std::optional<double> score;
    json::Defaulted<std::string> other_label;
    std::optional<double> other_score;
    json::Defaulted<int64_t> sample_percent = int64_t{100};
    json::Defaulted<int64_t> backfill_hours = int64_t{0};
    std::optional<evaluate::CodeDefinition> code;
    std::optional<evaluate::LlmDefinition> llm;
    std::optional<evaluate::AgentDefinition> agent;
    std::optional<evaluate::RemoteDefinition> remote;
    static constexpr Pack fields{
        Field{"name", &NewEvaluator::name,
              "Name of the evals it writes; unique in its project, without a project in its space."},
        Field{"kind", &NewEvaluator::kind, "rule, code, llm, agent or remote; rule if not given."},
        Field{"description", &NewEvaluator::description, "Purpose, as text."},
        Field{"project", &NewEvaluator::project, "Of a rule: id or name of the project."},
        Field{"filter", &NewEvaluator::filter, "The spans it evaluates; all if not given."},
        Field{"condition", &NewEvaluator::condition,
              "Of a rule: filter that a span must match, in the filter language."},
        Field{"label", &NewEvaluator::label, "Label of spans that match; `fail` if not given."},
        Field{"score", &NewEvaluator::score, "Score of spans that match."},
        Field{"other_label", &NewEvaluator::other_label,
              "Label of evaluated spans that do not match; not given: they get no eval."},
        Field{"other_score", &NewEvaluator::other_score, "Score of evaluated spans that do not match."},
        Field{"sample_percent", &NewEvaluator::sample_percent,
              "Share of the traces it evaluates, 1 to 100; 100 if not given."},
        Field{"backfill_hours", &NewEvaluator::backfill_hours,
              "Also evaluate spans of the last hours; 0 to 720, 0 if not given."},
        Field{"code", &NewEvaluator::code,
              "Of code: its definition. All other fields but name and description belong to rules."},
        Field{"llm", &NewEvaluator::llm, "Of llm: its definition."},
        Field{"agent", &NewEvaluator::agent, "Of agent: its definition."},
        Field{"remote", &NewEvaluator::remote, "Of remote: its definition."},
    };
};

struct EvaluatorChange {
    std::optional<std::string> description{};
    std::optional<std::string> filter{};
    std::optional<std::string> condition{};
    std::optional<std::string> label{};
    std::optional<std::optional<double>> score{};
    std::optional<std::string> other_label{};
    std::optional<std::optional<double>> other_score{};
    std::optional<int64_t> sample_percent{};
    std::optional<bool> enabled{};
    std::optional<int64_t> backfill_hours{};
    std::optional<evaluate::CodeDefinition> code{};
    std::optional<evaluate::LlmDefinition> llm{};
    std::optional<evaluate::AgentDefinition> agent{};
    std::optional<evaluate::RemoteDefinition> remote{};
    static constexpr Pack fields{
        Field{"description", &EvaluatorChange::description, "Purpose, as text."},
        Field{"filter", &EvaluatorChange::filter, "The spans it evaluates."},
        Field{"condition", &EvaluatorChange::condition, "Filter that a span must match, in the filter language."},
        Field{"label", &EvaluatorChange::label, "Label of spans that match."},
        Field{"score", &EvaluatorChange::score, "Score of spans that match; null: none."},
        Field{"other_label", &EvaluatorChange::other_label,
              "Label of evaluated spans that do not match; empty: no eval."},
        Field{"other_score", &EvaluatorChange::other_score, "Score of evaluated spans that do not match; null: none."},
        Field{"sample_percent", &EvaluatorChange::sample_percent, "Share of the traces it evaluates, 1 to 100."},
        Field{"enabled", &EvaluatorChange::enabled, "Whether it evaluates new spans; off, then on: starts again."},
        Field{"backfill_hours", &EvaluatorChange::backfill_hours,
              "Also evaluate spans of the last hours that have no eval of it; 1 to 720."},
        Field{"code", &EvaluatorChange::code, "Of code: its new definition."},
        Field{"llm", &EvaluatorChange::llm, "Of llm: its new definition."},
        Field{"agent", &EvaluatorChange::agent, "Of agent: its new definition."},
        Field{"remote", &EvaluatorChange::remote, "Of remote: its new definition."},
    };
};

// The result of a rule over past spans, before it is saved.
struct EvaluatorPreview {
    int64_t spans = 0;
    int64_t matched = 0;
    int64_t hours = 24;
    static constexpr Pack fields{
        Field{"spans", &EvaluatorPreview::spans, "Spans it would have evaluated."},
        Field{"matched", &EvaluatorPreview::matched, "Number of these spans that match."},
        Field{"hours", &EvaluatorPreview::hours, "Hours covered by the preview."},
    };
};

} // namespace hone::signal
