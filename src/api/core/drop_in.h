// Addresses, keys and project names as the SDKs of other products send them, so that changing host and key is enough:
// Langfuse, LangSmith, Opik, Weave, Arize AX, Phoenix, MLflow, Traceloop. Only routes for senders read keys in these
// forms; what a key may do is decided where it is for any other. Pure; any thread.
#pragma once

#include "net/http/http.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hone::api {

// The path in the route table for the path of a request, when the two differ: "/otel/v1/traces/" -> "/v1/traces",
// "POST /runs/batch" -> "/api/v1/runs/batch". "GET /runs/…" is a page of the UI.
std::optional<std::string> drop_in_path(std::string_view method, std::string_view path);

// The address (as drop_in_path leaves it) takes telemetry.
bool is_sender_path(std::string_view path);

// The key of a request, from `Authorization: Bearer KEY`, `Bearer%20KEY`, `Basic base64(any:KEY)` or a bare `KEY`, else
// from the headers x-api-key, api_key, api-key or wandb-api-key. Empty when there is none.
std::string sender_key(const net::RequestHead& head);

// The project that a header names: x-project-name, Langsmith-Project, projectName (Opik), project_id (Weave: the part
// after "entity/"), the public key of Langfuse unless it is one that Langfuse made. Empty when none does.
std::string_view project_header(const net::RequestHead& head);

// The headers that sender_key and project_header read, for protocols that pass headers on.
std::span<const std::string_view> sender_headers();

} // namespace hone::api
