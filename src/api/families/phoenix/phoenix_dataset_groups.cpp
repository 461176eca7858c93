// Splits and labels of datasets in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct DatasetSplitView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    std::string color;
    json::Value metadata;
    int64_t example_count = 0;
    std::string created_at;
    std::string updated_at;
    static constexpr Pack fields{
        Field{"id", &DatasetSplitView::id, ""},
        Field{"name", &DatasetSplitView::name, "Unique in the dataset."},
        Field{"description", &DatasetSplitView::description, ""},
        Field{"color", &DatasetSplitView::color, "Such as #4f7cac."},
        Field{"metadata", &DatasetSplitView::metadata, "An object."},
        Field{"example_count", &DatasetSplitView::example_count, "Examples of the newest version."},
        Field{"created_at", &DatasetSplitView::created_at, ""},
        Field{"updated_at", &DatasetSplitView::updated_at, ""},
    };
};

struct CreateSplit {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::optional<std::string> description;
    std::optional<std::string> color;
    std::optional<std::map<std::string, json::Value>> metadata;
    std::optional<std::vector<std::string>> example_ids;
    static constexpr Pack fields{
        Field{"name", &CreateSplit::name, ""},
        Field{"description", &CreateSplit::description, ""},
        Field{"color", &CreateSplit::color, "# and six hexadecimal digits in lower case."},
        Field{"metadata", &CreateSplit::metadata, ""},
        Field{"example_ids", &CreateSplit::example_ids, "Examples that belong to it."},
    };
};

struct ChangeSplit {
    static constexpr bool ignores_unknown = true;
    std::optional<std::string> name;
    std::optional<std::optional<std::string>> description;
    std::optional<std::string> color;
    std::optional<std::map<std::string, json::Value>> metadata;
    std::optional<std::vector<std::string>> add_example_ids;
    std::optional<std::vector<std::string>> remove_example_ids;
    static constexpr Pack fields{
        Field{"name", &ChangeSplit::name, ""},
        Field{"description", &ChangeSplit::description, "null: none."},
        Field{"color", &ChangeSplit::color, ""},
        Field{"metadata", &ChangeSplit::metadata, "Replaces the metadata."},
        Field{"add_example_ids", &ChangeSplit::add_example_ids, ""},
        Field{"remove_example_ids", &ChangeSplit::remove_example_ids, "Wins over add_example_ids."},
    };
};

struct DatasetLabelView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    std::string color;
    static constexpr Pack fields{
        Field{"id", &DatasetLabelView::id, ""},
        Field{"name", &DatasetLabelView::name, "Unique in the space."},
        Field{"description", &DatasetLabelView::description, ""},
        Field{"color", &DatasetLabelView::color, ""},
    };
};

struct CreateDatasetLabel {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::string color;
    std::optional<std::string> description;
    static constexpr Pack fields{
        Field{"name", &CreateDatasetLabel::name, ""},
        Field{"color", &CreateDatasetLabel::color, "# and six hexadecimal digits in lower case."},
        Field{"description", &CreateDatasetLabel::description, ""},
    };
};

struct ChangeDatasetLabel {
    static constexpr bool ignores_unknown = true;
    std::optional<std::string> name;
    std::optional<std::string> color;
    std::optional<std::optional<std::string>> description;
    static constexpr Pack fields{
        Field{"name", &ChangeDatasetLabel::name, ""},
        Field{"color", &ChangeDatasetLabel::color, ""},
        Field{"description", &ChangeDatasetLabel::description, "null: none."},
    };
};

