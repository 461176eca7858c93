// What is on the server's disk, and the collection of old data.
#include "run/storage/storage.h"
#include "api/core/route.h"
#include "api/core/shapes.h"

namespace hone::api {

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<run::StorageView>> get_storage(const Call& call) {
    return One<run::StorageView>{TRY(call.services.storage.view(call.caller))};
}

Result<List<run::Collection>> list_collections(const Call& call, const PageQuery& query) {
    return call.services.storage.collections(call.caller, TRY(page_of(query.limit, query.cursor)));
}

Result<List<run::Collection>> collect_storage(const Call& call) {
    return List<run::Collection>{TRY(call.services.storage.collect(call.caller)), {}};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route storage_table[] = {
    route<get_storage>("GET", "/v1/storage", need(user_manage),
                       "What the server keeps on its disk, by kind, with the limits and what was removed."),
    route<list_collections>("GET", "/v1/storage/collections", need(user_manage),
                            "What the server removed by itself, newest first."),
    route<collect_storage>("POST", "/v1/storage/collect", need(user_manage),
                           "Remove now what is over the limits, instead of within the hour."),
};

} // namespace

std::span<const Route> storage_routes() {
    return storage_table;
}

} // namespace hone::api
