// Which artifacts: of the list of artifacts and of the list of reviews.
#pragma once

#include "base/fields.h"
#include "review/artifacts.h"

#include <optional>
#include <string>

namespace hone::api {

struct ListArtifacts {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> run;
    std::optional<review::ArtifactKind> kind;
    std::optional<review::ReviewState> review;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListArtifacts::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListArtifacts::project, "Id or name of a project: only artifacts of its runs."},
        Field{"run", &ListArtifacts::run, "Id of a run: only its artifacts."},
        Field{"kind", &ListArtifacts::kind, "Only artifacts of this kind."},
        Field{"review", &ListArtifacts::review, "Only artifacts in this state; `pending`: not decided yet."},
        Field{"limit", &ListArtifacts::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListArtifacts::cursor, "next_cursor of the previous response."},
    };
};

inline review::ArtifactFilter filter_of(const ListArtifacts& query) {
    return {query.project, query.run, query.kind, query.review};
}

} // namespace hone::api
