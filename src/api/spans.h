// What the API needs of telemetry: the spans themselves, evals, deletion, SQL, and the projects that traces are sent
// to. Built once by server/; thread-safe.
#pragma once

#include "access/access.h"
#include "base/mutex.h"
#include "telemetry/guard/sql_guard.h"
#include "telemetry/ingest/trace_settings.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/retention.h"
#include "telemetry/query/span_lookup.h"
#include "telemetry/query/trace_list.h"
#include "telemetry/telemetry.h"

#include <string>
#include <unordered_map>

namespace hone::api {

// Finds the project that a caller sends traces to, and makes it on first use. What was found is believed for a second,
// so that a busy sender does not ask the database for each request.
class TraceProjects final : public telemetry::ProjectDirectory {
public:
    TraceProjects(access::Access& access, sql::Database& database, const Clock& clock, int64_t default_retention_days)
        : m_access(access),
          m_settings(database, clock),
          m_clock(clock),
          m_default_retention_days(default_retention_days) {}

    Result<telemetry::ProjectRef> resolve(const access::Caller& caller, const access::SpaceId& space,
                                          std::string_view name);
    // For the installation itself.
    Result<telemetry::ProjectRef> resolve(std::string_view space, std::string_view name) override;
    // A project was deleted or changed.
    void forget();

    int64_t default_retention_days() const { return m_default_retention_days; }
    // After a change call forget().
    telemetry::TraceSettings& settings() { return m_settings; }

private:
    struct Known {
        telemetry::ProjectRef project;
        Duration until{};
    };

    Result<telemetry::ProjectRef> reference_to(const access::Project& project);

    access::Access& m_access;
    telemetry::TraceSettings m_settings;
    const Clock& m_clock;
    const int64_t m_default_retention_days;
    Mutex m_mutex;
    std::unordered_map<std::string, Known> m_known GUARDED_BY(m_mutex);
};

// The projects as one caller may write them; lives as long as a request.
class CallersProjects final : public telemetry::ProjectDirectory {
public:
    CallersProjects(TraceProjects& projects, const access::Caller& caller, const access::SpaceId& space)
        : m_projects(projects),
          m_caller(caller),
          m_space(space) {}
    Result<telemetry::ProjectRef> resolve(std::string_view, std::string_view name) override {
        return m_projects.resolve(m_caller, m_space, name);
    }

private:
    TraceProjects& m_projects;
    const access::Caller& m_caller;
    const access::SpaceId& m_space;
};

struct Spans {
    Spans(telemetry::Telemetry& all, TraceProjects& directory, const Clock& clock)
        : telemetry(all),
          projects(directory),
          evals(all.engine(), clock),
          retention(all.engine(), clock),
          lookup(all.engine()),
          lists(all.engine()),
          sql(all.engine()) {}

    telemetry::Telemetry& telemetry;
    TraceProjects& projects;
    telemetry::Evals evals;
    telemetry::Retention retention;
    telemetry::SpanLookup lookup;
    telemetry::TraceList lists;
    telemetry::SqlGuard sql;
};

} // namespace hone::api
