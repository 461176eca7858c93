#include "broker/egress/policy.h"
#include "broker/egress/explain.h"
#include "broker/wire/dial.h"
#include "net/http/url.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;

namespace {

HostPort place(std::string_view text) {
    return parse_host_port(text, 443).value();
}

std::shared_ptr<const Policy> policy(EgressMode mode, std::vector<PolicyRule> rules, skill::Grant grant = {}) {
    auto made = Policy::compile(mode, std::move(grant), std::move(rules));
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
    return made.value();
}

Target request(std::string method, std::string_view host, std::string path, bool tls = true) {
    return {std::move(method), place(host), tls, std::move(path), false};
}

std::string refused(const std::string& address) {
    const auto [host, port] = net::parse_host_port(address).value();
    const auto endpoints = net::resolve(host, port).value();
    const auto why = refused_range(endpoints.front(), Reach::public_only);
    return why ? std::string(*why) : "";
}

} // namespace

TEST_CASE("without network nothing is allowed, with an allowlist only what a rule names") {
    skill::Grant grant;
    grant.allow.push_back({"pypi.org", 443, true, {}, "/", false});
    CHECK_FALSE(policy(EgressMode::none, {}, grant)->decide_connect(place("pypi.org")).allowed);
    const auto listed = policy(EgressMode::allowlist, {}, grant);
    CHECK(listed->decide_connect(place("pypi.org")).allowed);
    CHECK_FALSE(listed->decide_connect(place("pypi.org")).terminate);
    CHECK_FALSE(listed->decide_connect(place("pypi.org:8443")).allowed);
    CHECK_FALSE(listed->decide_connect(place("a.pypi.org")).allowed);
    CHECK_FALSE(listed->decide_connect(place("xpypi.org")).allowed);
    CHECK_FALSE(listed->decide(request("GET", "pypi.org", "/", false)).allowed);
    CHECK(policy(EgressMode::open, {})->decide_connect(place("anything.example")).allowed);
}

TEST_CASE("a wildcard covers names below it, not itself and not look-alikes") {
    CHECK(host_matches("*.example.com", "a.example.com"));
    CHECK(host_matches("*.example.com", "a.b.example.com"));
    CHECK_FALSE(host_matches("*.example.com", "example.com"));
    CHECK_FALSE(host_matches("*.example.com", "badexample.com"));
    CHECK_FALSE(host_matches("*.example.com", "a.example.com.evil.net"));
}

TEST_CASE("methods and paths are checked for each request, and TLS is intercepted for it") {
    const auto rules =
        policy(EgressMode::allowlist, {{{"api.test", 443, true, {"GET"}, "/v1", false}, false, "preset"}});
    const Verdict connect = rules->decide_connect(place("api.test"));
    CHECK(connect.allowed);
    CHECK(connect.terminate);
    CHECK(rules->decide(request("GET", "api.test", "/v1/x")).allowed);
    CHECK(rules->decide(request("GET", "api.test", "/v1")).allowed);
    CHECK_FALSE(rules->decide(request("GET", "api.test", "/v10")).allowed);
    CHECK_FALSE(rules->decide(request("POST", "api.test", "/v1/x")).allowed);
    for (const char* path : {"/v1/../admin", "/v1/%2e%2e/admin", "/v1/%252e%252e/admin", "/v1/..%2fadmin",
                             "/v1/..%5cadmin", "/v1/..;/admin", "/v1/./x", "/v1/%00"}) {
        INFO(path);
        CHECK_FALSE(rules->decide(request("GET", "api.test", path)).allowed);
    }
    const Verdict denied = rules->decide(request("POST", "api.test", "/v1/x"));
    CHECK(denied.rule == "preset: api.test:443 GET /v1");
    CHECK(denied.reason.find("not this method") != std::string::npos);
}

