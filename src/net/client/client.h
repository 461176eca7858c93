// A blocking HTTP/1.1 client for pool threads and the CLI: http, https, unix sockets, proxies, streams both ways.
// One HttpClient may be used from several threads; it keeps idle connections for reuse.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http/http.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::net {

class TlsContext; // tls.h

// Ends a request from another thread. Reusable by several requests; once cancelled it stays so.
class Cancel {
public:
    Cancel();
    void cancel();
    bool is_cancelled() const;
    int descriptor() const { return m_event.get(); } // readable once cancelled

private:
    Fd m_event;
};

struct ClientOptions {
    // "http://[user:password@]host:port": used for http and (by CONNECT) https; empty: direct. Never read from the
    // environment here: the caller decides.
    std::string proxy;
    std::vector<std::string> no_proxy; // hosts, or ".suffix", that are reached directly
    std::string ca_file;               // PEM; empty: the system's store
    std::string certificate_file;      // client certificate, optional
    std::string key_file;
    std::shared_ptr<const TlsContext> tls;    // instead of the three files
    Duration connect_timeout{10'000'000'000}; // resolve is not counted, TLS handshake is
    Duration idle_timeout{60'000'000'000};    // without any byte moving
    size_t idle_connections = 8;              // kept for reuse
    size_t header_bytes = 64 << 10;
    std::string user_agent = "hone";
};

struct ClientResponse {
    int status = 0;
    std::vector<Header> headers;
    std::string body; // empty when on_body took it
    std::string url;  // where the response came from, after redirects

    std::string_view header(std::string_view name) const { return header_value(headers, name); }
};

struct ClientRequest {
    std::string method = "GET";
    std::string url; // http://… or https://…, or unix:/path/to.sock:/target
    std::vector<Header> headers;
    std::string body;
    // Streams an upload: called until it returns an empty piece. Chunked unless body_length is set.
    std::function<Result<std::string>()> body_source;
    std::optional<uint64_t> body_length;
    // Called when the header section is in, before any body. An error ends the request with it.
    std::function<Result<>(const ClientResponse&)> on_head;
    // Takes the body piece by piece instead of collecting it. An error ends the request with it.
    std::function<Result<>(std::string_view)> on_body;
    size_t max_response_bytes = 64 << 20; // of a collected body
    Duration total_timeout{};             // zero: none
    std::optional<Duration> idle_timeout; // instead of the client's, for long quiet streams
    // Dial this ("host:port" or "unix:/path") instead of the URL's host; name checks and Host stay as in the URL.
    // "tunnel:host:port": ask the proxy for a tunnel to this place instead of the URL's host; https only.
    std::string connect_to;
    unsigned max_redirects = 0; // followed for GET and HEAD only; credentials stay with their origin
    Cancel* cancel = nullptr;
};

class HttpClient {
public:
    explicit HttpClient(ClientOptions options = {});
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    // A Result with any status is a success here, also 404. Errors: invalid (URL, header), unavailable (no
    // connection, TLS verification, broken response), busy (timeout), too_large, conflict (cancelled).
    Result<ClientResponse> send(const ClientRequest& request);

private:
    class State;
    std::unique_ptr<State> m_state;
};

} // namespace hone::net
