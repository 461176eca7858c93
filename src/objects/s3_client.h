// Signed requests to one bucket: retries with growing pauses, errors in plain words, no redirects. Used by S3Store.
// Any thread.
#pragma once

#include "base/mutex.h"
#include "net/client/client.h"
#include "objects/location.h"
#include "objects/s3_responses.h"

#include <atomic>
#include <memory>

namespace hone::objects {

struct S3Options {
    Location location;
    // Called at the start and when the server refuses the credentials: a file may have newer ones.
    std::function<Result<Credentials>()> credentials;
    std::string ca_file; // PEM; empty: the system's
    int attempts = 5;    // of a request, before its error is final
    Duration idle_timeout{30'000'000'000};
    std::string connect_to{}; // "host:port" that is connected to instead of the name in the address; for tests
    std::function<void(Duration)> pause; // between attempts; empty: sleep. Tests record it.
};

struct S3Call {
    std::string what; // for messages: "read objects"
    std::string method = "GET";
    std::string key{}; // empty: the bucket itself
    net::QueryPairs query{};
    std::vector<net::Header> headers{};
    std::string body{};
    std::string body_sha256{}; // hex; empty: computed
    size_t max_response_bytes = 8 << 20;
    std::optional<Duration> only_within{}; // one attempt, of at most this time
    // Streams the body of a 2xx response; `on_head` sees it before.
    std::function<Result<>(const net::ClientResponse&)> on_head{};
    Sink on_body{};
};

class S3Client {
public:
    static Result<std::unique_ptr<S3Client>> create(S3Options options, const Clock& clock);

    // A response with 2xx, repeated where that helps. Errors: not_found, unauthorized, forbidden, invalid (settings),
    // unavailable, corrupt; the trail is the server's code. A call with on_body is sent once.
    Result<net::ClientResponse> send(const S3Call& call);
    // How the last part of `send` decides: whether an error is worth another attempt.
    static bool is_passing(const Error& error);
    void pause_before(int attempt);
    int attempts() const { return m_options.attempts; }

    std::string presigned(const std::string& key, int64_t seconds, net::QueryPairs query);
    const Location& location() const { return m_options.location; }
    Time now() const { return m_clock.now() + Duration(m_clock_offset_ns.load()); }

private:
    S3Client(S3Options options, const Clock& clock);
    Result<> reload_credentials();
    std::shared_ptr<const Credentials> credentials();
    std::string host() const;
    std::string path_of(const std::string& key) const;
    net::ClientRequest signed_request(const S3Call& call);
    // One attempt. `refused`: of a response with an error.
    Result<net::ClientResponse> send_once(const S3Call& call, std::optional<S3Failure>& failure);
    bool adopt_clock(std::string_view date);

    const S3Options m_options;
    const S3Place m_place;
    const Clock& m_clock;
    net::HttpClient m_http;
    std::atomic<int64_t> m_clock_offset_ns{0};
    Mutex m_mutex;
    std::shared_ptr<const Credentials> m_credentials GUARDED_BY(m_mutex); // shared with requests under way
};

// "Tue, 17 Nov 2026 17:06:50 GMT"
std::optional<Time> parse_http_date(std::string_view text);

} // namespace hone::objects
