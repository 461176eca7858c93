#include "run/outputs/outputs.h"

namespace hone::run {

namespace {

constexpr size_t most_labels = 10'000;

// Each needs a target, a name, and a label or a score.
Result<> check_labels(const std::vector<ProposedLabel>& labels) {
    if (labels.empty()) return invalid("labels is empty");
    if (labels.size() > most_labels)
        return too_large("labels: at most " + std::to_string(most_labels) + " in one request");
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

OutputPolicy policy_for(const OutputPolicies& policies, review::ArtifactKind kind) {
    if (kind == review::ArtifactKind::investigation) return *policies.investigation;
    if (kind == review::ArtifactKind::labels) return *policies.labels;
    return *policies.file;
}

} // namespace

Result<review::Artifact> Outputs::save(const RunId& id, const NewOutput& wanted) {
    const Run run = TRY(m_runs.runs.find(access::Caller::system(), id));
    const Manifest manifest = TRY(m_runs.runs.manifest(access::Caller::system(), id));
    TRY(refuse_secrets(wanted.name, wanted.content));
    const bool approved = policy_for(*manifest.settings.outputs, wanted.kind) == OutputPolicy::automatic;
    review::Artifact made = TRY(m_runs.artifacts.save(
        {run.space_id, run.project_id, id.text(), wanted.kind, wanted.name, wanted.summary, wanted.content, approved}));
    if (approved && wanted.kind == review::ArtifactKind::labels) m_reviews.publish_labels(made.id);
    RunEvent event;
    event.kind = harness::EventKind::artifact;
    event.turn = run.turns;
    event.text = std::string(name_of(wanted.kind)) + ": " + made.name;
    event.artifact = made.id.text();
    TRY(m_runs.transcript.append(id, {event}));
    return made;
}

Result<review::Artifact> Outputs::save_labels(const RunId& run, const std::string& name, const std::string& summary,
                                              const std::vector<ProposedLabel>& labels) {
    TRY(check_labels(labels));
    return save(run, {review::ArtifactKind::labels, name, summary, json::write(labels)});
}

Result<review::Artifact> Outputs::decide(const access::Caller& caller, const review::ArtifactId& id,
                                         review::ReviewState decision, const review::Decide& wanted) {
    if (decision != review::ReviewState::approved && *wanted.allow_protected)
        return invalid("allow_protected belongs to an approval");
    review::Artifact decided = TRY(m_reviews.reviews.decide(caller, id, decision, wanted));
    if (decided.kind != review::ArtifactKind::labels || decision != review::ReviewState::approved) return decided;
    m_reviews.publish_labels(id);
    return m_runs.artifacts.find(caller, id);
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
    TRY(m_spans.store());
    TRY(m_spans.evals.upsert(std::move(evals)));
    return {};
}

} // namespace hone::run
