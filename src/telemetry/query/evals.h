// Evals and annotations: a label, a score and an explanation on a span, a trace or a chat session, with who made it.
// Writing one with the same target, name and identifier replaces it; the history stays. Durable and visible to
// filters, series and SQL when upsert returns. Thread-safe, blocking.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/eval_row.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace hone::telemetry {

struct ListEvals {
    std::string project;
    EvalTarget target = EvalTarget::span;
    std::vector<std::string> target_ids; // empty: all
    std::string trace_id;                // only of this trace's spans, when they are of spans; empty: any
    std::vector<std::string> names;      // empty: all
    std::vector<std::string> excluded_names;
    std::vector<std::string> identifiers; // empty: all
    size_t limit = 100;
    std::string cursor;
};
struct EvalPage {
    std::vector<Eval> evals;
    std::string next_cursor;
};

// Evals of one name on one kind of target; for completion.
struct EvalName {
    EvalTarget target = EvalTarget::span;
    std::string name;
    int64_t count = 0;
    std::vector<std::string> labels; // the most frequent ones, at most 20
};

// What to delete; at least one condition besides project and target, or `all`.
struct DeleteEvals {
    std::string project;
    EvalTarget target = EvalTarget::span;
    std::optional<std::string> name, identifier, annotator;
    std::optional<EvalKind> kind;
    std::optional<int64_t> from_ns, to_ns; // by the time of creation
    bool all = false;
};

// Targets about which evaluators or people could not settle.
enum class Unsettled {
    undecided, // an evaluator reported cannot_judge
    split,     // the votes of an evaluator differ
    disputed,  // labels of people under one name differ
};
struct FindUnsettled {
    std::string project;
    EvalTarget target = EvalTarget::trace;
    Unsettled kind = Unsettled::undecided;
    std::string filter;   // one of the target's spans matches; empty: all
    int64_t since_ns = 0; // one of these evals was written at this time or later
    size_t limit = 1000;
};
struct UnsettledTarget {
    std::string id;
    std::string trace_id; // of a span or a trace
};

// Evals that the engine makes itself: one for each span that a query selects. No row leaves the engine.
struct SelectedEvals {
    ClickHouseQuery spans{""}; // SELECT span_id, is_match … WHERE project = {project:String} …; its values are bound
    Eval match;                // of spans that match: everything but target, id and times
    std::optional<std::pair<std::string, std::optional<double>>>
        other{};          // label and score of the others; none: no eval
    int64_t after_ns = 0; // evals that are older are not looked for: their spans are not among the selected ones
};
struct SelectedCount {
    int64_t written = 0;
    int64_t matched = 0; // of these
};

class Evals {
public:
    Evals(ClickHouse& engine, const Clock& clock) : m_engine(engine), m_clock(clock) {}

    // Fills in id and times. At most 100,000 in one call.
    Result<std::vector<Eval>> upsert(std::vector<Eval> evals);
    // Of the selected spans that have none of this name and identifier. First the history, then the current ones out of
    // it: what a crash left between both is completed by the next call, and nothing is doubled. One call at a time for
    // a name and identifier.
    Result<SelectedCount> write_selected(const SelectedEvals& selected);
    Result<EvalPage> list(const ListEvals& request);
    // In the order of their ids. Only targets whose spans are there and began within the 30 days before `since_ns`.
    Result<std::vector<UnsettledTarget>> find_unsettled(const FindUnsettled& request);
    // Every version of the evals of one target, oldest first.
    Result<std::vector<Eval>> history(const std::string& project, EvalTarget target, const std::string& target_id);
    // The names in use, most frequent first, at most 200.
    Result<std::vector<EvalName>> names(const std::string& project);
    Result<int64_t> remove(const DeleteEvals& request);

private:
    Result<> fill_created(std::vector<Eval>& evals);
    Result<> write(const std::vector<Eval>& evals);
    int64_t take_versions(int64_t count); // the first of them

    ClickHouse& m_engine;
    const Clock& m_clock;
    std::atomic<int64_t> m_last_version{0}; // versions grow, also when the clock goes back
};

} // namespace hone::telemetry
