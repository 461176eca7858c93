#include "kubernetes/api/credentials.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "net/testing/certificates.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace hone;
using namespace hone::kubernetes;

namespace {

// For all tests of this program.
struct StartCrypto {
    StartCrypto() { crypto::start(); }
} const started_crypto;

constexpr std::string_view plain_config = R"(apiVersion: v1
kind: Config
preferences: {}
current-context: dev
clusters:
- name: other
  cluster: {server: "https://10.0.0.2:6443"}
- name: home
  cluster:
    certificate-authority-data: QUJD
    server: https://cluster.example:6443/
    tls-server-name: kubernetes.default
    extensions: [{name: x, extension: {}}]
contexts:
- name: dev
  context: {cluster: home, user: robot, namespace: workers}
- name: bare
  context: {cluster: other, user: robot}
users:
- name: robot
  user:
    token: secret-token
)";

std::string problem_of(std::string text, std::string_view from, std::string_view to, const std::string& context = "") {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    const auto access = parse_kubeconfig(text, context, "");
    return access.ok() ? "accepted" : access.error().message;
}

struct Folder {
    std::string path =
        (std::filesystem::temp_directory_path() / ("hone-credentials-" + to_hex(crypto::random_bytes(8)))).string();
    Folder() { REQUIRE(make_directories(path).ok()); }
    ~Folder() { std::filesystem::remove_all(path); }
    void write(const std::string& name, std::string_view content) const {
        REQUIRE(write_file(path + "/" + name, content).ok());
    }
};

} // namespace

TEST_CASE("a kubeconfig names the cluster, its authority, the token and the namespace") {
    const auto access = parse_kubeconfig(plain_config, "", "").value();
    CHECK(access.server == "https://cluster.example:6443");
    CHECK(access.server_name == "kubernetes.default");
    CHECK(access.authorities == "ABC");
    CHECK(access.token.reveal() == "secret-token");
    CHECK(access.name_space == "workers");
    const auto bare = parse_kubeconfig(plain_config, "bare", "").value();
    CHECK(bare.server == "https://10.0.0.2:6443");
    CHECK(bare.name_space == "default");
}

TEST_CASE("files of a kubeconfig are beside it, and are rejected when only its text is there") {
    const Folder folder;
    folder.write("ca.pem", "authority");
    folder.write("client.pem", "certificate");
    folder.write("client.key", "key");
    const std::string config = R"({"current-context":"a","contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],
        "clusters":[{"name":"c","cluster":{"server":"https://c","certificate-authority":"ca.pem"}}],
        "users":[{"name":"u","user":{"client-certificate":"client.pem","client-key":")" +
                               folder.path + R"(/client.key","tokenFile":"token"}}]})";
    const auto access = parse_kubeconfig(config, "", folder.path).value();
    CHECK(access.authorities == "authority");
    CHECK(access.client_certificate == "certificate");
    CHECK(access.client_key.reveal() == "key");
    CHECK(access.token_file == folder.path + "/token");
    CHECK(parse_kubeconfig(config, "", "").error().message ==
          "the kubeconfig names the file ca.pem, which was not sent with it: use the output of `kubectl config view "
          "--flatten --minify`");
}

