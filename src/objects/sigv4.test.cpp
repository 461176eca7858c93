// The examples that AWS publishes for S3 ("Signature Calculations for the Authorization Header", "Authenticating
// Requests: Using Query Parameters"), with the example keys of that documentation.
#include "objects/sigv4.h"

#include "crypto/crypto.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::objects;

namespace {

constexpr std::string_view empty_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

Credentials example_credentials() {
    return {"AKIAIOSFODNN7EXAMPLE", crypto::SecretBytes("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"), {}};
}

Time example_time() {
    return parse_time("2013-05-24T00:00:00Z").value();
}

RequestToSign example(std::string path, net::QueryPairs query, std::vector<net::Header> headers,
                      std::string payload_hash = std::string(empty_sha256), std::string method = "GET") {
    RequestToSign request{std::move(method), encode_path(path), std::move(query), std::move(headers), payload_hash};
    request.headers.push_back({"Host", "examplebucket.s3.amazonaws.com"});
    request.headers.push_back({"x-amz-date", "20130524T000000Z"});
    request.headers.push_back({"x-amz-content-sha256", payload_hash});
    return request;
}

std::string signature_of(const RequestToSign& request) {
    const std::string header = authorization(example_credentials(), "us-east-1", example_time(), request);
    return header.substr(header.rfind('=') + 1);
}

} // namespace

TEST_CASE("requests are signed as in the published examples") {
    crypto::start();
    CHECK(sha256_hex("") == empty_sha256);
    CHECK(amazon_time(example_time()) == "20130524T000000Z");
    const RequestToSign get = example("/test.txt", {}, {{"Range", "bytes=0-9"}});
    CHECK(authorization(example_credentials(), "us-east-1", example_time(), get) ==
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    CHECK(
        signature_of(example("/test$file.text", {},
                             {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}},
                             sha256_hex("Welcome to Amazon S3."), "PUT")) ==
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    CHECK(signature_of(example("/", {{"lifecycle", ""}}, {})) ==
          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    // Given out of order.
    CHECK(signature_of(example("/", {{"prefix", "J"}, {"max-keys", "2"}}, {})) ==
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST_CASE("addresses are signed as in the published example") {
    crypto::start();
    RequestToSign request;
    request.path = "/test.txt";
    request.headers = {{"Host", "examplebucket.s3.amazonaws.com"}};
    CHECK(presigned_query(example_credentials(), "us-east-1", example_time(), 86400, request) ==
          "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
          "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
          "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

TEST_CASE("every part of a request changes its signature") {
    crypto::start();
    const std::string usual = signature_of(example("/a", {{"x", "1"}}, {{"Range", "bytes=0-9"}}));
    CHECK(signature_of(example("/b", {{"x", "1"}}, {{"Range", "bytes=0-9"}})) != usual);
    CHECK(signature_of(example("/a", {{"x", "2"}}, {{"Range", "bytes=0-9"}})) != usual);
    CHECK(signature_of(example("/a", {{"x", "1"}}, {{"Range", "bytes=0-8"}})) != usual);
    CHECK(signature_of(example("/a", {{"x", "1"}}, {{"Range", "bytes=0-9"}}, sha256_hex("x"))) != usual);
    CHECK(signature_of(example("/a", {{"x", "1"}}, {{"Range", "bytes=0-9"}}, std::string(empty_sha256), "HEAD")) !=
          usual);
    CHECK(encode_path("/bucket/a b/c+d=@.txt") == "/bucket/a%20b/c%2Bd%3D%40.txt");
}
