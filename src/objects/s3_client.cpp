#include "objects/s3_client.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <algorithm>
#include <array>
#include <thread>

namespace hone::objects {

namespace {

constexpr size_t largest_error_body = 64 << 10;
constexpr Duration first_pause{200'000'000};
constexpr Duration longest_pause{10'000'000'000};
constexpr Duration clock_tolerance{int64_t{5} * 60 * 1'000'000'000};
constexpr const char* passing_trail = "another attempt may succeed";

net::ClientOptions http_options(const S3Options& options) {
    net::ClientOptions http;
    http.ca_file = options.ca_file;
    http.idle_timeout = options.idle_timeout;
    return http;
}

// S3 may respond with 200 and report an error in the body, when an upload is completed.
bool is_error_in_success(const net::ClientResponse& response) {
    return response.status == 200 && response.body.find("<Error>") != std::string::npos &&
           !read_error(response.body).code.empty();
}

} // namespace

std::optional<Time> parse_http_date(std::string_view text) {
    static constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const std::vector<std::string_view> parts = split(text, ' ');
    if (parts.size() != 6 || parts[5] != "GMT" || parts[1].size() != 2 || parts[3].size() != 4) return std::nullopt;
    const auto month = std::find(months.begin(), months.end(), parts[2]);
    if (month == months.end()) return std::nullopt;
    const std::string number = std::to_string(month - months.begin() + 1);
    const auto time = parse_time(std::string(parts[3]) + "-" + (number.size() == 1 ? "0" : "") + number + "-" +
                                 std::string(parts[1]) + "T" + std::string(parts[4]) + "Z");
    return time.ok() ? std::optional(time.value()) : std::nullopt;
}

S3Client::S3Client(S3Options options, const Clock& clock)
    : m_options(std::move(options)),
      m_place{m_options.location.bucket, m_options.location.endpoint, m_options.location.region},
      m_clock(clock),
      m_http(http_options(m_options)) {}

Result<std::unique_ptr<S3Client>> S3Client::create(S3Options options, const Clock& clock) {
    std::unique_ptr<S3Client> client(new S3Client(std::move(options), clock));
    TRY(client->reload_credentials());
    return client;
}

Result<> S3Client::reload_credentials() {
    auto found = std::make_shared<const Credentials>(TRY(m_options.credentials()));
    const Lock lock(m_mutex);
    m_credentials = std::move(found);
    return {};
}

std::shared_ptr<const Credentials> S3Client::credentials() {
    const Lock lock(m_mutex);
    return m_credentials;
}

std::string S3Client::host() const {
    const std::string endpoint = m_place.endpoint.substr(m_place.endpoint.find("://") + 3);
    return m_options.location.is_host_style ? m_place.bucket + "." + endpoint : endpoint;
}

std::string S3Client::path_of(const std::string& key) const {
    const std::string bucket = m_options.location.is_host_style ? "" : "/" + m_place.bucket;
    if (key.empty()) return bucket.empty() ? "/" : bucket;
    return encode_path(bucket + "/" + m_options.location.prefix + key);
}

net::ClientRequest S3Client::signed_request(const S3Call& call) {
    const std::shared_ptr<const Credentials> keys = credentials();
    const Time time = now();
    RequestToSign to_sign;
    to_sign.method = call.method;
    to_sign.path = path_of(call.key);
    to_sign.query = call.query;
    to_sign.payload_hash = call.body_sha256.empty() ? sha256_hex(call.body) : call.body_sha256;
    to_sign.headers = call.headers;
    to_sign.headers.push_back({"Host", host()});
    to_sign.headers.push_back({"x-amz-date", amazon_time(time)});
    to_sign.headers.push_back({"x-amz-content-sha256", to_sign.payload_hash});
    if (!keys->session_token.empty())
        to_sign.headers.push_back({"x-amz-security-token", std::string(keys->session_token.reveal())});
    net::ClientRequest request;
    request.method = call.method;
    const std::string query = encode_query(call.query);
    const std::string scheme = m_place.endpoint.substr(0, m_place.endpoint.find("://") + 3);
    request.url = scheme + host() + to_sign.path + (query.empty() ? "" : "?" + query);
    request.headers = to_sign.headers;
    request.headers.push_back({"Authorization", authorization(*keys, m_place.region, time, to_sign)});
    request.body = call.body;
    request.max_response_bytes = call.max_response_bytes;
    request.connect_to = m_options.connect_to;
    if (call.only_within) request.total_timeout = *call.only_within;
    return request;
}

Result<net::ClientResponse> S3Client::send_once(const S3Call& call, std::optional<S3Failure>& failure) {
    net::ClientRequest request = signed_request(call);
    std::string error_body;
    bool is_success = false;
    std::optional<Error> sink_error;
    if (call.on_body) {
        request.on_head = [&](const net::ClientResponse& head) -> Result<> {
            is_success = head.status / 100 == 2;
            if (!is_success || !call.on_head) return {};
            auto accepted = call.on_head(head);
            if (!accepted.ok()) sink_error = accepted.error();
            return accepted;
        };
        request.on_body = [&](std::string_view piece) -> Result<> {
            if (is_success) {
                auto taken = call.on_body(piece);
                if (!taken.ok()) sink_error = taken.error();
                return taken;
            }
            if (error_body.size() + piece.size() > largest_error_body)
                return unavailable("its error message is larger than 64 KiB");
            error_body += piece;
            return {};
        };
    }
    auto response = m_http.send(request);
    if (!response.ok()) {
        if (sink_error) return std::move(*sink_error); // of the caller, not of the server
        failure = explain_no_response(response.error(), m_place);
        return failure->error;
    }
    if (call.on_body && !is_success) response.value().body = std::move(error_body);
    if (response.value().status / 100 == 2 && !is_error_in_success(response.value())) return response;
    failure = explain_refusal(response.value(), call.what, m_place);
    failure->error.trail = read_error(response.value().body).code;
    if (failure->error.trail.empty()) failure->error.trail = "status " + std::to_string(response.value().status);
    if (failure->is_clock) failure->is_clock = adopt_clock(response.value().header("Date"));
    return failure->error;
}

bool S3Client::adopt_clock(std::string_view date) {
    const auto server_time = parse_http_date(date);
    if (!server_time || m_clock_offset_ns != 0) return false; // once: a second refusal is an error
    const Duration offset = *server_time - m_clock.now();
    if (offset < clock_tolerance && -offset < clock_tolerance) return false;
    m_clock_offset_ns = offset.count();
    log(Level::warning, "clock differs from the object store's, its time is used for signatures",
        {{"endpoint", m_place.endpoint}, {"difference_s", offset.count() / 1'000'000'000}});
    return true;
}

Result<net::ClientResponse> S3Client::send(const S3Call& call) {
    bool has_new_credentials = false;
    for (int attempt = 1;; ++attempt) {
        std::optional<S3Failure> failure;
        auto response = send_once(call, failure);
        if (!failure) return response;
        if (failure->is_clock) continue; // at most once, see adopt_clock
        if (failure->is_credential && !has_new_credentials && reload_credentials().ok()) {
            has_new_credentials = true;
            continue;
        }
        if (failure->is_repeatable) failure->error.trail = passing_trail;
        if (!failure->is_repeatable || call.on_body || call.only_within || attempt >= m_options.attempts)
            return std::move(failure->error);
        pause_before(attempt);
    }
}

bool S3Client::is_passing(const Error& error) {
    return error.trail == passing_trail;
}

void S3Client::pause_before(int attempt) {
    const Duration longest = std::min(first_pause * (int64_t{1} << std::min(attempt - 1, 10)), longest_pause);
    // Half of it is random, so that clients that failed together do not come back together.
    const auto random = static_cast<unsigned char>(crypto::random_bytes(1)[0]);
    const Duration pause = longest / 2 + longest / 2 * random / 255;
    if (m_options.pause)
        m_options.pause(pause);
    else
        std::this_thread::sleep_for(pause);
}

std::string S3Client::presigned(const std::string& key, int64_t seconds, net::QueryPairs query) {
    RequestToSign request;
    request.path = path_of(key);
    request.query = std::move(query);
    request.headers = {{"Host", host()}};
    const std::string signed_query = presigned_query(*credentials(), m_place.region, now(), seconds, request);
    return m_place.endpoint.substr(0, m_place.endpoint.find("://") + 3) + host() + request.path + "?" + signed_query;
}

} // namespace hone::objects
