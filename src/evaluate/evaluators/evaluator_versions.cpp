#include "evaluate/evaluators/evaluator_versions.h"

#include "crypto/crypto.h"
#include "evaluate/content/canonical.h"

namespace hone::evaluate {

namespace {

constexpr std::string_view select_evaluator_version =
    "SELECT evaluator_id, number, space_id, kind, name, definition, "
    "content_hash, created_by_name, created_at FROM evaluator_versions";

json::Value definition_of(const EvaluatorVersion& version) {
    if (version.code) return json::to_value(*version.code);
    if (version.llm) {
        json::Value definition = json::to_value(*version.llm);
        // Left out, so that versions from before this field keep their hash.
        if (!*version.llm->pairwise) definition.get_object().erase("pairwise");
        return definition;
    }
    if (version.agent) return json::to_value(*version.agent);
    if (version.remote) return json::to_value(*version.remote);
    return json::to_value(version.rule.value_or(RuleDefinition{}));
}

Result<EvaluatorVersion> evaluator_version_of(const sql::Row& row) {
    EvaluatorVersion version;
    version.evaluator_id = row.id<EvaluatorTag>(0);
    version.number = row.integer(1);
    version.space_id = row.id<access::SpaceTag>(2);
    version.kind = parse_enum<EvaluatorKind>(row.text(3)).value_or(EvaluatorKind::rule);
    version.name = row.text(4);
    const std::string definition = row.text(5);
    switch (version.kind) {
    case EvaluatorKind::rule:
        version.rule = TRY(json::read<RuleDefinition>(definition));
        break;
    case EvaluatorKind::code:
        version.code = TRY(json::read<CodeDefinition>(definition));
        break;
    case EvaluatorKind::llm:
        version.llm = TRY(json::read<LlmDefinition>(definition));
        break;
    case EvaluatorKind::agent:
        version.agent = TRY(json::read<AgentDefinition>(definition));
        break;
    case EvaluatorKind::remote:
        version.remote = TRY(json::read<RemoteDefinition>(definition));
        break;
    }
    version.content_hash = row.text(6);
    version.created_by = row.text(7);
    version.created_at = row.time(8);
    return version;
}

} // namespace

std::string definition_hash(const EvaluatorVersion& version) {
    const json::Value content = json::Object{{"kind", name_of(version.kind)}, {"definition", definition_of(version)}};
    return to_hex(crypto::hash(canonical_text(content)));
}

Result<> EvaluatorVersions::add(sql::Transaction& transaction, EvaluatorVersion version) {
    TRY(transaction.execute(
        "INSERT INTO evaluator_versions (evaluator_id, number, space_id, kind, name, definition, content_hash, "
        "created_by_name, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (evaluator_id, number) DO NOTHING",
        version.evaluator_id, version.number, version.space_id, name_of(version.kind), version.name,
        json::print(definition_of(version)), definition_hash(version), version.created_by, version.created_at));
    return {};
}

Result<std::vector<EvaluatorVersion>> EvaluatorVersions::list(const EvaluatorId& id) const {
    std::vector<EvaluatorVersion> versions;
    const std::string sql =
        std::string(select_evaluator_version) + " WHERE evaluator_id = ? ORDER BY number DESC LIMIT 1000";
    for (const auto& row : TRY(m_database.query(sql, id))) versions.push_back(TRY(evaluator_version_of(row)));
    return versions;
}

Result<EvaluatorVersion> EvaluatorVersions::find(const EvaluatorId& id, int64_t number) const {
    const auto rows = TRY(
        m_database.query(std::string(select_evaluator_version) + " WHERE evaluator_id = ? AND number = ?", id, number));
    if (rows.empty()) return not_found("version " + std::to_string(number) + " of evaluator " + id.text());
    return evaluator_version_of(rows.front());
}

} // namespace hone::evaluate
