// Quotas, retention by bytes, sampling and redaction; disk use.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "evaluate/evaluate.h"
#include "signal/signal.h"
#include "telemetry/retention/kept_traces.h"
#include "telemetry/spans.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct UseToday {
    int64_t spans = 0;
    int64_t bytes = 0;
    static constexpr Pack fields{
        Field{"spans", &UseToday::spans, "Counted only while there is a limit."},
        Field{"bytes", &UseToday::bytes, ""},
    };
};

struct ProjectTraceSettingsView {
    telemetry::ProjectTraceSettings settings;
    UseToday used_today;
    static constexpr Pack fields{
        Field{"settings", &ProjectTraceSettingsView::settings, ""},
        Field{"used_today", &ProjectTraceSettingsView::used_today, "Usage since midnight (UTC)."},
    };
};

struct SpaceTraceSettingsView {
    telemetry::SpaceTraceSettings settings;
    UseToday used_today;
    static constexpr Pack fields{
        Field{"settings", &SpaceTraceSettingsView::settings, ""},
        Field{"used_today", &SpaceTraceSettingsView::used_today, "Usage since midnight (UTC)."},
    };
};

struct DiskView {
    int64_t spans = 0;
    int64_t bytes = 0;
    std::optional<Time> oldest;
    std::optional<Time> newest;
    int64_t retention_days = 0;
    int64_t kept_by_people = 0;
    int64_t kept_by_people_limit = telemetry::most_kept_by_people;
    int64_t kept_by_datasets = 0;
    int64_t kept_by_issues = 0;
    static constexpr Pack fields{
        Field{"spans", &DiskView::spans, ""},
        Field{"bytes", &DiskView::bytes, "The project's share of the compressed parts."},
        Field{"oldest", &DiskView::oldest, "Start of the oldest span."},
        Field{"newest", &DiskView::newest, "Start of the newest span."},
        Field{"retention_days", &DiskView::retention_days, "Days before spans are deleted; 0: never."},
        Field{"kept_by_people", &DiskView::kept_by_people,
              "Spans, traces and chat sessions that people evaluated: their traces stay."},
        Field{"kept_by_people_limit", &DiskView::kept_by_people_limit,
              "Of each of the three kinds, the last so many evaluated ones count."},
        Field{"kept_by_datasets", &DiskView::kept_by_datasets,
              "Traces that examples of datasets come from: they stay."},
        Field{"kept_by_issues", &DiskView::kept_by_issues, "Traces that are evidence of issues: they stay."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<One<DiskView>> get_disk(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    TRY(call.services.spans.store());
    telemetry::Spans& spans = call.services.spans;
    DiskView view;
    view.retention_days = project.retention_days.value_or(spans.projects.default_retention_days());
    for (const auto& use : TRY(spans.retention.disk_use())) {
        if (use.project != project.id.text()) continue;
        view.spans = use.spans;
        view.bytes = use.bytes;
        view.oldest = from_ns(use.oldest_ns);
        view.newest = from_ns(use.newest_ns);
    }
    view.kept_by_people = TRY(telemetry::count_evaluated_by_people(spans.telemetry.engine(), project.id.text()));
    const auto of_project = [&](const std::map<std::string, std::vector<std::string>>& traces) {
        const auto found = traces.find(project.id.text());
        return found == traces.end() ? int64_t{0} : static_cast<int64_t>(found->second.size());
    };
    view.kept_by_datasets = of_project(TRY(call.services.evaluate.datasets.source_traces()));
    view.kept_by_issues = of_project(TRY(call.services.signal.issues.evidence_traces()));
    return One<DiskView>{std::move(view)};
}

namespace {

UseToday used_today(const telemetry::Spans& spans, const std::string& owner) {
    const auto used = spans.telemetry.quotas().used_today(owner);
    return {used.spans, used.bytes};
}

Result<One<ProjectTraceSettingsView>> settings_of(telemetry::Spans& spans, const access::Project& project) {
    return One<ProjectTraceSettingsView>{
        {TRY(spans.projects.settings().of_project(project.id.text())), used_today(spans, project.id.text())}};
}

Result<One<SpaceTraceSettingsView>> settings_of(const Call& call, const access::SpaceId& space) {
    telemetry::Spans& spans = call.services.spans;
    return One<SpaceTraceSettingsView>{
        {TRY(spans.projects.space_settings(call.caller, space)), used_today(spans, space.text())}};
}

} // namespace

Result<One<ProjectTraceSettingsView>> get_project_trace_settings(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    return settings_of(call.services.spans, project);
}

Result<One<ProjectTraceSettingsView>> put_project_trace_settings(const Call& call, const InSpace& query,
                                                                 const telemetry::ProjectTraceSettings& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    TRY(call.services.spans.projects.set_project_settings(call.caller, project, body));
    return settings_of(call.services.spans, project);
}

Result<One<SpaceTraceSettingsView>> get_space_trace_settings(const Call& call) {
    const auto space = TRY(call.access().spaces.find(call.caller, call.at("space")));
    return settings_of(call, space.id);
}

Result<One<SpaceTraceSettingsView>> put_space_trace_settings(const Call& call,
                                                             const telemetry::SpaceTraceSettings& body) {
    const auto space = TRY(call.access().spaces.find(call.caller, call.at("space")));
    TRY(call.services.spans.projects.set_space_settings(call.caller, space.id, body));
    return settings_of(call, space.id);
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route trace_settings_table[] = {
    route<get_project_trace_settings>(
        "GET", "/v1/projects/{project}/trace_settings", need(project_read),
        "Trace settings of a project: quotas, retention by bytes, sampling and redaction."),
    route<put_project_trace_settings>("PUT", "/v1/projects/{project}/trace_settings", need(project_update),
                                      "Replace the trace settings; omitted fields are unset."),
    route<get_space_trace_settings>("GET", "/v1/spaces/{space}/trace_settings", need(space_read),
                                    "Quotas of a space, for all its projects together."),
    route<put_space_trace_settings>("PUT", "/v1/spaces/{space}/trace_settings", need(space_update),
                                    "Replace the trace settings; omitted fields are unset."),
    route<get_disk>("GET", "/v1/projects/{project}/disk", need(project_read), "Disk use of the project's spans.")
        .on(net::Lane::query),
};

} // namespace

std::span<const Route> trace_settings_routes() {
    return trace_settings_table;
}

} // namespace hone::api
