// What usually causes a finding of each detector and what to do about it: fixed sentences, nothing of a trace. Pages
// show them, and workers get them with the issue. Values only; any thread.
#pragma once

#include "signal/analysis/candidate.h"

namespace hone::signal {

struct Advice {
    std::string usual_cause;
    std::string next_step;
    static constexpr Pack fields{
        Field{"usual_cause", &Advice::usual_cause, "What usually causes such a problem."},
        Field{"next_step", &Advice::next_step, "What usually removes it."},
    };
};
Advice advice_of(Detector detector);

} // namespace hone::signal
