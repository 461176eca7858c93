// Everything that a caller can do with spans, as one object: send, query, evaluate, delete. Knows callers and projects,
// which the parts below do not. Built once by server/; thread-safe.
#pragma once

#include "telemetry/guard/sql_guard.h"
#include "telemetry/places.h"
#include "telemetry/query/evals.h"
#include "telemetry/query/span_lookup.h"
#include "telemetry/query/trace_list.h"
#include "telemetry/records/record_store.h"
#include "telemetry/retention/retention.h"
#include "telemetry/telemetry.h"
#include "telemetry/trace_projects.h"

namespace hone::telemetry {

// Which spans of a project to delete.
struct DeleteMatching {
    std::string filter{};
    std::optional<Time> after{};
    std::optional<Time> before{};
    bool all = false; // needed when nothing else narrows it
};

struct Spans {
    Spans(Telemetry& all, TraceProjects& directory, access::Access& access, const Clock& clock)
        : telemetry(all),
          projects(directory),
          evals(all.engine(), clock),
          retention(all.engine(), clock, [&all] { all.loader().forget_sessions(); }),
          lookup(all.engine()),
          lists(all.engine()),
          sql(all.engine()),
          records(all.engine(), clock),
          m_access(access) {}

    // Starts the engine if it does not run; unavailable when it does not start.
    Result<SpanStore*> store() { return telemetry.store(); }
    // Returns when queries see everything that was accepted before this call.
    Result<> wait_until_loaded();
    // One span with everything that arrived about it: log records that were acknowledged are waited for, but not long.
    Result<SpanPayload> payload(const std::string& project, const std::string& trace_id, const std::string& span_id);
    // Whole spans; a page that would be too large is a shorter one.
    Result<PayloadPage> payloads(ListSpans request);
    // The backlog of the whole installation; a run's key may not read it.
    Result<Backlog> backlog(const access::Caller& caller) const;

    // Takes traces into the projects that the caller may write to; `request.projects` and `request.space` are set here.
    Result<IngestResponse> ingest(const access::Caller& caller, const access::SpaceId& space, IngestRequest request);
    // The same for log records, for metrics, and for runs that are sent in parts.
    Result<IngestResponse> ingest_logs(const access::Caller& caller, const access::SpaceId& space,
                                       IngestRequest request);
    Result<IngestResponse> ingest_metrics(const access::Caller& caller, const access::SpaceId& space,
                                          IngestRequest request);
    // Whether the caller may send runs and records to the space.
    Result<> check_sender(const access::Caller& caller, const access::SpaceId& space) const;
    Result<Accepted> ingest_runs(const access::Caller& caller, const access::SpaceId& space, RunParts& runs);

    // Spans, traces or chat sessions that are named without their project, among the projects of the space in which the
    // caller holds the permission. What is not found or not allowed is absent.
    Result<Places> places(const access::Caller& caller, const access::SpaceId& space, EvalTarget target,
                          const std::vector<PlaceName>& names, access::Permission permission);

    // Traces whose spans name one of these versions of a prompt, newest first, in the projects of the space that the
    // caller may read, those of experiments included.
    Result<std::vector<PromptUse>> prompt_uses(const access::Caller& caller, const access::SpaceId& space,
                                               const std::vector<std::string>& versions, Time since, int64_t limit);

    // Deletions; each is in the audit log. `project` was found with the permission trace_delete.
    Result<int64_t> delete_trace(const access::Caller& caller, const access::Project& project,
                                 const std::string& trace);
    Result<> delete_span(const access::Caller& caller, const Place& place);
    Result<> delete_chat_session(const access::Caller& caller, const access::Project& project, const std::string& name);
    Result<int64_t> delete_matching(const access::Caller& caller, const access::Project& project,
                                    const DeleteMatching& which);
    // Callers without trace_delete delete only evals that they wrote.
    Result<int64_t> delete_evals(const access::Caller& caller, const access::Project& project, DeleteEvals which);

    Telemetry& telemetry;
    TraceProjects& projects;
    Evals evals;
    Retention retention;
    SpanLookup lookup;
    TraceList lists;
    SqlGuard sql;
    RecordStore records;

private:
    Result<> audit(const access::Caller& caller, const std::string& action, const access::Project& project,
                   json::Object facts) const;

    access::Access& m_access;
};

} // namespace hone::telemetry
