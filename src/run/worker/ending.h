// The end of a run: takes its sandbox down, counts its usage, moves it to its last state. What happens is in the
// database before it is done, so that another server process can end a run that this one was killed in the middle of.
// On the worker's thread.
#pragma once

#include "run/worker/conversation.h"

namespace hone::run {

class Ending {
public:
    Ending(LiveRun& run, Conversation& conversation) : m_run(run), m_conversation(conversation) {}

    void finish(const RunEnd& end);

private:
    // Removes what the run has on this machine.
    void leave();
    void tear_down();
    void destroy_sandbox();
    void write_outcome(const RunEnd& end);
    // Reads the state again: a person may have cancelled meanwhile.
    void move_to_end(const RunEnd& end);

    LiveRun& m_run;
    Conversation& m_conversation;
    bool m_is_destroyed = false;
};

} // namespace hone::run
