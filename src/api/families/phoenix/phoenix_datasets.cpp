// Datasets, their versions and examples in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListDatasets {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &ListDatasets::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name", &ListDatasets::name, "Only the dataset with exactly this name."},
        Field{"limit", &ListDatasets::limit, "Rows in one response, 1 to 1000; 1000 if not given."},
        Field{"cursor", &ListDatasets::cursor, "next_cursor of the previous response."},
    };
};

struct GetDataset {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> version_id;
    static constexpr Pack fields{
        Field{"space", &GetDataset::space, "Id or name of the space; the caller's first one if not given."},
        Field{"version_id", &GetDataset::version_id, "Ignored; Phoenix' Python client sends it."},
    };
};

struct ListExamples {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> version_id;
    std::vector<std::string> split;
    static constexpr Pack fields{
        Field{"space", &ListExamples::space, "Id or name of the space; the caller's first one if not given."},
        Field{"version_id", &ListExamples::version_id, "Id or number of a version; the newest one if not given."},
        Field{"split", &ListExamples::split, "Id or name of a split: only its examples; may be repeated."},
    };
};

struct DatasetView {
    std::string id;
    std::string name;
    std::optional<std::string> description;
    json::Value metadata;
    std::string created_at;
    std::string updated_at;
    int64_t example_count = 0;
    int64_t version = 0;
    static constexpr Pack fields{
        Field{"id", &DatasetView::id, "Id for Phoenix' clients; the plain id and the name are accepted as well."},
        Field{"name", &DatasetView::name, "Unique in the space."},
        Field{"description", &DatasetView::description, ""},
        Field{"metadata", &DatasetView::metadata, "An object."},
        Field{"created_at", &DatasetView::created_at, ""},
        Field{"updated_at", &DatasetView::updated_at, "Time of the last change."},
        Field{"example_count", &DatasetView::example_count, "Examples of the newest version."},
        Field{"version", &DatasetView::version, "Number of the newest version."},
    };
};

struct DatasetVersionView {
    std::string version_id;
    std::optional<std::string> description;
    json::Value metadata;
    std::string created_at;
    int64_t number = 0;
    evaluate::VersionSource source = evaluate::VersionSource::upload;
    int64_t created = 0;
    int64_t patched = 0;
    int64_t deleted = 0;
    int64_t example_count = 0;
    std::string created_by;
    static constexpr Pack fields{
        Field{"version_id", &DatasetVersionView::version_id, ""},
        Field{"description", &DatasetVersionView::description, "Note of the one who made it."},
        Field{"metadata", &DatasetVersionView::metadata, "An empty object."},
        Field{"created_at", &DatasetVersionView::created_at, ""},
        Field{"number", &DatasetVersionView::number, "From 1."},
        Field{"source", &DatasetVersionView::source, "Where the examples came from."},
        Field{"created", &DatasetVersionView::created, "Examples that the previous version does not have."},
        Field{"patched", &DatasetVersionView::patched, "Examples with other content than in the previous version."},
        Field{"deleted", &DatasetVersionView::deleted, "Examples of the previous version that this one lacks."},
        Field{"example_count", &DatasetVersionView::example_count, ""},
        Field{"created_by", &DatasetVersionView::created_by, ""},
    };
};

struct ChangeDataset {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<std::map<std::string, json::Value>> metadata;
    static constexpr Pack fields{
        Field{"name", &ChangeDataset::name, ""},
        Field{"description", &ChangeDataset::description, ""},
        Field{"metadata", &ChangeDataset::metadata, "Replaces the metadata."},
    };
};

struct CompareVersions {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> from;
    std::optional<std::string> to;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr Pack fields{
        Field{"space", &CompareVersions::space, "Id or name of the space; the caller's first one if not given."},
        Field{"from", &CompareVersions::from, "Id or number of the first version; the one before `to` if not given."},
        Field{"to", &CompareVersions::to, "Id or number of the second version; the newest one if not given."},
        Field{"limit", &CompareVersions::limit, "Rows in one response, 1 to 1000; 100 if not given."},
        Field{"cursor", &CompareVersions::cursor, "next_cursor of the previous response."},
    };
};

