#include "cli/toolkit/scope.h"

#include "base/text.h"
#include "cli/remote/view.h"

namespace hone::cli {

Query space_query(const Context& context) {
    return {{"space", context.value_or_empty("--space")}};
}

Result<json::Value> send_in_space(const Context& context, std::string method, std::string path,
                                  std::optional<json::Value> body) {
    return TRY(context.remote.call({.method = std::move(method),
                                    .path = std::move(path),
                                    .query = space_query(context),
                                    .body = std::move(body)}))
        .data;
}

Result<std::string> current_space(const Context& context) {
    if (auto given = context.parsed.value("--space"); given && !given->empty()) return *given;
    const json::Value me = TRY(context.remote.get("/v1/me"));
    const json::Value* key = me.is_object() ? me.get_object().if_contains("key") : nullptr;
    std::string space = key != nullptr ? text_of(*key, "space_id") : "";
    if (space.empty()) return context.usage("the space is ambiguous; give --space");
    return space;
}

Result<std::string> wanted_project(const Context& context) {
    std::string project = context.value_or_empty("PROJECT");
    if (!context.parsed.has("--space") || project.starts_with("project_")) return project;
    const json::Value found = TRY(context.remote.get(path_of("/v1/projects", {project}), space_query(context)));
    return text_of(found, "id");
}

Result<std::string> moment(const Context& context, std::string_view option) {
    const auto text = context.parsed.value(option);
    if (!text) return std::string();
    if (const auto ago = parse_duration_ns(*text); ago.ok() && ago.value() >= 0)
        return to_text(context.clock.now() - Duration(ago.value()));
    const auto time = parse_time(*text);
    if (!time.ok()) return context.usage(std::string(option) + " must be an RFC 3339 time, or a duration such as 2h");
    return to_text(time.value());
}

Option provider_option(std::string_view doc) {
    return {
        .name = "--provider", .value = "PROVIDER", .doc = doc, .choices = {"local", "kubernetes", "claude-managed"}};
}

Option project_option() {
    return {.name = "--project",
            .value = "PROJECT",
            .doc = "Id or name of the project; also HONE_PROJECT. Default: the only one of the space.",
            .short_name = "-p"};
}

std::vector<Option> span_options() {
    return {
        project_option(),
        {.name = "--filter",
         .value = "FILTER",
         .doc = "Filter, such as: status = error and latency > 2s. hone fields lists the fields.",
         .short_name = "-q"},
        {.name = "--after", .value = "TIME", .doc = "Start of the range: a time, or a duration before now such as 2h."},
        {.name = "--before", .value = "TIME", .doc = "End of the range: a time, or a duration before now."},
    };
}

Result<std::string> span_project(const Context& context) {
    if (auto given = context.parsed.value("--project"); given && !given->empty()) return *given;
    if (auto given = context.environment("HONE_PROJECT"); given && !given->empty()) return *given;
    Query query = space_query(context);
    query.emplace_back("limit", "2");
    const Items projects = TRY(context.remote.list_whole("/v1/projects", std::move(query)));
    if (projects.items.size() == 1) return text_of(projects.items.front(), "id");
    const bool none = projects.items.empty();
    return context.fail(Exit::usage, none ? "the space has no project" : "there are several projects",
                        none
                            ? "a project is created with the first trace of an application, or with hone project create"
                            : "choose one with --project NAME or HONE_PROJECT; hone project list shows all");
}

Result<std::string> span_path(const Context& context, const std::vector<std::string>& rest) {
    return path_of(path_of("/v1/projects", {TRY(span_project(context))}), rest);
}

Result<Query> span_query(const Context& context) {
    Query query = space_query(context);
    query.emplace_back("filter", context.value_or_empty("--filter"));
    query.emplace_back("after", TRY(moment(context, "--after")));
    query.emplace_back("before", TRY(moment(context, "--before")));
    return query;
}

// The route takes ids only; a name is looked up in the space.
Result<std::string> id_by_name(const Context& context, const std::string& route, const std::string& prefix,
                               const std::string& what, const std::string& given) {
    if (given.starts_with(prefix) && is_ulid(std::string_view(given).substr(prefix.size()))) return given;
    Query query = space_query(context);
    query.push_back({"limit", "1000"});
    const json::Value list = TRY(context.remote.get(route, std::move(query)));
    if (list.is_array())
        for (const json::Value& each : list.get_array())
            if (text_of(each, "name") == given) return text_of(each, "id");
    return context.fail(Exit::not_found, "there is no " + what + " named " + given, "hone " + what + " list shows all");
}

} // namespace hone::cli
