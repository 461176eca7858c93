// The S3 store against a scripted server that does what real ones do on bad days, and what hostile ones could.
#include "objects/s3_store.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "net/testing/certificates.h"
#include "net/testing/raw_client.h"

#include <deque>

using namespace hone;
using namespace hone::objects;
using namespace hone::net::testing;
using hone::net::ServerOptions;

namespace {

// Responses in order; a request without one gets status 500. Records what came.
class ScriptedS3 {
public:
    explicit ScriptedS3(ServerOptions options = test_options()) {
        m_handler.on_plan = [](const net::RequestHead&) {
            net::Plan plan;
            plan.body_limit = 64 << 20;
            return plan;
        };
        m_handler.on_handle = [this](net::Request&& request) {
            const std::lock_guard lock(m_mutex);
            lines.push_back(request.method + " " + request.target);
            heads.push_back(request);
            bodies.push_back(request.body);
            if (m_script.empty()) return net::text_response(500, "");
            auto next = std::move(m_script.front());
            m_script.pop_front();
            return next();
        };
        m_server = start_server(m_handler, std::move(options));
    }
    ScriptedS3& then(int status, std::string body = "", std::vector<net::Header> headers = {}) {
        m_script.push_back([=] {
            net::Response response = net::text_response(status, body);
            for (const net::Header& header : headers) response.set_header(header.name, header.value);
            return response;
        });
        return *this;
    }
    // A body of which only a part comes before the connection is cut.
    ScriptedS3& then_cut(int status, std::string part) {
        m_script.push_back([=] {
            class Cut final : public net::BodySource {
            public:
                explicit Cut(std::string text) : m_text(std::move(text)) {}
                Result<std::string> next() override {
                    if (m_text.empty()) return unavailable("cut");
                    return std::exchange(m_text, {});
                }

            private:
                std::string m_text;
            };
            net::Response response = net::text_response(status, "");
            response.stream = std::make_unique<Cut>(part);
            return response;
        });
        return *this;
    }
    std::string address() const { return m_server->addresses()[0]; }

    std::vector<std::string> lines;
    std::vector<net::RequestHead> heads;
    std::vector<std::string> bodies;

private:
    LambdaHandler m_handler;
    std::mutex m_mutex;
    std::deque<std::function<net::Response()>> m_script;
    std::unique_ptr<net::Server> m_server;
};

struct Scene {
    ScriptedS3 server;
    FakeClock clock{parse_time("2026-11-17T12:00:00Z").value()};
    std::vector<Duration> pauses;
    int credentials_read = 0;
    std::unique_ptr<S3Store> store;

