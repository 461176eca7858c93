// The schema of a dataset: what its examples must look like.
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct DatasetSchema {
    std::optional<json::Value> schema;
    static constexpr Pack fields{
        Field{"schema", &DatasetSchema::schema,
              "Object with a JSON Schema for input, output or metadata; null: examples are not compared with one."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<DatasetSchema>> get_dataset_schema(const Call& call, const InSpace& query) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    return One<DatasetSchema>{{TRY(call.services.evaluate.datasets.schema(call.caller, dataset.id))}};
}

Result<One<DatasetSchema>> set_dataset_schema(const Call& call, const InSpace& query, const DatasetSchema& body) {
    const auto dataset = TRY(dataset_in_path(call, query.space, access::Permission::dataset_write));
    TRY(call.services.evaluate.datasets.set_schema(call.caller, dataset.id, body.schema));
    return One<DatasetSchema>{body};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route dataset_schema_table[] = {
    route<get_dataset_schema>("GET", "/v1/datasets/{dataset}/schema", need(dataset_read),
                              "JSON Schemas of the examples of a dataset."),
    route<set_dataset_schema>("PUT", "/v1/datasets/{dataset}/schema", need(dataset_write),
                              "Set or remove the JSON Schemas of the examples; the examples that are there must fit."),
};

} // namespace

std::span<const Route> dataset_schema_routes() {
    return dataset_schema_table;
}

} // namespace hone::api
