// Evaluators: families with immutable versions. Rules belong to projects and are applied here; the other kinds belong
// to a space and are applied by evaluate/judges for experiments and online tasks. step() evaluates the spans since the
// last step: the engine finds them and writes their evals, no row leaves it. A span gets an evaluator's eval once, also
// after a crash and with several servers on one database: the server that moves the next time on applies the rule, and
// spans with an eval are left out. Thread-safe; step() is called by Signal's thread.
#pragma once

#include "access/access.h"
#include "base/mutex.h"
#include "evaluate/evaluators/evaluator_versions.h"
#include "signal/evaluator.h"
#include "telemetry/telemetry.h"

#include <map>
#include <span>

namespace hone::signal {

class Evaluators {
public:
    // How often each is applied.
    static constexpr Duration cadence = std::chrono::minutes(1);

    // `telemetry` may be null: nothing can be evaluated.
    Evaluators(sql::Database& database, const Clock& clock, access::Access& access, telemetry::Telemetry* telemetry)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_versions(database),
          m_telemetry(telemetry) {}

    // Oldest first.
    Result<access::Page<Evaluator>> list(const access::Caller& caller, const access::SpaceId& space,
                                         const std::optional<std::string>& project,
                                         const access::PageRequest& page) const;
    Result<Evaluator> find(const access::Caller& caller, const EvaluatorId& id,
                           access::Permission permission = access::Permission::project_read) const;
    // Fills in `pass_rate`, by the projects that the caller sees. `list` has done it.
    Result<> add_pass_rates(const access::Caller& caller, const access::SpaceId& space,
                            std::span<Evaluator> evaluators) const;
    // By id, by the name of an evaluator of the space, or by PROJECT/NAME of a rule.
    Result<Evaluator> find_named(const access::Caller& caller, const access::SpaceId& space,
                                 const std::string& name_or_id) const;
    // For tools: code to run on documents, the newest version unless one is given. A run's key runs code of its space,
    // others need eval_write.
    Result<EvaluatorVersion> code_for_tool(const access::Caller& caller, const access::SpaceId& space,
                                           const std::string& name_or_id, std::optional<int64_t> number) const;
    // Newest first.
    Result<std::vector<EvaluatorVersion>> versions(const access::Caller& caller, const EvaluatorId& id) const;
    Result<EvaluatorVersion> version(const access::Caller& caller, const EvaluatorId& id, int64_t number) const;
    Result<Evaluator> create(const access::Caller& caller, const access::SpaceId& space, const NewEvaluator& wanted,
                             const std::optional<IssueId>& issue = {});
    Result<Evaluator> update(const access::Caller& caller, const EvaluatorId& id, const EvaluatorChange& change);
    // Its evals stay.
    Result<> remove(const access::Caller& caller, const EvaluatorId& id);
    // Of the last 24 hours.
    Result<EvaluatorPreview> preview(const access::Caller& caller, const access::SpaceId& space,
                                     const NewEvaluator& wanted) const;

    // Applies what is due. Returns how many evals it wrote.
    Result<int64_t> step();
    // Null: none is on.
    Result<std::optional<Time>> next_due() const;

private:
    Result<Evaluator> create_in_space(const access::Caller& caller, const access::SpaceId& space,
                                      const NewEvaluator& wanted);
    Result<Evaluator> update_in_space(const access::Caller& caller, Evaluator evaluator, const EvaluatorChange& change);
    Result<int64_t> apply(const Evaluator& rule);
    bool holds_nothing_new(const Evaluator& rule);

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    evaluate::EvaluatorVersions m_versions;
    telemetry::Telemetry* m_telemetry;
    mutable Mutex m_mutex;
    // Spans of the project and revision of the rule at its last whole look, by evaluator.
    std::map<std::string, std::pair<int64_t, int64_t>> m_seen GUARDED_BY(m_mutex);
};

// What the evaluator is now, as a version.
EvaluatorVersion version_of(const Evaluator& evaluator);

// The rule that distinguishes the spans of an issue from others of the same name. Conflict: it has no filter.
Result<NewEvaluator> evaluator_for(const Issue& issue);

} // namespace hone::signal
