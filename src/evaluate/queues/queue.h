// A queue: spans, traces or chat sessions of a project that people label, one after the other, by annotation configs.
// Declared once for the API, the CLI and the UI. Values only; any thread.
#pragma once

#include "access/caller.h"
#include "evaluate/annotation_configs/annotation_config.h"
#include "telemetry/engine/eval_row.h"
#include "json/json.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::evaluate {

struct QueueTag {
    static constexpr std::string_view kind = "annotationqueue";
};
using QueueId = Id<QueueTag>;
struct QueueItemTag {
    static constexpr std::string_view kind = "queueitem";
};
using QueueItemId = Id<QueueItemTag>;

// `pending`: labels are missing. `done`: as many people as the queue wants have labelled it. `skipped`: as many have
// skipped it.
enum class QueueItemState { pending, done, skipped };
constexpr auto enum_names(QueueItemState) {
    return std::array{EnumName{QueueItemState::pending, "pending"}, EnumName{QueueItemState::done, "done"},
                      EnumName{QueueItemState::skipped, "skipped"}};
}

// One label or score that the queue collects.
struct QueueConfig {
    AnnotationConfigId id;
    std::string name;
    AnnotationConfigType type = AnnotationConfigType::categorical;
    std::string description;
    std::vector<AnnotationLabel> labels;
    std::optional<double> lower_bound;
    std::optional<double> upper_bound;
    static constexpr Pack fields{
        Field{"id", &QueueConfig::id, "Id of the annotation config."},
        Field{"name", &QueueConfig::name, "Name of the evals that it writes."},
        Field{"type", &QueueConfig::type, "categorical: one of the labels. continuous: a score. freeform: text."},
        Field{"description", &QueueConfig::description, "What it is about."},
        Field{"labels", &QueueConfig::labels, "Labels with their scores, in the order of the keys 1 to 9."},
        Field{"lower_bound", &QueueConfig::lower_bound, "Smallest score."},
        Field{"upper_bound", &QueueConfig::upper_bound, "Largest score."},
    };
};

// Of what matches the filter, what is added.
enum class QueueFillRule { matching, undecided, split, disputed };
constexpr auto enum_names(QueueFillRule) {
    using enum QueueFillRule;
    return std::array{EnumName{matching, "matching"}, EnumName{undecided, "undecided"}, EnumName{split, "split"},
                      EnumName{disputed, "disputed"}};
}

struct Queue {
    QueueId id;
    access::SpaceId space_id;
    access::ProjectId project_id;
    std::string name;
    std::string instructions;
    telemetry::EvalTarget target = telemetry::EvalTarget::trace;
    int64_t reviewers_per_item = 1;
    bool shows_verdicts = false;
    std::string dataset;
    bool fill_enabled = false;
    std::string fill_filter;
    QueueFillRule fill_rule = QueueFillRule::matching;
    int64_t fill_ppm = 1'000'000;
    Time filled_up_to{};
    std::string fill_problem;
    std::vector<QueueConfig> configs;
    int64_t pending = 0;
    int64_t done = 0;
    int64_t skipped = 0;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    static constexpr Pack fields{
        Field{"id", &Queue::id, "Id."},
        Field{"space_id", &Queue::space_id, "Id of the space."},
        Field{"project_id", &Queue::project_id, "Project of its items."},
        Field{"name", &Queue::name, "Name, unique in the space."},
        Field{"instructions", &Queue::instructions, "What people decide and by which criteria; Markdown."},
        Field{"target", &Queue::target, "span, trace or chat_session."},
        Field{"reviewers_per_item", &Queue::reviewers_per_item, "People who label each item, 1 to 10."},
        Field{"shows_verdicts", &Queue::shows_verdicts,
              "Verdicts of evaluators are visible before the person has labelled the item."},
        Field{"dataset", &Queue::dataset, "Name of the dataset that corrected outputs go to; empty: none."},
        Field{"fill_enabled", &Queue::fill_enabled, "New matching traces are added by themselves."},
        Field{"fill_filter", &Queue::fill_filter, "Which ones, in the filter language; empty: all."},
        Field{"fill_rule", &Queue::fill_rule,
              "Of these: matching (all), undecided (an evaluator reported cannot_judge), split (votes of an evaluator "
              "differ) or disputed (labels of people differ)."},
        Field{"fill_ppm", &Queue::fill_ppm, "Share of them in millionths, decided by the trace id."},
        Field{"filled_up_to", &Queue::filled_up_to, "Traces before this time were considered."},
        Field{"fill_problem", &Queue::fill_problem, "Why the last attempt to fill it failed; empty: it did not."},
        Field{"configs", &Queue::configs, "What is labelled."},
        Field{"pending", &Queue::pending, "Items that wait for labels."},
        Field{"done", &Queue::done, "Items with all labels."},
        Field{"skipped", &Queue::skipped, "Items that were skipped."},
        Field{"created_by", &Queue::created_by, "Name of the user or key that created it."},
        Field{"created_at", &Queue::created_at, "Time of creation."},
        Field{"updated_at", &Queue::updated_at, "Time of the last change."},
    };
};

