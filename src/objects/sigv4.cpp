#include "objects/sigv4.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"

#include <algorithm>
#include <map>

namespace hone::objects {

namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string scope_of(const std::string& region, Time now) {
    return amazon_time(now).substr(0, 8) + "/" + region + "/s3/aws4_request";
}

struct CanonicalHeaders {
    std::string lines; // "host:…\nx-amz-date:…\n"
    std::string names; // "host;x-amz-date"
};

CanonicalHeaders canonical_headers(const std::vector<net::Header>& headers) {
    std::map<std::string, std::string> sorted;
    for (const net::Header& header : headers) sorted[lowercase_ascii(header.name)] = std::string(trim(header.value));
    CanonicalHeaders made;
    for (const auto& [name, value] : sorted) {
        made.lines += name + ":" + value + "\n";
        made.names += (made.names.empty() ? "" : ";") + name;
    }
    return made;
}

std::string signature(const Credentials& credentials, const std::string& region, Time now,
                      const RequestToSign& request) {
    const CanonicalHeaders headers = canonical_headers(request.headers);
    const std::string canonical = request.method + "\n" + request.path + "\n" + encode_query(request.query) + "\n" +
                                  headers.lines + "\n" + headers.names + "\n" + request.payload_hash;
    const std::string date = amazon_time(now);
    const std::string to_sign =
        std::string(algorithm) + "\n" + date + "\n" + scope_of(region, now) + "\n" + sha256_hex(canonical);
    std::string key = "AWS4" + std::string(credentials.secret.reveal());
    for (const std::string& part : {date.substr(0, 8), region, std::string("s3"), std::string("aws4_request")}) {
        std::string next = crypto::hmac_sha256(key, part);
        crypto::wipe(key);
        key = std::move(next);
    }
    std::string made = to_hex(crypto::hmac_sha256(key, to_sign));
    crypto::wipe(key);
    return made;
}

} // namespace

std::string sha256_hex(std::string_view bytes) {
    crypto::Sha256 hash;
    hash.add(bytes);
    return to_hex(hash.finish());
}

std::string amazon_time(Time time) {
    std::string digits;
    for (const char c : to_text(time).substr(0, 19))
        if (c != '-' && c != ':') digits += c;
    return digits + "Z";
}

std::string encode_path(std::string_view path) {
    std::string encoded;
    for (const std::string_view part : split(path, '/')) encoded += (encoded.empty() ? "" : "/") + percent_encode(part);
    return path.starts_with('/') ? "/" + encoded : encoded;
}

std::string encode_query(const net::QueryPairs& query) {
    std::vector<std::pair<std::string, std::string>> encoded;
    for (const auto& [name, value] : query) encoded.emplace_back(percent_encode(name), percent_encode(value));
    std::sort(encoded.begin(), encoded.end());
    std::string text;
    for (const auto& [name, value] : encoded) text += (text.empty() ? "" : "&") + name + "=" + value;
    return text;
}

std::string authorization(const Credentials& credentials, const std::string& region, Time now,
                          const RequestToSign& request) {
    return std::string(algorithm) + " Credential=" + credentials.key_id + "/" + scope_of(region, now) +
           ", SignedHeaders=" + canonical_headers(request.headers).names +
           ", Signature=" + signature(credentials, region, now, request);
}

std::string presigned_query(const Credentials& credentials, const std::string& region, Time now, int64_t seconds,
                            RequestToSign request) {
    request.query.emplace_back("X-Amz-Algorithm", algorithm);
    request.query.emplace_back("X-Amz-Credential", credentials.key_id + "/" + scope_of(region, now));
    request.query.emplace_back("X-Amz-Date", amazon_time(now));
    request.query.emplace_back("X-Amz-Expires", std::to_string(seconds));
    request.query.emplace_back("X-Amz-SignedHeaders", canonical_headers(request.headers).names);
    if (!credentials.session_token.empty())
        request.query.emplace_back("X-Amz-Security-Token", std::string(credentials.session_token.reveal()));
    request.payload_hash = "UNSIGNED-PAYLOAD";
    const std::string made = signature(credentials, region, now, request);
    return encode_query(request.query) + "&X-Amz-Signature=" + made;
}

} // namespace hone::objects