TEST_CASE("a denial wins, however the path is spelled") {
    const auto rules = policy(EgressMode::open, {{{"api.test", 0, true, {}, "/admin", false}, true, "space policy"},
                                                 {{"evil.test", 0, true, {}, "/", false}, true, "space policy"},
                                                 {{"api.test", 443, true, {}, "/", false}, false, "preset"}});
    CHECK_FALSE(rules->decide_connect(place("evil.test")).allowed);
    CHECK_FALSE(rules->decide_connect(place("evil.test:8443")).allowed);
    CHECK(rules->decide_connect(place("api.test")).terminate);
    CHECK(rules->decide(request("GET", "api.test", "/x")).allowed);
    for (const char* path : {"/admin", "/admin/x", "//admin", "/%61dmin", "/%2561dmin", "/ADMIN", "/x/../admin"}) {
        INFO(path);
        CHECK_FALSE(rules->decide(request("GET", "api.test", path)).allowed);
    }
}

TEST_CASE("a denial of a method holds in any case of its letters") {
    const auto rules =
        policy(EgressMode::open, {{{"api.test", 0, true, {"DELETE"}, "/", false}, true, "space policy"}});
    for (const char* method : {"DELETE", "delete", "Delete"})
        CHECK_FALSE(rules->decide(request(method, "api.test", "/x")).allowed);
    for (const char* method : {"trace", "Track", "connect"})
        CHECK_FALSE(rules->decide(request(method, "api.test", "/x")).allowed);
    CHECK(rules->decide(request("POST", "api.test", "/x")).allowed);
}

TEST_CASE("a star of a path covers exactly one segment") {
    CHECK(path_matches("/repos/*/*", "/repos/team/shop"));
    CHECK(path_matches("/repos/*/*", "/repos/team/shop/issues"));
    CHECK(path_matches("/*/*/git-upload-pack", "/team/shop.git/git-upload-pack"));
    CHECK_FALSE(path_matches("/*/*/git-upload-pack", "/team/shop.git/git-receive-pack"));
    CHECK_FALSE(path_matches("/*/*/git-upload-pack", "/a/b/c/git-upload-pack"));
    CHECK_FALSE(path_matches("/repos/*/*", "/repos/team"));
    CHECK_FALSE(path_matches("/repos/*/*", "/repos//shop"));
    CHECK_FALSE(path_matches("/repos/*/*", "/user/team/shop"));
}