struct NewQueue {
    std::string name;
    std::string project;
    std::vector<std::string> configs;
    json::Defaulted<std::string> instructions;
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::trace;
    json::Defaulted<int64_t> reviewers_per_item = int64_t{1};
    json::Defaulted<bool> shows_verdicts = false;
    json::Defaulted<std::string> dataset;
    json::Defaulted<bool> fill_enabled = false;
    json::Defaulted<std::string> fill_filter;
    json::Defaulted<QueueFillRule> fill_rule = QueueFillRule::matching;
    json::Defaulted<int64_t> fill_ppm = int64_t{1'000'000};
    static constexpr Pack fields{
        Field{"name", &NewQueue::name, "Name, unique in the space."},
        Field{"project", &NewQueue::project, "Id or name of the project."},
        Field{"configs", &NewQueue::configs, "Annotation configs by id or name, 1 to 20."},
        Field{"instructions", &NewQueue::instructions, "What people decide and by which criteria; Markdown."},
        Field{"target", &NewQueue::target, "span, trace or chat_session; trace if not given."},
        Field{"reviewers_per_item", &NewQueue::reviewers_per_item, "People who label each item, 1 to 10."},
        Field{"shows_verdicts", &NewQueue::shows_verdicts, "Show verdicts of evaluators before the person decides."},
        Field{"dataset", &NewQueue::dataset, "Name of the dataset that corrected outputs go to."},
        Field{"fill_enabled", &NewQueue::fill_enabled, "Add new matching traces by itself."},
        Field{"fill_filter", &NewQueue::fill_filter, "Which ones, in the filter language."},
        Field{"fill_rule", &NewQueue::fill_rule, "matching, undecided, split or disputed; matching if not given."},
        Field{"fill_ppm", &NewQueue::fill_ppm, "Share of them in millionths; 1000000 if not given."},
    };
};

struct QueueChange {
    std::optional<std::string> name{};
    std::optional<std::vector<std::string>> configs{};
    std::optional<std::string> instructions{};
    std::optional<int64_t> reviewers_per_item{};
    std::optional<bool> shows_verdicts{};
    std::optional<std::string> dataset{};
    std::optional<bool> fill_enabled{};
    std::optional<std::string> fill_filter{};
    std::optional<QueueFillRule> fill_rule{};
    std::optional<int64_t> fill_ppm{};
    static constexpr Pack fields{
        Field{"name", &QueueChange::name, "Name, unique in the space."},
        Field{"configs", &QueueChange::configs, "Annotation configs by id or name; labels of others are kept."},
        Field{"instructions", &QueueChange::instructions, "Markdown."},
        Field{"reviewers_per_item", &QueueChange::reviewers_per_item,
              "1 to 10; open and done items are counted again."},
        Field{"shows_verdicts", &QueueChange::shows_verdicts, "Show verdicts before the person decides."},
        Field{"dataset", &QueueChange::dataset, "Name of a dataset; empty: none."},
        Field{"fill_enabled", &QueueChange::fill_enabled, "Add new matching traces by itself."},
        Field{"fill_filter", &QueueChange::fill_filter, "In the filter language."},
        Field{"fill_rule", &QueueChange::fill_rule, "matching, undecided, split or disputed."},
        Field{"fill_ppm", &QueueChange::fill_ppm, "Share in millionths."},
    };
};

// What one person gave for one config. Exactly one of label, score and text, by its type.
struct QueueEval {
    std::string config;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr Pack fields{
        Field{"config", &QueueEval::config, "Id or name of the annotation config."},
        Field{"label", &QueueEval::label, "Of a categorical one: one of its labels."},
        Field{"score", &QueueEval::score, "Of a continuous one: a number within its bounds."},
        Field{"explanation", &QueueEval::explanation, "A reason, or the text of a freeform one."},
    };
};

// An eval of an evaluator on the target of an item.
struct QueueVerdict {
    std::string name;
    std::string kind;
    std::string label;
    std::optional<double> score;
    std::string explanation;
    static constexpr Pack fields{
        Field{"name", &QueueVerdict::name, "Name of the eval."},
        Field{"kind", &QueueVerdict::kind, "llm, code or agent."},
        Field{"label", &QueueVerdict::label, "Its label."},
        Field{"score", &QueueVerdict::score, "Its score."},
        Field{"explanation", &QueueVerdict::explanation, "Its explanation."},
    };
};

