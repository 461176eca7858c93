// What people do for evaluators, in the background: queues are filled and their labels published; calibrations are run,
// canary sets checked every week. Built and started by Server; its threads end first.
#pragma once

#include "base/duty.h"
#include "evaluate/evaluate.h"
#include "notice/notices.h"

namespace hone::server {

class PeopleDuties {
public:
    PeopleDuties(evaluate::Evaluate& evaluate, notice::Notices& notices, std::string server);
    void start();
    // A calibration was started.
    void wake() { m_calibrating.wake(); }

private:
    evaluate::Evaluate& m_evaluate;
    Duty m_queueing;
    Duty m_calibrating;
};

} // namespace hone::server
