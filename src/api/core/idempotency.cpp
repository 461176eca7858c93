#include "api/core/idempotency.h"

#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::api {

namespace {
constexpr Duration kept_for = std::chrono::hours(24);
// Values of `status` that are no HTTP status.
constexpr int64_t running = 0;
constexpr int64_t not_kept = -1;
constexpr size_t largest_answer = 1 << 20;
} // namespace

std::string Idempotency::hash_of(const net::RequestHead& head, std::string_view body) {
    std::string content = head.method + "\n" + head.target + "\n";
    content += body;
    return to_hex(crypto::hash(content));
}

Result<std::optional<net::Response>> Idempotency::begin(const access::Caller& caller, const std::string& key,
                                                        const std::string& request_hash) {
    if (key.empty() || key.size() > 255 || !is_printable_ascii(key))
        return invalid("Idempotency-Key must be 1 to 255 printable characters");
    const std::string actor = caller.actor();
    return m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<net::Response>> {
        const Time now = m_clock.now();
        TRY(transaction.execute(
            "DELETE FROM idempotent_answers WHERE caller = ? AND idempotency_key = ? AND created_at < ?", actor, key,
            now - kept_for));
        const int64_t claimed = TRY(transaction.execute(
            "INSERT INTO idempotent_answers (caller, idempotency_key, request_hash, status, answer, created_at) "
            "VALUES (?,?,?,?,?,?) ON CONFLICT (caller, idempotency_key) DO NOTHING",
            actor, key, request_hash, running, "", now));
        if (claimed == 1) return std::optional<net::Response>();
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
        net::Response response = net::json_response(static_cast<int>(row.integer(1)), row.text(2));
        if (response.body.empty()) response.content_type.clear();
        response.set_header("Idempotency-Replayed", "true");
        return std::optional(std::move(response));
    });
}

Result<> Idempotency::finish(const access::Caller& caller, const std::string& key, const net::Response& response,
                             bool secret) {
    const bool try_again = response.status == 429 || response.status >= 500;
    if (try_again) {
        TRY(m_database.execute("DELETE FROM idempotent_answers WHERE caller = ? AND idempotency_key = ?",
                               caller.actor(), key));
        return {};
    }
    // Only what can be given again byte by byte: a stream is gone, and of other types the type is not kept.
    const bool is_repeatable = response.stream == nullptr && !response.on_events &&
                               (response.body.empty() || response.content_type == "application/json");
    const bool keep = (!secret || response.status >= 400) && is_repeatable && response.body.size() <= largest_answer;
    TRY(m_database.execute(
        "UPDATE idempotent_answers SET status = ?, answer = ? WHERE caller = ? AND idempotency_key = ?",
        keep ? int64_t{response.status} : not_kept, keep ? response.body : "", caller.actor(), key));
    return {};
}

Result<int64_t> Idempotency::sweep() {
    return m_database.execute("DELETE FROM idempotent_answers WHERE created_at < ?", m_clock.now() - kept_for);
}

} // namespace hone::api
