// A small client of the Kubernetes API: JSON over HTTP/1.1, with the cluster's own authority, a rate limit, and the
// waits that the server requests. Any thread; blocks.
#pragma once

#include "kubernetes/api/credentials.h"
#include "kubernetes/api/rate_limit.h"
#include "net/client/client.h"
#include "net/client/websocket.h"
#include "json/json.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::kubernetes {

// What the server returned. Of an error the fields of its Status object.
struct ApiResponse {
    int status = 0;
    json::Value body;
    std::string reason;  // "AlreadyExists"; empty when the response has none
    std::string message; // in the cluster's words
    std::optional<Duration> retry_after;
    size_t bytes = 0; // of the body

    bool ok() const { return status >= 200 && status < 300; }
};
ApiResponse read_response(const net::ClientResponse& response);

// A response other than 2xx as an Error: 400 and 422 `invalid`, 401 `unauthorized`, 403 `forbidden`, 404 `not_found`,
// 409 `conflict`, 413 `too_large`, 429 `busy`, the rest `unavailable`. `what` was attempted: "create the pod".
Error error_of(const ApiResponse& response, const std::string& what);

using Query = std::vector<std::pair<std::string, std::string>>;
// "?a=b&c=d", encoded; empty for none. A name may appear more than once.
std::string query_text(const Query& query);

struct ApiOptions {
    double requests_per_second = 20;
    double burst = 50;
    int most_attempts = 5;                            // of a request that the server wants later
    Duration longest_wait = std::chrono::seconds(30); // that a server may request
    Duration request_timeout = std::chrono::seconds(60);
    size_t most_response_bytes = 64 << 20;
};

class Api {
public:
    // The credentials must outlive it.
    Api(Credentials& credentials, const Clock& clock, ApiOptions options = {});
    Api(const Api&) = delete;
    Api& operator=(const Api&) = delete;

    // Any status is a success here. Errors: `unavailable` (no connection), `busy` (timeout), `conflict` (cancelled).
    // 429, 500 and 503 with Retry-After are sent again after that time; 401 once, with a fresh token.
    Result<ApiResponse> get(const std::string& path, const Query& query = {}, net::Cancel* cancel = nullptr);
    Result<ApiResponse> create(const std::string& path, const json::Value& object, net::Cancel* cancel = nullptr);
    Result<ApiResponse> remove(const std::string& path, const json::Value& options, net::Cancel* cancel = nullptr);
    enum class Patch { json, merge, apply }; // `apply`: server-side, as field manager "hone"
    Result<ApiResponse> patch(const std::string& path, Patch kind, const json::Value& content,
                              net::Cancel* cancel = nullptr);

    // All objects of a list, read in pages, with the version from which to watch it. A list that changed so much that
    // its next page has expired (410) is read again from the start, once.
    struct Listed {
        std::vector<json::Value> items;
        std::string resource_version;
    };
    Result<Listed> list(const std::string& path, const std::string& label_selector, net::Cancel* cancel = nullptr);
    // The same, page by page, for lists that may be long: no more than a page of objects is in memory. Its version.
    struct ListHandler {
        std::function<void(json::Value object)> seen;
        std::function<void()> restarted; // the objects so far are given again, with others
    };
    Result<std::string> list_each(const std::string& path, const std::string& label_selector,
                                  const ListHandler& handler, net::Cancel* cancel = nullptr);

    // A response that has no end: pieces of its body go to `on_piece`. Other than 200 it is returned with its body.
    Result<ApiResponse> stream(const std::string& path, const Query& query, Duration idle_timeout,
                               const std::function<Result<>(std::string_view)>& on_piece, net::Cancel* cancel);

    // A WebSocket, or the response of a server that refused it.
    struct Opened {
        std::unique_ptr<net::WebSocket> socket;
        ApiResponse refusal;
    };
    Result<Opened> open_socket(const std::string& path, const Query& query, const std::string& protocol,
                               net::WebSocketOptions options);

    // Waits; `conflict` when it was cancelled. Tests replace it.
    std::function<Result<>(Duration, net::Cancel*)> wait;

private:
    Result<net::ClientRequest> make_request(const std::string& method, const std::string& path, const Query& query);
    Result<ApiResponse> send(net::ClientRequest request, net::Cancel* cancel);
    Result<ApiResponse> send_with(const std::string& method, const std::string& path, const Query& query,
                                  const std::string& content_type, const json::Value& content, net::Cancel* cancel);
    Result<std::optional<std::string>> list_once(const std::string& path, const std::string& label_selector,
                                                 const ListHandler& handler, net::Cancel* cancel);

    Credentials& m_credentials;
    const ApiOptions m_options;
    RateLimit m_rate;
    net::HttpClient m_client;
};

} // namespace hone::kubernetes
