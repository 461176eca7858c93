#include "review/label_outbox.h"

#include "base/log.h"
#include "base/text.h"

namespace hone::review {

namespace {

constexpr Duration first_pause = std::chrono::seconds(5);
constexpr int64_t longest_pause_factor = 120; // ten minutes

} // namespace

Result<> LabelOutbox::enqueue(sql::Transaction& transaction, const Clock& clock, const ArtifactId& artifact,
                              const std::string& digest) {
    TRY(transaction.execute(
        "INSERT INTO label_publications (artifact_id, digest, attempts, next_try_at, error, created_at) VALUES (?, ?, "
        "0, 0, '', ?) ON CONFLICT (artifact_id) DO UPDATE SET digest = excluded.digest, attempts = 0, next_try_at = 0, "
        "error = ''",
        artifact, digest, clock.now()));
    return {};
}

Result<> LabelOutbox::publish(const Row& row) {
    const Artifact artifact = TRY(m_artifacts.find(access::Caller::system(), row.artifact));
    const auto published = [&]() -> Result<> {
        return m_sink.publish(artifact, TRY(m_artifacts.content_of(row.digest)));
    }();
    if (published.ok())
        return m_database.write([&](sql::Transaction& transaction) -> Result<> {
            // Labels that were approved again meanwhile stay in the outbox.
            const int64_t gone = TRY(transaction.execute(
                "DELETE FROM label_publications WHERE artifact_id = ? AND digest = ?", row.artifact, row.digest));
            if (gone > 0)
                TRY(transaction.execute("UPDATE artifacts SET applied_at = ? WHERE id = ? AND digest = ?",
                                        m_clock.now(), row.artifact, row.digest));
            return {};
        });
    const int64_t factor = std::min<int64_t>(longest_pause_factor, int64_t{1} << std::min<int64_t>(row.attempts, 10));
    TRY(m_database.execute("UPDATE label_publications SET attempts = attempts + 1, next_try_at = ?, error = ? WHERE "
                           "artifact_id = ? AND digest = ?",
                           m_clock.now() + first_pause * factor,
                           repair_utf8(truncate_utf8(published.error().message, 1000)), row.artifact, row.digest));
    return published.error();
}

Result<bool> LabelOutbox::step() {
    const auto rows = TRY(m_database.query("SELECT artifact_id, digest, attempts FROM label_publications WHERE "
                                           "next_try_at <= ? ORDER BY next_try_at, artifact_id LIMIT 1",
                                           m_clock.now()));
    if (rows.empty()) return false;
    const Row row{rows.front().id<ArtifactTag>(0), rows.front().text(1), rows.front().integer(2)};
    if (const auto done = publish(row); !done.ok())
        log(Level::warning, "labels not published",
            {{"artifact", row.artifact.text()}, {"attempt", row.attempts + 1}, {"why", done.error().message}});
    return true;
}

Result<> LabelOutbox::publish(const ArtifactId& artifact) {
    const auto rows = TRY(m_database.query(
        "SELECT artifact_id, digest, attempts FROM label_publications WHERE artifact_id = ?", artifact));
    if (rows.empty()) return {};
    return publish(Row{rows.front().id<ArtifactTag>(0), rows.front().text(1), rows.front().integer(2)});
}

} // namespace hone::review
