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
    static constexpr Pack fields{
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
    static constexpr Pack fields{
        Field{"up_to", &MarkNotices::up_to, "Id of a notice: marks it and all older ones; all if not given."},
    };
};

struct ChooseNotices {
    std::vector<notice::Kind> kinds;
    static constexpr Pack fields{
        Field{"kinds", &ChooseNotices::kinds,
              "Kinds that are counted as new for the caller; the others are only listed."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<List<notice::NoticeView>> list_notices(const Call& call, const ListNotices& query) {
    const auto space = TRY(space_of(call, query.space));
    const notice::NoticeFilter filter{TRY(project_filter(call, space, query.project)), query.kind,
                                      query.unread.value_or(false)};
    return call.services.notices.list(call.caller, space, filter, TRY(page_of(query.limit, query.cursor)));
}

Result<One<notice::UnreadNotices>> count_unread_notices(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<notice::UnreadNotices>{TRY(call.services.notices.unread(call.caller, space))};
}

Result<One<notice::UnreadNotices>> mark_notices_read(const Call& call, const InSpace& query, const MarkNotices& body) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.notices.mark_read(call.caller, space, body.up_to));
    return One<notice::UnreadNotices>{TRY(call.services.notices.unread(call.caller, space))};
}

Result<One<notice::NoticeSettings>> get_notice_settings(const Call& call, const InSpace& query) {
    return One<notice::NoticeSettings>{
        TRY(call.services.notices.settings(call.caller, TRY(space_of(call, query.space))))};
}

Result<One<notice::NoticeSettings>> put_notice_settings(const Call& call, const InSpace& query,
                                                        const ChooseNotices& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<notice::NoticeSettings>{TRY(call.services.notices.choose(call.caller, space, body.kinds))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route notices_table[] = {
    route<list_notices>("GET", "/v1/notices", need(project_read), "Notices, newest first."),
    route<count_unread_notices>("GET", "/v1/notices/unread", need(project_read),
                                "Number of notices that the caller has not read."),
    route<get_notice_settings>("GET", "/v1/notices/settings", need(project_read),
                               "Kinds of notices that are counted as new for the caller."),
    route<put_notice_settings>("PUT", "/v1/notices/settings", need(project_read),
                               "Choose the kinds of notices that are counted as new for the caller."),
    route<mark_notices_read>("POST", "/v1/notices/read", need(project_read), "Mark notices as read, for the caller."),
};

} // namespace

std::span<const Route> notices_routes() {
    return notices_table;
}

} // namespace hone::api
