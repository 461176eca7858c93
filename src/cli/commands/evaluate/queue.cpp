// Queues: what people label, their progress and agreement; and calibrations of evaluators against these labels.
#include "cli/remote/view.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/scope.h"

#include <fmt/format.h>
#include <thread>

namespace hone::cli {

namespace {

const Argument queue_argument{.name = "QUEUE", .doc = "Id or name of the queue."};

Columns queue_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "name", .field = "name"},
        {.title = "target", .field = "target"},
        {.title = "pending", .field = "pending", .kind = Kind::number},
        {.title = "done", .field = "done", .kind = Kind::number},
        {.title = "skipped", .field = "skipped", .kind = Kind::number},
        {.title = "reviewers", .field = "reviewers_per_item", .kind = Kind::number},
        {.title = "fills itself", .field = "fill_enabled", .kind = Kind::yes_no},
        {.title = "filter", .field = "fill_filter", .only_single = true},
        {.title = "rule", .field = "fill_rule", .only_single = true},
        {.title = "millionths", .field = "fill_ppm", .kind = Kind::number, .only_single = true},
        {.title = "problem", .field = "fill_problem", .only_single = true},
        {.title = "dataset", .field = "dataset", .only_single = true},
        {.title = "instructions", .field = "instructions", .only_single = true},
        {.title = "by", .field = "created_by", .only_single = true},
        {.title = "created", .field = "created_at", .kind = Kind::time},
    };
}

Columns queue_item_columns() {
    return {
        {.title = "id", .field = "id", .kind = Kind::id},
        {.title = "target", .field = "target_id"},
        {.title = "state", .field = "state"},
        {.title = "labelled by", .field = "labelled_by", .kind = Kind::number},
        {.title = "mine", .field = "my_state"},
        {.title = "reserved until", .field = "reserved_until", .kind = Kind::time, .only_single = true},
        {.title = "added", .field = "created_at", .kind = Kind::time},
    };
}

std::string queue_path(const Context& context, const std::vector<std::string>& rest = {}) {
    std::vector<std::string> parts{context.value_or_empty("QUEUE")};
    parts.insert(parts.end(), rest.begin(), rest.end());
    return path_of("/v1/annotation_queues", parts);
}

Result<> list_queues(Context& context) {
    return show_list(context, "/v1/annotation_queues", space_query(context), queue_columns(),
                     "No queues. Create one: hone queue create NAME --project PROJECT --config CONFIG");
}

Result<> show_queue(Context& context) {
    return show_record(context, TRY(context.remote.get(queue_path(context), space_query(context))), queue_columns());
}

// The settings that create and update share.
Result<json::Object> queue_settings(const Context& context) {
    json::Object body;
    for (const auto& [option, field] : {std::pair("--instructions", "instructions"),
                                        {"--dataset", "dataset"},
                                        {"--filter", "fill_filter"},
                                        {"--rule", "fill_rule"}})
        if (const auto value = context.parsed.value(option)) body[field] = *value;
    if (const auto reviewers = TRY(context.integer("--reviewers", 1))) body["reviewers_per_item"] = *reviewers;
    if (const auto ppm = TRY(context.integer("--ppm", 1))) body["fill_ppm"] = *ppm;
    if (context.parsed.has("--fill")) body["fill_enabled"] = true;
    if (context.parsed.has("--show-verdicts")) body["shows_verdicts"] = true;
    json::Array configs;
    for (const std::string& config : context.parsed.all("--config")) configs.push_back(json::Value(config));
    if (!configs.empty()) body["configs"] = configs;
    return body;
}

Result<> create_queue(Context& context) {
    json::Object body = TRY(queue_settings(context));
    body["name"] = context.value_or_empty("NAME");
    body["project"] = context.value_or_empty("--project");
    if (const auto target = context.parsed.value("--target")) body["target"] = *target;
    if (!body.contains("configs")) return context.usage("give --config CONFIG, the annotation config to label by");
    const json::Value made = TRY(context.remote.post("/v1/annotation_queues", std::move(body), space_query(context)));
    return show_done(context, made,
                     "Created queue " + safe_line(text_of(made, "name")) + ". Fill it: hone queue fill " +
                         text_of(made, "id"));
}

Result<> update_queue(Context& context) {
    json::Object body = TRY(queue_settings(context));
    if (context.parsed.has("--no-fill")) body["fill_enabled"] = false;
    if (context.parsed.has("--hide-verdicts")) body["shows_verdicts"] = false;
    if (const auto name = context.parsed.value("--name")) body["name"] = *name;
    const json::Value before = TRY(context.remote.get(queue_path(context), space_query(context)));
    const json::Value changed =
        TRY(context.remote.patch(path_of("/v1/annotation_queues", {text_of(before, "id")}), std::move(body)));
    return show_done(context, changed, "Changed queue " + safe_line(text_of(changed, "name")) + ".");
}

