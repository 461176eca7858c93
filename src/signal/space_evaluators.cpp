// Evaluators that belong to a space (code, models, agents, remote services), and the versions of all evaluators.
#include "access/names.h"
#include "evaluate/evaluators/verdict.h"
#include "evaluate/judges/judge.h"
#include "signal/evaluators.h"

#include <fmt/format.h>

namespace hone::signal {

using access::Caller, access::Permission, access::SpaceId;

namespace {

constexpr int64_t most_per_space = 1000;

// Exactly the definition of the kind, and one that can work.
template <class Definitions>
Result<> check_definitions(EvaluatorKind kind, const Definitions& given, bool is_required) {
    const auto one = [&](EvaluatorKind of, const auto& definition) -> Result<> {
        if (definition && kind != of)
            return invalid(fmt::format("{} belongs to an evaluator of kind {}; this one is of kind {}", name_of(of),
                                       name_of(of), name_of(kind)));
        if (!definition && kind == of && is_required)
            return invalid(fmt::format("{} is missing: give the definition of the evaluator", name_of(of)));
        if (definition) TRY(evaluate::check(*definition));
        return {};
    };
    TRY(one(EvaluatorKind::code, given.code));
    TRY(one(EvaluatorKind::llm, given.llm));
    TRY(one(EvaluatorKind::agent, given.agent));
    return one(EvaluatorKind::remote, given.remote);
}

} // namespace

EvaluatorVersion version_of(const Evaluator& evaluator) {
    EvaluatorVersion version;
    version.evaluator_id = evaluator.id;
    version.space_id = evaluator.space_id;
    version.number = evaluator.revision;
    version.kind = evaluator.kind;
    version.name = evaluator.name;
    version.created_by = evaluator.created_by;
    version.created_at = evaluator.updated_at;
    version.project_id = evaluator.project_id;
    version.code = evaluator.code;
    version.llm = evaluator.llm;
    version.agent = evaluator.agent;
    version.remote = evaluator.remote;
    if (evaluator.kind == EvaluatorKind::rule)
        version.rule = evaluate::RuleDefinition{evaluator.filter,        evaluator.condition,   evaluator.label,
                                                evaluator.score,         evaluator.other_label, evaluator.other_score,
                                                evaluator.sample_percent};
    version.content_hash = evaluate::definition_hash(version);
    return version;
}

Result<Evaluator> Evaluators::find_named(const Caller& caller, const SpaceId& space,
                                         const std::string& name_or_id) const {
    if (const auto id = parse_id<EvaluatorTag>(name_or_id); id.ok()) return find(caller, id.value());
    TRY(caller.require(Permission::project_read, space));
    auto rows = TRY(m_database.query("SELECT id FROM evaluators WHERE space_id = ? AND project_id IS NULL AND name = ?",
                                     space, name_or_id));
    // PROJECT/NAME of a rule; both may have slashes.
    for (size_t slash = name_or_id.find('/'); rows.empty() && slash != std::string::npos;
         slash = name_or_id.find('/', slash + 1)) {
        const auto project = m_access.projects.find(caller, space, name_or_id.substr(0, slash));
        if (!project.ok() && project.error().code != Code::not_found) return project.error();
        if (!project.ok()) continue;
        rows = TRY(m_database.query("SELECT id FROM evaluators WHERE project_id = ? AND name = ?", project.value().id,
                                    name_or_id.substr(slash + 1)));
    }
    if (rows.empty()) return not_found("evaluator " + std::string(truncate_utf8(name_or_id, 100)));
    return find(caller, rows.front().id<EvaluatorTag>(0));
}

Result<EvaluatorVersion> Evaluators::code_for_tool(const Caller& caller, const SpaceId& space,
                                                   const std::string& name_or_id, std::optional<int64_t> number) const {
    const auto absent = [&] { return not_found("evaluator " + std::string(truncate_utf8(name_or_id, 100))); };
    if (!is_valid_utf8(name_or_id) || name_or_id.find('\0') != std::string::npos) return absent();
    const bool is_run = !caller.run.empty();
    if (is_run)
        TRY(m_access.projects.find(caller, space, caller.bound_project.text(), Permission::project_read));
    else
        TRY(caller.require(Permission::eval_write, space));
    const Caller reader = is_run ? Caller::system() : caller;
    const Evaluator found = TRY(find_named(reader, space, name_or_id));
    const bool is_of_another_project = is_run && found.project_id && *found.project_id != caller.bound_project;
    if (found.space_id != space || is_of_another_project || !caller.role_in(space)) return absent();
    EvaluatorVersion version = TRY(this->version(reader, found.id, number.value_or(found.revision)));
    if (!version.code)
        return invalid("evaluator " + found.name + " is of kind " + std::string(name_of(version.kind)) +
                       "; tools run code only");
    return version;
}

Result<std::vector<EvaluatorVersion>> Evaluators::versions(const Caller& caller, const EvaluatorId& id) const {
    const Evaluator of = TRY(find(caller, id));
    std::vector<EvaluatorVersion> versions = TRY(m_versions.list(id));
    // A rule from before versions were stored has its newest one in its own row.
    if (versions.empty() || versions.front().number < of.revision) versions.insert(versions.begin(), version_of(of));
    return versions;
}

Result<EvaluatorVersion> Evaluators::version(const Caller& caller, const EvaluatorId& id, int64_t number) const {
    const Evaluator of = TRY(find(caller, id));
    if (of.kind == EvaluatorKind::rule && number == of.revision) return version_of(of);
    EvaluatorVersion found = TRY(m_versions.find(id, number));
    found.project_id = of.project_id;
    return found;
}

Result<Evaluator> Evaluators::create_in_space(const Caller& caller, const SpaceId& space, const NewEvaluator& wanted) {
    TRY(caller.require(Permission::eval_write, space));
    if (!caller.bound_project.empty())
        return forbidden("this key is bound to one project; this evaluator belongs to the space");
    if (!wanted.project.value.empty() || !wanted.condition.value.empty() || !wanted.filter.value.empty())
        return invalid("project, filter and condition belong to rules; tasks choose what the other kinds evaluate");
    TRY(check_definitions(*wanted.kind, wanted, true));
    Evaluator made;
    made.id = make_id<EvaluatorTag>(m_clock);
    made.space_id = space;
    made.kind = *wanted.kind;
    made.name = TRY(access::checked_name("name", wanted.name));
    made.description = TRY(access::checked_description(*wanted.description));
    made.code = wanted.code;
    made.llm = wanted.llm;
    made.agent = wanted.agent;
    made.remote = wanted.remote;
    made.created_by = caller.name;
    const Time now = made.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto there = TRY(transaction.query(
            "SELECT COUNT(*), COALESCE(SUM(CASE WHEN name = ? THEN 1 ELSE 0 END), 0) FROM evaluators WHERE space_id = "
            "? AND project_id IS NULL",
            made.name, made.space_id));
        if (there.front().integer(1) > 0)
            return conflict("an evaluator named " + made.name + " exists already in this space");
        if (there.front().integer(0) >= most_per_space)
            return conflict(fmt::format("a space has at most {} evaluators without a project", most_per_space));
        TRY(transaction.execute(
            "INSERT INTO evaluators (id, space_id, project_id, kind, name, description, filter, condition, label, "
            "score, other_label, other_score, sample_percent, enabled, issue_id, revision, judged_up_to, next_at, "
            "judged, matched, problem, created_by, created_by_name, created_at, updated_at) VALUES (?, ?, NULL, ?, ?, "
            "?, '', '', '', NULL, '', NULL, 100, 1, NULL, 1, ?, ?, 0, 0, '', ?, ?, ?, ?)",
            made.id, made.space_id, name_of(made.kind), made.name, made.description, now, now, caller.actor(),
            caller.name, now, now));
        TRY(evaluate::EvaluatorVersions::add(transaction, version_of(made)));
        return m_access.audit.record(
            transaction, caller,
            {"evaluator_create", made.space_id, made.id.text(), {{"name", made.name}, {"kind", name_of(made.kind)}}});
    }));
    return find(Caller::system(), made.id);
}

