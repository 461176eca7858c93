// Artifacts: what runs left.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/loop/artifact_query.h"
#include "run/outputs/outputs.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ReviewArtifact {
    review::ReviewState decision = review::ReviewState::approved;
    std::optional<std::string> comment;
    std::optional<std::string> digest;
    std::optional<int64_t> revision;
    static constexpr Pack fields{
        Field{"decision", &ReviewArtifact::decision,
              "approved (labels are published), rejected, or changes_requested (the session receives the comment)."},
        Field{"comment", &ReviewArtifact::comment, "The reason; needed for changes_requested."},
        Field{"digest", &ReviewArtifact::digest,
              "Digest of the artifact when it was reviewed. Needed to approve any artifact but a branch."},
        Field{"revision", &ReviewArtifact::revision,
              "Of a branch: the revision that was reviewed. Needed to approve it."},
    };
};

enum class ArtifactPreview { page };
constexpr auto enum_names(ArtifactPreview) {
    return std::array{EnumName{ArtifactPreview::page, "page"}};
}

struct ArtifactContentQuery {
    static constexpr bool is_query = true;
    std::optional<ArtifactPreview> preview;
    static constexpr Pack fields{
        Field{"preview", &ArtifactContentQuery::preview,
              "page: an HTML file as a page without scripts, frames and requests, for a sandboxed frame."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

// What a browser may show by itself. Everything else is offered for saving.
bool is_shown_inline(std::string_view media_type) {
    return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
           media_type == "image/webp" || media_type == "image/svg+xml" || media_type == "text/plain" ||
           media_type == "text/markdown" || media_type == "text/csv" || media_type == "application/json" ||
           media_type == "application/pdf";
}

// The name as a header can carry it: quoted ASCII, and the whole of it in percent form.
std::string disposition(std::string_view kind, std::string_view name) {
    std::string plain;
    for (const char c : name) plain += (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') ? c : '_';
    return std::string(kind) + "; filename=\"" + plain + "\"; filename*=UTF-8''" + percent_encode(name);
}

} // namespace

Result<List<review::Artifact>> list_artifacts(const Call& call, const ListArtifacts& query) {
    const auto space = TRY(space_of(call, query.space));
    return call.services.run.artifacts.list(call.caller, space, filter_of(query),
                                            TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::Artifact>> get_artifact(const Call& call) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::Artifact>{TRY(call.services.run.artifacts.find(call.caller, id))};
}

// Made by a worker, so nothing in it may run: no script, no frame, no request, an origin of its own.
// The browser's own viewer of PDF does not work in a sandbox; it runs no script in the page's origin.
Result<net::Response> get_artifact_content(const Call& call, const ArtifactContentQuery& query) {
    run::RunServices& services = call.services.run;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    const auto artifact = TRY(services.artifacts.find(call.caller, id));
    net::Response response;
    response.body = TRY(services.artifacts.content(artifact));
    const bool shown = is_shown_inline(artifact.media_type);
    const bool is_text = artifact.media_type.starts_with("text/");
    if (query.preview && !is_text) return invalid("only text is shown as a page");
    response.content_type = query.preview ? "text/html; charset=utf-8"
                            : is_text     ? "text/plain; charset=utf-8"
                                          : artifact.media_type;
    response.set_header("Content-Disposition", disposition(shown ? "inline" : "attachment", artifact.name));
    response.set_header(
        "Content-Security-Policy",
        std::string("default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; ") +
            (artifact.media_type == "application/pdf" ? "" : "sandbox; ") + "frame-ancestors 'self'");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Cache-Control", "private, max-age=300");
    response.set_header("ETag", "\"" + artifact.digest.substr(0, 32) + "\"");
    return response;
}

// The same decision as under /v1/reviews, in one address.
Result<One<review::Artifact>> review_artifact(const Call& call, const ReviewArtifact& body) {
    review::Decide wanted;
    wanted.comment = body.comment;
    wanted.digest = body.digest;
    wanted.revision = body.revision;
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::Artifact>{TRY(call.services.outputs.decide(call.caller, id, body.decision, wanted))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route artifacts_table[] = {
    route<list_artifacts>("GET", "/v1/artifacts", need(run_read), "Artifacts of runs, newest first."),
    route<get_artifact>("GET", "/v1/artifacts/{artifact}", need(run_read), "An artifact and its review."),
    route<get_artifact_content>("GET", "/v1/artifacts/{artifact}/content", need(run_read), "Content of an artifact.")
        .raw("*/*"),
    route<review_artifact>("POST", "/v1/artifacts/{artifact}/review", need(artifact_review),
                           "Approve, reject, or request changes."),
};

} // namespace

std::span<const Route> artifacts_routes() {
    return artifacts_table;
}

} // namespace hone::api
