#include "api/families/phoenix/dataset_views.h"

#include "api/families/phoenix/global_id.h"

namespace hone::api {

Result<evaluate::Dataset> dataset_in_path(const Call& call, const std::optional<std::string>& space,
                                          access::Permission permission) {
    const auto where = TRY(space_of(call, space));
    return call.services.evaluate.datasets.find(call.caller, where, plain_id("Dataset", call.at("dataset")),
                                                permission);
}

Result<evaluate::DatasetVersion> version_of(const Call& call, const evaluate::DatasetId& dataset,
                                            const std::optional<std::string>& version_id) {
    evaluate::Datasets& datasets = call.services.evaluate.datasets;
    if (!version_id || version_id->empty()) return datasets.version(call.caller, dataset, evaluate::newest_version);
    if (const auto number = parse_integer(*version_id); number.ok())
        return datasets.version(call.caller, dataset, number.value());
    return datasets.version(call.caller, dataset,
                            TRY(read_node_id<evaluate::DatasetVersionTag>("DatasetVersion", "version", *version_id)));
}

std::string node_id_of(const evaluate::Example& example) {
    return make_node_id("DatasetExample", example.id);
}

void append_example(const evaluate::Example& example, std::string& text) {
    const std::string node = node_id_of(example);
    text += R"({"id":)" + quote_json(example.external_id.value_or(node));
    text += R"(,"node_id":)" + quote_json(node);
    text += R"(,"input":)" + example.input;
    text += R"(,"output":)" + example.output;
    text += R"(,"metadata":)" + example.metadata;
    text += R"(,"updated_at":)" + quote_json(phoenix_time(example.updated_at));
    text += R"(,"source":)";
    if (example.source_span) {
        text += R"({"span_id":)" + quote_json(*example.source_span) + R"(,"span_node_id":)" +
                quote_json(make_global_id(telemetry::EvalTarget::span, example.source_project.value_or(""),
                                          *example.source_span)) +
                "}";
    } else {
        text += "null";
    }
    text += "}";
}

json::Value example_value(const evaluate::Example& example) {
    std::string text;
    append_example(example, text);
    auto value = json::parse(text);
    return value.ok() ? std::move(value).value() : json::Value(json::Object{});
}

UploadedView uploaded_view(const evaluate::Uploaded& done) {
    return {make_node_id("Dataset", done.dataset),
            make_node_id("DatasetVersion", done.version),
            done.created,
            done.updated,
            done.deleted,
            done.redacted};
}

} // namespace hone::api
