// Presets, runs, artifacts, MCP.
#include "api/routes.h"

#include "api/mcp.h"
#include "api/run_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route run_table[] = {
    route<list_presets>("GET", "/v1/presets", need(preset_read), "Presets of a space."),
    route<create_preset>("POST", "/v1/presets", need(preset_write), "Create a preset."),
    route<get_preset>("GET", "/v1/presets/{preset}", need(preset_read), "A preset by id or name."),
    route<update_preset>("PATCH", "/v1/presets/{preset}", need(preset_write),
                         "Change a preset; new settings make a version."),
    route<delete_preset>("DELETE", "/v1/presets/{preset}", need(preset_write), "Delete a preset; its runs stay."),
    route<list_preset_versions>("GET", "/v1/presets/{preset}/versions", need(preset_read),
                                "Every version, newest first, with what changed."),
    route<list_harnesses>("GET", "/v1/harnesses", login, "Harnesses, and whether this server can run them."),
    route<list_runs>("GET", "/v1/runs", need(run_read), "Runs of a space, newest first."),
    route<start_run>("POST", "/v1/runs", need(run_start), "Start a session."),
    route<get_run>("GET", "/v1/runs/{run}", need(run_read), "A run."),
    route<get_run_manifest>("GET", "/v1/runs/{run}/manifest", need(run_read), "Everything a run was made of."),
    route<get_run_events>("GET", "/v1/runs/{run}/events", need(run_read),
                          "The transcript: JSON, or live with Accept: text/event-stream.")
        .raw("application/json, text/event-stream"),
    route<get_run_event>("GET", "/v1/runs/{run}/events/{seq}", need(run_read), "One event with its whole text."),
    route<list_run_egress>("GET", "/v1/runs/{run}/egress", need(run_read),
                           "What the run asked to send, and what became of it."),
    route<say_to_run>("POST", "/v1/runs/{run}/messages", need(run_start),
                      "Send a follow-up; wakes a finished session."),
    route<interrupt_run>("POST", "/v1/runs/{run}/interrupt", need(run_start),
                         "End the running turn; the session goes on."),
    route<cancel_run>("POST", "/v1/runs/{run}/cancel", need(run_start), "Stop a run for good."),
    route<rerun>("POST", "/v1/runs/{run}/rerun", need(run_start), "Start again from the manifest."),
    route<fork_run>("POST", "/v1/runs/{run}/fork", need(run_start),
                    "A new session from the end of a finished one, on a copy of its workspace."),
    route<list_artifacts>("GET", "/v1/artifacts", need(run_read), "What runs left, newest first."),
    route<get_artifact>("GET", "/v1/artifacts/{artifact}", need(run_read), "An artifact and its review."),
    route<get_artifact_content>("GET", "/v1/artifacts/{artifact}/content", need(run_read), "Its content.").raw("*/*"),
    route<review_artifact>("POST", "/v1/artifacts/{artifact}/review", need(artifact_review),
                           "Approve, reject, or ask for changes."),
    route<talk_mcp>("POST", "/mcp", login, "Model Context Protocol over streamable HTTP.")
        .takes("application/json")
        .raw("application/json, text/event-stream")
        .or_empty(202)
        .on(net::Lane::query)
        .fails_as(ErrorForm::json_rpc),
    route<refuse_mcp_stream>("GET", "/mcp", login, "Answers 405: the server sends nothing unasked.")
        .raw("application/json"),
    route<end_mcp>("DELETE", "/mcp", login, "Nothing to end: there are no sessions."),
};

} // namespace

std::span<const Route> run_routes() {
    return run_table;
}

} // namespace hone::api
