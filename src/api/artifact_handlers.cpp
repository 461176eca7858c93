#include "api/labels.h"
#include "api/review_handlers.h"
#include "api/run_handlers.h"
#include "api/span_handlers.h"

namespace hone::api {

namespace {

// What a browser may show by itself. Everything else is offered for saving.
bool is_shown_inline(std::string_view media_type) {
    return media_type == "image/png" || media_type == "image/jpeg" || media_type == "image/gif" ||
           media_type == "image/webp" || media_type == "image/svg+xml" || media_type == "text/plain" ||
           media_type == "text/markdown" || media_type == "text/csv" || media_type == "application/json";
}

// The name as a header can carry it: quoted ASCII, and the whole of it in percent form.
std::string disposition(std::string_view kind, std::string_view name) {
    std::string plain;
    for (const char c : name) plain += (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') ? c : '_';
    return std::string(kind) + "; filename=\"" + plain + "\"; filename*=UTF-8''" + percent_encode(name);
}

} // namespace

Result<> check_labels(const std::vector<ProposedLabel>& labels) {
    if (labels.empty()) return invalid("labels is empty");
    if (labels.size() > most_labels) return too_large("labels: at most " + std::to_string(most_labels) + " at once");
    for (size_t i = 0; i < labels.size(); ++i) {
        const std::string here = "labels[" + std::to_string(i) + "]";
        if (labels[i].target_id.empty() || labels[i].target_id.size() > 200)
            return invalid(here + ".target_id must be 1 to 200 bytes long");
        if (labels[i].name.empty() || labels[i].name.size() > 200)
            return invalid(here + ".name must be 1 to 200 bytes long");
        if (!labels[i].label && !labels[i].score) return invalid(here + " needs a label or a score");
    }
    return {};
}

Result<> LabelPublisher::publish(const review::Artifact& artifact, const std::string& content) {
    const auto labels = TRY(json::read<std::vector<ProposedLabel>>(content));
    std::vector<telemetry::Eval> evals;
    for (const ProposedLabel& label : labels) {
        telemetry::Eval eval;
        eval.project = artifact.project_id.text();
        eval.target = *label.target;
        eval.target_id = label.target_id;
        eval.name = label.name;
        eval.kind = telemetry::EvalKind::agent;
        eval.annotator = artifact.run_id;
        eval.identifier = artifact.run_id;
        eval.label = label.label.value_or("");
        eval.score = label.score;
        eval.explanation = label.explanation.value_or("");
        evals.push_back(std::move(eval));
    }
    if (m_spans == nullptr) return unavailable("this server has no spans");
    TRY(m_spans->telemetry.store());
    TRY(m_spans->evals.upsert(std::move(evals)));
    return {};
}

Result<List<review::Artifact>> list_artifacts(const Call& call, const ListArtifacts& query) {
    const auto space = TRY(call.access().spaces.choose(call.caller, query.space));
    return TRY(runs_of(call))
        ->artifacts.list(call.caller, space, {query.project, query.run, query.kind, query.review},
                         TRY(page_of(query.limit, query.cursor)));
}

Result<One<review::Artifact>> get_artifact(const Call& call) {
    return One<review::Artifact>{TRY(TRY(runs_of(call))->artifacts.find(call.caller, TRY(artifact_in_path(call))))};
}

// Made by a worker, so nothing in it may act: no script, no frame, no request, an origin of its own.
Result<net::Response> get_artifact_content(const Call& call) {
    RunServices& services = *TRY(runs_of(call));
    const auto artifact = TRY(services.artifacts.find(call.caller, TRY(artifact_in_path(call))));
    net::Response response;
    response.body = TRY(services.artifacts.content(artifact));
    const bool shown = is_shown_inline(artifact.media_type);
    response.content_type =
        artifact.media_type.starts_with("text/") ? "text/plain; charset=utf-8" : artifact.media_type;
    response.set_header("Content-Disposition", disposition(shown ? "inline" : "attachment", artifact.name));
    response.set_header(
        "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox; frame-ancestors 'self'");
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
    return One<review::Artifact>{TRY(decide_artifact(call, TRY(artifact_in_path(call)), body.decision, wanted))};
}

} // namespace hone::api
