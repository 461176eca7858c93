// One example request per route, for the tests that are made from the route table. A route without one fails them.
// `{space}`, `{project}`, … in query and body are filled in as in the path, each with a thing made for this request.
#pragma once

#include "access/permission.h"

#include <optional>
#include <string_view>

namespace hone::api::testing {

struct Example {
    std::string_view route; // method and path as in the table
    std::string_view query = "";
    std::string_view body = "";
    // What the domain asks for beyond the table's permission, and the status without it.
    std::optional<access::Permission> also{};
    int without = 403;
    bool people_only = false; // an API key is refused
    int allowed = 200;        // the status for those who may
};

inline constexpr Example examples[] = {
    {"POST /v1/login", "", R"({"email":"admin@localhost","password":"correct horse battery"})"},
    {.route = "POST /v1/logout", .people_only = true},
    {"GET /v1/me"},
    {.route = "PATCH /v1/me", .body = R"({"name":"Somebody Else"})", .people_only = true},
    {.route = "POST /v1/me/password",
     .body = R"({"current_password":"correct horse battery","new_password":"a new long password"})",
     .people_only = true},
    {.route = "GET /v1/me/sessions", .people_only = true},
    {.route = "DELETE /v1/me/sessions/{login}", .people_only = true},
    {"GET /v1/invites/{token}"},
    {"POST /v1/invites/{token}/accept", "", R"({"name":"New Person","password":"correct horse battery"})"},

    {"GET /v1/spaces"},
    {"POST /v1/spaces", "", R"({"name":"space {unique}","description":"made by a test"})"},
    {"GET /v1/spaces/{space}"},
    {"PATCH /v1/spaces/{space}", "", R"({"description":"changed"})"},
    // Nobody repeats the name here, so the space stays; those who may are asked to.
    {.route = "DELETE /v1/spaces/{space}", .query = "confirm=something", .allowed = 400},
    {"GET /v1/spaces/{space}/members"},
    {"PATCH /v1/spaces/{space}/members/{user}", "", R"({"role":"viewer"})"},
    {.route = "DELETE /v1/spaces/{space}/members/{user}", .also = access::Permission::member_manage},
    {"GET /v1/spaces/{space}/invites"},
    {"POST /v1/spaces/{space}/invites", "", R"({"email":"{unique}@example.com","role":"viewer"})"},
    {"DELETE /v1/spaces/{space}/invites/{invite}"},
    {"GET /v1/users"},
    {"PATCH /v1/users/{user}", "", R"({"name":"Renamed"})"},

    {"GET /v1/projects", "space={space}"},
    {"POST /v1/projects", "space={space}", R"({"name":"project {unique}"})"},
    {"GET /v1/projects/{project}"},
    {"PUT /v1/projects/{project}", "", R"({"description":"changed"})"},
    {"PATCH /v1/projects/{project}", "", R"({"retention_days":7})"},
    {.route = "DELETE /v1/projects/{project}", .allowed = 204},
    {"GET /v1/projects/{project}/bindings"},
    {"PUT /v1/projects/{project}/bindings/{principal}", "", R"({"role":"viewer"})"},
    {"DELETE /v1/projects/{project}/bindings/{bound}"},

    // These tests have no span engine: 503 is the answer to those who may.
    {.route = "POST /v1/traces", .query = "space={space}", .body = R"({"resourceSpans":[]})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/trace_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/span_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/session_rows", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces/{trace}/skeleton", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces/{trace}/spans/{span}", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/traces/{trace}", .allowed = 503},
    {.route = "GET /v1/projects/{project}/export", .allowed = 503},
    {.route = "POST /v1/projects/{project}/import", .body = "{}", .allowed = 503},
    {.route = "GET /v1/projects/{project}/tail", .allowed = 503},
    {"GET /v1/projects/{project}/views"},
    {"PUT /v1/projects/{project}/views/{view}", "", R"({"query":"range=24h"})"},
    {.route = "DELETE /v1/projects/{project}/views/{view}", .allowed = 204},
    {.route = "GET /v1/projects/{project}/series", .allowed = 503},
    {.route = "GET /v1/projects/{project}/facets", .allowed = 503},
    {.route = "GET /v1/projects/{project}/attribute_keys", .allowed = 503},
    {"GET /v1/filter_fields"},
    {.route = "POST /v1/sql", .body = R"({"project":"{project}","sql":"SELECT 1"})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/ledger", .allowed = 503},
    {.route = "GET /v1/projects/{project}/disk", .allowed = 503},
    {.route = "GET /v1/projects/{project}/trace_settings", .allowed = 503},
    {.route = "PUT /v1/projects/{project}/trace_settings", .body = R"({"spans_per_day":5})", .allowed = 503},
    {.route = "GET /v1/spaces/{space}/trace_settings", .allowed = 503},
    {.route = "PUT /v1/spaces/{space}/trace_settings", .body = R"({"bytes_per_day":5})", .allowed = 503},
    {.route = "POST /v1/projects/{project}/evals",
     .body = R"({"data":[{"target_id":"00f067aa0ba902b7","name":"correct","label":"yes"}]})",
     .allowed = 503},
    {.route = "GET /v1/projects/{project}/evals", .allowed = 503},
    {.route = "GET /v1/projects/{project}/eval_history", .allowed = 503},

    {.route = "GET /v1/projects/{project}/compare", .allowed = 503},
    {.route = "GET /v1/projects/{project}/search", .query = "text=refund", .allowed = 503},
    {.route = "POST /v1/projects/{project}/delete_spans", .body = R"({"filter":"status = error"})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/spans", .allowed = 503},
    {.route = "POST /v1/projects/{project}/spans", .body = R"({"data":[]})", .allowed = 503},
    {.route = "GET /v1/projects/{project}/spans/otlpv1", .allowed = 503},
    {.route = "GET /v1/projects/{project}/traces", .allowed = 503},
    {.route = "GET /v1/projects/{project}/sessions", .allowed = 503},
    {.route = "GET /v1/sessions/{session}", .query = "space={space}", .allowed = 503},
    {.route = "DELETE /v1/sessions/{session}", .query = "space={space}", .allowed = 503},
    {.route = "POST /v1/sessions/delete",
     .query = "space={space}",
     .body = R"({"session_identifiers":["chat-1"]})",
     .allowed = 503},
    {.route = "DELETE /v1/traces/{trace}", .query = "space={space}", .allowed = 503},
    {.route = "DELETE /v1/spans/{span}", .query = "space={space}", .allowed = 503},
    {.route = "POST /v1/span_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/trace_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/session_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/document_annotations", .query = "space={space}", .body = R"({"data":[]})", .allowed = 503},
    {.route = "POST /v1/span_notes",
     .query = "space={space}",
     .body = R"({"data":{"span_id":"00f067aa0ba902b7","note":"look"}})",
     .allowed = 503},
    {.route = "POST /v1/trace_notes",
     .query = "space={space}",
     .body = R"({"data":{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","note":"look"}})",
     .allowed = 503},
    {.route = "POST /v1/session_notes",
     .query = "space={space}",
     .body = R"({"data":{"session_id":"chat-1","note":"look"}})",
     .allowed = 503},
    {.route = "GET /v1/projects/{project}/span_annotations", .query = "span_ids=00f067aa0ba902b7", .allowed = 503},
    {.route = "GET /v1/projects/{project}/trace_annotations", .query = "identifier=mine", .allowed = 503},
    {.route = "GET /v1/projects/{project}/session_annotations", .query = "session_ids=chat-1", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/span_annotations", .query = "delete_all=true", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/trace_annotations", .query = "delete_all=true", .allowed = 503},
    {.route = "DELETE /v1/projects/{project}/session_annotations", .query = "delete_all=true", .allowed = 503},
    {"GET /arize_phoenix_version"},

    {"GET /v1/keys", "space={space}"},
    {"POST /v1/keys", "space={space}", R"({"name":"ci","kind":"service","role":"viewer","scopes":["read"]})",
     access::Permission::key_manage},
    {"DELETE /v1/keys/{key}", "", "", access::Permission::key_manage, 404},
    {"POST /v1/keys/{key}/rotate", "", "{}", access::Permission::key_manage, 404},

    {"GET /v1/audit", "space={space}"},
    {"GET /v1/audit/export", "space={space}"},
    {"GET /v1/audit/verify"},
    {"GET /v1/server"},
    {"GET /v1/backup"},
    {"GET /openapi.json"},
};

} // namespace hone::api::testing
