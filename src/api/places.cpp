#include "api/places.h"

#include "api/global_id.h"

namespace hone::api {

namespace {

using telemetry::EvalTarget;

constexpr Duration load_patience = std::chrono::seconds(20);
constexpr int64_t most_projects = 100'000;

// The projects of the space in which the caller holds the permission. forbidden when it holds it nowhere.
Result<std::map<std::string, access::Project>> projects_with(const Call& call, const access::SpaceId& space,
                                                             access::Permission permission) {
    std::map<std::string, access::Project> allowed;
    // A key may hold the permission without being allowed to list projects.
    const auto all = TRY(call.access().projects.list(access::Caller::system(), space, {}, {most_projects, {}}));
    for (const access::Project& project : all.data)
        if (TRY(call.access().projects.permissions_in(call.caller, project)).has(permission))
            allowed.emplace(project.id.text(), project);
    if (allowed.empty()) TRY(call.caller.require(permission, space));
    return allowed;
}

Result<std::vector<telemetry::Found>> ask(telemetry::SpanLookup& lookup, EvalTarget target,
                                          const std::vector<std::string>& projects,
                                          const std::vector<std::string>& ids) {
    switch (target) {
    case EvalTarget::span:
        return lookup.spans(projects, ids);
    case EvalTarget::trace:
        return lookup.traces(projects, ids);
    case EvalTarget::chat_session:
        return lookup.chat_sessions(projects, ids);
    }
    return std::vector<telemetry::Found>{};
}

} // namespace

std::string_view plain_name(EvalTarget target) {
    return target == EvalTarget::chat_session ? "session" : name_of(target);
}

Result<> wait_until_loaded(const Call& call) {
    auto& telemetry = TRY(spans_of(call))->telemetry;
    TRY(telemetry.store());
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, load_patience))
        return unavailable("spans are still on their way to the engine; try again");
    return {};
}

Result<Places> find_places(const Call& call, const std::optional<std::string>& space_name, EvalTarget target,
                           const std::vector<std::string>& texts, access::Permission permission) {
    const auto space = TRY(call.access().spaces.choose(call.caller, space_name));
    auto allowed = TRY(projects_with(call, space, permission));
    TRY(wait_until_loaded(call));
    std::multimap<std::string, std::pair<std::string, std::string>> wanted; // id -> text, project or nothing
    std::vector<std::string> ids;
    for (const std::string& text : texts) {
        const auto global = parse_global_id(target, text);
        // A GlobalID may lead into another space of the caller's.
        if (global && !allowed.contains(global->project)) {
            auto project = call.access().projects.find(call.caller, {}, global->project, permission);
            if (!project.ok() && project.error().code != Code::not_found) return std::move(project).error();
            if (project.ok()) allowed.emplace(global->project, std::move(project).value());
        }
        ids.push_back(global ? global->id : text);
        wanted.emplace(ids.back(), std::pair{text, global ? global->project : std::string()});
    }
    std::vector<std::string> projects;
    for (const auto& [id, project] : allowed) projects.push_back(id);
    Places places;
    for (const auto& found : TRY(ask(TRY(spans_of(call))->lookup, target, projects, ids))) {
        const auto [first, last] = wanted.equal_range(found.id);
        for (auto each = first; each != last; ++each) {
            const auto& [text, project] = each->second;
            const bool fits = project.empty() ? allowed.at(found.project).space_id == space : project == found.project;
            // The one used last comes first and stays.
            if (fits) places.try_emplace(text, Place{allowed.at(found.project), found.id, found.trace_id});
        }
    }
    return places;
}

Result<Place> find_place(const Call& call, const std::optional<std::string>& space, EvalTarget target,
                         const std::string& text, access::Permission permission) {
    auto places = TRY(find_places(call, space, target, {text}, permission));
    if (places.empty()) return not_found(std::string(plain_name(target)) + " " + std::string(truncate_utf8(text, 100)));
    return std::move(places.begin()->second);
}

} // namespace hone::api
