// Monitors, destinations of notices.
#include "api/routes.h"

#include "api/monitor_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route monitor_table[] = {
    route<list_monitors>("GET", "/v1/monitors", need(monitor_read), "Monitors of a space."),
    route<create_monitor>("POST", "/v1/monitors", need(monitor_write), "Create a monitor."),
    route<get_monitor>("GET", "/v1/monitors/{monitor}", need(monitor_read), "A monitor and its state."),
    route<update_monitor>("PATCH", "/v1/monitors/{monitor}", need(monitor_write), "Change a monitor."),
    route<delete_monitor>("DELETE", "/v1/monitors/{monitor}", need(monitor_write),
                          "Delete a monitor with its history."),
    route<list_monitor_history>("GET", "/v1/monitors/{monitor}/history", need(monitor_read),
                                "What changed and why, newest first."),
    route<get_monitor_chart>("GET", "/v1/monitors/{monitor}/chart", need(monitor_read),
                             "What its evaluations saw: values, limits, states."),
    route<mute_monitor>("POST", "/v1/monitors/{monitor}/mute", need(monitor_write),
                        "No notices for a while; an hour if nothing is said."),
    route<unmute_monitor>("POST", "/v1/monitors/{monitor}/unmute", need(monitor_write), "Notices again."),
    route<evaluate_monitor>("POST", "/v1/monitors/{monitor}/evaluate", need(monitor_write), "Evaluate it now.")
        .on(net::Lane::query),
    route<preview_monitor>("POST", "/v1/monitor_preview", need(monitor_read),
                           "What an unsaved monitor would have said in the past; at most 60 moments.")
        .on(net::Lane::query),
    route<list_destinations>("GET", "/v1/destinations", need(monitor_read), "Where the notices of a space go."),
    route<create_destination>("POST", "/v1/destinations", need(monitor_write),
                              "Create a destination; a webhook's signing secret is shown once."),
    route<get_destination>("GET", "/v1/destinations/{destination}", need(monitor_read), "A destination."),
    route<update_destination>("PATCH", "/v1/destinations/{destination}", need(monitor_write), "Change a destination."),
    route<delete_destination>("DELETE", "/v1/destinations/{destination}", need(monitor_write),
                              "Delete a destination; what waits for it goes too."),
    route<test_destination>("POST", "/v1/destinations/{destination}/test", need(monitor_write),
                            "Send a test message now, and say what happened.")
        .on(net::Lane::query),
    route<list_deliveries>("GET", "/v1/destinations/{destination}/deliveries", need(monitor_read),
                           "What was sent to it and what became of it, newest first."),
    route<list_notices>("GET", "/v1/notices", need(project_read), "What people were told, newest first."),
    route<count_unread_notices>("GET", "/v1/notices/unread", need(project_read), "How many the caller has not read."),
    route<mark_notices_read>("POST", "/v1/notices/read", need(project_read), "Mark notices as read, for the caller."),
};

} // namespace

std::span<const Route> monitor_routes() {
    return monitor_table;
}

} // namespace hone::api