struct QueueItem {
    QueueItemId id;
    QueueId queue_id;
    telemetry::EvalTarget target = telemetry::EvalTarget::trace;
    std::string target_id;
    std::string trace_id;
    QueueItemState state = QueueItemState::pending;
    int64_t labelled_by = 0;
    std::optional<Time> reserved_until;
    std::string my_state;
    std::vector<QueueEval> my_evals;
    std::vector<QueueVerdict> verdicts;
    bool verdicts_hidden = false;
    std::string added_by;
    Time created_at{};
    static constexpr Pack fields{
        Field{"id", &QueueItem::id, "Id."},
        Field{"queue_id", &QueueItem::queue_id, "Its queue."},
        Field{"target", &QueueItem::target, "span, trace or chat_session."},
        Field{"target_id", &QueueItem::target_id, "Span id, trace id, or the chat session's name."},
        Field{"trace_id", &QueueItem::trace_id, "The trace of a span, or the trace itself."},
        Field{"state", &QueueItem::state, "pending, done or skipped."},
        Field{"labelled_by", &QueueItem::labelled_by, "People who have labelled it."},
        Field{"reserved_until", &QueueItem::reserved_until,
              "Until then it is reserved for the caller; null: it is not."},
        Field{"my_state", &QueueItem::my_state, "reserved, done or skipped by the caller; empty: not yet."},
        Field{"my_evals", &QueueItem::my_evals, "What the caller gave."},
        Field{"verdicts", &QueueItem::verdicts, "Verdicts of evaluators, once the caller may see them."},
        Field{"verdicts_hidden", &QueueItem::verdicts_hidden,
              "There may be verdicts, shown after the caller's labels."},
        Field{"added_by", &QueueItem::added_by, "Name of the user or key, or `fill rule`."},
        Field{"created_at", &QueueItem::created_at, "Time at which it was added."},
    };
};

struct LabelQueueItem {
    std::vector<QueueEval> evals;
    json::Defaulted<int64_t> ms_spent = int64_t{0};
    std::optional<json::Value> reference;
    static constexpr Pack fields{
        Field{"evals", &LabelQueueItem::evals, "One for each config that applies; at least one."},
        Field{"ms_spent", &LabelQueueItem::ms_spent, "Time that the person needed, in milliseconds."},
        Field{"reference", &LabelQueueItem::reference,
              "The correct output. It goes to the dataset of the queue, with the input of the target."},
    };
};

struct QueueFilled {
    int64_t added = 0;
    int64_t seen = 0;
    static constexpr Pack fields{
        Field{"added", &QueueFilled::added, "Items that were added."},
        Field{"seen", &QueueFilled::seen, "Targets that match; those that are in the queue already are not added."},
    };
};

struct ConfigAgreement {
    std::string name;
    int64_t items = 0;
    int64_t labels = 0;
    std::optional<double> alpha;
    std::string level;
    static constexpr Pack fields{
        Field{"name", &ConfigAgreement::name, "Name of the config."},
        Field{"items", &ConfigAgreement::items, "Items that two or more people have labelled."},
        Field{"labels", &ConfigAgreement::labels, "Labels of these."},
        Field{"alpha", &ConfigAgreement::alpha, "Krippendorff's alpha; null: no item has two labels."},
        Field{"level", &ConfigAgreement::level, "nominal for labels, interval for scores."},
    };
};

struct ReviewerProgress {
    std::string user_id;
    std::string name;
    int64_t done = 0;
    int64_t skipped = 0;
    int64_t ms_spent = 0;
    std::optional<Time> last_at;
    static constexpr Pack fields{
        Field{"user_id", &ReviewerProgress::user_id, "The person."},
        Field{"name", &ReviewerProgress::name, "Name."},
        Field{"done", &ReviewerProgress::done, "Items labelled."},
        Field{"skipped", &ReviewerProgress::skipped, "Items skipped."},
        Field{"ms_spent", &ReviewerProgress::ms_spent, "Time of all labelled items."},
        Field{"last_at", &ReviewerProgress::last_at, "Time of the last one."},
    };
};

struct QueueAgreement {
    std::vector<ConfigAgreement> configs;
    std::vector<ReviewerProgress> people;
    static constexpr Pack fields{
        Field{"configs", &QueueAgreement::configs, "Agreement of people, per config."},
        Field{"people", &QueueAgreement::people, "Progress per person, most items first."},
    };
};

} // namespace hone::evaluate
