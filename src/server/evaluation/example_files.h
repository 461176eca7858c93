// Artifacts of runs as files that examples name. Thread-safe.
#pragma once

#include "evaluate/content/files.h"
#include "review/artifacts.h"

namespace hone::server {

class ArtifactFiles final : public evaluate::ExampleFiles {
public:
    explicit ArtifactFiles(review::Artifacts& artifacts) : m_artifacts(artifacts) {}

    Result<evaluate::ExampleFile> find(const access::Caller& caller, const access::SpaceId& space,
                                       const std::string& id) override {
        const review::Artifact artifact = TRY(in_space(caller, space, id));
        return evaluate::ExampleFile{id, artifact.name, artifact.media_type, artifact.bytes};
    }
    Result<std::string> content(const access::SpaceId& space, const std::string& id) override {
        return m_artifacts.content(TRY(in_space(access::Caller::system(), space, id)));
    }

private:
    Result<review::Artifact> in_space(const access::Caller& caller, const access::SpaceId& space,
                                      const std::string& id) const {
        review::Artifact artifact = TRY(m_artifacts.find(caller, review::ArtifactId(id)));
        // A branch has a diff instead of a content.
        if (artifact.space_id != space || artifact.kind == review::ArtifactKind::branch)
            return not_found("artifact " + id);
        return artifact;
    }

    review::Artifacts& m_artifacts;
};

} // namespace hone::server
