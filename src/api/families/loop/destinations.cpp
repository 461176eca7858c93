// Destinations of notices.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "notice/sender.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListDestinations {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListDestinations::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListDestinations::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListDestinations::cursor, "next_cursor of the previous response."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<notice::DestinationId> destination_in_path(const Call& call) {
    return id_in_path<notice::DestinationTag>(call, "destination");
}

} // namespace

Result<List<notice::Destination>> list_destinations(const Call& call, const ListDestinations& query) {
    return call.services.destinations.list(call.caller, TRY(space_of(call, query.space)),
                                           TRY(page_of(query.limit, query.cursor)));
}

Result<One<notice::Destination>> create_destination(const Call& call, const InSpace& query,
                                                    const notice::NewDestination& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<notice::Destination>{TRY(call.services.destinations.create(call.caller, space, body))};
}

Result<One<notice::Destination>> get_destination(const Call& call) {
    const auto id = TRY(destination_in_path(call));
    return One<notice::Destination>{TRY(call.services.destinations.find(call.caller, id))};
}

Result<One<notice::Destination>> update_destination(const Call& call, const notice::DestinationChange& body) {
    const auto id = TRY(destination_in_path(call));
    return One<notice::Destination>{TRY(call.services.destinations.update(call.caller, id, body))};
}

Result<NoContent> delete_destination(const Call& call) {
    const auto id = TRY(destination_in_path(call));
    TRY(call.services.destinations.remove(call.caller, id));
    return NoContent{};
}

Result<One<notice::Attempt>> test_destination(const Call& call) {
    const auto id = TRY(destination_in_path(call));
    return One<notice::Attempt>{TRY(call.services.sender.test(call.caller, id))};
}

Result<List<notice::Delivery>> list_deliveries(const Call& call, const PageQuery& query) {
    return call.services.destinations.deliveries(call.caller, TRY(destination_in_path(call)),
                                                 TRY(page_of(query.limit, query.cursor)));
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route destinations_table[] = {
    route<list_destinations>("GET", "/v1/destinations", need(monitor_read), "Destinations of the notices of a space."),
    route<create_destination>("POST", "/v1/destinations", need(monitor_write),
                              "Create a destination; a webhook's signing secret is shown once."),
    route<get_destination>("GET", "/v1/destinations/{destination}", need(monitor_read), "A destination."),
    route<update_destination>("PATCH", "/v1/destinations/{destination}", need(monitor_write), "Change a destination."),
    route<delete_destination>("DELETE", "/v1/destinations/{destination}", need(monitor_write),
                              "Delete a destination and its pending deliveries."),
    route<test_destination>("POST", "/v1/destinations/{destination}/test", need(monitor_write),
                            "Send a test message now; returns the outcome.")
        .on(net::Lane::query),
    route<list_deliveries>("GET", "/v1/destinations/{destination}/deliveries", need(monitor_read),
                           "Deliveries to a destination and their outcomes, newest first."),
};

} // namespace

std::span<const Route> destinations_routes() {
    return destinations_table;
}

} // namespace hone::api
