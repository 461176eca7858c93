#include "evaluate/evaluators/replied_models.h"

#include "base/text.h"

#include <fmt/format.h>

namespace hone::evaluate {

Result<> RepliedModels::note(const EvaluatorId& evaluator, int64_t number, const std::string& model) {
    constexpr size_t longest_name = 200, most_noted = 10'000;
    std::string name(truncate_utf8(repair_utf8(model), longest_name));
    std::erase(name, '\0');
    if (name.empty() || evaluator.empty()) return {};
    const std::string key = fmt::format("{} {} {}", evaluator.text(), number, name);
    {
        const Lock lock(m_mutex);
        if (m_noted.contains(key)) return {};
    }
    TRY(m_database.execute(
        "INSERT INTO replied_models (evaluator_id, number, model, first_seen_at) SELECT v.evaluator_id, v.number, "
        "CAST(? AS TEXT), CAST(? AS BIGINT) FROM evaluator_versions v WHERE v.evaluator_id = ? AND v.number = ? AND "
        "(SELECT COUNT(*) FROM replied_models r WHERE r.evaluator_id = v.evaluator_id AND r.number = v.number) < ? ON "
        "CONFLICT (evaluator_id, number, model) DO NOTHING",
        name, to_ns(m_clock.now()), evaluator, number, most_names));
    const Lock lock(m_mutex);
    if (m_noted.size() >= most_noted) m_noted.clear();
    m_noted.insert(key);
    return {};
}

Result<std::optional<RepliedModels::Change>> RepliedModels::newest_change(const EvaluatorId& evaluator,
                                                                          int64_t number) const {
    const auto rows = TRY(m_database.query("SELECT model, first_seen_at FROM replied_models WHERE evaluator_id = ? AND "
                                           "number = ? ORDER BY first_seen_at DESC, model DESC LIMIT 2",
                                           evaluator, number));
    if (rows.size() < 2) return std::optional<Change>();
    return std::optional(Change{rows[1].text(0), rows[0].text(0), rows[0].time(1)});
}

} // namespace hone::evaluate
