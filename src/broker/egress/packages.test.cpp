// Package mirrors: addresses become read-only rules and the configuration of their clients.
#include "broker/egress/packages.h"

#include <algorithm>
#include <doctest/doctest.h>

namespace hone::broker {

TEST_CASE("a mirror is read below its address, and nothing else there or elsewhere") {
    PackageMirrors mirrors;
    REQUIRE(mirrors.set(PackageKind::npm, "https://mirror.corp.example:8443/repository/npm/").ok());
    const auto policy =
        Policy::compile(EgressMode::allowlist, {}, mirrors.rules({PackageKind::npm, PackageKind::pypi}).value())
            .value();
    const auto allowed = [&](std::string method, std::string host, uint16_t port, std::string path) {
        Target target;
        target.method = std::move(method);
        target.host = parse_host_port(host, port).value();
        target.path = std::move(path);
        return policy->decide(target).allowed;
    };
    CHECK(allowed("GET", "mirror.corp.example", 8443, "/repository/npm/ms"));
    CHECK(allowed("HEAD", "mirror.corp.example", 8443, "/repository/npm/ms"));
    CHECK_FALSE(allowed("PUT", "mirror.corp.example", 8443, "/repository/npm/ms"));
    CHECK_FALSE(allowed("POST", "mirror.corp.example", 8443, "/repository/npm/-/v1/login"));
    CHECK_FALSE(allowed("GET", "mirror.corp.example", 8443, "/repository/secret"));
    CHECK_FALSE(allowed("GET", "mirror.corp.example", 443, "/repository/npm/ms"));
    CHECK(allowed("GET", "pypi.org", 443, "/simple/six/"));
    CHECK(allowed("GET", "files.pythonhosted.org", 443, "/packages/x.whl"));
    CHECK_FALSE(allowed("GET", "pypi.org", 443, "/legacy/"));
    CHECK_FALSE(allowed("GET", "registry.npmjs.org", 443, "/ms"));
    CHECK_FALSE(allowed("GET", "example.com", 443, "/"));
}

TEST_CASE("addresses that no mirror has are refused, and a kind without one is named") {
    PackageMirrors mirrors;
    for (const char* bad : {"mirror.example", "ftp://mirror.example/", "https://", "https://user:word@mirror.example/",
                            "https://mirror.example/a b", "https://mirror.example/\"", "https://mirror.example/<x>",
                            "https://mirror.example/?a=1", "https://mirror.example/../x", "https://mirror.example/\nx",
                            "https://mirror.example/$(x)", "https://*.example/"})
        CHECK_MESSAGE(!mirrors.set(PackageKind::npm, bad).ok(), bad);
    REQUIRE(mirrors.set(PackageKind::go, " ").ok());
    const auto none = mirrors.rules({PackageKind::go});
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().message.find("packages_go") != std::string::npos);
    CHECK(mirrors.variables({PackageKind::go}).empty());
}

TEST_CASE("clients get the address of the mirror") {
    PackageMirrors mirrors;
    REQUIRE(mirrors.set(PackageKind::npm, "https://m.example/npm/").ok());
    REQUIRE(mirrors.set(PackageKind::pypi, "https://m.example/pypi/simple, https://files.example/").ok());
    REQUIRE(mirrors.set(PackageKind::go, "https://m.example/go/").ok());
    REQUIRE(mirrors.set(PackageKind::crates, "https://m.example/crates").ok());
    const std::vector<PackageKind> all{PackageKind::npm,    PackageKind::pypi, PackageKind::debian,
                                       PackageKind::crates, PackageKind::go,   PackageKind::maven};
    const auto variables = mirrors.variables(all);
    CHECK(variables.at("NPM_CONFIG_REGISTRY") == "https://m.example/npm/");
    CHECK(variables.at("PIP_INDEX_URL") == "https://m.example/pypi/simple");
    CHECK(variables.at("GOPROXY") == "https://m.example/go");
    CHECK(variables.at("APT_CONFIG") == "/hone/packages/apt.conf");
    const auto files = mirrors.files(all);
    const auto content = [&](std::string_view name) {
        const auto found = std::ranges::find(files, name, &PackageFile::name);
        return found == files.end() ? "" : found->content;
    };
    CHECK(content("cargo.toml").find("sparse+https://m.example/crates/\"") != std::string::npos);
    CHECK(content("sources.list").find("http://deb.debian.org/debian/ bookworm main") != std::string::npos);
    CHECK(content("settings.xml").find("<url>https://repo.maven.apache.org/maven2/</url>") != std::string::npos);
    // The public one needs no file of cargo's.
    CHECK(PackageMirrors().files({PackageKind::crates}).empty());
    CHECK(mirrors.description({PackageKind::npm}) != PackageMirrors().description({PackageKind::npm}));
}

} // namespace hone::broker
