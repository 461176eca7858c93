// AWS Signature Version 4 for S3: what proves that a request comes from the owner of a key. Pure functions, compared
// with the examples that AWS publishes (sigv4.test.cpp). Any thread.
#pragma once

#include "base/time.h"
#include "crypto/secret_bytes.h"
#include "net/http/http.h"
#include "net/http/url.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::objects {

struct Credentials {
    std::string key_id;
    crypto::SecretBytes secret;
    crypto::SecretBytes session_token; // empty for keys that do not expire
};

struct RequestToSign {
    std::string method = "GET";
    std::string path = "/";           // encoded once, as it is sent
    net::QueryPairs query;            // decoded
    std::vector<net::Header> headers; // with Host; all of them are signed
    std::string payload_hash;         // SHA-256 of the body in hex, or UNSIGNED-PAYLOAD
};

// SHA-256 in hex.
std::string sha256_hex(std::string_view bytes);
// "20130524T000000Z"
std::string amazon_time(Time time);
// Keeps slashes.
std::string encode_path(std::string_view path);
// Sorted and encoded, as it is signed and sent: "max-keys=2&prefix=J".
std::string encode_query(const net::QueryPairs& query);

// The value of the Authorization header. `headers` must contain x-amz-date with the same time.
std::string authorization(const Credentials& credentials, const std::string& region, Time now,
                          const RequestToSign& request);
// The query of an address that can be used without a header for `seconds`; `request.headers` is Host alone.
std::string presigned_query(const Credentials& credentials, const std::string& region, Time now, int64_t seconds,
                            RequestToSign request);

} // namespace hone::objects
