// The demo's part about measuring: an evaluator of code, sixty labels of people with a calibration, a queue with items
// that wait, and the replay of the proposed fix on the base and on the branch. Needs no model. On the main thread.
#pragma once

#include "evaluate/evaluate.h"
#include "signal/replay/fix_replays.h"
#include "signal/signal.h"

#include <functional>

namespace hone::server {

struct DemoEvaluationParts {
    const Clock& clock;
    access::Access& access;
    telemetry::Spans& spans;
    evaluate::Evaluate& evaluate;
    signal::Signal& signal;
    signal::FixReplays& replays;
    review::Artifacts& artifacts;
    std::string url = {};
};

class DemoEvaluation {
public:
    using Print = std::function<void(const std::string&)>;

    DemoEvaluation(const DemoEvaluationParts& parts, Print print) : m_parts(parts), m_print(std::move(print)) {}

    // The evaluator that decides about replays of the stock loop; before the fix is proposed.
    Result<> make_evaluators(const access::SpaceId& space);
    // Labels, calibration and queue.
    Result<> label(const access::SpaceId& space, const std::string& project);
    // Of the newest branch, for the issue about the stock loop. Returns when it has ended.
    Result<> replay(const access::SpaceId& space, const std::string& project);

private:
    Result<std::vector<std::string>> traces(const std::string& project, const std::string& filter, size_t count);

    const DemoEvaluationParts m_parts;
    const Print m_print;
};

} // namespace hone::server
