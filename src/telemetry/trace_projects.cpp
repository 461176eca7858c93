#include "telemetry/trace_projects.h"

namespace hone::telemetry {

namespace {

constexpr Duration cached_for = std::chrono::seconds(1);
constexpr size_t most_known = 10'000;
constexpr size_t longest_project_name = 100;

} // namespace

Result<ProjectRef> TraceProjects::resolve(const access::Caller& caller, const access::SpaceId& space,
                                          std::string_view wanted_name) {
    const std::string name(truncate_utf8(wanted_name, longest_project_name));
    // What one caller may write another one may not: the cache is per caller.
    const std::string place = caller.actor() + "/" + space.text() + "/" + name;
    const Duration now = m_clock.steady();
    {
        const Lock lock(m_mutex);
        if (const auto found = m_known.find(place); found != m_known.end() && found->second.until > now)
            return found->second.project;
    }
    const access::Project project = TRY(m_access.projects.find_or_create_for_traces(caller, space, name));
    ProjectRef reference = TRY(reference_to(project));
    const Lock lock(m_mutex);
    if (m_known.size() >= most_known) m_known.clear();
    m_known[place] = {reference, now + cached_for};
    return reference;
}

Result<ProjectRef> TraceProjects::reference_to(const access::Project& project) {
    const auto settings = TRY(m_settings.of_project(project.id.text()));
    const auto of_space = TRY(m_settings.of_space(project.space_id.text()));
    ProjectRef reference;
    reference.id = project.id.text();
    reference.retention_days = project.retention_days.value_or(m_default_retention_days);
    reference.sample = settings.sample.value_or(1.0);
    reference.quota = {settings.spans_per_day.value_or(0), settings.bytes_per_day.value_or(0)};
    reference.log_retention_days = settings.log_retention_days.value_or(default_log_retention_days);
    reference.space = project.space_id.text();
    reference.space_quota = {of_space.spans_per_day.value_or(0), of_space.bytes_per_day.value_or(0)};
    // Rules that cannot be read must not let unredacted spans through.
    reference.redactor = TRY(Redactor::make(rules_of(settings.redaction.value_or(RedactionSettings{}))));
    return reference;
}

Result<ProjectRef> TraceProjects::resolve(std::string_view space, std::string_view name) {
    return resolve(access::Caller::system(), access::SpaceId(std::string(space)), name);
}

Result<TraceTarget> TraceProjects::target(const access::Caller& caller, const std::optional<std::string>& space,
                                          const std::string& id_or_name) const {
    const bool is_id = parse_id<access::ProjectTag>(id_or_name).ok();
    const access::SpaceId chosen = is_id && !space ? access::SpaceId() : TRY(m_access.spaces.choose(caller, space));
    if (is_id) {
        const auto project = TRY(m_access.projects.find(caller, chosen, id_or_name, access::Permission::trace_write));
        return TraceTarget{project.space_id, project.name};
    }
    TRY(caller.require(access::Permission::trace_write, chosen));
    return TraceTarget{chosen, id_or_name};
}

Result<SpaceTraceSettings> TraceProjects::space_settings(const access::Caller& caller,
                                                         const access::SpaceId& space) const {
    TRY(caller.require(access::Permission::space_read, space));
    return m_settings.of_space(space.text());
}

Result<> TraceProjects::set_project_settings(const access::Caller& caller, const access::Project& project,
                                             const ProjectTraceSettings& settings) {
    TRY(m_settings.set_project(project.id.text(), settings));
    forget();
    return m_access.audit.record(
        caller,
        {"trace_settings_update", project.space_id, project.id.text(), {{"settings", json::to_value(settings)}}});
}

Result<> TraceProjects::set_space_settings(const access::Caller& caller, const access::SpaceId& space,
                                           const SpaceTraceSettings& settings) {
    TRY(caller.require(access::Permission::space_update, space));
    TRY(m_settings.set_space(space.text(), settings));
    forget();
    return m_access.audit.record(
        caller, {"trace_settings_update", space, space.text(), {{"settings", json::to_value(settings)}}});
}

void TraceProjects::forget() {
    const Lock lock(m_mutex);
    m_known.clear();
}

} // namespace hone::telemetry