struct RestoreVersion {
    std::string version_id;
    static constexpr Pack fields{
        Field{"version_id", &RestoreVersion::version_id, "Id or number of the version to restore."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

DatasetView dataset_view(const evaluate::Dataset& dataset) {
    return {make_node_id("Dataset", dataset.id),
            dataset.name,
            or_null(dataset.description),
            dataset.metadata,
            phoenix_time(dataset.created_at),
            phoenix_time(dataset.updated_at),
            dataset.example_count,
            dataset.version};
}

DatasetVersionView version_view(const evaluate::DatasetVersion& version) {
    return {make_node_id("DatasetVersion", version.id),
            or_null(version.note),
            json::Object{},
            phoenix_time(version.created_at),
            version.number,
            version.source,
            version.created,
            version.patched,
            version.deleted,
            version.example_count,
            version.created_by};
}

Result<List<DatasetView>> list_datasets(const Call& call, const ListDatasets& query) {
    const auto space = TRY(space_of(call, query.space));
    auto page = TRY(page_of(query.limit, query.cursor));
    // Clients that read one page expect all of them.
    if (!query.limit) page.limit = access::largest_page;
    const auto found = TRY(call.services.evaluate.datasets.list(call.caller, space, query.name, page));
    List<DatasetView> list{{}, found.next_cursor};
    for (const auto& dataset : found.data) list.data.push_back(dataset_view(dataset));
    return list;
}

Result<One<DatasetView>> get_dataset(const Call& call, const GetDataset& query) {
    return One<DatasetView>{dataset_view(TRY(dataset_in_path(call, query.space)))};
}

Result<One<DatasetView>> change_dataset(const Call& call, const InSpace& query, const ChangeDataset& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    evaluate::DatasetChange change{body.name, body.description, {}};
    if (body.metadata) change.metadata = json::to_value(*body.metadata);
    return One<DatasetView>{dataset_view(TRY(call.services.evaluate.datasets.update(call.caller, dataset.id, change)))};
}

Result<NoContent> delete_dataset(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    TRY(call.services.evaluate.experiments.remove_dataset(call.caller, dataset.id));
    call.services.installation.wake_duties();
    return NoContent{};
}

Result<List<DatasetVersionView>> list_dataset_versions(const Call& call, const ListInSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto found =
        TRY(call.services.evaluate.datasets.versions(call.caller, dataset.id, TRY(page_of(query.limit, query.cursor))));
    List<DatasetVersionView> list{{}, found.next_cursor};
    for (const auto& version : found.data) list.data.push_back(version_view(version));
    return list;
}

namespace {

// All examples in one response, however many: read and sent in pieces.
class ExampleStream final : public net::BodySource {
public:
    ExampleStream(evaluate::Datasets& datasets, access::Caller caller, evaluate::DatasetId dataset, int64_t version,
                  std::vector<evaluate::SplitId> splits, std::string head)
        : m_datasets(datasets),
          m_caller(std::move(caller)),
          m_dataset(std::move(dataset)),
          m_version(version),
          m_splits(std::move(splits)),
          m_text(std::move(head)) {}

    Result<std::string> next() override {
        if (m_is_over) return std::string();
        std::string text = std::exchange(m_text, {});
        const auto page = TRY(m_datasets.examples(m_caller, m_dataset, m_version, m_splits, m_after, page_size));
        for (const auto& example : page) {
            if (m_after >= 0) text += ',';
            append_example(example, text);
            m_after = example.position;
        }
        if (static_cast<int64_t>(page.size()) < page_size) {
            text += "]}}";
            m_is_over = true;
        }
        return text;
    }

private:
    static constexpr int64_t page_size = 500;
    evaluate::Datasets& m_datasets;
    const access::Caller m_caller;
    const evaluate::DatasetId m_dataset;
    const int64_t m_version;
    const std::vector<evaluate::SplitId> m_splits;
    std::string m_text;
    int64_t m_after = -1;
    bool m_is_over = false;
};

} // namespace

Result<net::Response> list_examples(const Call& call, const ListExamples& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto version = TRY(version_of(call, dataset.id, query.version_id));
    std::vector<std::string> wanted;
    for (const std::string& split : query.split) wanted.push_back(plain_id("DatasetSplit", split));
    std::vector<evaluate::SplitId> splits;
    json::Array names;
    for (const auto& split : TRY(call.services.evaluate.datasets.find_splits(call.caller, dataset.id, wanted))) {
        splits.push_back(split.id);
        names.push_back(json::Value(split.name));
    }
    std::string head = R"({"data":{"dataset_id":)" + quote_json(make_node_id("Dataset", dataset.id)) +
                       R"(,"version_id":)" + quote_json(make_node_id("DatasetVersion", version.id)) +
                       R"(,"filtered_splits":)" + json::print(names) + R"(,"examples":[)";
    net::Response response;
    response.content_type = "application/json";
    response.stream = std::make_unique<ExampleStream>(call.services.evaluate.datasets, call.caller, dataset.id,
                                                      version.number, std::move(splits), std::move(head));
    return response;
}

Result<List<evaluate::ExampleDifference>> compare_versions(const Call& call, const CompareVersions& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto to = TRY(version_of(call, dataset.id, query.to));
    int64_t from = to.number > 1 ? to.number - 1 : to.number;
    if (query.from) from = TRY(version_of(call, dataset.id, query.from)).number;
    return call.services.evaluate.datasets.difference(call.caller, dataset.id, from, to.number,
                                                      TRY(page_of(query.limit, query.cursor)));
}

Result<One<DatasetVersionView>> restore_version(const Call& call, const InSpace& query, const RestoreVersion& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    const auto version = TRY(version_of(call, dataset.id, body.version_id));
    return One<DatasetVersionView>{
        version_view(TRY(call.services.evaluate.datasets.restore(call.caller, dataset.id, version.number)))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_datasets_table[] = {
    route<list_datasets>("GET", "/v1/datasets", need(dataset_read), "Datasets of a space, newest first.")
        .like_phoenix(),
    route<get_dataset>("GET", "/v1/datasets/{dataset}", need(dataset_read), "A dataset by id or name.").like_phoenix(),
    route<change_dataset>("PATCH", "/v1/datasets/{dataset}", need(dataset_write),
                          "Change the name, description or metadata of a dataset.")
        .like_phoenix(),
    route<delete_dataset>("DELETE", "/v1/datasets/{dataset}", need(dataset_write),
                          "Delete a dataset with its experiments and their traces.")
        .like_phoenix(),
    route<list_dataset_versions>("GET", "/v1/datasets/{dataset}/versions", need(dataset_read),
                                 "Versions of a dataset, newest first.")
        .like_phoenix(),
    route<list_examples>("GET", "/v1/datasets/{dataset}/examples", need(dataset_read),
                         "All examples of a version, oldest first.")
        .raw("application/json")
        .like_phoenix(),
    route<compare_versions>("GET", "/v1/datasets/{dataset}/diff", need(dataset_read),
                            "Examples that two versions have differently.")
        .like_phoenix(),
    route<restore_version>("POST", "/v1/datasets/{dataset}/restore", need(dataset_write),
                           "Make a new version with the examples of an old one.")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_datasets_routes() {
    return phoenix_datasets_table;
}

} // namespace hone::api
