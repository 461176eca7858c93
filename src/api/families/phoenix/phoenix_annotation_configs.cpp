// Annotation configs and the projects that use them, in the shapes of Arize Phoenix (ADR 0010).
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/phoenix.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct NewAnnotationLabel {
    static constexpr bool ignores_unknown = true;
    std::string label;
    std::optional<double> score;
    static constexpr Pack fields{
        Field{"label", &NewAnnotationLabel::label, ""},
        Field{"score", &NewAnnotationLabel::score, "Number that stands for the label."},
    };
};

struct WriteAnnotationConfig {
    static constexpr bool ignores_unknown = true;
    std::string name;
    std::string type;
    std::optional<std::string> description;
    std::optional<std::string> optimization_direction;
    std::optional<std::vector<NewAnnotationLabel>> values;
    std::optional<double> lower_bound;
    std::optional<double> upper_bound;
    std::optional<double> threshold;
    static constexpr Pack fields{
        Field{"name", &WriteAnnotationConfig::name, "Name of the annotations; unique in the space."},
        Field{"type", &WriteAnnotationConfig::type, "CATEGORICAL, CONTINUOUS or FREEFORM."},
        Field{"description", &WriteAnnotationConfig::description, ""},
        Field{"optimization_direction", &WriteAnnotationConfig::optimization_direction,
              "MINIMIZE, MAXIMIZE or NONE; can be left out for FREEFORM."},
        Field{"values", &WriteAnnotationConfig::values, "Labels of a CATEGORICAL config."},
        Field{"lower_bound", &WriteAnnotationConfig::lower_bound, "Least score; not of CATEGORICAL."},
        Field{"upper_bound", &WriteAnnotationConfig::upper_bound, "Largest score; not of CATEGORICAL."},
        Field{"threshold", &WriteAnnotationConfig::threshold, "Score that separates good from bad; only of FREEFORM."},
    };
};

