// Notices: what the caller should know.
#include "notice/notices.h"
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

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
        Field{"project", &ListNotices::project, "Id or name of a project: only its notices."},
        Field{"kind", &ListNotices::kind, "Only notices of this kind."},
        Field{"unread", &ListNotices::unread, "true: only notices that the caller has not read."},
        Field{"limit", &ListNotices::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListNotices::cursor, "next_cursor of the previous response."},
    };
};

struct MarkNotices {
    std::optional<notice::NoticeId> up_to;
    static constexpr std::tuple fields{
        Field{"up_to", &MarkNotices::up_to, "Id of a notice: marks it and all older ones; all if not given."},
    };
};

struct UnreadNotices {
    int64_t unread = 0;
    static constexpr std::tuple fields{
        Field{"unread", &UnreadNotices::unread, "Number of notices that the caller can see and has not read."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<List<notice::NoticeView>> list_notices(const Call& call, const ListNotices& query) {
    const auto space = TRY(space_of(call, query.space));
    const notice::NoticeFilter filter{TRY(project_filter(call, space, query.project)), query.kind,
                                      query.unread.value_or(false)};
    return call.services.notices.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<UnreadNotices>> count_unread_notices(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<UnreadNotices>{{TRY(call.services.notices.count_unread(call.caller, space))}};
}

Result<One<UnreadNotices>> mark_notices_read(const Call& call, const InSpace& query, const MarkNotices& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<UnreadNotices>{{TRY(call.services.notices.mark_read(call.caller, space, body.up_to))}};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route notices_table[] = {
    route<list_notices>("GET", "/v1/notices", need(project_read), "Notices, newest first."),
    route<count_unread_notices>("GET", "/v1/notices/unread", need(project_read),
                                "Number of notices that the caller has not read."),
    route<mark_notices_read>("POST", "/v1/notices/read", need(project_read), "Mark notices as read, for the caller."),
};

} // namespace

std::span<const Route> notices_routes() {
    return notices_table;
}

} // namespace hone::api
