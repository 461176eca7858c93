#include "cli/scope.h"

#include "cli/view.h"

namespace hone::cli {

Query space_query(const Context& context) {
    return {{"space", context.value_or_empty("--space")}};
}

Result<std::string> current_space(const Context& context) {
    if (auto given = context.parsed.value("--space"); given && !given->empty()) return *given;
    const json::Value me = TRY(context.remote.get("/v1/me"));
    const json::Value* key = me.is_object() ? me.get_object().if_contains("key") : nullptr;
    std::string space = key != nullptr ? text_of(*key, "space_id") : "";
    if (space.empty()) return context.usage("it is not clear which space is meant; give --space");
    return space;
}

Result<std::string> wanted_project(const Context& context) {
    std::string project = context.value_or_empty("PROJECT");
    if (!context.parsed.has("--space") || project.starts_with("project_")) return project;
    const json::Value found = TRY(context.remote.get(path_of("/v1/projects", {project}), space_query(context)));
    return text_of(found, "id");
}

} // namespace hone::cli
