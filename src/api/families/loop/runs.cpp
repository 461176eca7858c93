// Runs: start, follow, talk to, cancel.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/run_followers.h"
#include "api/core/shapes.h"
#include "api/families/loop/run_filter.h"
#include "run/run_services.h"

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct ListRuns : RunQuery {
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr auto fields = joined(
        run_query_fields(), Pack{
                                Field{"limit", &ListRuns::limit, "Rows in one response, 1 to 1000; 100 if not given."},
                                Field{"cursor", &ListRuns::cursor, "next_cursor of the previous response."},
                            });
};

struct ListRunEvents {
    static constexpr bool is_query = true;
    std::optional<int64_t> after;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"after", &ListRunEvents::after, "Only events with a greater sequence number."},
        Field{"limit", &ListRunEvents::limit, "Events in one response, 1 to 1000; 100 if not given."},
    };
};

struct ListRunEgress {
    static constexpr bool is_query = true;
    std::optional<int64_t> after;
    std::optional<int64_t> limit;
    static constexpr Pack fields{
        Field{"after", &ListRunEgress::after, "Only requests with a greater number."},
        Field{"limit", &ListRunEgress::limit, "Rows in one response, 1 to 1000; 100 if not given."},
    };
};

struct SendMessage {
    std::string text;
    static constexpr Pack fields{
        Field{"text", &SendMessage::text, "The follow-up; at most 100,000 characters."},
    };
};

struct Rerun {
    std::optional<std::string> prompt;
    std::optional<bool> latest;
    std::optional<run::RunProvider> provider;
    static constexpr Pack fields{
        Field{"prompt", &Rerun::prompt, "Replaces the first prompt."},
        Field{"latest", &Rerun::latest,
              "true: with the commits, versions and data of now; otherwise pinned to those of the run."},
        Field{"provider", &Rerun::provider, "Replaces the provider of the run."},
    };
};

