#include "api/monitor_handlers.h"

#include "api/handlers.h"
#include "api/path_id.h"

namespace hone::api {

namespace {

constexpr Duration usual_range = std::chrono::hours(7 * 24);

Result<MonitorServices*> monitors_of(const Call& call) {
    if (call.services.monitors == nullptr) return unavailable("this server has no monitors");
    return call.services.monitors;
}

Result<access::SpaceId> monitor_space_of(const Call& call, const std::optional<std::string>& space) {
    return call.access().spaces.choose(call.caller, space);
}

Result<monitor::MonitorId> monitor_in_path(const Call& call) {
    return id_in_path<monitor::MonitorTag>(call, "monitor");
}
Result<notice::DestinationId> destination_in_path(const Call& call) {
    return id_in_path<notice::DestinationTag>(call, "destination");
}

// Only things of one project, when the request names one.
Result<std::optional<access::ProjectId>> monitor_project_of(const Call& call, const access::SpaceId& space,
                                                            const std::optional<std::string>& project) {
    if (!project) return std::optional<access::ProjectId>();
    return std::optional(TRY(call.access().projects.find(call.caller, space, *project)).id);
}

} // namespace

Result<List<monitor::Monitor>> list_monitors(const Call& call, const ListMonitors& query) {
    auto* services = TRY(monitors_of(call));
    const auto space = TRY(monitor_space_of(call, query.space));
    const monitor::MonitorFilter filter{TRY(monitor_project_of(call, space, query.project)), query.state};
    return services->monitors.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<monitor::Monitor>> create_monitor(const Call& call, const InSpace& query, const monitor::MonitorWish& body) {
    auto* services = TRY(monitors_of(call));
    return One<monitor::Monitor>{
        TRY(services->monitors.create(call.caller, TRY(monitor_space_of(call, query.space)), body))};
}

Result<One<monitor::Monitor>> get_monitor(const Call& call) {
    return One<monitor::Monitor>{TRY(TRY(monitors_of(call))->monitors.find(call.caller, TRY(monitor_in_path(call))))};
}

Result<One<monitor::Monitor>> update_monitor(const Call& call, const monitor::MonitorChange& body) {
    auto* services = TRY(monitors_of(call));
    return One<monitor::Monitor>{TRY(services->monitors.update(call.caller, TRY(monitor_in_path(call)), body))};
}

Result<NoContent> delete_monitor(const Call& call) {
    TRY(TRY(monitors_of(call))->monitors.remove(call.caller, TRY(monitor_in_path(call))));
    return NoContent{};
}

Result<List<monitor::MonitorEvent>> list_monitor_history(const Call& call, const PageQuery& query) {
    auto* services = TRY(monitors_of(call));
    return services->monitors.history(call.caller, TRY(monitor_in_path(call)), TRY(page_of(query.limit, query.cursor)));
}

Result<One<monitor::Chart>> get_monitor_chart(const Call& call, const AskMonitorChart& query) {
    auto* services = TRY(monitors_of(call));
    const Time to = query.to.value_or(call.services.clock.now());
    return One<monitor::Chart>{TRY(
        services->monitors.chart(call.caller, TRY(monitor_in_path(call)), query.from.value_or(to - usual_range), to))};
}

Result<One<monitor::Monitor>> mute_monitor(const Call& call, const monitor::MuteWish& body) {
    auto* services = TRY(monitors_of(call));
    return One<monitor::Monitor>{TRY(services->monitors.mute(call.caller, TRY(monitor_in_path(call)), body))};
}

Result<One<monitor::Monitor>> unmute_monitor(const Call& call) {
    return One<monitor::Monitor>{TRY(TRY(monitors_of(call))->monitors.unmute(call.caller, TRY(monitor_in_path(call))))};
}

Result<One<monitor::Monitor>> evaluate_monitor(const Call& call) {
    return One<monitor::Monitor>{
        TRY(TRY(monitors_of(call))->monitors.evaluate(call.caller, TRY(monitor_in_path(call))))};
}

Result<One<monitor::Chart>> preview_monitor(const Call& call, const InSpace& query, const PreviewMonitor& body) {
    auto* services = TRY(monitors_of(call));
    const Time to = body.to.value_or(call.services.clock.now());
    return One<monitor::Chart>{
        TRY(services->monitors.preview(call.caller, TRY(monitor_space_of(call, query.space)), body.project,
                                       body.settings, body.from.value_or(to - usual_range), to))};
}

Result<List<notice::Destination>> list_destinations(const Call& call, const ListDestinations& query) {
    auto* services = TRY(monitors_of(call));
    return services->destinations.list(call.caller, TRY(monitor_space_of(call, query.space)),
                                       TRY(page_of(query.limit, query.cursor)));
}

Result<One<notice::Destination>> create_destination(const Call& call, const InSpace& query,
                                                    const notice::DestinationWish& body) {
    auto* services = TRY(monitors_of(call));
    return One<notice::Destination>{
        TRY(services->destinations.create(call.caller, TRY(monitor_space_of(call, query.space)), body))};
}

Result<One<notice::Destination>> get_destination(const Call& call) {
    auto* services = TRY(monitors_of(call));
    return One<notice::Destination>{TRY(services->destinations.find(call.caller, TRY(destination_in_path(call))))};
}

Result<One<notice::Destination>> update_destination(const Call& call, const notice::DestinationChange& body) {
    auto* services = TRY(monitors_of(call));
    return One<notice::Destination>{
        TRY(services->destinations.update(call.caller, TRY(destination_in_path(call)), body))};
}

Result<NoContent> delete_destination(const Call& call) {
    TRY(TRY(monitors_of(call))->destinations.remove(call.caller, TRY(destination_in_path(call))));
    return NoContent{};
}

Result<One<notice::Attempt>> test_destination(const Call& call) {
    auto* services = TRY(monitors_of(call));
    return One<notice::Attempt>{TRY(services->sender.test(call.caller, TRY(destination_in_path(call))))};
}

Result<List<notice::Delivery>> list_deliveries(const Call& call, const PageQuery& query) {
    auto* services = TRY(monitors_of(call));
    return services->destinations.deliveries(call.caller, TRY(destination_in_path(call)),
                                             TRY(page_of(query.limit, query.cursor)));
}

Result<List<notice::NoticeView>> list_notices(const Call& call, const ListNotices& query) {
    auto* services = TRY(monitors_of(call));
    const auto space = TRY(monitor_space_of(call, query.space));
    const notice::NoticeFilter filter{TRY(monitor_project_of(call, space, query.project)), query.kind,
                                      query.unread.value_or(false)};
    return services->notices.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<UnreadNotices>> count_unread_notices(const Call& call, const InSpace& query) {
    auto* services = TRY(monitors_of(call));
    return One<UnreadNotices>{
        {TRY(services->notices.count_unread(call.caller, TRY(monitor_space_of(call, query.space))))}};
}

Result<One<UnreadNotices>> mark_notices_read(const Call& call, const InSpace& query, const MarkNotices& body) {
    auto* services = TRY(monitors_of(call));
    return One<UnreadNotices>{
        {TRY(services->notices.mark_read(call.caller, TRY(monitor_space_of(call, query.space)), body.up_to))}};
}

} // namespace hone::api
