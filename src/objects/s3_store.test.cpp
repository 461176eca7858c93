// The S3 store against `s3rver`, a server from npm that was written by others and checks every signature.
#include "objects/s3_store.h"

#include "base/file.h"
#include "base/testing.h"
#include "objects/conformance.test.h"

#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::objects;

namespace {

// tests/s3_server.mjs with one bucket, `hone-test`; ends with this object.
class S3Server {
public:
    S3Server() {
        char path[] = "/tmp/hone-s3-XXXXXX";
        REQUIRE(::mkdtemp(path) != nullptr);
        m_directory = path;
        int input[2], output[2];
        REQUIRE(::pipe2(input, O_CLOEXEC) == 0);
        REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, input[0], 0);
        posix_spawn_file_actions_adddup2(&actions, output[1], 1);
        // The flag: its cursors are made with DES. Another server: `./dev test object_stores`.
        const char* other = std::getenv("HONE_S3_PROGRAM");
        std::string program = other ? other : "node", flag = "--openssl-legacy-provider",
                    script = HONE_SOURCE_DIR "/tests/s3_server.mjs", bucket = "hone-test";
        char* const arguments[] = {program.data(),     flag.data(),   script.data(),
                                   m_directory.data(), bucket.data(), nullptr};
        char* const own[] = {program.data(), m_directory.data(), bucket.data(), nullptr};
        REQUIRE(::posix_spawnp(&m_pid, program.c_str(), &actions, nullptr, other ? own : arguments, environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        ::close(input[0]);
        ::close(output[1]);
        m_input = Fd(input[1]);
        const Fd lines(output[0]);
        for (char c = 0; ::read(lines.get(), &c, 1) == 1 && c != '\n';) m_port += c;
        REQUIRE_MESSAGE(!m_port.empty(), "s3rver did not start");
    }
    ~S3Server() {
        m_input.reset();
        int status = 0;
        ::waitpid(m_pid, &status, 0);
        std::filesystem::remove_all(m_directory);
    }
    std::string endpoint() const { return "http://127.0.0.1:" + m_port; }

private:
    std::string m_directory;
    std::string m_port;
    pid_t m_pid = 0;
    Fd m_input;
};

bool has_s3rver() {
    return file_exists(HONE_SOURCE_DIR "/tests/node_modules/@20minutes/s3rver");
}

S3Options options_for(const S3Server& server, const std::string& bucket, const std::string& secret = "S3RVER",
                      const std::string& key_id = "S3RVER", const std::string& more = "") {
    S3Options options;
    options.location = parse_location("s3://" + bucket + "?endpoint=" + server.endpoint() + more).value();
    options.credentials = [secret, key_id]() -> Result<Credentials> {
        return Credentials{key_id, crypto::SecretBytes(secret), {}};
    };
    options.pause = [](Duration) {};
    return options;
}

std::unique_ptr<S3Store> open_at(const S3Server& server, const std::string& bucket,
                                 const std::string& secret = "S3RVER", const std::string& key_id = "S3RVER") {
    static const SystemClock clock;
    return S3Store::open(options_for(server, bucket, secret, key_id), clock).value();
}

} // namespace

TEST_CASE("a bucket of a foreign server is an object store, with and without a prefix") {
    if (!has_s3rver()) return skip_test("needs the npm packages of tests/");
    crypto::start();
    const S3Server server;
    // s3rver writes an object and its SHA-256 to two files, so that two puts to one key can leave one of each.
    testing::run_conformance(*open_at(server, "hone-test"), testing::SameKey::puts_may_mix);
    testing::run_conformance(*open_at(server, "hone-test/team=1/hone"), testing::SameKey::puts_may_mix);
}

TEST_CASE("with checksum=sha256 the same bucket is the same store") {
    if (!has_s3rver()) return skip_test("needs the npm packages of tests/");
    crypto::start();
    const S3Server server;
    const SystemClock clock;
    const auto options = options_for(server, "hone-test/summed", "S3RVER", "S3RVER", "&checksum=sha256");
    testing::run_conformance(*S3Store::open(options, clock).value(), testing::SameKey::puts_may_mix);
}

TEST_CASE("objects below other prefixes and foreign names in the bucket are not listed") {
    if (!has_s3rver()) return skip_test("needs the npm packages of tests/");
    crypto::start();
    const S3Server server;
    const auto plain = open_at(server, "hone-test");
    const auto team = open_at(server, "hone-test/team");
    REQUIRE(plain->put("check/a", pieces_of("1")).ok());
    REQUIRE(team->put("check/b", pieces_of("2")).ok());
    CHECK(plain->list("check/", "").value().objects.size() == 1);
    CHECK(team->list("check/", "").value().objects.front().key == "check/b");
    CHECK(!team->head("check/a").value());
}

TEST_CASE("a foreign server refuses wrong keys, wrong buckets and changed addresses, and the error names the cause") {
    if (!has_s3rver()) return skip_test("needs the npm packages of tests/");
    crypto::start();
    const S3Server server;
    const auto message = [](ObjectStore& store) {
        const auto stored = store.put("check/x", pieces_of("x"));
        return stored.ok() ? "stored" : stored.error().message;
    };
    CHECK(message(*open_at(server, "hone-test", "wrong")).find("the secret key of") != std::string::npos);
    CHECK(message(*open_at(server, "hone-test", "wrong", "nobody")).find("does not know the access key") !=
          std::string::npos);
    CHECK(message(*open_at(server, "other-bucket")).find("the bucket other-bucket does not exist at") !=
          std::string::npos);
    const auto store = open_at(server, "hone-test");
    REQUIRE(store->put("check/shared", pieces_of("for everybody")).ok());
    const std::string address =
        store->presigned_get("check/shared", std::chrono::minutes(5), "a \"b\".txt").value().value();
    net::HttpClient client;
    net::ClientRequest request;
    request.url = address;
    const auto read = client.send(request).value();
    CHECK(read.status == 200);
    CHECK(read.body == "for everybody");
    CHECK(read.header("Content-Disposition") == "attachment; filename=\"a__b_.txt\"");
    request.url = address.substr(0, address.find("shared")) + "other" + address.substr(address.find("shared") + 6);
    CHECK(client.send(request).value().status == 403);
    CHECK(store->presigned_get("check/shared", std::chrono::hours(24 * 8), "x").error().code == Code::invalid);
}

TEST_CASE("an address with a wrong signature, of another method or over its time is refused by a foreign server") {
    if (!has_s3rver()) return skip_test("needs the npm packages of tests/");
    crypto::start();
    const S3Server server;
    const FakeClock an_hour_ago(SystemClock().now() - std::chrono::hours(1));
    const auto store = open_at(server, "hone-test");
    const auto earlier = S3Store::open(options_for(server, "hone-test"), an_hour_ago).value();
    REQUIRE(store->put("check/shared", pieces_of("for some")).ok());
    const auto address_of = [](S3Store& from, Duration valid_for) {
        return from.presigned_get("check/shared", valid_for, "x").value().value();
    };
    net::HttpClient client;
    const auto status_of = [&](const std::string& address, const char* method = "GET") {
        net::ClientRequest request;
        request.method = method;
        request.url = address;
        return client.send(request).value().status;
    };
    const std::string good = address_of(*store, std::chrono::minutes(5));
    CHECK(status_of(good) == 200);
    CHECK(status_of(address_of(*earlier, std::chrono::hours(2))) == 200); // still valid for an hour
    CHECK(status_of(address_of(*earlier, std::chrono::minutes(59))) == 403);
    CHECK(status_of(good, "DELETE") == 403);
    for (const char* wanted : {"X-Amz-Signature=", "X-Amz-Expires="}) {
        std::string changed = good;
        char& digit = changed[changed.find(wanted) + std::string_view(wanted).size()];
        digit = digit == '1' ? '2' : '1';
        INFO(changed);
        CHECK(status_of(changed) == 403);
    }
    CHECK(get_text(*store, "check/shared", 100).value() == "for some");
}