struct SetProjectAnnotationConfigs {
    static constexpr bool ignores_unknown = true;
    std::vector<std::string> annotation_config_ids;
    static constexpr Pack fields{
        Field{"annotation_config_ids", &SetProjectAnnotationConfigs::annotation_config_ids,
              "All annotation configs of the project."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

using evaluate::AnnotationConfig, evaluate::AnnotationConfigType;

std::string_view node_type(AnnotationConfigType type) {
    switch (type) {
    case AnnotationConfigType::categorical:
        return "CategoricalAnnotationConfig";
    case AnnotationConfigType::continuous:
        return "ContinuousAnnotationConfig";
    case AnnotationConfigType::freeform:
        break;
    }
    return "FreeformAnnotationConfig";
}

json::Value or_null_number(const std::optional<double>& number) {
    return number ? json::Value(*number) : json::Value(nullptr);
}

// Each type has fields of its own.
json::Value annotation_config_view(const AnnotationConfig& config) {
    const auto& content = config.content;
    json::Object view{{"id", make_node_id(node_type(content.type), config.id)},
                      {"name", content.name},
                      {"type", uppercase(name_of(content.type))}};
    view["description"] = content.description.empty() ? json::Value(nullptr) : json::Value(content.description);
    view["optimization_direction"] =
        content.direction ? json::Value(uppercase(name_of(*content.direction))) : json::Value(nullptr);
    if (content.type == AnnotationConfigType::categorical) {
        json::Array values;
        for (const auto& each : content.labels)
            values.push_back(json::Object{{"label", each.label}, {"score", or_null_number(each.score)}});
        view["values"] = std::move(values);
        return view;
    }
    view["lower_bound"] = or_null_number(content.lower_bound);
    view["upper_bound"] = or_null_number(content.upper_bound);
    if (content.type == AnnotationConfigType::freeform) view["threshold"] = or_null_number(content.threshold);
    return view;
}

List<json::Value> annotation_config_list(const access::Page<AnnotationConfig>& page) {
    List<json::Value> list{{}, page.next_cursor};
    for (const AnnotationConfig& config : page.data) list.data.push_back(annotation_config_view(config));
    return list;
}

// The id of any of the three types; other texts as they are.
std::string plain_config_id(std::string_view text) {
    for (const auto& each : enum_names(AnnotationConfigType{}))
        if (std::string id = plain_id(node_type(each.value), text); id != text) return id;
    return std::string(text);
}

Result<AnnotationConfig> config_in_path(const Call& call, const access::SpaceId& space, access::Permission permission) {
    return call.services.evaluate.annotation_configs.find(call.caller, space,
                                                          plain_config_id(call.at("annotation_config")), permission);
}

Result<evaluate::AnnotationConfigContent> content_of(const WriteAnnotationConfig& body) {
    evaluate::AnnotationConfigContent content;
    content.name = body.name;
    const auto type = parse_enum<AnnotationConfigType>(lowercase_ascii(body.type));
    if (!type) return invalid("type must be CATEGORICAL, CONTINUOUS or FREEFORM");
    content.type = *type;
    content.description = body.description.value_or("");
    if (body.optimization_direction) {
        content.direction = parse_enum<evaluate::ScoreDirection>(lowercase_ascii(*body.optimization_direction));
        if (!content.direction) return invalid("optimization_direction must be MINIMIZE, MAXIMIZE or NONE");
    }
    if (*type == AnnotationConfigType::categorical) {
        if (!body.values) return invalid("values is missing");
        for (const auto& each : *body.values) content.labels.push_back({each.label, each.score});
        return content;
    }
    content.lower_bound = body.lower_bound;
    content.upper_bound = body.upper_bound;
    if (*type == AnnotationConfigType::freeform) content.threshold = body.threshold;
    return content;
}

} // namespace

Result<List<json::Value>> list_annotation_configs(const Call& call, const ListInSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return annotation_config_list(TRY(
        call.services.evaluate.annotation_configs.list(call.caller, space, TRY(page_of(query.limit, query.cursor)))));
}

Result<One<json::Value>> create_annotation_config(const Call& call, const InSpace& query,
                                                  const WriteAnnotationConfig& body) {
    const auto space = TRY(space_of(call, query.space));
    const auto content = TRY(content_of(body));
    return One<json::Value>{
        annotation_config_view(TRY(call.services.evaluate.annotation_configs.create(call.caller, space, content)))};
}

Result<One<json::Value>> get_annotation_config(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    return One<json::Value>{annotation_config_view(TRY(config_in_path(call, space, access::Permission::dataset_read)))};
}

Result<One<json::Value>> replace_annotation_config(const Call& call, const InSpace& query,
                                                   const WriteAnnotationConfig& body) {
    const auto space = TRY(space_of(call, query.space));
    const auto found = TRY(config_in_path(call, space, access::Permission::eval_write));
    const auto content = TRY(content_of(body));
    return One<json::Value>{
        annotation_config_view(TRY(call.services.evaluate.annotation_configs.update(call.caller, found.id, content)))};
}

Result<One<json::Value>> delete_annotation_config(const Call& call, const InSpace& query) {
    const auto space = TRY(space_of(call, query.space));
    const auto found = TRY(config_in_path(call, space, access::Permission::eval_write));
    TRY(call.services.evaluate.annotation_configs.remove(call.caller, found.id));
    return One<json::Value>{annotation_config_view(found)};
}

Result<List<json::Value>> annotation_configs_of_project(const Call& call, const ListInSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    return annotation_config_list(
        TRY(call.services.evaluate.annotation_configs.of_project(project, TRY(page_of(query.limit, query.cursor)))));
}

Result<List<json::Value>> set_annotation_configs_of_project(const Call& call, const InSpace& query,
                                                            const SetProjectAnnotationConfigs& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    auto& configs = call.services.evaluate.annotation_configs;
    std::vector<evaluate::AnnotationConfigId> ids;
    for (const std::string& text : body.annotation_config_ids)
        ids.push_back(TRY(configs.find(call.caller, project.space_id, plain_config_id(text))).id);
    TRY(configs.set_for_project(call.caller, project, ids));
    return annotation_config_list(TRY(configs.of_project(project, {access::largest_page, {}})));
}

Result<One<json::Value>> assign_annotation_config(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    const auto found = TRY(config_in_path(call, project.space_id, access::Permission::dataset_read));
    TRY(call.services.evaluate.annotation_configs.assign(call.caller, project, found));
    return One<json::Value>{annotation_config_view(found)};
}

Result<NoContent> unassign_annotation_config(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::eval_write));
    const auto found = TRY(config_in_path(call, project.space_id, access::Permission::dataset_read));
    TRY(call.services.evaluate.annotation_configs.unassign(call.caller, project, found));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_annotation_configs_table[] = {
    route<list_annotation_configs>("GET", "/v1/annotation_configs", need(dataset_read),
                                   "Annotation configs of a space, newest first.")
        .like_phoenix(),
    route<create_annotation_config>("POST", "/v1/annotation_configs", need(eval_write), "Create an annotation config.")
        .like_phoenix(),
    route<get_annotation_config>("GET", "/v1/annotation_configs/{annotation_config}", need(dataset_read),
                                 "An annotation config by id or name.")
        .like_phoenix(),
    route<replace_annotation_config>("PUT", "/v1/annotation_configs/{annotation_config}", need(eval_write),
                                     "Replace an annotation config.")
        .like_phoenix(),
    route<delete_annotation_config>("DELETE", "/v1/annotation_configs/{annotation_config}", need(eval_write),
                                    "Delete an annotation config; annotations are kept.")
        .like_phoenix(),
    route<annotation_configs_of_project>("GET", "/v1/projects/{project}/annotation_configs", need(project_read),
                                         "Annotation configs of a project, newest first.")
        .like_phoenix(),
    route<set_annotation_configs_of_project>("PUT", "/v1/projects/{project}/annotation_configs", need(eval_write),
                                             "Replace the annotation configs of a project.")
        .like_phoenix(),
    route<assign_annotation_config>("PUT", "/v1/projects/{project}/annotation_configs/{annotation_config}",
                                    need(eval_write), "Add an annotation config to a project.")
        .like_phoenix(),
    route<unassign_annotation_config>("DELETE", "/v1/projects/{project}/annotation_configs/{annotation_config}",
                                      need(eval_write), "Remove an annotation config from a project.")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_annotation_configs_routes() {
    return phoenix_annotation_configs_table;
}

} // namespace hone::api
