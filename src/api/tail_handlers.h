// The live tail of a project's spans, and the saved views of its lists: requests and handlers.
#pragma once

#include "api/span_handlers.h"

namespace hone::api {

struct FollowSpans {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> filter;
    std::optional<Time> since;
    static constexpr std::tuple fields{
        Field{"space", &FollowSpans::space, "Id or name of the space; the caller's first one if not given."},
        Field{"filter", &FollowSpans::filter, "Only spans that match; GET /v1/filter_fields lists fields."},
        Field{"since", &FollowSpans::since, "First what was received since then; Last-Event-ID goes before it."},
    };
};

struct ViewInProject {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<access::ViewPage> page;
    static constexpr std::tuple fields{
        Field{"space", &ViewInProject::space, "Id or name of the space; the caller's first one if not given."},
        Field{"page", &ViewInProject::page, "The list it is of: traces (if not given) or sessions."},
    };
};

struct SaveView {
    std::string query;
    json::Defaulted<bool> is_default = false;
    static constexpr std::tuple fields{
        Field{"query", &SaveView::query, "filter=…&range=…, as in the address of the page."},
        Field{"is_default", &SaveView::is_default, "Show it when the page is opened without anything chosen."},
    };
};

// tail_handlers.cpp: text/event-stream of `ready`, `spans` (a list of SpanRow, oldest first) and `dropped` ({"count"}).
// Event ids are positions to go on from; what came in the two seconds before may then come again.
Result<net::Response> follow_spans(const Call&, const FollowSpans&);

// view_handlers.cpp
Result<List<access::SavedView>> list_views(const Call&, const InSpace&);
Result<One<access::SavedView>> save_view(const Call&, const ViewInProject&, const SaveView&);
Result<NoContent> delete_view(const Call&, const ViewInProject&);

} // namespace hone::api