TEST_CASE("what a kubeconfig requests and Hone does not do is rejected with the reason") {
    const std::string config(plain_config);
    const std::string token = "token: secret-token";
    CHECK(problem_of(config, token, "exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks]}")
              .starts_with("the kubeconfig gets its credentials from the program \"aws\", and Hone runs no program"));
    CHECK(problem_of(config, token, "exec: {}").find("runs no program") != std::string::npos);
    CHECK(problem_of(config, token, "auth-provider: {name: gcp}").find("auth-provider") != std::string::npos);
    CHECK(problem_of(config, token, "{username: a, password: b}").find("user name and password") != std::string::npos);
    CHECK(problem_of(config, token, "{token: t, as: admin}") ==
          "the kubeconfig acts as another user, which is not supported");
    CHECK(problem_of(config, token, "{}") ==
          "the kubeconfig has no credentials: neither a token nor a client certificate");
    CHECK(problem_of(config, token, "client-certificate-data: QUJD").find("without a key") != std::string::npos);
    CHECK(problem_of(config, token, "token: [a]") == "the kubeconfig's token must be text");
    CHECK(problem_of(config, "tls-server-name: k", "insecure-skip-tls-verify: true\n    tls-server-name: k")
              .find("insecure-skip-tls-verify") != std::string::npos);
    CHECK(problem_of(config, "tls-server-name: k", "insecure-skip-tls-verify: false\n    tls-server-name: k") ==
          "accepted");
    CHECK(problem_of(config, "tls-server-name: k", "proxy-url: http://p\n    tls-server-name: k").find("proxy-url") !=
          std::string::npos);
    CHECK(problem_of(config, "https://cluster", "http://cluster").find("https://") != std::string::npos);
    CHECK(problem_of(config, "https://cluster", "https://user:password@cluster").find("https://") != std::string::npos);
    CHECK(problem_of(config, "https://cluster", "HTTPS://cluster").find("https://") != std::string::npos);
    CHECK(problem_of(config, "kubernetes.default", "a/b?c") ==
          "the kubeconfig's tls-server-name is not the name of a host");
    CHECK(problem_of(config, "namespace: workers", "namespace: ../../nodes") ==
          "the kubeconfig's namespace is not the name of one");
    CHECK(problem_of(config, "QUJD", "'%%%'") == "the kubeconfig's certificate-authority-data is not base64");
    CHECK(problem_of(config, "current-context: dev", "current-context: ''") ==
          "the kubeconfig has no current-context: name one");
    CHECK(problem_of(config, "user: robot, n", "user: nobody, n") == "the kubeconfig has no user named \"nobody\"");
    CHECK(problem_of(config, "kind: Config", "kind: Config", "prod") == "the kubeconfig has no context named \"prod\"");
    CHECK(parse_kubeconfig("- a", "", "").error().message == "the kubeconfig must be a mapping");
    CHECK(parse_kubeconfig("a: [", "", "").error().message.starts_with("the kubeconfig cannot be read: line "));
}

TEST_CASE("in a pod the mounted files and two variables are enough") {
    const Folder folder;
    folder.write("ca.crt", "authority");
    folder.write("namespace", "workers\n");
    folder.write("token", "first\n");
    const auto access = in_cluster_access(folder.path, "fd00::1", "443").value();
    CHECK(access.server == "https://[fd00::1]:443");
    CHECK(access.name_space == "workers");
    CHECK(access.token_file == folder.path + "/token");
    CHECK(in_cluster_access(folder.path, "", "443").error().code == Code::unavailable);
    folder.write("ca.crt", " \n");
    CHECK(in_cluster_access(folder.path, "10.0.0.1", "443").error().message == folder.path + "/ca.crt is empty");
}

TEST_CASE("a token file is read again after a minute, and right after it was rejected") {
    const net::testing::TestAuthority authority;
    const Folder folder;
    FakeClock clock(from_ns(0));
    clock.advance(std::chrono::hours(1));
    ClusterAccess access;
    access.server = "https://cluster.example";
    access.authorities = read_file(authority.ca_file()).value();
    access.token_file = folder.path + "/token";
    const auto credentials = Credentials::open(std::move(access), clock).value();
    CHECK(credentials->authorization().error().code == Code::unavailable);
    folder.write("token", "first\n");
    CHECK(credentials->authorization().value() == "Bearer first");
    folder.write("token", "second");
    CHECK(credentials->authorization().value() == "Bearer first");
    clock.advance(std::chrono::seconds(60));
    CHECK(credentials->authorization().value() == "Bearer second");
    folder.write("token", "third");
    CHECK(credentials->refresh());
    CHECK(credentials->authorization().value() == "Bearer third");
    // A file that is gone or broken for a moment does not end what works.
    folder.write("token", "not\na token");
    clock.advance(std::chrono::seconds(60));
    CHECK(credentials->authorization().value() == "Bearer third");
    ClusterAccess fixed;
    fixed.server = "https://cluster.example";
    fixed.token = crypto::SecretBytes("fixed");
    const auto other = Credentials::open(std::move(fixed), clock).value();
    CHECK(other->authorization().value() == "Bearer fixed");
    CHECK(!other->refresh());
}
