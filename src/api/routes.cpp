#include "api/routes.h"

#include "api/broker_handlers.h"
#include "api/mcp.h"
#include "api/phoenix_handlers.h"
#include "api/run_handlers.h"
#include "api/skill_handlers.h"
#include "api/span_handlers.h"
#include "api/tail_handlers.h"
#include "api/usage_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route table[] = {
    route<log_in>("POST", "/v1/login", guest, "Log in with a password; sets the session cookie.").secret(),
    route<log_out>("POST", "/v1/logout", login, "End this login."),
    route<get_me>("GET", "/v1/me", login, "Who am I, and what may I do."),
    route<update_me>("PATCH", "/v1/me", login, "Change my name."),
    route<change_password>("POST", "/v1/me/password", login, "Change my password; ends my other logins.").secret(),
    route<list_login_sessions>("GET", "/v1/me/sessions", login, "My logins."),
    route<end_login_session>("DELETE", "/v1/me/sessions/{login}", login, "End one of my logins."),
    route<look_at_invite>("GET", "/v1/invites/{token}", guest, "What an invite's link offers."),
    route<accept_invite>("POST", "/v1/invites/{token}/accept", guest, "Become a member by an invite; logs in.")
        .secret(),

    route<list_spaces>("GET", "/v1/spaces", login, "My spaces; all for an installation owner."),
    route<create_space>("POST", "/v1/spaces", need(space_create), "Create a space."),
    route<get_space>("GET", "/v1/spaces/{space}", need(space_read), "A space by id or name."),
    route<update_space>("PATCH", "/v1/spaces/{space}", need(space_update), "Rename or describe a space."),
    route<delete_space>("DELETE", "/v1/spaces/{space}", need(space_delete), "Delete a space with everything in it."),
    route<list_members>("GET", "/v1/spaces/{space}/members", need(member_read), "Members of a space."),
    route<set_member_role>("PATCH", "/v1/spaces/{space}/members/{user}", need(member_manage),
                           "Change a member's role."),
    route<remove_member>("DELETE", "/v1/spaces/{space}/members/{user}", need(member_read),
                         "Remove a member (member_manage), or leave."),
    route<list_invites>("GET", "/v1/spaces/{space}/invites", need(member_manage), "Invites of a space."),
    route<create_invite>("POST", "/v1/spaces/{space}/invites", need(member_manage),
                         "Invite somebody; the link is shown once.")
        .secret(),
    route<revoke_invite>("DELETE", "/v1/spaces/{space}/invites/{invite}", need(member_manage), "Revoke an invite."),
    route<get_space_budget>("GET", "/v1/spaces/{space}/budget", need(space_read),
                            "What model calls of a space may use a day."),
    route<put_space_budget>("PUT", "/v1/spaces/{space}/budget", need(space_update),
                            "Limit what model calls of a space may use a day."),
    route<list_model_usage>("GET", "/v1/model_usage", need(space_read),
                            "Tokens and cost of model calls by day, model, run, automation or project."),
    route<list_users>("GET", "/v1/users", need(user_manage), "All users."),
    route<update_user>("PATCH", "/v1/users/{user}", need(user_manage), "Rename, disable, or make installation owner."),

    route<list_projects>("GET", "/v1/projects", need(project_read), "Projects of a space."),
    route<create_project>("POST", "/v1/projects", need(project_create), "Create a project."),
    route<get_project>("GET", "/v1/projects/{project}", need(project_read), "A project by id or name."),
    route<replace_project>("PUT", "/v1/projects/{project}", need(project_update),
                           "Replace the description (as Phoenix does)."),
    route<update_project>("PATCH", "/v1/projects/{project}", need(project_update),
                          "Rename a project, change its settings."),
    route<delete_project>("DELETE", "/v1/projects/{project}", need(project_delete),
                          "Delete a project with all its data."),
    route<list_bindings>("GET", "/v1/projects/{project}/bindings", need(project_bind),
                         "Who sees a restricted project."),
    route<put_binding>("PUT", "/v1/projects/{project}/bindings/{principal}", need(project_bind),
                       "Let a member or service key in."),
    route<delete_binding>("DELETE", "/v1/projects/{project}/bindings/{principal}", need(project_bind),
                          "Take a binding away."),

    route<take_traces>("POST", "/v1/traces", need(trace_write),
                       "Send traces: OTLP over HTTP, protobuf or JSON, plain, gzip or zstd.")
        .raw("application/x-protobuf")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::ingest)
        .otlp(),
    route<list_trace_rows>("GET", "/v1/projects/{project}/trace_rows", need(project_read), "Traces, newest first.")
        .on(net::Lane::query),
    route<list_span_rows>("GET", "/v1/projects/{project}/span_rows", need(project_read), "Spans, newest first.")
        .on(net::Lane::query),
    route<list_session_rows>("GET", "/v1/projects/{project}/session_rows", need(project_read),
                             "Chat sessions, newest first.")
        .on(net::Lane::query),
    route<get_trace_skeleton>("GET", "/v1/projects/{project}/traces/{trace}/skeleton", need(project_read),
                              "All spans of a trace, without their payloads.")
        .on(net::Lane::query),
    route<get_span_payload>("GET", "/v1/projects/{project}/traces/{trace}/spans/{span}", need(project_read),
                            "Everything about one span.")
        .on(net::Lane::query),
    route<delete_trace>("DELETE", "/v1/projects/{project}/traces/{trace}", need(trace_delete), "Delete a trace.")
        .on(net::Lane::query),
    route<export_spans>("GET", "/v1/projects/{project}/export", need(project_read),
                        "Spans as a file: JSON lines, Parquet or OTLP, oldest first.")
        .raw("application/x-ndjson")
        .on(net::Lane::query),
    route<import_spans>("POST", "/v1/projects/{project}/import", need(trace_write),
                        "Spans from a file: of Hone, of Phoenix, or OTLP; plain, gzip or zstd.")
        .with_body_limit(size_t{64} << 30)
        .on(net::Lane::query),
    route<follow_spans>("GET", "/v1/projects/{project}/tail", need(project_read),
                        "Spans as they arrive, as Server-Sent Events.")
        .raw("text/event-stream")
        .on(net::Lane::query),
    route<list_views>("GET", "/v1/projects/{project}/views", need(project_read), "Saved views of the project's lists."),
    route<save_view>("PUT", "/v1/projects/{project}/views/{view}", need(project_update), "Save a view under a name."),
    route<delete_view>("DELETE", "/v1/projects/{project}/views/{view}", need(project_update), "Delete a saved view."),
    route<get_series>("GET", "/v1/projects/{project}/series", need(project_read), "Numbers of spans over time.")
        .on(net::Lane::query),
    route<get_comparison>("GET", "/v1/projects/{project}/compare", need(project_read),
                          "Two windows of time side by side.")
        .on(net::Lane::query),
    route<search_spans>("GET", "/v1/projects/{project}/search", need(project_read),
                        "Spans whose input or output holds these words, newest first.")
        .on(net::Lane::query),
    route<get_facets>("GET", "/v1/projects/{project}/facets", need(project_read),
                      "The most frequent values of a field.")
        .on(net::Lane::query),
    route<get_attribute_keys>("GET", "/v1/projects/{project}/attribute_keys", need(project_read),
                              "The attributes that spans have.")
        .on(net::Lane::query),
    route<get_filter_fields>("GET", "/v1/filter_fields", login, "What filters can ask for."),
    route<run_sql>("POST", "/v1/sql", need(project_read), "Ask in SQL, inside one project.")
        .raw("application/json")
        .on(net::Lane::query),
    route<get_ledger>("GET", "/v1/projects/{project}/ledger", need(project_read),
                      "What happened to every span that was received."),
    route<get_project_trace_settings>("GET", "/v1/projects/{project}/trace_settings", need(project_read),
                                      "Quotas, retention by bytes, sampling and redaction of a project."),
    route<put_project_trace_settings>("PUT", "/v1/projects/{project}/trace_settings", need(project_update),
                                      "Replace them; what is left out is not set."),
    route<get_space_trace_settings>("GET", "/v1/spaces/{space}/trace_settings", need(space_read),
                                    "Quotas of a space, for all its projects together."),
    route<put_space_trace_settings>("PUT", "/v1/spaces/{space}/trace_settings", need(space_update),
                                    "Replace them; what is left out is not set."),
    route<get_disk>("GET", "/v1/projects/{project}/disk", need(project_read), "What the project's spans cost on disk.")
        .on(net::Lane::query),
    route<write_evals>("POST", "/v1/projects/{project}/evals", need(eval_write),
                       "Label and score spans, traces and sessions, up to 100,000 at once.")
        .raw("application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query),
    route<list_evals>("GET", "/v1/projects/{project}/evals", need(project_read), "Evals.").on(net::Lane::query),
    route<get_eval_history>("GET", "/v1/projects/{project}/eval_history", need(project_read),
                            "Every version of the evals of one target.")
        .on(net::Lane::query),

    route<delete_spans>("POST", "/v1/projects/{project}/delete_spans", need(trace_delete),
                        "Delete the spans that a filter finds, with their evals.")
        .on(net::Lane::query),

    // As Arize Phoenix has them.
    route<list_spans>("GET", "/v1/projects/{project}/spans", need(project_read), "Whole spans, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_spans>("POST", "/v1/projects/{project}/spans", need(trace_write),
                        "Send spans as JSON; all are taken, or none.")
        .raw("application/json")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_otlp_spans>("GET", "/v1/projects/{project}/spans/otlpv1", need(project_read),
                           "Whole spans in the words of OTLP, newest first.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_traces>("GET", "/v1/projects/{project}/traces", need(project_read), "Traces with their tokens.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_sessions>("GET", "/v1/projects/{project}/sessions", need(project_read),
                         "Chat sessions with their traces.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<get_session>("GET", "/v1/sessions/{session}", need(project_read), "A chat session by id or name.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_session>("DELETE", "/v1/sessions/{session}", need(trace_delete),
                          "Delete a chat session with its traces and evals.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_sessions>("POST", "/v1/sessions/delete", need(trace_delete), "Delete several chat sessions.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_trace_anywhere>("DELETE", "/v1/traces/{trace}", need(trace_delete), "Delete a trace by its id alone.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_span_anywhere>("DELETE", "/v1/spans/{span}", need(trace_delete), "Delete a span by its id alone.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_spans>("POST", "/v1/span_annotations", need(eval_write), "Annotate spans.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_traces>("POST", "/v1/trace_annotations", need(eval_write), "Annotate traces.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_sessions>("POST", "/v1/session_annotations", need(eval_write), "Annotate chat sessions.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<annotate_documents>("POST", "/v1/document_annotations", need(eval_write),
                              "Annotate documents that spans retrieved.")
        .with_body_limit(telemetry::Ingest::body_limit)
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_span_note>("POST", "/v1/span_notes", need(eval_write), "Add a note to a span.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_trace_note>("POST", "/v1/trace_notes", need(eval_write), "Add a note to a trace.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<create_session_note>("POST", "/v1/session_notes", need(eval_write), "Add a note to a chat session.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_span_annotations>("GET", "/v1/projects/{project}/span_annotations", need(project_read),
                                 "Annotations of spans.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_trace_annotations>("GET", "/v1/projects/{project}/trace_annotations", need(project_read),
                                  "Annotations of traces.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<list_session_annotations>("GET", "/v1/projects/{project}/session_annotations", need(project_read),
                                    "Annotations of chat sessions.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_span_annotations>("DELETE", "/v1/projects/{project}/span_annotations", need(eval_write),
                                   "Delete annotations of spans; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_trace_annotations>("DELETE", "/v1/projects/{project}/trace_annotations", need(eval_write),
                                    "Delete annotations of traces; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<delete_session_annotations>("DELETE", "/v1/projects/{project}/session_annotations", need(eval_write),
                                      "Delete annotations of chat sessions; others' with trace_delete.")
        .on(net::Lane::query)
        .like_phoenix(),
    route<get_phoenix_version>("GET", "/arize_phoenix_version", guest,
                               "The version of Phoenix whose API this one keeps to.")
        .raw("text/plain"),

    route<list_keys>("GET", "/v1/keys", need(key_create), "My API keys; with key_manage all of the space."),
    route<create_key>("POST", "/v1/keys", need(key_create), "Create an API key; it is shown once.").secret(),
    route<revoke_key>("DELETE", "/v1/keys/{key}", need(key_create), "Revoke a key (others' with key_manage)."),
    route<rotate_key>("POST", "/v1/keys/{key}/rotate", need(key_create),
                      "Replace a key by a new one with the same rights.")
        .secret(),

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
        .raw("application/json"),
    route<get_run_event>("GET", "/v1/runs/{run}/events/{seq}", need(run_read), "One event with its whole text."),
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
    route<get_artifact_content>("GET", "/v1/artifacts/{artifact}/content", need(run_read), "Its content.")
        .raw("application/octet-stream"),
    route<review_artifact>("POST", "/v1/artifacts/{artifact}/review", need(artifact_review),
                           "Approve, reject, or ask for changes."),
    route<talk_mcp>("POST", "/mcp", login, "Model Context Protocol over streamable HTTP.")
        .raw("application/json")
        .on(net::Lane::query),
    route<refuse_mcp_stream>("GET", "/mcp", login, "Answers 405: the server sends nothing unasked.")
        .raw("application/json"),
    route<end_mcp>("DELETE", "/mcp", login, "Nothing to end: there are no sessions."),

    route<list_skill_types>("GET", "/v1/skill_types", login, "Types of skills: their variables and hosts."),
    route<list_skills>("GET", "/v1/skills", need(skill_read), "Skills of a space, its own and those shared with it."),
    route<create_skill>("POST", "/v1/skills", need(skill_write), "Create a skill; secrets need secret_write too."),
    route<get_skill>("GET", "/v1/skills/{skill}", need(skill_read), "A skill by id or name."),
    route<update_skill>("PATCH", "/v1/skills/{skill}", need(skill_write), "Change a skill: a new version."),
    route<delete_skill>("DELETE", "/v1/skills/{skill}", need(skill_write), "Delete a skill with its secrets."),
    route<list_skill_versions>("GET", "/v1/skills/{skill}/versions", need(skill_read), "Every version, newest first."),
    route<list_skill_files>("GET", "/v1/skills/{skill}/folder", need(skill_read), "Files of a custom skill."),
    route<put_skill_folder>("PUT", "/v1/skills/{skill}/folder", need(skill_write),
                            "Upload a custom skill's folder: tar.gz, or JSON with files.")
        .with_body_limit(8 << 20),
    route<set_skill_secret>("PUT", "/v1/skills/{skill}/secrets/{name}", need(secret_write),
                            "Set or replace a secret; it is never shown."),
    route<delete_skill_secret>("DELETE", "/v1/skills/{skill}/secrets/{name}", need(secret_write), "Delete a secret."),
    route<share_skill>("PUT", "/v1/skills/{skill}/shares/{space}", need(skill_share),
                       "Share a skill of the installation with a space."),
    route<unshare_skill>("DELETE", "/v1/skills/{skill}/shares/{space}", need(skill_share), "Stop sharing it."),
    route<preview_env>("POST", "/v1/skill_env", need(skill_write), "What a .env file would set; nothing is stored."),
    route<list_secrets>("GET", "/v1/secrets", need(skill_read), "Names of secrets, their age and last use."),
    route<list_reach>("GET", "/v1/reach", need(skill_read), "What skills may reach, and with which secret."),
    route<explain_request>("GET", "/v1/broker/explain", need(skill_read),
                           "Whether a run could send a request, why, and with which secret."),
    route<get_encryption>("GET", "/v1/encryption", need(secret_rotate), "The keys that encrypt secrets."),
    route<rotate_encryption>("POST", "/v1/encryption/rotate", need(secret_rotate),
                             "Rotate the master key or data keys, without downtime."),

    route<list_audit>("GET", "/v1/audit", need(audit_read), "Audit log, newest first."),
    route<export_audit>("GET", "/v1/audit/export", need(audit_read), "Audit log as JSON lines, oldest first.")
        .raw("application/x-ndjson"),
    route<verify_audit>("GET", "/v1/audit/verify", need(audit_verify), "Check the hash chain of the audit log."),
    route<get_server>("GET", "/v1/server", login, "Version, roles, permissions; settings for installation owners."),
    route<get_backup>("GET", "/v1/backup", need(backup_create),
                      "A backup of the database, spans and evals, for `hone restore`.")
        .raw("application/zstd"),
    route<get_openapi>("GET", "/openapi.json", guest, "This description.").raw("application/json"),
};

} // namespace

std::span<const Route> routes() {
    return table;
}

} // namespace hone::api
