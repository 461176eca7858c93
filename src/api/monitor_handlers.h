// Handlers of monitors, destinations and notices.
#pragma once

#include "api/call.h"
#include "api/monitor_requests.h"
#include "api/monitor_services.h"

namespace hone::api {

Result<List<monitor::Monitor>> list_monitors(const Call&, const ListMonitors&);
Result<One<monitor::Monitor>> create_monitor(const Call&, const InSpace&, const monitor::MonitorWish&);
Result<One<monitor::Monitor>> get_monitor(const Call&);
Result<One<monitor::Monitor>> update_monitor(const Call&, const monitor::MonitorChange&);
Result<NoContent> delete_monitor(const Call&);
Result<List<monitor::MonitorEvent>> list_monitor_history(const Call&, const PageQuery&);
Result<One<monitor::Chart>> get_monitor_chart(const Call&, const AskMonitorChart&);
Result<One<monitor::Monitor>> mute_monitor(const Call&, const monitor::MuteWish&);
Result<One<monitor::Monitor>> unmute_monitor(const Call&);
Result<One<monitor::Monitor>> evaluate_monitor(const Call&);
Result<One<monitor::Chart>> preview_monitor(const Call&, const InSpace&, const PreviewMonitor&);

Result<List<notice::Destination>> list_destinations(const Call&, const ListDestinations&);
Result<One<notice::Destination>> create_destination(const Call&, const InSpace&, const notice::DestinationWish&);
Result<One<notice::Destination>> get_destination(const Call&);
Result<One<notice::Destination>> update_destination(const Call&, const notice::DestinationChange&);
Result<NoContent> delete_destination(const Call&);
Result<One<notice::Attempt>> test_destination(const Call&);
Result<List<notice::Delivery>> list_deliveries(const Call&, const PageQuery&);

Result<List<notice::NoticeView>> list_notices(const Call&, const ListNotices&);
Result<One<UnreadNotices>> count_unread_notices(const Call&, const InSpace&);
Result<One<UnreadNotices>> mark_notices_read(const Call&, const InSpace&, const MarkNotices&);

} // namespace hone::api
