#include "evaluate/judges/agent_verdicts.h"

namespace hone::evaluate {

namespace {

constexpr size_t largest_reported = 64 << 10;

} // namespace

Result<> AgentVerdicts::expect(sql::Transaction& transaction, const std::string& run_id,
                               const access::SpaceId& space) const {
    TRY(transaction.execute("INSERT INTO agent_verdicts (run_id, space_id, created_at) VALUES (?, ?, ?)", run_id, space,
                            m_clock.now()));
    return {};
}

Result<bool> AgentVerdicts::is_expected(const std::string& run_id) const {
    return !TRY(m_database.query("SELECT 1 FROM agent_verdicts WHERE run_id = ?", run_id)).empty();
}

Result<> AgentVerdicts::report(const access::Caller& caller, const json::Object& verdict) const {
    if (caller.run.empty()) return forbidden("a verdict is reported by a run that evaluates a document");
    const std::string text = json::print(verdict);
    if (text.size() > largest_reported) return too_large("the verdict has more than 64 KiB");
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto rows = TRY(transaction.query("SELECT verdict FROM agent_verdicts WHERE run_id = ?", caller.run));
        if (rows.empty()) return forbidden("this run does not evaluate a document");
        if (!rows.front().is_null(0)) return conflict("this run has reported its verdict already");
        TRY(transaction.execute("UPDATE agent_verdicts SET verdict = ? WHERE run_id = ?", text, caller.run));
        return {};
    });
}

Result<std::optional<json::Value>> AgentVerdicts::find(const std::string& run_id) const {
    const auto rows = TRY(m_database.query("SELECT verdict FROM agent_verdicts WHERE run_id = ?", run_id));
    if (rows.empty() || rows.front().is_null(0)) return std::optional<json::Value>();
    return std::optional(TRY(json::parse(rows.front().text(0))));
}

} // namespace hone::evaluate
