// The demo's part about measuring: evaluators of code and one with a scripted model (demo_model.h), sixty labels of
// people with a calibration of both, a queue with items that wait, tasks that evaluate traces, and the replay of the
// proposed fix on the base and on the branch. On the main thread.
#pragma once

#include "evaluate/evaluate.h"
#include "signal/replay/fix_replays.h"
#include "signal/signal.h"
#include "skill/skills.h"

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
    skill::Skills& skills;
    std::string url = {};
    uint16_t model_port = 0; // of the scripted model; 0: there is none
};

class DemoEvaluation {
public:
    using Print = std::function<void(const std::string&)>;

    DemoEvaluation(const DemoEvaluationParts& parts, Print print) : m_parts(parts), m_print(std::move(print)) {}

    // Among them the one that decides about replays of the stock loop; before the fix is proposed.
    Result<> make_evaluators(const access::SpaceId& space);
    // The model skill gets the port that the scripted model has now. Nothing happens without the skill or the model.
    Result<> connect_model(const access::SpaceId& space);
    // Labels, calibrations and queue.
    Result<> label(const access::SpaceId& space, const std::string& project);
    // New traces are evaluated from now on, and the newest ones that are there.
    Result<> watch(const access::SpaceId& space, const std::string& project);
    // Of the newest branch, for the issue about the stock loop. Returns when it has ended.
    Result<> replay(const access::SpaceId& space, const std::string& project);

    // Of the evaluators with people, once they are calibrated.
    Result<> print_agreement(const access::SpaceId& space);

private:
    Result<> make_judge(const access::SpaceId& space);
    Result<> calibrate(const access::SpaceId& space, const access::Project& project, std::string_view name);
    Result<> watch_with(const access::SpaceId& space, const std::string& project, std::string_view name);
    // The evaluators that people's labels calibrate.
    std::vector<std::string_view> reply_evaluators() const;
    Result<std::vector<std::string>> traces(const std::string& project, const std::string& filter, size_t count);

    const DemoEvaluationParts m_parts;
    const Print m_print;
};

} // namespace hone::server
