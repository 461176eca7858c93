#include "access/requests/idempotent_responses.h"

#include "base/text.h"

namespace hone::access {

namespace {
constexpr Duration kept_for = std::chrono::hours(24);
// Values of `status` that are no HTTP status.
constexpr int64_t running = 0;
constexpr int64_t not_kept = -1;
} // namespace

Result<std::optional<KeptResponse>> IdempotentResponses::begin(const Caller& caller, const std::string& key,
                                                               const std::string& request_hash) {
    if (key.empty() || key.size() > 255 || !is_printable_ascii(key))
        return invalid("Idempotency-Key must be 1 to 255 printable characters");
    const std::string actor = caller.actor();
    return m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<KeptResponse>> {
        const Time now = m_clock.now();
        TRY(transaction.execute(
            "DELETE FROM idempotent_answers WHERE caller = ? AND idempotency_key = ? AND created_at < ?", actor, key,
            now - kept_for));
        const int64_t claimed = TRY(transaction.execute(
            "INSERT INTO idempotent_answers (caller, idempotency_key, request_hash, status, answer, created_at) "
            "VALUES (?,?,?,?,?,?) ON CONFLICT (caller, idempotency_key) DO NOTHING",
            actor, key, request_hash, running, "", now));
        if (claimed == 1) return std::optional<KeptResponse>();
        const auto rows = TRY(transaction.query(
            "SELECT request_hash, status, answer FROM idempotent_answers WHERE caller = ? AND idempotency_key = ?",
            actor, key));
        if (rows.empty()) return conflict("the Idempotency-Key is in use right now; try again");
        const auto row = rows.front();
        if (row.text(0) != request_hash) return conflict("the Idempotency-Key was used for another request");
        if (row.integer(1) == running)
            return conflict("a request with this Idempotency-Key is running, or was interrupted: check its effect, "
                            "then use a new key");
        if (row.integer(1) == not_kept)
            return conflict(
                "this request was carried out already; its response held a secret or was not JSON, and was not kept");
        return std::optional(KeptResponse{static_cast<int>(row.integer(1)), row.text(2)});
    });
}

Result<> IdempotentResponses::finish(const Caller& caller, const std::string& key, int64_t status,
                                     const std::string& body) {
    TRY(m_database.execute(
        "UPDATE idempotent_answers SET status = ?, answer = ? WHERE caller = ? AND idempotency_key = ?", status, body,
        caller.actor(), key));
    return {};
}

Result<> IdempotentResponses::keep(const Caller& caller, const std::string& key, const KeptResponse& response) {
    return finish(caller, key, response.status, response.body);
}

Result<> IdempotentResponses::keep_nothing(const Caller& caller, const std::string& key) {
    return finish(caller, key, not_kept, "");
}

Result<> IdempotentResponses::release(const Caller& caller, const std::string& key) {
    TRY(m_database.execute("DELETE FROM idempotent_answers WHERE caller = ? AND idempotency_key = ?", caller.actor(),
                           key));
    return {};
}

Result<int64_t> IdempotentResponses::sweep() {
    return m_database.execute("DELETE FROM idempotent_answers WHERE created_at < ?", m_clock.now() - kept_for);
}

} // namespace hone::access