TEST_CASE("a forge with a registered repository is read and never written to, whatever rules and mode say") {
    const auto forges = forge_hosts(
        {"https://github.com/team/shop.git", "https://git.test:3000/group/sub/shop", "file:///data/repos/local.git"});
    CHECK(forges.size() == 4);
    std::vector<PolicyRule> rules;
    for (const char* host : {"github.com", "api.github.com", "uploads.github.com", "git.test"})
        rules.push_back({{host, 0, true, {}, "/", true}, false, "preset"});
    skill::Grant grant;
    grant.credentials.push_back(
        {"GH_TOKEN",
         "sec_1",
         "token",
         true,
         {{"github.com", 443, true, {}, "/", false}, {"api.github.com", 443, true, {}, "/", false}},
         "authorization",
         "Bearer {}"});
    for (const EgressMode mode : {EgressMode::allowlist, EgressMode::open}) {
        const auto made = Policy::compile(mode, grant, rules, forges);
        REQUIRE(made.ok());
        const Policy& policy = *made.value();
        const auto allowed = [&](std::string method, std::string_view host, std::string path, std::string query = "",
                                 bool websocket = false) {
            return policy.decide({std::move(method), place(host), true, std::move(path), websocket, std::move(query)})
                .allowed;
        };
        CHECK(policy.decide_connect(place("github.com")).terminate);
        CHECK(policy.decide_connect(place("git.test:3000")).terminate);
        // Reading.
        CHECK(allowed("GET", "api.github.com", "/repos/team/shop/pulls"));
        CHECK(allowed("HEAD", "api.github.com", "/repos/team/shop"));
        CHECK(allowed("GET", "github.com", "/team/shop.git/info/refs", "service=git-upload-pack"));
        CHECK(allowed("POST", "github.com", "/team/shop.git/git-upload-pack"));
        CHECK(allowed("POST", "git.test:3000", "/group/sub/shop.git/git-upload-pack"));
        // Writing.
        struct Write {
            const char *method, *host, *path, *query;
        };
        for (const Write& write : {
                 Write{"GET", "github.com", "/team/shop.git/info/refs", "service=git-receive-pack"},
                 Write{"POST", "github.com", "/team/shop.git/git-receive-pack", ""},
                 Write{"POST", "github.com", "/team/shop.git/git-upload-pack/../git-receive-pack", ""},
                 Write{"POST", "github.com", "/team/shop.git/info/lfs/objects/batch", ""},
                 Write{"PUT", "api.github.com", "/repos/team/shop/pulls/1/merge", ""},
                 Write{"PUT", "api.github.com", "/repos/team/shop/contents/x", ""},
                 Write{"POST", "api.github.com", "/repos/team/shop/pulls", ""},
                 Write{"POST", "api.github.com", "/repos/team/shop/pulls/1/reviews", ""},
                 Write{"POST", "api.github.com", "/repos/team/shop/hooks", ""},
                 Write{"POST", "api.github.com", "/repos/team/shop/keys", ""},
                 Write{"POST", "api.github.com", "/repos/team/shop/git/refs", ""},
                 Write{"PATCH", "api.github.com", "/repos/team/shop/issues/1", ""},
                 Write{"DELETE", "api.github.com", "/repos/team/shop", ""},
                 Write{"POST", "api.github.com", "/graphql", ""},
                 Write{"GET", "api.github.com", "/graphql", "query=mutation"},
                 Write{"POST", "uploads.github.com", "/repos/team/shop/releases/1/assets", ""},
                 Write{"POST", "git.test:3000", "/api/v1/repos/team/pub/contents/pwn.txt", ""},
                 Write{"POST", "git.test:3000", "/api/v1/repos/team/pub/contents/git-upload-pack", ""},
                 Write{"POST", "git.test:3000", "/api/v1/git-upload-pack", ""},
                 Write{"POST", "git.test:3000", "/api/v1/repos/team/pub/pulls/1/merge", ""},
                 Write{"POST", "git.test:3000", "/api/v1/repos/team/pub/issues/../pulls", ""},
                 Write{"POST", "git.test:3000", "/api/v1/repos/team/pub/issues%2f..%2fpulls", ""},
                 Write{"POST", "git.test:8443", "/team/pub.git/git-receive-pack", ""},
             }) {
            INFO(write.method, " ", write.host, write.path);
            CHECK_FALSE(allowed(write.method, write.host, write.path, write.query));
        }
        CHECK_FALSE(allowed("GET", "github.com", "/live", "", true));
        CHECK_FALSE(
            policy.decide({"POST", place("git.test:80"), false, "/team/pub.git/git-receive-pack", false}).allowed);
        // A rule for the whole host does not open issues, comments and labels.
        CHECK_FALSE(allowed("POST", "api.github.com", "/repos/team/shop/issues"));
        CHECK_FALSE(allowed("POST", "git.test:3000", "/api/v1/repos/team/pub/issues/4/comments"));
    }
    const auto open = Policy::compile(EgressMode::open, {}, {}, forges).value();
    CHECK(open->decide(request("GET", "api.github.com", "/repos/team/shop")).allowed);
    CHECK_FALSE(open->decide(request("POST", "api.github.com", "/repos/team/shop/issues")).allowed);
    CHECK(open->decide(request("POST", "api.elsewhere.test", "/x")).allowed);
}

TEST_CASE("a credential belongs to its host, port, method and path only") {
    skill::Grant grant;
    grant.credentials.push_back({"TOKEN",
                                 "sec_1",
                                 "token",
                                 true,
                                 {{"api.test", 443, true, {"GET"}, "/v1", false}},
                                 "authorization",
                                 "Bearer {}"});
    const auto rules = policy(EgressMode::open, {}, grant);
    CHECK(rules->decide(request("GET", "api.test", "/v1/x")).credentials == std::vector<size_t>{0});
    CHECK(rules->decide(request("GET", "api.test", "/v1/x")).brokered);
    // Allowed, because the mode is open, but without the secret; own credentials are stripped all the same.
    for (const Target& target : {request("POST", "api.test", "/v1/x"), request("GET", "api.test", "/v2")}) {
        const Verdict verdict = rules->decide(target);
        CHECK(verdict.allowed);
        CHECK(verdict.brokered);
        CHECK(verdict.credentials.empty());
    }
    CHECK(rules->decide(request("GET", "api.test:8443", "/v1/x")).credentials.empty());
    CHECK(rules->decide(request("GET", "other.test", "/v1/x")).credentials.empty());
    CHECK(rules->decide(request("GET", "api.test", "/v1/x", false)).credentials.empty());
    CHECK_FALSE(rules->decide(request("TRACE", "api.test", "/v1/x")).allowed);
    CHECK(rules->decide_connect(place("api.test")).terminate);
    CHECK_FALSE(rules->decide_connect(place("other.test")).terminate);
}

