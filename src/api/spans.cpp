#include "api/spans.h"

namespace hone::api {

namespace {

constexpr Duration belief = std::chrono::seconds(1);
constexpr size_t most_known = 10'000;
constexpr size_t longest_name = 100; // of a project

} // namespace

Result<telemetry::ProjectRef> TraceProjects::resolve(const access::Caller& caller, const access::SpaceId& space,
                                                     std::string_view wanted_name) {
    const std::string name(truncate_utf8(wanted_name, longest_name));
    // What one caller may write is no answer for another one.
    const std::string place = caller.actor() + "/" + space.text() + "/" + name;
    const Duration now = m_clock.steady();
    {
        const Lock lock(m_mutex);
        if (const auto found = m_known.find(place); found != m_known.end() && found->second.until > now)
            return found->second.project;
    }
    const access::Project project = TRY(m_access.projects.find_or_create_for_traces(caller, space, name));
    telemetry::ProjectRef reference = TRY(reference_to(project));
    const Lock lock(m_mutex);
    if (m_known.size() >= most_known) m_known.clear();
    m_known[place] = {reference, now + belief};
    return reference;
}

Result<telemetry::ProjectRef> TraceProjects::reference_to(const access::Project& project) {
    const auto settings = TRY(m_settings.of_project(project.id.text()));
    const auto of_space = TRY(m_settings.of_space(project.space_id.text()));
    telemetry::ProjectRef reference;
    reference.id = project.id.text();
    reference.retention_days = project.retention_days.value_or(m_default_retention_days);
    reference.sample = settings.sample.value_or(1.0);
    reference.quota = {settings.spans_per_day.value_or(0), settings.bytes_per_day.value_or(0)};
    reference.space = project.space_id.text();
    reference.space_quota = {of_space.spans_per_day.value_or(0), of_space.bytes_per_day.value_or(0)};
    // Rules that cannot be read must not let through what they were to take out.
    if (settings.redaction) reference.redactor = TRY(telemetry::Redactor::make(rules_of(*settings.redaction)));
    return reference;
}

Result<telemetry::ProjectRef> TraceProjects::resolve(std::string_view space, std::string_view name) {
    return resolve(access::Caller::system(), access::SpaceId(std::string(space)), name);
}

void TraceProjects::forget() {
    const Lock lock(m_mutex);
    m_known.clear();
}

} // namespace hone::api
