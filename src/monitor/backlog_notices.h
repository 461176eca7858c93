// Notices to owners of the installation about spans that are accepted and not stored: one when spans have waited too
// long, and one when they are stored again. One thread calls find().
#pragma once

#include "access/access.h"
#include "notice/finder.h"
#include "telemetry/log/backlog.h"

#include <functional>

namespace hone::monitor {

// Where this server's spans wait. The name distinguishes it from other servers of the same database.
struct BacklogSource {
    std::string name;
    std::function<telemetry::Backlog()> read;
};

class BacklogNotices final : public notice::NoticeSource {
public:
    BacklogNotices(access::Access& access, BacklogSource backlog) : m_access(access), m_backlog(std::move(backlog)) {}

    Result<> find(notice::Notices& notices, Time since) override;

private:
    Result<> notify_owners(notice::Notices& notices, notice::Notice notice);

    access::Access& m_access;
    const BacklogSource m_backlog;
    std::string m_late; // the key of the notice about spans that wait; empty: they are stored
};

} // namespace hone::monitor