TEST_CASE("WebSockets need a rule that allows them") {
    skill::HostRule rule{"api.test", 443, true, {}, "/", false};
    Target upgrade = request("GET", "api.test", "/");
    upgrade.websocket = true;
    CHECK_FALSE(policy(EgressMode::allowlist, {{rule, false, "preset"}})->decide(upgrade).allowed);
    rule.websocket = true;
    CHECK(policy(EgressMode::allowlist, {{rule, false, "preset"}})->decide(upgrade).allowed);
}

TEST_CASE("rules that make no sense are refused") {
    for (const char* host : {"", "*", "*.com", "*.*.com", "a*.com", "API.test", "api.test:443", "api.test.", "http://a",
                             "a b", "*.1.2.3.4", "2130706433"}) {
        INFO(host);
        CHECK_FALSE(Policy::compile(EgressMode::open, {}, {{{host, 443, true, {}, "/", false}, false, "x"}}).ok());
    }
    CHECK_FALSE(Policy::compile(EgressMode::open, {}, {{{"a.test", 443, true, {}, "v1", false}, false, "x"}}).ok());
    CHECK_FALSE(
        Policy::compile(EgressMode::open, {}, {{{"a.test", 443, true, {}, "/a/../b", false}, false, "x"}}).ok());
    CHECK_FALSE(
        Policy::compile(EgressMode::open, {}, {{{"a.test", 443, true, {"TRACE"}, "/", false}, false, "x"}}).ok());
    skill::Grant plain;
    plain.credentials.push_back({"T", "s", "n", true, {{"a.test", 80, false, {}, "/", false}}, "", "{}"});
    CHECK_FALSE(Policy::compile(EgressMode::open, plain, {}).ok());
}

TEST_CASE("private, local, metadata and hidden addresses are never connected to") {
    for (const char* address : {"127.0.0.1:80",
                                "127.255.255.254:80",
                                "0.0.0.0:80",
                                "10.1.2.3:80",
                                "172.16.0.1:80",
                                "172.31.255.255:80",
                                "192.168.1.1:80",
                                "169.254.169.254:80",
                                "169.254.0.1:80",
                                "100.64.0.1:80",
                                "100.127.255.255:80",
                                "100.100.100.200:80",
                                "168.63.129.16:80",
                                "192.0.0.192:80",
                                "192.0.2.1:80",
                                "198.18.0.1:80",
                                "198.51.100.1:80",
                                "203.0.113.1:80",
                                "224.0.0.1:80",
                                "239.255.255.255:80",
                                "240.0.0.1:80",
                                "255.255.255.255:80",
                                "[::]:80",
                                "[::1]:80",
                                "[::ffff:169.254.169.254]:80",
                                "[::ffff:8.8.8.8]:80",
                                "[::169.254.169.254]:80",
                                "[64:ff9b::a9fe:a9fe]:80",
                                "[64:ff9b:1::a9fe:a9fe]:80",
                                "[2002:a9fe:a9fe::1]:80",
                                "[2001:0:53aa:64c:0:0:5601:5601]:80",
                                "[fe80::1]:80",
                                "[fec0::1]:80",
                                "[fc00::1]:80",
                                "[fd00:ec2::254]:80",
                                "[fd20:ce::254]:80",
                                "[ff02::1]:80",
                                "[2001:db8::1]:80",
                                "[3fff::1]:80",
                                "[100::1]:80",
                                "[4000::1]:80",
                                "[8000::1]:80",
                                "[5f00::1]:80"}) {
        INFO(address);
        CHECK(!refused(address).empty());
    }
    for (const char* address : {"8.8.8.8:443", "140.82.112.6:443", "172.32.0.1:80", "100.128.0.1:80", "169.253.1.1:80",
                                "[2606:4700::1111]:443", "[2a00:1450:4001::1]:443", "[2001:4860:4860::8888]:443"}) {
        INFO(address);
        CHECK(refused(address).empty());
    }
}