Result<Evaluator> Evaluators::update_in_space(const Caller& caller, Evaluator evaluator,
                                              const EvaluatorChange& change) {
    if (change.filter || change.condition || change.label || change.score || change.other_label || change.other_score ||
        change.sample_percent || change.enabled || change.backfill_hours)
        return invalid(
            fmt::format("an evaluator of kind {0} has a description and {0}; the other fields belong to rules",
                        name_of(evaluator.kind)));
    TRY(check_definitions(evaluator.kind, change, false));
    if (change.description) evaluator.description = TRY(access::checked_description(*change.description));
    const int64_t before = evaluator.revision;
    const EvaluatorVersion old = version_of(evaluator);
    if (change.code) evaluator.code = change.code;
    if (change.llm) evaluator.llm = change.llm;
    if (change.agent) evaluator.agent = change.agent;
    if (change.remote) evaluator.remote = change.remote;
    // The same definition again is not a new version.
    if (evaluate::definition_hash(version_of(evaluator)) != old.content_hash) ++evaluator.revision;
    evaluator.created_by = caller.name;
    const Time now = evaluator.updated_at = m_clock.now();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto changed = TRY(transaction.execute(
            "UPDATE evaluators SET description = ?, revision = ?, updated_at = ? WHERE id = ? AND revision = ?",
            evaluator.description, evaluator.revision, now, evaluator.id, before));
        if (changed == 0) return conflict("the evaluator was changed meanwhile; try again");
        if (evaluator.revision != before) TRY(evaluate::EvaluatorVersions::add(transaction, version_of(evaluator)));
        return m_access.audit.record(transaction, caller,
                                     {"evaluator_update",
                                      evaluator.space_id,
                                      evaluator.id.text(),
                                      {{"name", evaluator.name}, {"version", evaluator.revision}}});
    }));
    return find(Caller::system(), evaluator.id);
}

} // namespace hone::signal
