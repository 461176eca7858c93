// Queues: what people label, one item after the other; their progress and their agreement.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct AddToQueue {
    std::vector<std::string> target_ids;
    static constexpr Pack fields{
        Field{"target_ids", &AddToQueue::target_ids, "Span ids, trace ids or chat sessions of its project, 1 to 1000."},
    };
};

struct FillQueue {
    json::Defaulted<int64_t> hours = int64_t{24};
    json::Defaulted<int64_t> limit = int64_t{100};
    static constexpr Pack fields{
        Field{"hours", &FillQueue::hours, "How far back, 1 to 8760; 24 if not given."},
        Field{"limit", &FillQueue::limit, "Most items, 1 to 1000; 100 if not given."},
    };
};

struct ListQueueItems {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<evaluate::QueueItemState> state;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListQueueItems::space, "Id or name of the space; the caller's first one if not given."},
        Field{"state", &ListQueueItems::state, "Only pending, done or skipped ones."},
        Field{"limit", &ListQueueItems::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListQueueItems::cursor, "next_cursor of the previous response."},
    };
};

struct SkipQueueItem {
    json::Defaulted<std::string> reason;
    static constexpr Pack fields{
        Field{"reason", &SkipQueueItem::reason, "Why it cannot be labelled."},
    };
};

struct NextQueueItem {
    std::optional<evaluate::QueueItem> item;
    static constexpr Pack fields{
        Field{"item", &NextQueueItem::item, "Reserved for the caller for 15 minutes; null: none is left."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

evaluate::Queues& queues_of(const Call& call) {
    return call.services.evaluate.queues;
}

Result<evaluate::Queue> queue_in_path(const Call& call, const std::optional<std::string>& space,
                                      access::Permission permission = access::Permission::queue_answer) {
    // An id needs no space.
    const std::string& text = call.at("queue");
    access::SpaceId owner;
    if (!parse_id<evaluate::QueueTag>(text).ok()) owner = TRY(space_of(call, space));
    return queues_of(call).find(call.caller, owner, text, permission);
}

Result<evaluate::QueueItemId> queue_item_in_path(const Call& call) {
    return id_in_path<evaluate::QueueItemTag>(call, "item");
}

} // namespace

Result<List<evaluate::Queue>> list_queues(const Call& call, const ListInSpace& query) {
    return queues_of(call).list(call.caller, TRY(space_of(call, query.space)), TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::Queue>> create_queue(const Call& call, const InSpace& query, const evaluate::NewQueue& body) {
    return One<evaluate::Queue>{TRY(queues_of(call).create(call.caller, TRY(space_of(call, query.space)), body))};
}

Result<One<evaluate::Queue>> get_queue(const Call& call, const InSpace& query) {
    return One<evaluate::Queue>{TRY(queue_in_path(call, query.space))};
}

Result<One<evaluate::Queue>> update_queue(const Call& call, const InSpace& query, const evaluate::QueueChange& body) {
    const auto queue = TRY(queue_in_path(call, query.space, access::Permission::queue_manage));
    return One<evaluate::Queue>{TRY(queues_of(call).update(call.caller, queue, body))};
}

Result<NoContent> delete_queue(const Call& call, const InSpace& query) {
    const auto queue = TRY(queue_in_path(call, query.space, access::Permission::queue_manage));
    TRY(queues_of(call).remove(call.caller, queue));
    return NoContent{};
}

Result<One<evaluate::QueueFilled>> add_to_queue(const Call& call, const InSpace& query, const AddToQueue& body) {
    const auto queue = TRY(queue_in_path(call, query.space, access::Permission::queue_manage));
    return One<evaluate::QueueFilled>{TRY(queues_of(call).add(call.caller, queue, body.target_ids))};
}

Result<One<evaluate::QueueFilled>> fill_queue(const Call& call, const InSpace& query, const FillQueue& body) {
    const auto queue = TRY(queue_in_path(call, query.space, access::Permission::queue_manage));
    return One<evaluate::QueueFilled>{TRY(queues_of(call).fill(call.caller, queue, *body.hours, *body.limit))};
}

Result<List<evaluate::QueueItem>> list_queue_items(const Call& call, const ListQueueItems& query) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return queues_of(call).items(call.caller, queue, query.state, TRY(page_of(query.limit, query.cursor)));
}

Result<One<evaluate::QueueItem>> get_queue_item(const Call& call, const InSpace& query) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<evaluate::QueueItem>{TRY(queues_of(call).item(call.caller, queue, TRY(queue_item_in_path(call))))};
}

Result<One<NextQueueItem>> next_queue_item(const Call& call, const InSpace& query) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<NextQueueItem>{NextQueueItem{TRY(queues_of(call).next(call.caller, queue))}};
}

Result<One<evaluate::QueueItem>> label_queue_item(const Call& call, const InSpace& query,
                                                  const evaluate::LabelQueueItem& body) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<evaluate::QueueItem>{
        TRY(queues_of(call).label(call.caller, queue, TRY(queue_item_in_path(call)), body))};
}