TEST_CASE("a model server of one's own may be private, never link-local or metadata") {
    const auto why = [](const char* address) {
        const auto [host, port] = net::parse_host_port(address).value();
        return refused_range(net::resolve(host, port).value().front(), Reach::also_private).has_value();
    };
    CHECK_FALSE(why("127.0.0.1:80"));
    CHECK_FALSE(why("10.0.0.1:80"));
    CHECK_FALSE(why("[fc00::1]:80"));
    CHECK(why("169.254.169.254:80"));
    CHECK(why("100.100.100.200:80"));
    CHECK(why("[fd00:ec2::254]:80"));
    CHECK(why("[::ffff:127.0.0.1]:80"));
    CHECK(why("224.0.0.1:80"));
}

TEST_CASE("this machine's own addresses are known") {
    const auto [host, port] = net::parse_host_port("127.0.0.1:80").value();
    CHECK(is_own_address(net::resolve(host, port).value().front()));
    CHECK_FALSE(is_own_address(net::resolve("8.8.8.8", 80).value().front()));
}

TEST_CASE("an explanation shows what would happen, without sending anything") {
    skill::Grant grant;
    grant.credentials.push_back({"TOKEN",
                                 "sec_1",
                                 "github token",
                                 true,
                                 {{"api.github.com", 443, true, {}, "/repos", false}},
                                 "authorization",
                                 "Bearer {}"});
    const auto rules = policy(EgressMode::allowlist, {{parse_host_rule("pypi.org").value(), false, "preset"}}, grant);
    const auto told = [&](std::string_view url, std::string_view method = "GET") {
        return explain(*rules, method, url).value();
    };
    const Explanation with_secret = told("https://API.github.com/repos/a/b?x=1#y");
    CHECK(with_secret.allowed);
    CHECK(with_secret.inspected);
    CHECK(with_secret.url == "https://api.github.com/repos/a/b");
    CHECK(with_secret.secrets == std::vector<std::string>{"github token"});
    CHECK_FALSE(told("https://api.github.com/gists", "POST").allowed);
    CHECK(told("https://api.github.com/gists").reason.find("the host is allowed, but not") == 0);
    CHECK(told("https://pypi.org").allowed);
    CHECK_FALSE(told("https://pypi.org").inspected);
    CHECK_FALSE(told("http://pypi.org/").allowed);
    CHECK_FALSE(told("https://api.github.com/repos", "TRACE").allowed);
    const auto open = policy(EgressMode::open, {}, {});
    CHECK(explain(*open, "GET", "http://93.184.215.14/").value().allowed);
    for (const char* url :
         {"http://169.254.169.254/latest", "https://127.0.0.1/", "https://[::1]/", "http://10.1.2.3/"}) {
        INFO(url);
        const Explanation refused = explain(*open, "GET", url).value();
        CHECK_FALSE(refused.allowed);
        CHECK(refused.rule == "address");
    }
    for (const char* url : {"", "pypi.org", "ftp://pypi.org", "https://", "https://a b/", "https://u@pypi.org/"}) {
        INFO(url);
        CHECK_FALSE(explain(*rules, "GET", url).ok());
    }
}

TEST_CASE("hosts of rules are written as people write them") {
    CHECK(parse_host_rule("*.Example.com:8443").value() ==
          skill::HostRule{"*.example.com", 8443, true, {}, "/", false});
    CHECK(parse_host_rule("http://mirror.test/simple").value() ==
          skill::HostRule{"mirror.test", 80, false, {}, "/simple", false});
    CHECK(parse_host_rule("wss://live.test").value().websocket);
    CHECK_FALSE(parse_host_rule("*").ok());
    CHECK_FALSE(parse_host_rule("a.test/x?y").ok());
}
