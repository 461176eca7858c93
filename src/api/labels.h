// Labels that a worker proposes and that become evals when they are approved. Declared once for the worker's tool, the
// stored artifact and the publication.
#pragma once

#include "api/call.h"
#include "review/label_outbox.h"
#include "telemetry/query/evals.h"

namespace hone::api {

struct ProposedLabel {
    json::Defaulted<telemetry::EvalTarget> target = telemetry::EvalTarget::span;
    std::string target_id;
    std::string name;
    std::optional<std::string> label;
    std::optional<double> score;
    std::optional<std::string> explanation;
    static constexpr std::tuple fields{
        Field{"target", &ProposedLabel::target, "span (if not given), trace or chat_session."},
        Field{"target_id", &ProposedLabel::target_id, "Span id, trace id, or the chat session's name."},
        Field{"name", &ProposedLabel::name, "What is judged: correct, helpful, root_cause."},
        Field{"label", &ProposedLabel::label, "A word: yes, no, timeout."},
        Field{"score", &ProposedLabel::score, "A number."},
        Field{"explanation", &ProposedLabel::explanation, "Why."},
    };
};

constexpr size_t most_labels = 10'000;

// Each needs a target, a name, and a label or a score.
Result<> check_labels(const std::vector<ProposedLabel>& labels);

struct Spans;

// Writes approved labels as evals by the run.
class LabelPublisher final : public review::LabelSink {
public:
    explicit LabelPublisher(Spans* spans) : m_spans(spans) {}
    Result<> publish(const review::Artifact& artifact, const std::string& content) override;

private:
    Spans* m_spans; // null: there is no span store, labels wait
};

} // namespace hone::api