Result<> delete_queue(Context& context) {
    const json::Value before = TRY(context.remote.get(queue_path(context), space_query(context)));
    const std::string name = text_of(before, "name");
    TRY(context.confirm("The queue " + name + " is deleted with its items. Evals are kept.", name));
    const json::Value gone = TRY(context.remote.remove(queue_path(context), space_query(context)));
    return show_done(context, gone, "Deleted queue " + safe_line(name) + ".");
}

std::string filled_text(const json::Value& filled) {
    return fmt::format("Added {} items; {} match.", number_of(filled, "added"), number_of(filled, "seen"));
}

Result<> fill_queue(Context& context) {
    json::Object body;
    if (const auto hours = TRY(context.integer("--hours", 1))) body["hours"] = *hours;
    if (const auto most = TRY(context.integer("--most", 1))) body["limit"] = *most;
    const json::Value filled =
        TRY(context.remote.post(queue_path(context, {"fill"}), std::move(body), space_query(context)));
    return show_done(context, filled, filled_text(filled));
}

Result<> add_queue_items(Context& context) {
    json::Array ids;
    for (const std::string& id : context.parsed.all("--id")) ids.push_back(json::Value(id));
    if (ids.empty()) return context.usage("give --id for each span, trace or chat session");
    const json::Value filled = TRY(
        context.remote.post(queue_path(context, {"items"}), json::Object{{"target_ids", ids}}, space_query(context)));
    return show_done(context, filled, filled_text(filled));
}

Result<> list_queue_items(Context& context) {
    Query query = space_query(context);
    if (const auto state = context.parsed.value("--state")) query.emplace_back("state", *state);
    return show_list(context, queue_path(context, {"items"}), std::move(query), queue_item_columns(),
                     "No items. hone queue fill adds what matches the fill rule.");
}

Result<> next_queue_item(Context& context) {
    const json::Value next =
        TRY(context.remote.post(queue_path(context, {"next"}), json::Object{}, space_query(context)));
    const json::Value* item = member(next, "item");
    if (item == nullptr || item->is_null()) return show_done(context, next, "No item is left for you.");
    if (context.json()) {
        print_json(context, next);
        return {};
    }
    return show_record(context, *item, queue_item_columns());
}

// NAME=VALUE: a number is a score, `text:…` an explanation, anything else a label.
Result<> label_queue_item(Context& context) {
    json::Array evals;
    for (const std::string& given : context.parsed.all("--eval")) {
        const size_t equals = given.find('=');
        if (equals == std::string::npos || equals == 0) return context.usage("--eval takes CONFIG=LABEL");
        json::Object eval{{"config", given.substr(0, equals)}};
        const std::string value = given.substr(equals + 1);
        if (value.starts_with("text:"))
            eval["explanation"] = value.substr(5);
        else if (value.starts_with("score:"))
            eval["score"] = TRY(json::parse(value.substr(6)));
        else
            eval["label"] = value;
        evals.push_back(std::move(eval));
    }
    if (evals.empty()) return context.usage("give --eval CONFIG=LABEL for each config");
    json::Object body{{"evals", evals}};
    if (const auto reference = context.parsed.value("--reference")) {
        const auto parsed = json::parse(*reference);
        body["reference"] = parsed.ok() ? parsed.value() : json::Value(*reference);
    }
    const json::Value done =
        TRY(context.remote.post(queue_path(context, {"items", context.value_or_empty("ITEM"), "evals"}),
                                std::move(body), space_query(context)));
    return show_done(context, done, "Labelled. hone queue next reserves the next one.");
}

Result<> skip_queue_item(Context& context) {
    json::Object body;
    if (const auto reason = context.parsed.value("--reason")) body["reason"] = *reason;
    const json::Value done = TRY(context.remote.post(
        queue_path(context, {"items", context.value_or_empty("ITEM"), "skip"}), std::move(body), space_query(context)));
    return show_done(context, done, "Skipped.");
}

Result<> undo_queue_item(Context& context) {
    const json::Value done =
        TRY(context.remote.post(queue_path(context, {"undo"}), json::Object{}, space_query(context)));
    return show_done(context, done, "Taken back: item " + text_of(done, "id") + " is reserved for you again.");
}

Result<> show_agreement(Context& context) {
    const json::Value found = TRY(context.remote.get(queue_path(context, {"agreement"}), space_query(context)));
    if (context.json()) {
        print_json(context, found);
        return {};
    }
    for (const json::Value& one : member(found, "configs")->as_array()) {
        const json::Value* alpha = member(one, "alpha");
        context.console.print(fmt::format("{}: {} on {} items with {} labels\n", safe_line(text_of(one, "name")),
                                          alpha != nullptr && alpha->is_number()
                                              ? fmt::format("alpha {:.3f}", alpha->to_number<double>())
                                              : std::string("no agreement yet"),
                                          number_of(one, "items"), number_of(one, "labels")));
    }
    for (const json::Value& one : member(found, "people")->as_array())
        context.console.print(fmt::format("{}: {} labelled, {} skipped\n", safe_line(text_of(one, "name")),
                                          number_of(one, "done"), number_of(one, "skipped")));
    return {};
}

} // namespace

