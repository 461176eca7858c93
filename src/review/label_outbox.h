// Approved labels that are not in the span store yet. The row is written in the transaction of the approval and deleted
// when the labels are published, so a crash in between loses nothing: the background step publishes what is left.
// Publishing the same labels twice changes nothing (they are upserted by target, name and run). Thread-safe.
#pragma once

#include "review/artifacts.h"

namespace hone::review {

// Where approved labels go; implemented over the span store.
class LabelSink {
public:
    virtual ~LabelSink() = default;
    virtual Result<> publish(const Artifact& artifact, const std::string& content) = 0;
};

class LabelOutbox {
public:
    LabelOutbox(sql::Database& database, const Clock& clock, Artifacts& artifacts, LabelSink& sink)
        : m_database(database),
          m_clock(clock),
          m_artifacts(artifacts),
          m_sink(sink) {}

    // Within the transaction of the approval. `digest`: the content that was approved, and no other.
    static Result<> enqueue(sql::Transaction& transaction, const Clock& clock, const ArtifactId& artifact,
                            const std::string& digest);

    // Publishes the next labels that are due; false: none are. A failure is retried later, with growing pauses.
    Result<bool> step();
    // Publishes the waiting labels of one artifact immediately.
    Result<> publish(const ArtifactId& artifact);

private:
    struct Row {
        ArtifactId artifact;
        std::string digest;
        int64_t attempts = 0;
    };
    Result<> publish(const Row& row);

    sql::Database& m_database;
    const Clock& m_clock;
    Artifacts& m_artifacts;
    LabelSink& m_sink;
};

} // namespace hone::review
