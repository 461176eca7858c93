#include "monitor/backlog_notices.h"

#include <fmt/format.h>

namespace hone::monitor {

namespace {

constexpr int64_t most_spaces = 500;
// Below this spans count as stored again; well below what is late, so that notices do not repeat.
constexpr Duration settled_wait = std::chrono::seconds(30);

} // namespace

Result<> BacklogNotices::find(notice::Notices& notices, Time) {
    const telemetry::Backlog backlog = m_backlog.read();
    notice::Notice notice;
    if (backlog.is_late) {
        // The same after a restart, so that there is one notice.
        if (m_late.empty()) m_late = fmt::format("{} {}", m_backlog.name, backlog.first_sequence);
        notice.kind = notice::Kind::spans_late;
        notice.title = backlog.is_failing() ? "Spans are accepted but cannot be stored" : "Spans are stored late";
        notice.body = backlog.problem() + " " + telemetry::backlog_advice();
        notice.key = m_late;
        return notify_owners(notices, std::move(notice));
    }
    if (m_late.empty() || !backlog.why.empty() || backlog.oldest_wait >= settled_wait) return {};
    notice.kind = notice::Kind::spans_caught_up;
    notice.title = "Spans are stored again";
    notice.body = "The spans that waited are in the engine. No accepted span was lost.";
    notice.key = m_late;
    TRY(notify_owners(notices, std::move(notice)));
    m_late.clear();
    return {};
}

// Notices belong to spaces: those in which an owner of the installation is a member, else the first one.
Result<> BacklogNotices::notify_owners(notice::Notices& notices, notice::Notice notice) {
    for (const access::SpaceId& space : TRY(m_access.spaces.of_installation_owners(most_spaces))) {
        notice.space = space;
        TRY(notices.notify(notice));
    }
    return {};
}

} // namespace hone::monitor