struct ForkRun {
    std::string prompt;
    std::optional<int64_t> turn;
    static constexpr Pack fields{
        Field{"prompt", &ForkRun::prompt, "First message to the fork."},
        Field{"turn", &ForkRun::turn,
              "Turn after which it begins; without it, the end of the session with a copy of its workspace. After an "
              "earlier turn the worker reads the turns until there as text, in a new workspace."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

Result<run::RunId> run_in_path(const Call& call) {
    return id_in_path<run::RunTag>(call, "run");
}

} // namespace

Result<List<run::Run>> list_runs(const Call& call, const ListRuns& query) {
    const run::RunFilter filter = TRY(run_filter_of(query));
    return call.services.run.runs.list(call.caller, TRY(space_of(call, query.space)), filter,
                                       TRY(page_of(query.limit, query.cursor)));
}

Result<One<run::Run>> start_run(const Call& call, const InSpace& query, const run::StartRun& body) {
    const auto space = TRY(space_of(call, query.space));
    return One<run::Run>{TRY(call.services.run.runs.start(call.caller, space, body))};
}

Result<One<run::Run>> get_run(const Call& call) {
    const auto id = TRY(run_in_path(call));
    return One<run::Run>{TRY(call.services.run.runs.find(call.caller, id))};
}

Result<One<run::Manifest>> get_run_manifest(const Call& call) {
    const auto id = TRY(run_in_path(call));
    return One<run::Manifest>{TRY(call.services.run.runs.manifest(call.caller, id))};
}

// As JSON, or live for those who accept a stream of events.
Result<net::Response> get_run_events(const Call& call, const ListRunEvents& query) {
    run::RunServices& services = call.services.run;
    const run::RunId id = TRY(run_in_path(call));
    const int64_t limit = TRY(page_of(query.limit, {})).limit;
    int64_t after = query.after.value_or(0);
    if (after < 0) return invalid("query parameter after must not be negative");
    if (call.head.header("Accept").find("text/event-stream") == std::string_view::npos) {
        List<run::RunEvent> list;
        list.data = TRY(services.runs.events(call.caller, id, after, limit));
        return detail::respond(std::move(list));
    }
    TRY(services.runs.find(call.caller, id));
    if (const std::string_view last = call.head.header("Last-Event-ID"); !last.empty()) {
        const auto number = parse_integer(last);
        if (!number.ok() || number.value() < 0) return invalid("Last-Event-ID is not one of this stream");
        after = number.value();
    }
    if (!call.run_followers.has_room()) return busy("too many live transcripts are open; try again later");
    net::Response response;
    response.on_events = [&followers = call.run_followers, id, after](std::shared_ptr<net::EventStream> events) {
        followers.follow(id, after, std::move(events));
    };
    return response;
}

Result<One<run::RunEvent>> get_run_event(const Call& call) {
    const auto seq = parse_integer(call.at("seq"));
    if (!seq.ok()) return not_found("event");
    const auto id = TRY(run_in_path(call));
    return One<run::RunEvent>{TRY(call.services.run.runs.event(call.caller, id, seq.value()))};
}

Result<List<run::EgressRow>> list_run_egress(const Call& call, const ListRunEgress& query) {
    run::RunServices& services = call.services.run;
    const auto id = TRY(run_in_path(call));
    const run::Run run = TRY(services.runs.find(call.caller, id));
    const int64_t limit = TRY(page_of(query.limit, {})).limit;
    return List<run::EgressRow>{TRY(services.egress.after(run.id, query.after.value_or(0), limit)), {}};
}

Result<One<run::Run>> send_message(const Call& call, const SendMessage& body) {
    const auto id = TRY(run_in_path(call));
    return One<run::Run>{TRY(call.services.run.runs.send_message(call.caller, id, body.text))};
}

Result<One<run::Run>> interrupt_run(const Call& call) {
    const auto id = TRY(run_in_path(call));
    return One<run::Run>{TRY(call.services.run.runs.interrupt(call.caller, id))};
}

Result<One<run::Run>> cancel_run(const Call& call) {
    const auto id = TRY(run_in_path(call));
    return One<run::Run>{TRY(call.services.run.runs.cancel(call.caller, id))};
}

Result<One<run::Run>> rerun(const Call& call, const Rerun& body) {
    const auto id = TRY(run_in_path(call));
    const auto versions = body.latest.value_or(false) ? run::Runs::Versions::latest : run::Runs::Versions::pinned;
    return One<run::Run>{TRY(call.services.run.runs.rerun(call.caller, id, body.prompt, versions, body.provider))};
}

Result<One<run::Run>> fork_run(const Call& call, const ForkRun& body) {
    const auto id = TRY(run_in_path(call));
    return One<run::Run>{TRY(call.services.run.runs.fork(call.caller, id, body.prompt, body.turn))};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route runs_table[] = {
    route<list_runs>("GET", "/v1/runs", need(run_read), "Runs of a space, newest first."),
    route<start_run>("POST", "/v1/runs", need(run_start), "Start a session."),
    route<get_run>("GET", "/v1/runs/{run}", need(run_read), "A run."),
    route<get_run_manifest>("GET", "/v1/runs/{run}/manifest", need(run_read),
                            "Manifest of a run: settings, versions, repositories and skills at its start."),
    route<get_run_events>("GET", "/v1/runs/{run}/events", need(run_read),
                          "Transcript of a run: JSON, or live with Accept: text/event-stream.")
        .raw("application/json, text/event-stream"),
    route<get_run_event>("GET", "/v1/runs/{run}/events/{seq}", need(run_read), "One event with its full text."),
    route<list_run_egress>("GET", "/v1/runs/{run}/egress", need(run_read),
                           "Requests that the run tried to send, and their outcome."),
    route<send_message>("POST", "/v1/runs/{run}/messages", need(run_start),
                        "Send a follow-up; resumes a finished session."),
    route<interrupt_run>("POST", "/v1/runs/{run}/interrupt", need(run_start),
                         "Interrupt the running turn; the session continues."),
    route<cancel_run>("POST", "/v1/runs/{run}/cancel", need(run_start), "Cancel a run."),
    route<rerun>("POST", "/v1/runs/{run}/rerun", need(run_start),
                 "Start a new run from the manifest of a run, pinned to its commits, versions and data."),
    route<fork_run>("POST", "/v1/runs/{run}/fork", need(run_start),
                    "Start a session that continues another one: from its end, on a copy of its workspace, or after a "
                    "turn, in a new one."),
};

} // namespace

std::span<const Route> runs_routes() {
    return runs_table;
}

} // namespace hone::api