struct SetDatasetLabels {
    static constexpr bool ignores_unknown = true;
    std::optional<std::vector<std::string>> dataset_label_ids;
    static constexpr Pack fields{
        Field{"dataset_label_ids", &SetDatasetLabels::dataset_label_ids, "All labels of the dataset."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

DatasetSplitView split_view(const evaluate::Split& split) {
    return {make_node_id("DatasetSplit", split.id),
            split.name,
            or_null(split.description),
            split.color,
            split.metadata,
            split.example_count,
            phoenix_time(split.created_at),
            phoenix_time(split.updated_at)};
}

std::vector<std::string> plain_example_ids(const std::optional<std::vector<std::string>>& texts) {
    std::vector<std::string> ids;
    if (texts)
        for (const std::string& text : *texts) ids.push_back(plain_id("DatasetExample", text));
    return ids;
}

std::optional<json::Value> metadata_of(const std::optional<std::map<std::string, json::Value>>& given) {
    if (!given) return std::nullopt;
    return json::to_value(*given);
}

std::string split_in_path(const Call& call) {
    return plain_id("DatasetSplit", call.at("split"));
}

DatasetLabelView label_view(const evaluate::DatasetLabel& label) {
    return {make_node_id("DatasetLabel", label.id), label.name, or_null(label.description), label.color};
}

Result<evaluate::DatasetLabelId> label_in_path(const Call& call) {
    return read_node_id<evaluate::DatasetLabelTag>("DatasetLabel", "label", call.at("label"));
}

List<DatasetLabelView> label_list(const std::vector<evaluate::DatasetLabel>& labels) {
    List<DatasetLabelView> list;
    for (const auto& label : labels) list.data.push_back(label_view(label));
    return list;
}

net::Response created(json::Value data) {
    return net::json_response(201, json::print(json::Object{{"data", std::move(data)}}));
}

} // namespace

Result<List<DatasetSplitView>> list_splits(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    List<DatasetSplitView> list;
    for (const auto& split : TRY(call.services.evaluate.datasets.splits(call.caller, dataset.id)))
        list.data.push_back(split_view(split));
    return list;
}

Result<net::Response> create_split(const Call& call, const InSpace& query, const CreateSplit& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    evaluate::SplitChange wanted;
    wanted.name = body.name;
    wanted.description = body.description;
    wanted.color = body.color;
    wanted.metadata = metadata_of(body.metadata);
    wanted.add = plain_example_ids(body.example_ids);
    return created(
        json::to_value(split_view(TRY(call.services.evaluate.datasets.create_split(call.caller, dataset.id, wanted)))));
}

Result<One<DatasetSplitView>> change_split(const Call& call, const InSpace& query, const ChangeSplit& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    evaluate::SplitChange change;
    change.name = body.name;
    if (body.description) change.description = body.description->value_or("");
    change.color = body.color;
    change.metadata = metadata_of(body.metadata);
    change.add = plain_example_ids(body.add_example_ids);
    change.remove = plain_example_ids(body.remove_example_ids);
    return One<DatasetSplitView>{split_view(
        TRY(call.services.evaluate.datasets.update_split(call.caller, dataset.id, split_in_path(call), change)))};
}

Result<NoContent> delete_split(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    TRY(call.services.evaluate.datasets.remove_split(call.caller, dataset.id, split_in_path(call)));
    return NoContent{};
}

Result<List<DatasetLabelView>> list_dataset_labels(const Call& call, const ListInSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    const auto found =
        TRY(call.services.evaluate.datasets.labels(call.caller, space, TRY(page_of(query.limit, query.cursor))));
    auto list = label_list(found.data);
    list.next_cursor = found.next_cursor;
    return list;
}

Result<net::Response> create_dataset_label(const Call& call, const InSpace& query, const CreateDatasetLabel& body) {
    const auto space = TRY(space_of(call, query.space));
    const evaluate::DatasetLabelChange wanted{body.name, body.description, body.color};
    return created(
        json::to_value(label_view(TRY(call.services.evaluate.datasets.create_label(call.caller, space, wanted)))));
}

Result<One<DatasetLabelView>> get_dataset_label(const Call& call) {
    return One<DatasetLabelView>{
        label_view(TRY(call.services.evaluate.datasets.label(call.caller, TRY(label_in_path(call)))))};
}

Result<One<DatasetLabelView>> change_dataset_label(const Call& call, const ChangeDatasetLabel& body) {
    evaluate::DatasetLabelChange change{body.name, {}, body.color};
    if (body.description) change.description = body.description->value_or("");
    const auto id = TRY(label_in_path(call));
    return One<DatasetLabelView>{
        label_view(TRY(call.services.evaluate.datasets.update_label(call.caller, id, change)))};
}

Result<NoContent> delete_dataset_label(const Call& call) {
    TRY(call.services.evaluate.datasets.remove_label(call.caller, TRY(label_in_path(call))));
    return NoContent{};
}

Result<List<DatasetLabelView>> labels_of_dataset(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    return label_list(TRY(call.services.evaluate.datasets.labels_of(call.caller, dataset.id)));
}

Result<List<DatasetLabelView>> set_labels_of_dataset(const Call& call, const InSpace& query,
                                                     const SetDatasetLabels& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    std::vector<evaluate::DatasetLabelId> ids;
    if (body.dataset_label_ids)
        for (const std::string& text : *body.dataset_label_ids)
            ids.push_back(TRY(read_node_id<evaluate::DatasetLabelTag>("DatasetLabel", "label", text)));
    return label_list(TRY(call.services.evaluate.datasets.set_labels(call.caller, dataset.id, ids)));
}

Result<One<DatasetLabelView>> add_label_to_dataset(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    const auto id = TRY(label_in_path(call));
    return One<DatasetLabelView>{
        label_view(TRY(call.services.evaluate.datasets.add_label(call.caller, dataset.id, id)))};
}

Result<NoContent> drop_label_of_dataset(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    TRY(call.services.evaluate.datasets.drop_label(call.caller, dataset.id, TRY(label_in_path(call))));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_dataset_groups_table[] = {
    route<list_splits>("GET", "/v1/datasets/{dataset}/splits", need(dataset_read), "Splits of a dataset, by name.")
        .like_phoenix(),
    route<create_split>("POST", "/v1/datasets/{dataset}/splits", need(dataset_write), "Create a split of a dataset.")
        .raw("application/json")
        .responds(201)
        .like_phoenix(),
    route<change_split>("PATCH", "/v1/datasets/{dataset}/splits/{split}", need(dataset_write),
                        "Change a split, add and remove examples.")
        .like_phoenix(),
    route<delete_split>("DELETE", "/v1/datasets/{dataset}/splits/{split}", need(dataset_write),
                        "Delete a split; its examples stay.")
        .like_phoenix(),
    route<list_dataset_labels>("GET", "/v1/dataset_labels", need(dataset_read), "Labels for datasets of a space.")
        .like_phoenix(),
    route<create_dataset_label>("POST", "/v1/dataset_labels", need(dataset_write), "Create a label for datasets.")
        .raw("application/json")
        .responds(201)
        .like_phoenix(),
    route<get_dataset_label>("GET", "/v1/dataset_labels/{label}", need(dataset_read), "A label for datasets.")
        .like_phoenix(),
    route<change_dataset_label>("PATCH", "/v1/dataset_labels/{label}", need(dataset_write),
                                "Change a label for datasets.")
        .like_phoenix(),
    route<delete_dataset_label>("DELETE", "/v1/dataset_labels/{label}", need(dataset_write),
                                "Delete a label for datasets.")
        .like_phoenix(),
    route<labels_of_dataset>("GET", "/v1/datasets/{dataset}/labels", need(dataset_read), "Labels of a dataset.")
        .like_phoenix(),
    route<set_labels_of_dataset>("PUT", "/v1/datasets/{dataset}/labels", need(dataset_write),
                                 "Replace the labels of a dataset.")
        .like_phoenix(),
    route<add_label_to_dataset>("PUT", "/v1/datasets/{dataset}/labels/{label}", need(dataset_write),
                                "Add a label to a dataset.")
        .like_phoenix(),
    route<drop_label_of_dataset>("DELETE", "/v1/datasets/{dataset}/labels/{label}", need(dataset_write),
                                 "Remove a label from a dataset.")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_dataset_groups_routes() {
    return phoenix_dataset_groups_table;
}

} // namespace hone::api
