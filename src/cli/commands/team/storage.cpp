// What is on the server's disk, and what the server removed by itself.
#include "cli/remote/view.h"
#include "cli/terminal/amount.h"

namespace hone::cli {

namespace {

Columns storage_columns() {
    return {
        {.title = "kind", .field = "kind"},
        {.title = "count", .field = "count", .kind = Kind::number},
        {.title = "size", .field = "bytes", .kind = Kind::bytes},
        {.title = "at most", .field = "limit_bytes", .kind = Kind::bytes},
        {.title = "needed", .field = "needed", .kind = Kind::number},
        {.title = "kept", .field = "limits"},
        {.title = "removed (30 days)", .field = "removed", .kind = Kind::number},
        {.title = "freed", .field = "freed_bytes", .kind = Kind::bytes},
    };
}

Columns collection_columns() {
    return {
        {.title = "time", .field = "collected_at", .kind = Kind::time},
        {.title = "kind", .field = "kind"},
        {.title = "removed", .field = "removed", .kind = Kind::number},
        {.title = "freed", .field = "bytes", .kind = Kind::bytes},
    };
}

Result<> show_kinds(Context& context) {
    const json::Value storage = TRY(context.remote.get("/v1/storage"));
    if (context.json()) {
        print_json(context, storage);
        return {};
    }
    const auto free = static_cast<uint64_t>(number_of(storage, "free_bytes"));
    const auto all = static_cast<uint64_t>(number_of(storage, "disk_bytes"));
    context.print(bytes_text(free) + " of " + bytes_text(all) + " are free on the disk of the data directory.");
    const json::Value* kinds = member(storage, "kinds");
    return show_rows(context, kinds != nullptr ? *kinds : json::Value(json::Array()), storage_columns(), "");
}

Result<> show_collections(Context& context) {
    return show_list(context, "/v1/storage/collections", {}, collection_columns(),
                     "Nothing was removed yet: everything is within the limits.");
}

Result<> collect_storage(Context& context) {
    const json::Value done = TRY(context.remote.post("/v1/storage/collect", json::Object{}));
    return show_rows(context, done, collection_columns(), "Nothing to remove: everything is within the limits.");
}

} // namespace

std::vector<Command> storage_commands() {
    return {
        {.path = "storage show",
         .summary = "Show what the server keeps on its disk, by kind, with its limits.",
         .details = "The settings keep_runs, keep_workspaces, keep_layers, keep_images, keep_quarantines, keep_mirrors "
                    "and keep_artifacts of the server are the limits.",
         .run = show_kinds},
        {.path = "storage history",
         .summary = "List what the server removed by itself, newest first.",
         .lists = true,
         .run = show_collections},
        {.path = "storage collect",
         .summary = "Remove now what is over the limits, instead of within the hour.",
         .run = collect_storage},
    };
}

} // namespace hone::cli