Result<One<evaluate::QueueItem>> skip_queue_item(const Call& call, const InSpace& query, const SkipQueueItem& body) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<evaluate::QueueItem>{
        TRY(queues_of(call).skip(call.caller, queue, TRY(queue_item_in_path(call)), *body.reason))};
}

Result<One<evaluate::QueueItem>> undo_queue_item(const Call& call, const InSpace& query) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<evaluate::QueueItem>{TRY(queues_of(call).undo(call.caller, queue))};
}

Result<One<evaluate::QueueAgreement>> get_queue_agreement(const Call& call, const InSpace& query) {
    const auto queue = TRY(queue_in_path(call, query.space));
    return One<evaluate::QueueAgreement>{TRY(queues_of(call).agreement(call.caller, queue))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route queues_table[] = {
    route<list_queues>("GET", "/v1/annotation_queues", need(queue_answer), "Queues of a space, newest first."),
    route<create_queue>("POST", "/v1/annotation_queues", need(queue_manage), "Create a queue."),
    route<get_queue>("GET", "/v1/annotation_queues/{queue}", need(queue_answer), "A queue with its counts."),
    route<update_queue>("PATCH", "/v1/annotation_queues/{queue}", need(queue_manage), "Change a queue."),
    route<delete_queue>("DELETE", "/v1/annotation_queues/{queue}", need(queue_manage),
                        "Delete a queue with its items; evals are kept."),
    route<list_queue_items>("GET", "/v1/annotation_queues/{queue}/items", need(queue_answer),
                            "Items of a queue, oldest first."),
    route<add_to_queue>("POST", "/v1/annotation_queues/{queue}/items", need(queue_manage),
                        "Add spans, traces or chat sessions; each once.")
        .on(net::Lane::query),
    route<fill_queue>("POST", "/v1/annotation_queues/{queue}/fill", need(queue_manage),
                      "Add what matches the fill rule in the last hours.")
        .on(net::Lane::query),
    route<next_queue_item>("POST", "/v1/annotation_queues/{queue}/next", need(queue_answer),
                           "Reserve the next item for the caller.")
        .on(net::Lane::query),
    route<undo_queue_item>("POST", "/v1/annotation_queues/{queue}/undo", need(queue_answer),
                           "Take back the last item that the caller labelled or skipped.")
        .on(net::Lane::query),
    route<get_queue_agreement>("GET", "/v1/annotation_queues/{queue}/agreement", need(queue_answer),
                               "Agreement of people and progress per person."),
    route<get_queue_item>("GET", "/v1/annotation_queues/{queue}/items/{item}", need(queue_answer),
                          "An item with the caller's labels; verdicts of evaluators once they may be seen.")
        .on(net::Lane::query),
    route<label_queue_item>("POST", "/v1/annotation_queues/{queue}/items/{item}/evals", need(queue_answer),
                            "Store the labels of the caller; they become human evals of the target.")
        .on(net::Lane::query),
    route<skip_queue_item>("POST", "/v1/annotation_queues/{queue}/items/{item}/skip", need(queue_answer),
                           "Skip an item.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> queues_routes() {
    return queues_table;
}

} // namespace hone::api
