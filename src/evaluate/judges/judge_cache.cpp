#include "evaluate/judges/judge_cache.h"

#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::evaluate {

std::string CacheKey::hash() const {
    crypto::Hasher hasher;
    // Each part with its length, so that no two keys have the same bytes.
    for (const std::string& part :
         {space_id.text(), content_hash, model, parameters, text, std::to_string(vote), std::to_string(repetition)}) {
        hasher.add(std::to_string(part.size()) + ":");
        hasher.add(part);
    }
    return to_hex(hasher.finish());
}

Result<std::optional<CachedVerdict>> JudgeCache::find(const CacheKey& key) const {
    const auto rows =
        TRY(m_database.query("SELECT result, model, trace_id FROM judge_cache WHERE key = ? AND made_at > ?",
                             key.hash(), m_clock.now() - lifetime));
    if (rows.empty()) return std::optional<CachedVerdict>();
    auto result = json::parse(rows.front().text(0));
    if (!result.ok()) return std::optional<CachedVerdict>();
    return std::optional(CachedVerdict{std::move(result).value(), rows.front().text(1), rows.front().text(2)});
}

Result<> JudgeCache::store(const CacheKey& key, const CachedVerdict& verdict) const {
    TRY(m_database.execute(
        "INSERT INTO judge_cache (key, space_id, result, model, trace_id, made_at) VALUES (?, ?, ?, ?, "
        "?, ?) ON CONFLICT (key) DO UPDATE SET result = excluded.result, model = excluded.model, "
        "trace_id = excluded.trace_id, made_at = excluded.made_at",
        key.hash(), key.space_id, json::print(verdict.result), verdict.model, verdict.trace_id, m_clock.now()));
    return {};
}

Result<int64_t> JudgeCache::collect() const {
    return m_database.execute("DELETE FROM judge_cache WHERE made_at <= ?", m_clock.now() - lifetime);
}

} // namespace hone::evaluate
