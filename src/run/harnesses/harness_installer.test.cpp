// Installations of harnesses through the server: who may, what is refused, and what is recorded. Real installations are
// tested end to end.
#include "run/harnesses/harness_installer.h"
#include "access/testing.h"
#include "run/harnesses/npm.h"

using namespace hone;
using access::testing::must;
using access::testing::outcome;
using access::testing::World;

TEST_CASE("only an installation owner installs a harness, and what cannot be installed is refused by name") {
    access::testing::for_each_world([](World& world) {
        const run::HarnessStore store("/nowhere");
        run::HarnessInstaller installer(store, world.clock, world.access.audit);
        const auto member = world.join(world.space, "member@example.com", access::Role::owner);
        CHECK(outcome(installer.start(member, "codex", "")) == "forbidden");
        CHECK(outcome(installer.list(member)) == "forbidden");
        CHECK(outcome(installer.cancel(member, "codex")) == "forbidden");
        const auto owner = world.admin;
        for (const char* name : {"playbook", "command", "claude-managed", "no-such", "../codex", ""})
            CHECK(outcome(installer.start(owner, name, "")) == "invalid");
        for (const char* version : {"..", "1.0; rm", "--registry=x", "1/2"})
            CHECK(outcome(installer.start(owner, "codex", version)) == "invalid");
        // This installer has no provider: nothing can be isolated.
        CHECK(outcome(installer.start(owner, "codex", "")) == "unavailable");
        CHECK(outcome(installer.cancel(owner, "codex")) == "not_found");
        CHECK(must(installer.list(owner)).empty());
    });
}

TEST_CASE("npm's words for a registry that cannot be reached are known") {
    CHECK(run::names_network_failure("npm error code ENOTFOUND\nnpm error network request to https://r failed"));
    CHECK(run::names_network_failure("npm error code ECONNREFUSED"));
    CHECK_FALSE(run::names_network_failure("npm error code E404\nnpm error 404 Not Found"));
}
