#include "telemetry/spans.h"

namespace hone::telemetry {

namespace {

constexpr size_t most_page_bytes = 16 << 20;
constexpr Duration load_timeout = std::chrono::seconds(20);
constexpr Duration join_timeout = std::chrono::seconds(2);
constexpr int64_t most_projects_of_space = 100'000;

// The projects of the space in which the caller holds the permission. forbidden when it holds it nowhere.
Result<std::map<std::string, access::Project>> projects_with(access::Access& access, const access::Caller& caller,
                                                             const access::SpaceId& space,
                                                             access::Permission permission,
                                                             bool include_hidden = false) {
    std::map<std::string, access::Project> allowed;
    // A key may hold the permission without being allowed to list projects.
    const auto all =
        TRY(access.projects.list(access::Caller::system(), space, {}, {most_projects_of_space, {}}, include_hidden));
    for (const access::Project& project : all.data) {
        const auto permissions = TRY(access.projects.permissions_in(caller, project));
        if (permissions.has(permission)) allowed.emplace(project.id.text(), project);
    }
    if (allowed.empty()) TRY(caller.require(permission, space));
    return allowed;
}

Result<std::vector<FoundPlace>> look_up(SpanLookup& lookup, EvalTarget target, const std::vector<std::string>& projects,
                                        const std::vector<std::string>& ids) {
    switch (target) {
    case EvalTarget::span:
        return lookup.spans(projects, ids);
    case EvalTarget::trace:
        return lookup.traces(projects, ids);
    case EvalTarget::chat_session:
        return lookup.chat_sessions(projects, ids);
    }
    return std::vector<FoundPlace>{};
}

} // namespace

Result<> Spans::wait_until_loaded() {
    TRY(telemetry.store());
    if (!telemetry.loader().wait_loaded(telemetry.log_stats().next_sequence, load_timeout))
        return unavailable("accepted spans are not loaded yet; try again");
    return {};
}

Result<SpanPayload> Spans::payload(const std::string& project, const std::string& trace_id,
                                   const std::string& span_id) {
    SpanStore* const spans = TRY(store());
    const auto trace = from_hex(trace_id);
    if (trace.ok() && !telemetry.parts().is_empty())
        telemetry.parts().await_trace(project, trace.value(), join_timeout);
    return spans->span_payload(project, trace_id, span_id);
}

Result<PayloadPage> Spans::payloads(ListSpans request) {
    SpanStore* const spans = TRY(store());
    for (;;) {
        const bool last_try = request.limit <= 1;
        auto page = spans->list_payloads(request, last_try ? 8 * most_page_bytes : most_page_bytes);
        if (page.ok() || page.error().code != Code::too_large || last_try) return page;
        request.limit = std::max<size_t>(1, request.limit / 4);
    }
}

Result<Backlog> Spans::backlog(const access::Caller& caller) const {
    if (!caller.run.empty()) return forbidden("the key of a run reads its own project only");
    return telemetry.backlog();
}

Result<IngestResponse> Spans::ingest(const access::Caller& caller, const access::SpaceId& space,
                                     IngestRequest request) {
    TRY(caller.require(access::Permission::trace_write, space));
    CallersProjects of_caller(projects, caller, space);
    request.space = space.text();
    request.projects = &of_caller;
    return telemetry.ingest(request);
}

Result<IngestResponse> Spans::ingest_logs(const access::Caller& caller, const access::SpaceId& space,
                                          IngestRequest request) {
    TRY(caller.require(access::Permission::trace_write, space));
    CallersProjects of_caller(projects, caller, space);
    request.space = space.text();
    request.projects = &of_caller;
    return telemetry.records().respond_logs(request);
}

Result<IngestResponse> Spans::ingest_metrics(const access::Caller& caller, const access::SpaceId& space,
                                             IngestRequest request) {
    TRY(caller.require(access::Permission::trace_write, space));
    CallersProjects of_caller(projects, caller, space);
    request.space = space.text();
    request.projects = &of_caller;
    return telemetry.records().respond_metrics(request);
}

Result<> Spans::check_sender(const access::Caller& caller, const access::SpaceId& space) const {
    return caller.require(access::Permission::trace_write, space);
}

Result<Accepted> Spans::ingest_runs(const access::Caller& caller, const access::SpaceId& space, RunParts& runs) {
    TRY(caller.require(access::Permission::trace_write, space));
    CallersProjects of_caller(projects, caller, space);
    return telemetry.records().take_runs(runs, space.text(), "", &of_caller);
}

Result<Places> Spans::places(const access::Caller& caller, const access::SpaceId& space, EvalTarget target,
                             const std::vector<PlaceName>& names, access::Permission permission) {
    auto allowed = TRY(projects_with(m_access, caller, space, permission));
    TRY(wait_until_loaded());
    std::multimap<std::string, const PlaceName*> wanted; // by id
    std::vector<std::string> ids;
    for (const PlaceName& name : names) {
        // A name with its project may lead into another space of the caller's.
        if (!name.project.empty() && !allowed.contains(name.project)) {
            auto project = m_access.projects.find(caller, {}, name.project, permission);
            if (!project.ok() && project.error().code != Code::not_found) return std::move(project).error();
            if (project.ok()) allowed.emplace(name.project, std::move(project).value());
        }
        ids.push_back(name.id);
        wanted.emplace(name.id, &name);
    }
    std::vector<std::string> among;
    for (const auto& [id, project] : allowed) among.push_back(id);
    Places places;
    const auto all = TRY(look_up(lookup, target, among, ids));
    for (const FoundPlace& found : all) {
        const auto [first, last] = wanted.equal_range(found.id);
        for (auto each = first; each != last; ++each) {
            const PlaceName& name = *each->second;
            const bool fits =
                name.project.empty() ? allowed.at(found.project).space_id == space : name.project == found.project;
            // The one used last comes first and stays.
            if (fits) places.try_emplace(name.text, Place{allowed.at(found.project), found.id, found.trace_id});
        }
    }
    return places;
}

Result<std::vector<PromptUse>> Spans::prompt_uses(const access::Caller& caller, const access::SpaceId& space,
                                                  const std::vector<std::string>& versions, Time since, int64_t limit) {
    std::vector<std::string> among;
    for (const auto& [id, project] :
         TRY(projects_with(m_access, caller, space, access::Permission::project_read, true)))
        among.push_back(id);
    TRY(store());
    return lookup.prompt_uses(among, versions, to_ns(since), limit);
}

Result<> Spans::audit(const access::Caller& caller, const std::string& action, const access::Project& project,
                      json::Object facts) const {
    return m_access.audit.record(caller, {action, project.space_id, project.id.text(), std::move(facts)});
}

Result<int64_t> Spans::delete_trace(const access::Caller& caller, const access::Project& project,
                                    const std::string& trace) {
    const int64_t deleted = TRY(retention.delete_traces(project.id.text(), {trace}));
    if (deleted > 0) TRY(audit(caller, "trace_delete", project, {{"trace", trace}, {"spans", deleted}}));
    return deleted;
}

Result<> Spans::delete_span(const access::Caller& caller, const Place& place) {
    TRY(retention.delete_spans(place.project.id.text(), {place.id}));
    return audit(caller, "span_delete", place.project, {{"span", place.id}, {"trace", place.trace_id}});
}

Result<> Spans::delete_chat_session(const access::Caller& caller, const access::Project& project,
                                    const std::string& name) {
    const auto traces = TRY(lookup.traces_of_sessions(project.id.text(), {name}));
    const int64_t deleted = TRY(retention.delete_session(project.id.text(), name, traces));
    return audit(
        caller, "session_delete", project,
        {{"session", truncate_utf8(name, 200)}, {"traces", static_cast<int64_t>(traces.size())}, {"spans", deleted}});
}

Result<int64_t> Spans::delete_matching(const access::Caller& caller, const access::Project& project,
                                       const DeleteMatching& which) {
    const bool is_narrow = !trim(which.filter).empty() || which.after || which.before;
    if (!is_narrow && !which.all) return invalid("delete needs a filter, after or before, or all");
    TRY(wait_until_loaded());
    const int64_t deleted =
        TRY(retention.delete_matching(project.id.text(), which.filter, which.after ? to_ns(*which.after) : 0,
                                      which.before ? to_ns(*which.before) : INT64_MAX));
    TRY(audit(caller, "span_delete", project, {{"filter", truncate_utf8(which.filter, 500)}, {"spans", deleted}}));
    return deleted;
}

Result<int64_t> Spans::delete_evals(const access::Caller& caller, const access::Project& project, DeleteEvals which) {
    which.project = project.id.text();
    const auto permissions = TRY(m_access.projects.permissions_in(caller, project));
    if (!permissions.has(access::Permission::trace_delete)) which.annotator = caller.principal();
    TRY(store());
    const int64_t removed = TRY(evals.remove(which));
    if (removed > 0)
        TRY(audit(caller, "eval_delete", project, {{"target", name_of(which.target)}, {"evals", removed}}));
    return removed;
}

} // namespace hone::telemetry
