// The projects that traces are sent to, with the settings that ingestion needs: retention, quotas, sampling, redaction.
// Built once by server/; thread-safe.
#pragma once

#include "access/access.h"
#include "base/mutex.h"
#include "telemetry/ingest/ingest.h"
#include "telemetry/ingest/trace_settings.h"

#include <string>
#include <unordered_map>

namespace hone::telemetry {

// Where spans go that come one request at a time (POST …/spans, imports).
struct TraceTarget {
    access::SpaceId space;
    std::string project; // its name
};

// Finds the project that a caller sends traces to, and creates it on first use. A result is cached for a second, so
// that a busy sender does not cost a database query per request.
class TraceProjects final : public ProjectDirectory {
public:
    TraceProjects(access::Access& access, sql::Database& database, const Clock& clock, int64_t default_retention_days)
        : m_access(access),
          m_settings(database, clock),
          m_clock(clock),
          m_default_retention_days(default_retention_days) {}

    Result<ProjectRef> resolve(const access::Caller& caller, const access::SpaceId& space, std::string_view name);
    // For the installation itself.
    Result<ProjectRef> resolve(std::string_view space, std::string_view name) override;
    // A project by its id must exist; one by its name is created on first use, as with traces. `space`: id or name.
    Result<TraceTarget> target(const access::Caller& caller, const std::optional<std::string>& space,
                               const std::string& id_or_name) const;
    // Drops the cache: a project was deleted or changed.
    void forget();

    int64_t default_retention_days() const { return m_default_retention_days; }
    const TraceSettings& settings() const { return m_settings; }
    Result<SpaceTraceSettings> space_settings(const access::Caller& caller, const access::SpaceId& space) const;
    // Replaces them. `project` was found with project_update; the caller needs space_update in the space.
    Result<> set_project_settings(const access::Caller& caller, const access::Project& project,
                                  const ProjectTraceSettings& settings);
    Result<> set_space_settings(const access::Caller& caller, const access::SpaceId& space,
                                const SpaceTraceSettings& settings);

private:
    struct Known {
        ProjectRef project;
        Duration until{};
    };

    Result<ProjectRef> reference_to(const access::Project& project);

    access::Access& m_access;
    TraceSettings m_settings;
    const Clock& m_clock;
    const int64_t m_default_retention_days;
    Mutex m_mutex;
    std::unordered_map<std::string, Known> m_known GUARDED_BY(m_mutex);
};

// The projects as one caller may write them; lives as long as a request.
class CallersProjects final : public ProjectDirectory {
public:
    CallersProjects(TraceProjects& projects, const access::Caller& caller, const access::SpaceId& space)
        : m_projects(projects),
          m_caller(caller),
          m_space(space) {}
    Result<ProjectRef> resolve(std::string_view, std::string_view name) override {
        return m_projects.resolve(m_caller, m_space, name);
    }

private:
    TraceProjects& m_projects;
    const access::Caller& m_caller;
    const access::SpaceId& m_space;
};

} // namespace hone::telemetry
