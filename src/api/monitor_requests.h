// Query strings and bodies of the routes about monitors, destinations and notices, declared once.
#pragma once

#include "api/requests.h"
#include "monitor/monitors.h"
#include "notice/destinations.h"

namespace hone::api {

struct ListMonitors {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<monitor::MonitorState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListMonitors::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListMonitors::project, "Id or name: only its monitors."},
        Field{"state", &ListMonitors::state, "healthy, no_data or triggered."},
        Field{"limit", &ListMonitors::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListMonitors::cursor, "next_cursor of the answer before."},
    };
};

struct AskMonitorChart {
    static constexpr bool is_query = true;
    std::optional<Time> from;
    std::optional<Time> to;
    static constexpr std::tuple fields{
        Field{"from", &AskMonitorChart::from, "The first moment; a week before `to` if not given."},
        Field{"to", &AskMonitorChart::to, "The last moment; now if not given."},
    };
};

struct PreviewMonitor {
    std::string project;
    monitor::MonitorSettings settings;
    std::optional<Time> from;
    std::optional<Time> to;
    static constexpr std::tuple fields{
        Field{"project", &PreviewMonitor::project, "Id or name of the project."},
        Field{"settings", &PreviewMonitor::settings, "What would be watched; nothing is stored."},
        Field{"from", &PreviewMonitor::from, "The first moment; a week before `to` if not given."},
        Field{"to", &PreviewMonitor::to, "The last moment; now if not given."},
    };
};

struct ListDestinations {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListDestinations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListDestinations::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListDestinations::cursor, "next_cursor of the answer before."},
    };
};

struct ListNotices {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<notice::Kind> kind;
    std::optional<bool> unread;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListNotices::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListNotices::project, "Id or name: only what concerns it."},
        Field{"kind", &ListNotices::kind, "Only notices of this kind."},
        Field{"unread", &ListNotices::unread, "true: only those that the caller has not read."},
        Field{"limit", &ListNotices::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListNotices::cursor, "next_cursor of the answer before."},
    };
};

struct MarkNotices {
    std::optional<notice::NoticeId> up_to;
    static constexpr std::tuple fields{
        Field{"up_to", &MarkNotices::up_to, "This one and all before it; everything if not given."},
    };
};

struct UnreadNotices {
    int64_t unread = 0;
    static constexpr std::tuple fields{
        Field{"unread", &UnreadNotices::unread, "Notices that the caller may see and has not read."},
    };
};

} // namespace hone::api
