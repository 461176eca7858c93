// Git in real sandboxes.
#include "forge/testing.h"

using namespace hone;
using namespace hone::forge;
using namespace hone::forge::testing;

TEST_CASE("git runs in a sandbox and its output is returned") {
    Workbench bench;
    const auto output = bench.git.run({.arguments = {"--version"}});
    REQUIRE_MESSAGE(output.ok(), output.error().message);
    CHECK(output.value().exit_code == 0);
    CHECK(output.value().out.starts_with("git version"));
}

TEST_CASE("git reads its input and fails with a message") {
    Workbench bench;
    const auto hashed = bench.git.run({.arguments = {"hash-object", "--stdin"}, .input = "hello\n"});
    REQUIRE_MESSAGE(hashed.ok(), hashed.error().message);
    CHECK(hashed.value().out == "ce013625030ba8dba906f756967f9e9ca394464a\n");
    const auto failed = bench.git.run({.arguments = {"rev-parse", "HEAD"}});
    REQUIRE(failed.ok());
    CHECK(failed.value().exit_code == 128);
    CHECK(failed.value().err.find("not a git repository") != std::string::npos);
}