    explicit Scene(const std::string& options = "", const std::string& host = "") {
        crypto::start();
        S3Options made;
        made.location =
            parse_location("s3://bucket?endpoint=http://" + (host.empty() ? server.address() : host) + options).value();
        if (!host.empty()) made.connect_to = server.address();
        made.credentials = [this]() -> Result<Credentials> {
            ++credentials_read;
            return Credentials{"KEY", crypto::SecretBytes("secret"), {}};
        };
        made.pause = [this](Duration pause) { pauses.push_back(pause); };
        store = S3Store::open(std::move(made), clock).value();
    }
    Result<Stored> put(const std::string& text = "content") { return store->put("check/x", pieces_of(text)); }
    Result<std::string> get() { return get_text(*store, "check/x", 1 << 20); }
};

// Sends fixed bytes to one connection after the other and closes it: what no proper server can be made to do.
class RawS3 {
public:
    explicit RawS3(std::vector<std::string> answers) : m_answers(std::move(answers)) {
        net::BoundSocket bound = net::listen_on("127.0.0.1:0").value();
        m_listener = std::move(bound.descriptor);
        address = bound.address;
        m_thread = std::thread([this] {
            for (const std::string& answer : m_answers) {
                pollfd poll{m_listener.get(), POLLIN, 0};
                ::poll(&poll, 1, 30'000);
                const Fd client(::accept(m_listener.get(), nullptr, nullptr));
                std::string head;
                std::array<char, 16384> bytes;
                while (head.find("\r\n\r\n") == std::string::npos) {
                    const ssize_t got = ::recv(client.get(), bytes.data(), bytes.size(), 0);
                    if (got <= 0) break;
                    head.append(bytes.data(), static_cast<size_t>(got));
                }
                heads.push_back(head);
                ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
            }
        });
    }
    ~RawS3() { finish(); }
    // All answers were sent.
    void finish() {
        if (m_thread.joinable()) m_thread.join();
    }
    std::string address;
    std::vector<std::string> heads; // after finish()

private:
    const std::vector<std::string> m_answers;
    Fd m_listener;
    std::thread m_thread;
};

std::string error_body(const std::string& code, const std::string& more = "") {
    return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>words of the server</Message>" + more +
           "</Error>";
}

constexpr size_t part = 16 << 20;
const std::string began = "<InitiateMultipartUploadResult><UploadId>id/1</UploadId></InitiateMultipartUploadResult>";

} // namespace

TEST_CASE("with style=host the bucket is in the name of the host, which is signed, and not in the path") {
    Scene scene("&style=host&region=eu-central-1", "objects.example:9000");
    scene.server.then(200).then(200, "content");
    REQUIRE(scene.put().ok());
    CHECK(scene.get().value() == "content");
    CHECK(scene.server.lines == std::vector<std::string>{"PUT /check/x", "GET /check/x"});
    for (const net::RequestHead& head : scene.server.heads) {
        CHECK(head.header("Host") == "bucket.objects.example:9000");
        RequestToSign signed_again;
        signed_again.method = head.method;
        signed_again.path = "/check/x";
        signed_again.payload_hash = std::string(head.header("x-amz-content-sha256"));
        std::string_view names = head.header("Authorization");
        names.remove_prefix(names.find("SignedHeaders=") + 14);
        for (const std::string_view name : split(names.substr(0, names.find(',')), ';'))
            signed_again.headers.push_back({std::string(name), std::string(head.header(name))});
        CHECK(names.find("host;") != std::string_view::npos);
        const Credentials keys{"KEY", crypto::SecretBytes("secret"), {}};
        CHECK(head.header("Authorization") == authorization(keys, "eu-central-1", scene.clock.now(), signed_again));
    }
    const std::string address = scene.store->presigned_get("check/x", std::chrono::minutes(5), "x").value().value();
    CHECK(address.starts_with("http://bucket.objects.example:9000/check/x?"));
}

TEST_CASE("an overloaded server gets another chance, after growing pauses") {
    Scene scene;
    scene.server.then(503, error_body("SlowDown")).then(500).then(429).then(200);
    CHECK(scene.put().ok());
    CHECK(scene.server.lines.size() == 4);
    REQUIRE(scene.pauses.size() == 3);
    for (size_t i = 0; i < 3; ++i) {
        CHECK(scene.pauses[i] >= std::chrono::milliseconds(100 << i));
        CHECK(scene.pauses[i] <= std::chrono::milliseconds(200 << i));
    }
    // Five attempts, then the error.
    Scene down;
    const auto failed = down.put();
    CHECK(failed.error().code == Code::unavailable);
    CHECK(failed.error().message.find("status 500") != std::string::npos);
    CHECK(down.server.lines.size() == 5);
}

TEST_CASE("a request carries the hash of its body, and its checksum where that is wanted") {
    Scene scene("&checksum=sha256&encryption=AES256");
    scene.server.then(200);
    REQUIRE(scene.put("content").ok());
    const net::RequestHead& head = scene.server.heads.front();
    CHECK(scene.server.lines.front() == "PUT /bucket/check/x");
    CHECK(head.header("x-amz-content-sha256") == sha256_hex("content"));
    CHECK(head.header("x-amz-checksum-sha256") == to_base64(from_hex(sha256_hex("content")).value()));
    CHECK(head.header("x-amz-server-side-encryption") == "AES256");
    CHECK(head.header("x-amz-date") == "20261117T120000Z");
    CHECK(head.header("Authorization").starts_with("AWS4-HMAC-SHA256 Credential=KEY/20261117/us-east-1/s3/"));
    Scene plain;
    plain.server.then(200);
    REQUIRE(plain.put("content").ok());
    CHECK(plain.server.heads.front().header("x-amz-checksum-sha256").empty());
    CHECK(plain.server.heads.front().header("x-amz-meta-sha256") == sha256_hex("content"));
    // Never without metadata: some servers keep those of the object that is replaced.
    Scene large;
    large.server.then(200, began).then(500);
    CHECK_FALSE(large.put(std::string(part + 1, 'x')).ok());
    CHECK(large.server.heads.front().header("x-amz-meta-parts") == "1");
}

TEST_CASE("a server that received other bytes is sent them again") {
    Scene scene;
    scene.server.then(400, error_body("BadDigest")).then(400, error_body("XAmzContentSHA256Mismatch")).then(200);
    CHECK(scene.put().ok());
    CHECK(scene.server.lines.size() == 3);
}

TEST_CASE("errors name the cause and are final") {
    const auto error_of = [](int status, const std::string& body, std::vector<net::Header> headers = {}) {
        Scene scene;
        // Twice: wrong credentials are read again once.
        scene.server.then(status, body, headers).then(status, body, headers);
        auto failed = scene.put();
        REQUIRE(!failed.ok());
        CHECK(scene.pauses.empty());
        return failed.error();
    };
    CHECK(error_of(403, error_body("AccessDenied")).code == Code::forbidden);
    CHECK(error_of(403, error_body("AccessDenied")).message.find("s3:PutObject") != std::string::npos);
    CHECK(error_of(403, error_body("SignatureDoesNotMatch")).code == Code::unauthorized);
    CHECK(error_of(400, error_body("ExpiredToken")).message.find("has expired") != std::string::npos);
    CHECK(error_of(404, error_body("NoSuchBucket")).message.find("the bucket bucket does not exist") !=
          std::string::npos);
    // As versitygw sends it; and another 404 that is not about the object.
    CHECK(error_of(404, error_body("XAdminUserNotFound")).message.find("does not know the access key") !=
          std::string::npos);
    CHECK(error_of(404, error_body("NoSuchWebsite")).message.find("NoSuchWebsite") != std::string::npos);
    CHECK(error_of(301, error_body("PermanentRedirect"), {{"x-amz-bucket-region", "eu-west-1"}}).message ==
          "the bucket bucket is in the region eu-west-1, not in us-east-1: set region=eu-west-1 in object_store");
    CHECK(error_of(400, error_body("AuthorizationHeaderMalformed", "<Region>eu-west-2</Region>"))
              .message.find("region=eu-west-2") != std::string::npos);
    CHECK(error_of(307, "", {{"Location", "http://169.254.169.254/"}}).message.find("redirects are not followed") !=
          std::string::npos);
    CHECK(error_of(418, "<html>teapot</html>").message.find("status 418") != std::string::npos);
    // A server's words are one short line.
    const std::string hostile =
        error_of(418, "<Error><Code>a&#10;b</Code><Message>" + std::string(5000, 'x') + "</Message></Error>").message;
    CHECK(hostile.size() < 600);
    CHECK(hostile.find('\n') == std::string::npos);
}

TEST_CASE("credentials that were changed meanwhile are used without a restart") {
    Scene scene;
    scene.server.then(403, error_body("InvalidAccessKeyId")).then(200);
    CHECK(scene.put().ok());
    CHECK(scene.credentials_read == 2);
}

TEST_CASE("a clock that differs is corrected by the server's, once") {
    Scene scene;
    scene.clock.jump(-std::chrono::hours(24 * 3650)); // the server has the time of this machine
    scene.server.then(403, error_body("RequestTimeTooSkewed")).then(200).then(200);
    CHECK(scene.put().ok());
    CHECK(scene.put().ok());
    REQUIRE(scene.server.heads.size() == 3);
    const std::string today = amazon_time(SystemClock().now()).substr(0, 4);
    CHECK(!scene.server.heads[0].header("x-amz-date").starts_with(today));
    CHECK(scene.server.heads[1].header("x-amz-date").starts_with(today));
    CHECK(scene.server.heads[2].header("x-amz-date").starts_with(today));
    Scene stuck;
    stuck.clock.jump(-std::chrono::hours(24 * 3650));
    stuck.server.then(403, error_body("RequestTimeTooSkewed")).then(403, error_body("RequestTimeTooSkewed"));
    CHECK(stuck.put().error().message.find("set its clock") != std::string::npos);
    CHECK(stuck.server.lines.size() == 2);
    CHECK(parse_http_date("Tue, 17 Nov 2026 14:30:00 GMT").value() == parse_time("2026-11-17T14:30:00Z").value());
    for (const char* text : {"", "now", "Tue, 17 Xxx 2026 14:30:00 GMT", "Tue, 17 Nov 2026 14:30:00 CET"})
        CHECK(!parse_http_date(text));
}

TEST_CASE("a multipart upload is completed with its parts, or aborted") {
    const std::string content(2 * part + 5, 'x');
    Scene scene("&checksum=sha256");
    scene.server.then(200, began);
    for (const char* etag : {"\"1\"", "\"2\"", "\"3<&\""}) scene.server.then(200, "", {{"ETag", etag}});
    scene.server.then(200, "<CompleteMultipartUploadResult/>");
    REQUIRE(scene.put(content).ok());
    const std::vector<std::string> wanted{
        "POST /bucket/check/x?uploads=", "PUT /bucket/check/x?partNumber=1&uploadId=id%2F1",
        "PUT /bucket/check/x?partNumber=2&uploadId=id%2F1", "PUT /bucket/check/x?partNumber=3&uploadId=id%2F1",
        "POST /bucket/check/x?uploadId=id%2F1"};
    CHECK(scene.server.lines == wanted);
    CHECK(scene.server.bodies[3] == "xxxxx");
    CHECK(scene.server.bodies[4].find(
              "<PartNumber>3</PartNumber><ETag>&quot;3&lt;&amp;&quot;</ETag><ChecksumSHA256>") != std::string::npos);

    Scene failing;
    failing.server.then(200, began).then(200, "", {{"ETag", "\"1\""}}).then(403, error_body("AccessDenied")).then(204);
    CHECK(failing.put(content).error().code == Code::forbidden);
    CHECK(failing.server.lines.back() == "DELETE /bucket/check/x?uploadId=id%2F1");

    // The source breaks, the announced hash is another: nothing is completed.
    Scene broken;
    broken.server.then(200, began);
    for (int i = 0; i < 2; ++i) broken.server.then(200, "", {{"ETag", "\"1\""}});
    broken.server.then(204);
    int calls = 0;
    CHECK(broken.store
              ->put("check/x",
                    [&]() -> Result<std::string> {
                        return ++calls < 3 ? Result<std::string>(std::string(part, 'x')) : busy("source");
                    })
              .error()
              .message == "source");
    CHECK(broken.server.lines.back() == "DELETE /bucket/check/x?uploadId=id%2F1");
    Scene other;
    other.server.then(200, began);
    for (int i = 0; i < 3; ++i) other.server.then(200, "", {{"ETag", "\"1\""}});
    other.server.then(204);
    CHECK(other.store->put("check/x", pieces_of(content), sha256_hex("other")).error().code == Code::corrupt);
    CHECK(other.server.lines.back() == "DELETE /bucket/check/x?uploadId=id%2F1");
}

TEST_CASE("an upload that seems to succeed is checked for its error") {
    const std::string content(part + 5, 'x');
    const auto begin = [](Scene& scene) {
        scene.server.then(200, began);
        for (int i = 0; i < 2; ++i) scene.server.then(200, "", {{"ETag", "\"1\""}});
    };
    Scene again;
    begin(again);
    again.server.then(200, error_body("InternalError")).then(200, "<CompleteMultipartUploadResult/>");
    CHECK(again.put(content).ok());
    // The response to a completed upload was lost: the upload is unknown then, and the object is there.
    Scene lost;
    begin(lost);
    lost.server.then(500).then(404, error_body("NoSuchUpload")).then(200, content);
    CHECK(lost.put(content).ok());
    CHECK(lost.server.lines.back() == "HEAD /bucket/check/x");
    Scene gone;
    begin(gone);
    gone.server.then(404, error_body("NoSuchUpload")).then(404).then(404);
    CHECK(gone.put(content).error().code == Code::unavailable);
    Scene without_etag;
    without_etag.server.then(200, began).then(200).then(204);
    CHECK(without_etag.put(content).error().message.find("without an ETag") != std::string::npos);
}

TEST_CASE("a download is verified, and nothing else than what was requested is taken") {
    Scene scene;
    scene.server.then(200, "content", {{"x-amz-meta-sha256", sha256_hex("content")}});
    CHECK(scene.get().value() == "content");
    Scene changed;
    changed.server.then(200, "c0ntent", {{"x-amz-meta-sha256", sha256_hex("content")}});
    CHECK(changed.get().error().code == Code::corrupt);
    Scene ignored;
    ignored.server.then(200, "everything");
    CHECK(ignored.store->get("check/x", {2, 3}, [](std::string_view) { return Result<>(); }).error().code ==
          Code::unavailable);
    Scene more;
    more.server.then(206, "everything");
    CHECK(more.store->get("check/x", {2, 3}, [](std::string_view) { return Result<>(); }).error().code ==
          Code::unavailable);
    Scene unbounded;
    unbounded.server.then_cut(200, "without a length");
    CHECK(!unbounded.get().ok());
    Scene errors;
    errors.server.then(404, error_body("NoSuchKey"));
    CHECK(errors.get().error().message == "object check/x not found");
    Scene long_error;
    long_error.server.then(404, std::string(1 << 20, 'x'));
    CHECK(!long_error.get().ok());
}

TEST_CASE("a download that is cut resumes where it was, and never in another content") {
    const auto head = [](const std::string& status, size_t length) {
        return "HTTP/1.1 " + status + "\r\nETag: \"e1\"\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
    };
    const auto read_from = [](RawS3& server, Range range, int attempts) {
        crypto::start();
        S3Options options;
        options.location = parse_location("s3://bucket?endpoint=http://" + server.address).value();
        options.credentials = []() -> Result<Credentials> {
            return Credentials{"KEY", crypto::SecretBytes("secret"), {}};
        };
        options.pause = [](Duration) {};
        options.attempts = attempts;
        static const SystemClock clock;
        const auto store = S3Store::open(std::move(options), clock).value();
        std::string text;
        const auto got = store->get("check/x", range, [&](std::string_view piece) -> Result<> {
            text += piece;
            return {};
        });
        server.finish();
        return got.ok() ? text : text + " " + code_name(got.error().code);
    };
    RawS3 resumed({head("200 OK", 10) + "0123", head("206 Partial Content", 6) + "45", "",
                   head("206 Partial Content", 4) + "6789"});
    CHECK(read_from(resumed, {}, 5) == "0123456789");
    CHECK(resumed.heads[0].find("Range:") == std::string::npos);
    CHECK(resumed.heads[1].find("Range: bytes=4-\r\n") != std::string::npos);
    CHECK(resumed.heads[1].find("If-Match: \"e1\"\r\n") != std::string::npos);
    CHECK(resumed.heads[3].find("Range: bytes=6-\r\n") != std::string::npos);
    RawS3 ranged({head("206 Partial Content", 4) + "23", head("206 Partial Content", 2) + "45"});
    CHECK(read_from(ranged, {2, 4}, 5) == "2345");
    CHECK(ranged.heads[1].find("Range: bytes=4-5\r\n") != std::string::npos);
    RawS3 replaced({head("200 OK", 10) + "0123", "HTTP/1.1 412 Precondition Failed\r\nContent-Length: 0\r\n\r\n"});
    CHECK(read_from(replaced, {}, 5) == "0123 unavailable");
    // A download from a server that never sends the rest fails.
    RawS3 truncated({head("200 OK", 10) + "0123", "", ""});
    CHECK(read_from(truncated, {}, 3) == "0123 unavailable");
}

TEST_CASE("lists that are hostile are refused") {
    const auto list_of = [](const std::string& body) {
        Scene scene;
        scene.server.then(200, body);
        return scene.store->list("check/", "", 2);
    };
    const auto contents = [](const std::string& key) {
        return "<Contents><Key>" + key +
               "</Key><Size>1</Size><LastModified>2026-11-17T12:00:00Z</LastModified></Contents>";
    };
    const auto result = [](const std::string& inner) { return "<ListBucketResult>" + inner + "</ListBucketResult>"; };
    CHECK(list_of(result(contents("check/a"))).value().objects.size() == 1);
    CHECK(list_of(result(contents("check/../x"))).value().objects.empty());
    CHECK(!list_of(result(contents("artifacts/a"))).ok());
    CHECK(!list_of(result(contents("check/a") + contents("check/b") + contents("check/c"))).ok());
    CHECK(!list_of("<!DOCTYPE x [<!ENTITY a \"b\">]>" + result(contents("check/&a;"))).ok());
    CHECK(!list_of(result(std::string(9 << 20, ' '))).ok());
    CHECK(!list_of("").ok());
}

TEST_CASE("unfinished uploads of more than a day are aborted") {
    Scene scene;
    const auto upload = [](const std::string& key, const std::string& time) {
        return "<Upload><Key>" + key + "</Key><UploadId>u</UploadId><Initiated>" + time + "</Initiated></Upload>";
    };
    const auto result = [](const std::string& inner) {
        return "<ListMultipartUploadsResult>" + inner + "</ListMultipartUploadsResult>";
    };
    scene.server
        .then(200,
              result("<IsTruncated>true</IsTruncated><NextKeyMarker>m</NextKeyMarker>" +
                     upload("artifacts/old", "2026-11-15T00:00:00Z") + upload("artifacts/new", "2026-11-17T11:00:00Z")))
        .then(204)
        .then(200, result("")); // what remains of the first area; then the others
    for (size_t i = 1; i < std::size(areas); ++i) scene.server.then(200, result(""));
    CHECK(scene.store->discard_unfinished(std::chrono::hours(24)).value() == 1);
    CHECK(scene.server.lines[1] == "DELETE /bucket/artifacts/old?uploadId=u");
    CHECK(scene.server.lines[2] == "GET /bucket?key-marker=m&prefix=artifacts%2F&uploads=");
    Scene unable;
    unable.server.then(501, error_body("NotImplemented"));
    CHECK(unable.store->discard_unfinished(std::chrono::hours(24)).value() == 0);
}

TEST_CASE("a server that is not there is an error, after all attempts") {
    crypto::start();
    S3Options options;
    options.location = parse_location("s3://bucket?endpoint=http://127.0.0.1:1").value();
    options.credentials = []() -> Result<Credentials> { return Credentials{"KEY", crypto::SecretBytes("secret"), {}}; };
    int pauses = 0;
    options.pause = [&](Duration) { ++pauses; };
    const SystemClock clock;
    const auto store = S3Store::open(std::move(options), clock).value();
    const auto failed = probe(*store);
    CHECK(failed.error().code == Code::unavailable);
    CHECK(failed.error().message.starts_with("the object store at http://127.0.0.1:1 could not be reached"));
    CHECK(pauses == 4);
}

TEST_CASE("certificates are checked against the given authority") {
    crypto::start();
    TestAuthority authority;
    const CertificateFiles files = authority.issue("s3", "DNS:bucket.localhost,DNS:localhost,IP:127.0.0.1");
    ServerOptions server_options = test_options();
    server_options.listen = {{"127.0.0.1:0", files.certificate, files.key}};
    ScriptedS3 server(std::move(server_options));
    const auto open_with = [&](const std::string& ca_file) {
        S3Options options;
        options.location = parse_location("s3://bucket?endpoint=https://" + server.address()).value();
        options.credentials = []() -> Result<Credentials> {
            return Credentials{"KEY", crypto::SecretBytes("secret"), {}};
        };
        options.ca_file = ca_file;
        options.pause = [](Duration) {};
        static const SystemClock clock;
        return S3Store::open(std::move(options), clock).value();
    };
    server.then(200);
    CHECK(open_with(authority.ca_file())->put("check/x", pieces_of("x")).ok());
    TestAuthority stranger;
    CHECK(open_with(stranger.ca_file())->put("check/x", pieces_of("x")).error().code == Code::unavailable);
    CHECK(server.lines.size() == 1);
}
