// Monitors.
#include "monitor/monitors.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListMonitors {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<monitor::MonitorState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListMonitors::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListMonitors::project, "Id or name of a project: only its monitors."},
        Field{"state", &ListMonitors::state, "healthy, no_data or triggered."},
        Field{"limit", &ListMonitors::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListMonitors::cursor, "next_cursor of the previous response."},
    };
};

struct MonitorChartQuery {
    static constexpr bool is_query = true;
    std::optional<Time> from;
    std::optional<Time> to;
    static constexpr Pack fields{
        Field{"from", &MonitorChartQuery::from, "Start time; a week before `to` if not given."},
        Field{"to", &MonitorChartQuery::to, "End time; now if not given."},
    };
};

struct PreviewMonitor {
    std::string project;
    monitor::MonitorSettings settings;
    std::optional<Time> from;
    std::optional<Time> to;
    static constexpr Pack fields{
        Field{"project", &PreviewMonitor::project, "Id or name of the project."},
        Field{"settings", &PreviewMonitor::settings, "Metric and condition; nothing is stored."},
        Field{"from", &PreviewMonitor::from, "Start time; a week before `to` if not given."},
        Field{"to", &PreviewMonitor::to, "End time; now if not given."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr Duration usual_range = std::chrono::hours(7 * 24);

Result<monitor::MonitorId> monitor_in_path(const Call& call) {
    return id_in_path<monitor::MonitorTag>(call, "monitor");
}

} // namespace

Result<List<monitor::Monitor>> list_monitors(const Call& call, const ListMonitors& query) {
    const auto space = TRY(space_of(call, query.space));
    const monitor::MonitorFilter filter{TRY(project_filter(call, space, query.project)), query.state};
    return call.services.monitors.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<monitor::Monitor>> create_monitor(const Call& call, const InSpace& query, const monitor::NewMonitor& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<monitor::Monitor>{TRY(call.services.monitors.create(call.caller, space, body))};
}

Result<One<monitor::Monitor>> get_monitor(const Call& call) {
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Monitor>{TRY(call.services.monitors.find(call.caller, id))};
}

Result<One<monitor::Monitor>> update_monitor(const Call& call, const monitor::MonitorChange& body) {
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Monitor>{TRY(call.services.monitors.update(call.caller, id, body))};
}

Result<NoContent> delete_monitor(const Call& call) {
    const auto id = TRY(monitor_in_path(call));
    TRY(call.services.monitors.remove(call.caller, id));
    return NoContent{};
}

Result<List<monitor::MonitorEvent>> list_monitor_history(const Call& call, const PageQuery& query) {
    return call.services.monitors.history(call.caller, TRY(monitor_in_path(call)),
                                          TRY(page_of(query.limit, query.cursor)));
}

Result<One<monitor::Chart>> get_monitor_chart(const Call& call, const MonitorChartQuery& query) {
    const Time to = query.to.value_or(call.services.clock.now());
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Chart>{
        TRY(call.services.monitors.chart(call.caller, id, query.from.value_or(to - usual_range), to))};
}

Result<One<monitor::Monitor>> mute_monitor(const Call& call, const monitor::MuteRequest& body) {
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Monitor>{TRY(call.services.monitors.mute(call.caller, id, body))};
}

Result<One<monitor::Monitor>> unmute_monitor(const Call& call) {
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Monitor>{TRY(call.services.monitors.unmute(call.caller, id))};
}

Result<One<monitor::Monitor>> evaluate_monitor(const Call& call) {
    const auto id = TRY(monitor_in_path(call));
    return One<monitor::Monitor>{TRY(call.services.monitors.evaluate(call.caller, id))};
}

Result<One<monitor::Chart>> preview_monitor(const Call& call, const InSpace& query, const PreviewMonitor& body) {
    const Time to = body.to.value_or(call.services.clock.now());
    const auto space = TRY(space_of(call, query.space));
    return One<monitor::Chart>{TRY(call.services.monitors.preview(call.caller, space, body.project, body.settings,
                                                                  body.from.value_or(to - usual_range), to))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route monitors_table[] = {
    route<list_monitors>("GET", "/v1/monitors", need(monitor_read), "Monitors of a space."),
    route<create_monitor>("POST", "/v1/monitors", need(monitor_write), "Create a monitor."),
    route<get_monitor>("GET", "/v1/monitors/{monitor}", need(monitor_read), "A monitor and its state."),
    route<update_monitor>("PATCH", "/v1/monitors/{monitor}", need(monitor_write), "Change a monitor."),
    route<delete_monitor>("DELETE", "/v1/monitors/{monitor}", need(monitor_write),
                          "Delete a monitor with its history."),
    route<list_monitor_history>("GET", "/v1/monitors/{monitor}/history", need(monitor_read),
                                "History of a monitor, newest first."),
    route<get_monitor_chart>("GET", "/v1/monitors/{monitor}/chart", need(monitor_read),
                             "Values, limits and states of the evaluations of a monitor."),
    route<mute_monitor>("POST", "/v1/monitors/{monitor}/mute", need(monitor_write),
                        "Mute a monitor; for an hour if not given."),
    route<unmute_monitor>("POST", "/v1/monitors/{monitor}/unmute", need(monitor_write), "Unmute a monitor."),
    route<evaluate_monitor>("POST", "/v1/monitors/{monitor}/evaluate", need(monitor_write), "Evaluate a monitor now.")
        .on(net::Lane::query),
    route<preview_monitor>("POST", "/v1/monitor_preview", need(monitor_read),
                           "Evaluate an unsaved monitor over the past; at most 60 evaluations.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> monitors_routes() {
    return monitors_table;
}

} // namespace hone::api
