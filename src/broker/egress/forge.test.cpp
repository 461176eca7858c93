#include "broker/egress/forge.h"

#include "broker/testing.h"

#include <doctest/doctest.h>

using namespace hone;
using namespace hone::broker;
using namespace hone::broker::testing;

namespace {

HostPort forge_place(std::string_view text) {
    return parse_host_port(text, 443).value();
}

// A server that counts the requests which reach it.
struct CountingServer {
    explicit CountingServer(World& world)
        : origin(
              [this](Channel& channel) {
                  const auto head = read_request(channel, soon());
                  if (!head.ok() || !head.value()) return;
                  {
                      const Lock lock(mutex);
                      seen += head.value()->method + " " + head.value()->path + "\n";
                  }
                  static_cast<void>(
                      channel.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", soon()));
              },
              &world.certificate) {}
    std::string requests() {
        const Lock lock(mutex);
        return seen;
    }
    Mutex mutex;
    std::string seen;
    Origin origin;
};

} // namespace

TEST_CASE("a forge is its host, every host below it and the other names of its service") {
    const auto is_forge = [](const char* url, const char* host) {
        return find_forge(forge_hosts({url}), host) != nullptr;
    };
    for (const char* host : {"github.com", "api.github.com", "uploads.github.com", "gist.github.com",
                             "npm.pkg.github.com", "ssh.github.com"}) {
        INFO(host);
        CHECK(is_forge("https://github.com/team/shop", host));
        CHECK(is_forge("https://www.github.com/team/shop", host));
    }
    for (const char* host : {"dev.azure.com", "vssps.dev.azure.com", "team.visualstudio.com", "visualstudio.com"}) {
        INFO(host);
        CHECK(is_forge("https://dev.azure.com/team/_git/shop", host));
        CHECK(is_forge("https://team.visualstudio.com/_git/shop", host));
    }
    CHECK(is_forge("https://git.corp.test:3000/team/shop", "uploads.git.corp.test"));
    for (const char* host : {"corp.test", "evil-git.corp.test", "git.corp.test.evil.test", "mirror.corp.test", "com"}) {
        INFO(host);
        CHECK_FALSE(is_forge("https://git.corp.test:3000/team/shop", host));
    }
    CHECK_FALSE(is_forge("https://github.com/team/shop", "githubusercontent.com"));
    CHECK_FALSE(is_forge("file:///data/repos/shop.git", "github.com"));
    const auto policy =
        Policy::compile(EgressMode::open, {}, {}, forge_hosts({"https://github.com/team/shop"})).value();
    CHECK(policy->decide_connect(forge_place("gist.github.com")).terminate);
    CHECK(policy->decide({"GET", forge_place("gist.github.com"), true, "/x"}).allowed);
    CHECK_FALSE(policy->decide({"POST", forge_place("gist.github.com"), true, "/gists"}).allowed);
    CHECK_FALSE(policy->decide({"PUT", forge_place("npm.pkg.github.com"), true, "/@team/pkg"}).allowed);
}

TEST_CASE("a forge is not reached under another name or by its address") {
    World world;
    CountingServer forge(world);
    const std::string port = forge.origin.address().substr(forge.origin.address().rfind(':') + 1);
    world.access.mode = EgressMode::open;
    world.access.forges = forge_hosts({"https://wild.test:" + port + "/team/shop"});
    for (const char* host : {"wild.test", "a.wild.test", "other.test", "plain.test"})
        world.resolver->lead(host, {forge.origin.address()});
    // A rule spells this name out, so it is judged as the forge that it is.
    world.allow("plain.test", static_cast<uint16_t>(std::stoi(port)));
    world.attach();
    const auto status = [&](const std::string& host, const std::string& request) {
        TunnelClient client(world.proxy);
        const int connected = client.connect(host + ":" + port);
        if (connected != 200) return connected;
        if (!client.secure(host, world.ca_file).ok()) return -1;
        client.send(request + " HTTP/1.1\r\nHost: " + host + ":" + port + "\r\nContent-Length: 0\r\n\r\n");
        return client.answer().status;
    };
    CHECK(status("wild.test", "GET /team/shop") == 200);
    CHECK(status("a.wild.test", "GET /team/shop") == 200);
    CHECK(status("plain.test", "GET /team/shop") == 200);
    CHECK(forge.requests() == "GET /team/shop\nGET /team/shop\nGET /team/shop\n");
    for (const char* host : {"wild.test", "a.wild.test", "plain.test"})
        CHECK(status(host, "POST /team/shop.git/git-receive-pack") == 403);
    CHECK(status("other.test", "GET /team/shop") == 403);
    CHECK(TunnelClient(world.proxy).connect("127.0.0.1:" + port) == 403);
    TunnelClient plain(world.proxy);
    plain.send("POST http://other.test:" + port + "/x HTTP/1.1\r\nHost: other.test:" + port +
               "\r\nContent-Length: 0\r\n\r\n");
    CHECK(plain.answer("POST").status == 403);
    CHECK(forge.requests() == "GET /team/shop\nGET /team/shop\nGET /team/shop\n");
    CHECK(world.decisions->text().find("the forge wild.test under another name") != std::string::npos);
}

TEST_CASE("a name that changes to the forge's address after the check is not connected to") {
    World world;
    CountingServer forge(world), elsewhere(world);
    const std::string port = forge.origin.address().substr(forge.origin.address().rfind(':') + 1);
    world.access.mode = EgressMode::open;
    world.access.forges = forge_hosts({"https://wild.test:" + port + "/team/shop"});
    world.resolver->lead("wild.test", {forge.origin.address()});
    // The check asks once and gets an address that is nobody's; the connection asks again.
    world.resolver->lead("other.test", {"127.0.0.2:443", forge.origin.address()});
    world.attach();
    CHECK(TunnelClient(world.proxy).connect("other.test:443") == 403);
    CHECK(forge.requests().empty());
}

TEST_CASE("another service of the forge's machine is reached by a rule, and tunnels to bare addresses are inspected") {
    World world;
    CountingServer forge(world), mirror(world);
    const auto port_of = [](const CountingServer& server) {
        return server.origin.address().substr(server.origin.address().rfind(':') + 1);
    };
    world.access.mode = EgressMode::open;
    world.access.forges = forge_hosts({"https://wild.test:" + port_of(forge) + "/team/shop"});
    world.resolver->lead("wild.test", {forge.origin.address()});
    world.resolver->lead("other.test", {mirror.origin.address()});
    world.allow("other.test", static_cast<uint16_t>(std::stoi(port_of(mirror))));
    world.attach();
    TunnelClient client(world.proxy);
    REQUIRE(client.connect("other.test:" + port_of(mirror)) == 200);
    REQUIRE(client.secure("other.test", world.authority.ca_file()).ok()); // its own certificate: not intercepted
    client.send("POST /upload HTTP/1.1\r\nHost: other.test\r\nContent-Length: 0\r\n\r\n");
    CHECK(client.answer("POST").status == 200);
    CHECK(mirror.requests() == "POST /upload\n");
    // Without a name in the tunnel only the Host header says which site is meant, so it is checked.
    TunnelClient bare(world.proxy);
    REQUIRE(bare.connect("93.184.215.14:443") == 200); // nothing is dialled before a request is judged
    REQUIRE(bare.secure("93.184.215.14", world.ca_file).ok());
    CHECK(bare.get("wild.test", "/team/shop").status == 421);
    CHECK(forge.requests().empty());
}

TEST_CASE("issues, comments and labels of a forge are open to a rule that names the method and the path") {
    const auto forges = forge_hosts({"https://git.test/team/shop"});
    const auto verdict = [&](const skill::HostRule& rule, const char* path, EgressMode mode = EgressMode::allowlist) {
        skill::Grant grant;
        grant.credentials.push_back({"TOKEN", "sec_1", "token", true, {rule}, "authorization", "Bearer {}"});
        return Policy::compile(mode, grant, {}, forges).value()->decide({"POST", forge_place("git.test"), true, path});
    };
    const char* const writes[] = {"/api/v1/repos/team/shop/issues", "/api/v1/repos/team/shop/issues/4/comments",
                                  "/api/v1/repos/team/shop/issues/4/labels"};
    for (const char* prefix : {"/api/v1/repos/team/shop/issues", "/api/v1/repos/team/*/issues"})
        for (const char* path : writes) {
            INFO(prefix, " ", path);
            const Verdict opened = verdict({"git.test", 443, true, {"POST"}, prefix, false}, path);
            CHECK(opened.allowed);
            CHECK(opened.credentials.size() == 1);
        }
    for (const EgressMode mode : {EgressMode::allowlist, EgressMode::open})
        for (const skill::HostRule& rule :
             {skill::HostRule{"git.test", 443, true, {}, "/", false},
              skill::HostRule{"git.test", 443, true, {"GET", "POST"}, "/", false},
              skill::HostRule{"git.test", 443, true, {"POST"}, "/api/v1", false},
              skill::HostRule{"git.test", 443, true, {"POST"}, "/api/v1/repos", false},
              skill::HostRule{"git.test", 443, true, {"POST"}, "/api/v1/repos/team/shop", false},
              skill::HostRule{"git.test", 443, true, {"POST"}, "/api/v1/repos/*/*/issues", false},
              skill::HostRule{"git.test", 443, true, {}, "/api/v1/repos/team/shop/issues", false}})
            for (const char* path : writes) {
                INFO(rule.path_prefix, " ", path);
                const Verdict closed = verdict(rule, path, mode);
                CHECK_FALSE(closed.allowed);
                CHECK(closed.credentials.empty());
                CHECK(closed.rule == "forge git.test");
            }
    // Another repository than the rule's, and what no rule opens.
    const skill::HostRule issues{"git.test", 443, true, {"POST"}, "/api/v1/repos/team/shop/issues", false};
    for (const char* path : {"/api/v1/repos/team/other/issues", "/api/v1/repos/team/shop/issues/4/lock",
                             "/api/v1/repos/team/shop/pulls", "/api/v1/repos/team/shop/issues/x/comments"})
        CHECK_FALSE(verdict(issues, path).allowed);
    // The credential of a broad rule does not go with the request that a narrow one opens.
    skill::Grant both;
    both.credentials.push_back(
        {"WIDE", "sec_2", "wide", true, {{"git.test", 443, true, {}, "/", false}}, "x-token", "{}"});
    both.allow.push_back(issues);
    const auto policy = Policy::compile(EgressMode::allowlist, both, {}, forges).value();
    const Verdict narrow = policy->decide({"POST", forge_place("git.test"), true, "/api/v1/repos/team/shop/issues"});
    CHECK(narrow.allowed);
    CHECK(narrow.credentials.empty());
}

TEST_CASE("on a forge the credential of a rule for the whole host reads the repositories of the run only") {
    const auto forges = forge_hosts(
        {"https://git.test/team/other", "https://gitlab.com/group/sub/other"},
        {"https://git.test/team/shop.git", "https://github.com/team/shop", "https://gitlab.com/group/sub/shop"});
    const auto gets = [&](std::string_view host, std::string path, std::string prefix = "/") {
        skill::Grant grant;
        const skill::HostRule rule{std::string(host), 443, true, {}, std::move(prefix), false};
        grant.credentials.push_back({"TOKEN", "sec_1", "token", true, {rule}, "authorization", "Bearer {}"});
        const auto policy = Policy::compile(EgressMode::allowlist, grant, {}, forges).value();
        const Verdict verdict = policy->decide({"GET", forge_place(host), true, std::move(path)});
        CHECK(verdict.allowed); // what needs no credential is read without one
        return !verdict.credentials.empty();
    };
    for (const char* path :
         {"/team/shop", "/team/shop.git/info/refs", "/api/v1/repos/team/shop", "/api/v1/repos/team/shop/pulls"})
        CHECK(gets("git.test", path));
    for (const char* path : {"/", "/team/other", "/team/shop2", "/team", "/api/v1/user", "/api/v1/repos/team/other",
                             "/api/v1/repos/search", "/x/team/shop", "/api/v1/orgs/team/shop", "/team%252fshop"}) {
        INFO(path);
        CHECK_FALSE(gets("git.test", path));
    }
    CHECK(gets("api.github.com", "/repos/team/shop/issues"));
    CHECK_FALSE(gets("api.github.com", "/user/repos"));
    CHECK(gets("gitlab.com", "/api/v4/projects/group%2Fsub%2Fshop/issues"));
    CHECK(gets("gitlab.com", "/group/sub/shop/-/issues"));
    CHECK_FALSE(gets("gitlab.com", "/api/v4/projects/group%2Fsub%2Fother"));
    CHECK_FALSE(gets("gitlab.com", "/api/v4/projects/1"));
    // A rule that names a path says itself what its credential reads; the root of an API names nothing.
    CHECK(gets("git.test", "/api/v1/user", "/api/v1/user"));
    CHECK(gets("git.test", "/api/v1/repos/team/other", "/api/v1/repos/*/*"));
    CHECK_FALSE(gets("git.test", "/api/v1/user", "/api/v1"));
    CHECK_FALSE(gets("git.test", "/api/v1/repos/team/other", "/api/v1/repos"));
    CHECK(gets("elsewhere.test", "/anything"));
}

TEST_CASE("GraphQL of a forge is closed in every spelling, and files with such a name are read") {
    const auto policy = Policy::compile(EgressMode::open, {}, {}, forge_hosts({"https://git.test/team/shop"})).value();
    const auto allowed = [&](const char* path, const char* query) {
        return policy->decide({"GET", forge_place("git.test"), true, path, false, query}).allowed;
    };
    for (const char* path :
         {"/api/graphql", "/api/%67raphql", "/api/%2567raphql", "/api/GraphQL", "/api/graphql/", "/api//graphql",
          "/api/graphql.json", "/api/%67raphql%2ejson", "/api%2fgraphql", "/api/graphql;x"}) {
        INFO(path);
        CHECK_FALSE(allowed(path, "query=mutation%7Bx%7D"));
        CHECK_FALSE(allowed(path, "a=1&%71uery=mutation"));
    }
    CHECK_FALSE(allowed("/api/graphql", ""));
    CHECK_FALSE(allowed("/api/graphql.json", "extensions=x"));
    CHECK(allowed("/api/v1/repos/team/shop/contents/src/graphql.ts", "ref=main"));
    CHECK(allowed("/api/v1/repos/team/shop/contents/src/graphql.ts", ""));
    CHECK(allowed("/graphql/graphql-js", ""));
    CHECK(allowed("/api/v1/repos/team/shop/contents/a%20b", ""));
}