std::vector<Command> queue_commands() {
    const std::vector<Option> settings{
        {.name = "--config", .value = "CONFIG", .doc = "Annotation config by id or name.", .repeated = true},
        {.name = "--instructions", .value = "TEXT", .doc = "What people decide and by which criteria."},
        {.name = "--reviewers", .value = "NUMBER", .doc = "People who label each item, 1 to 10."},
        {.name = "--dataset", .value = "DATASET", .doc = "Dataset that corrected outputs go to."},
        {.name = "--filter", .value = "FILTER", .doc = "What is added, in the filter language."},
        {.name = "--rule",
         .value = "RULE",
         .doc = "Of these: all, or what evaluators or people could not settle. Default: matching.",
         .choices = {"matching", "undecided", "split", "disputed"}},
        {.name = "--ppm", .value = "NUMBER", .doc = "Share of it in millionths. Default: all."},
        {.name = "--fill", .value = "", .doc = "Add new matching traces by itself."},
        {.name = "--show-verdicts", .value = "", .doc = "Show verdicts of evaluators before a person decides."}};
    std::vector<Option> creating = settings;
    creating.push_back({.name = "--project", .value = "PROJECT", .doc = "Project of the items.", .short_name = "-p"});
    creating.push_back({.name = "--target",
                        .value = "TARGET",
                        .doc = "What is labelled. Default: trace.",
                        .choices = {"span", "trace", "chat_session"}});
    std::vector<Option> updating = settings;
    updating.push_back({.name = "--name", .value = "NAME", .doc = "New name."});
    updating.push_back({.name = "--no-fill", .value = "", .doc = "Add nothing by itself."});
    updating.push_back({.name = "--hide-verdicts", .value = "", .doc = "Show verdicts only after a person decided."});
    const Argument item{.name = "ITEM", .doc = "Id of the item."};
    return {
        {.path = "queue list", .summary = "List the queues of a space.", .lists = true, .run = list_queues},
        {.path = "queue show",
         .summary = "Show a queue and its counts.",
         .arguments = {queue_argument},
         .run = show_queue},
        {.path = "queue create",
         .summary = "Create a queue of spans, traces or chat sessions that people label.",
         .arguments = {{.name = "NAME", .doc = "Name of the queue."}},
         .options = creating,
         .details =
             "Example: hone queue create tickets --project shop --config correct --filter 'status = error' --fill\n",
         .run = create_queue},
        {.path = "queue update",
         .summary = "Change a queue. Options that are not given keep their values.",
         .arguments = {queue_argument},
         .options = updating,
         .run = update_queue},
        {.path = "queue delete",
         .summary = "Delete a queue with its items. Evals are kept.",
         .arguments = {queue_argument},
         .destructive = true,
         .run = delete_queue},
        {.path = "queue fill",
         .summary = "Add what matches the fill rule in the last hours.",
         .arguments = {queue_argument},
         .options = {{.name = "--hours", .value = "NUMBER", .doc = "How far back. Default: 24."},
                     {.name = "--most", .value = "NUMBER", .doc = "Most items. Default: 100."}},
         .run = fill_queue},
        {.path = "queue add",
         .summary = "Add spans, traces or chat sessions; each once.",
         .arguments = {queue_argument},
         .options = {{.name = "--id", .value = "ID", .doc = "Span id, trace id or chat session.", .repeated = true}},
         .run = add_queue_items},
        {.path = "queue items",
         .summary = "List the items of a queue, oldest first.",
         .arguments = {queue_argument},
         .options = {{.name = "--state",
                      .value = "STATE",
                      .doc = "Only items in this state.",
                      .choices = {"pending", "done", "skipped"}}},
         .lists = true,
         .run = list_queue_items},
        {.path = "queue next",
         .summary = "Reserve the next item for 15 minutes.",
         .arguments = {queue_argument},
         .run = next_queue_item},
        {.path = "queue label",
         .summary = "Label an item; the labels become human evals.",
         .arguments = {queue_argument, item},
         .options = {{.name = "--eval",
                      .value = "CONFIG=LABEL",
                      .doc = "A label; CONFIG=score:0.5 for a score, CONFIG=text:… for text.",
                      .repeated = true},
                     {.name = "--reference",
                      .value = "JSON",
                      .doc = "The correct output, for the dataset of the queue."}},
         .run = label_queue_item},
        {.path = "queue skip",
         .summary = "Skip an item.",
         .arguments = {queue_argument, item},
         .options = {{.name = "--reason", .value = "TEXT", .doc = "Why it cannot be labelled."}},
         .run = skip_queue_item},
        {.path = "queue undo",
         .summary = "Take back the last item that you labelled or skipped.",
         .arguments = {queue_argument},
         .run = undo_queue_item},
        {.path = "queue agreement",
         .summary = "Show how much people agree, and the progress of each.",
         .arguments = {queue_argument},
         .run = show_agreement},
    };
}

} // namespace hone::cli
