#include "api/span_handlers.h"

namespace hone::api {

namespace {

UseToday used_today(const Spans& spans, const std::string& owner) {
    const auto used = spans.telemetry.quotas().used_today(owner);
    return {used.spans, used.bytes};
}

Result<One<ProjectTraceSettingsView>> view_of(Spans& spans, const access::Project& project) {
    return One<ProjectTraceSettingsView>{
        {TRY(spans.projects.settings().of_project(project.id.text())), used_today(spans, project.id.text())}};
}

Result<One<SpaceTraceSettingsView>> view_of(Spans& spans, const access::Space& space) {
    return One<SpaceTraceSettingsView>{
        {TRY(spans.projects.settings().of_space(space.id.text())), used_today(spans, space.id.text())}};
}

} // namespace

Result<One<ProjectTraceSettingsView>> get_project_trace_settings(const Call& call, const InSpace& query) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_read));
    return view_of(*TRY(spans_of(call)), project);
}

Result<One<ProjectTraceSettingsView>> put_project_trace_settings(const Call& call, const InSpace& query,
                                                                 const telemetry::ProjectTraceSettings& body) {
    const auto project = TRY(project_in_path(call, query.space, access::Permission::project_update));
    Spans& spans = *TRY(spans_of(call));
    TRY(spans.projects.settings().set_project(project.id.text(), body));
    spans.projects.forget();
    TRY(call.access().audit.record(
        call.caller,
        {"trace_settings_update", project.space_id, project.id.text(), {{"settings", json::to_value(body)}}}));
    return view_of(spans, project);
}

Result<One<SpaceTraceSettingsView>> get_space_trace_settings(const Call& call) {
    const auto space = TRY(call.access().spaces.find(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_read, space.id));
    return view_of(*TRY(spans_of(call)), space);
}

Result<One<SpaceTraceSettingsView>> put_space_trace_settings(const Call& call,
                                                             const telemetry::SpaceTraceSettings& body) {
    const auto space = TRY(call.access().spaces.find(call.caller, call.at("space")));
    TRY(call.caller.require(access::Permission::space_update, space.id));
    Spans& spans = *TRY(spans_of(call));
    TRY(spans.projects.settings().set_space(space.id.text(), body));
    spans.projects.forget();
    TRY(call.access().audit.record(
        call.caller, {"trace_settings_update", space.id, space.id.text(), {{"settings", json::to_value(body)}}}));
    return view_of(spans, space);
}

} // namespace hone::api
