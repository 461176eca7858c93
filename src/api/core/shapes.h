// Shapes that several families share: pages, the space of a request, a role.
#pragma once

#include "access/page.h"
#include "access/views.h"

namespace hone::api {

// A page of a list.
struct PageQuery {
    static constexpr bool is_query = true;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"limit", &PageQuery::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &PageQuery::cursor, "next_cursor of the previous response."},
    };
};

inline Result<access::PageRequest> page_of(const std::optional<int64_t>& limit,
                                           const std::optional<std::string>& cursor) {
    if (limit && (*limit < 1 || *limit > access::largest_page))
        return invalid("query parameter limit must be between 1 and " + std::to_string(access::largest_page));
    if (cursor && cursor->empty()) return invalid("query parameter cursor must not be empty");
    return access::PageRequest{limit.value_or(access::default_page), cursor};
}

// Which space, for callers who belong to several.
struct InSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    static constexpr Pack fields{
        Field{"space", &InSpace::space, "Id or name of the space; the caller's first one if not given."},
    };
};

struct ListInSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListInSpace::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListInSpace::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListInSpace::cursor, "next_cursor of the previous response."},
    };
};

struct SetRole {
    access::Role role = access::Role::viewer;
    static constexpr Pack fields{Field{"role", &SetRole::role, ""}};
};

inline std::optional<std::string> or_null(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

} // namespace hone::api
