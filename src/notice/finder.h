// Makes notices of what has none at the moment it happens: runs that ended, artifacts that wait for a review, budgets
// that are used up, spans that are accepted and not stored. Each folder has a source for what it owns. Calls the
// sources every few seconds; a notice's key makes one notice of what is found twice, so that several servers may
// search.
#pragma once

#include "base/duty.h"
#include "notice/notices.h"

#include <vector>

namespace hone::notice {

class NoticeSource {
public:
    virtual ~NoticeSource() = default;
    // Notifies about what happened since then. What a source notified of before may be found again.
    virtual Result<> find(Notices& notices, Time since) = 0;
};

class Finder {
public:
    // The sources outlive the finder.
    Finder(const Clock& clock, Notices& notices, std::vector<NoticeSource*> sources)
        : m_clock(clock),
          m_notices(notices),
          m_sources(std::move(sources)),
          m_seen(clock.now() - look_back),
          m_duty({"notice finder", std::chrono::seconds(5)}, [this] { return step(); }) {}

    Result<> step();
    void start() { m_duty.start(); }

    // What happened while no server ran, or another one was stopped, is not older than this.
    static constexpr Duration look_back = std::chrono::hours(1);

private:
    const Clock& m_clock;
    Notices& m_notices;
    const std::vector<NoticeSource*> m_sources;
    Time m_seen;
    Duty m_duty; // last: its thread uses what stands above
};

} // namespace hone::notice
