// What a run leaves for people: investigations, labels, files. Saving follows the output policy of the run's settings;
// labels become evals when they are approved. Thread-safe.
#pragma once

#include "run/outputs/review_services.h"
#include "telemetry/spans.h"

namespace hone::run {

// A label that a worker proposes. Declared once for the worker's tool, the stored artifact and the publication.
struct ProposedLabel {
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr Pack fields{
        Field{"target", &ProposedLabel::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &ProposedLabel::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &ProposedLabel::name, "Name of the eval: correct, helpful, root_cause."},
        Field{"label", &ProposedLabel::label, "Label: yes, no, timeout."},
        Field{"score", &ProposedLabel::score, "Score, a number."},
        Field{"explanation", &ProposedLabel::explanation, "Reason of the label or score."},
    };
};

struct NewOutput {
    review::ArtifactKind kind = review::ArtifactKind::file;
    std::string name;
    std::string summary{};
    std::string content{};
};

// Writes approved labels as evals by the run.
class LabelPublisher final : public review::LabelSink {
public:
    explicit LabelPublisher(telemetry::Spans& spans) : m_spans(spans) {}
    Result<> publish(const review::Artifact& artifact, const std::string& content) override;

private:
    telemetry::Spans& m_spans;
};

class Outputs {
public:
    Outputs(RunServices& runs, ReviewServices& reviews) : m_runs(runs), m_reviews(reviews) {}

    // Refuses content that seems to hold a secret. The transcript names the artifact.
    Result<review::Artifact> save(const RunId& run, const NewOutput& wanted);
    Result<review::Artifact> save_labels(const RunId& run, const std::string& name, const std::string& summary,
                                         const std::vector<ProposedLabel>& labels);
    // A person's decision about an artifact of any kind. Approved labels are in the outbox with the approval;
    // publishing them now is only faster than the background step.
    Result<review::Artifact> decide(const access::Caller& caller, const review::ArtifactId& id,
                                    review::ReviewState decision, const review::Decide& wanted);

private:
    RunServices& m_runs;
    ReviewServices& m_reviews;
};

} // namespace hone::run
