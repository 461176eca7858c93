// Events of sandboxes become entries of the audit log once each, wherever the server is killed.
#include "server/adapters/sandbox_audit.h"
#include "access/testing.h"
#include "base/file.h"
#include "sandbox/local/test_folder.h"

#include <unistd.h>

using namespace hone;
using namespace hone::access::testing;

namespace {

void append_command(const std::string& directory, const sandbox::SandboxId& id, sandbox::EventKind kind) {
    sandbox::SandboxEvent event;
    event.sandbox = id;
    event.kind = kind;
    must(sandbox::append_event(directory + "/audit.jsonl", event));
}

std::vector<std::string> recorded(World& world) {
    std::vector<std::string> actions;
    const access::AuditFilter filter{.action = "sandbox_*"};
    const auto entries = must(world.access.audit.entries_after(access::Caller::system(), {}, 0, 1000, filter));
    for (const auto& each : entries) actions.push_back(each.action);
    return actions;
}

} // namespace

TEST_CASE("a server killed before it stored how far it was records no event twice") {
    for_each_empty_database([](sql::Database& database) {
        World world(database);
        const sandbox::Folder folder;
        const auto id = make_id<sandbox::SandboxTag>(SystemClock());
        append_command(folder.path, id, sandbox::EventKind::start);
        append_command(folder.path, id, sandbox::EventKind::command_start);
        append_command(folder.path, id, sandbox::EventKind::command_end);
        must(server::SandboxAudit(world.access.audit, folder.path).step());
        const std::vector<std::string> once{"sandbox_start", "sandbox_command_start", "sandbox_command_end"};
        REQUIRE(recorded(world) == once);

        // As a kill leaves it: the entries are there, the file is not.
        REQUIRE(::unlink((folder.path + "/audit.offset").c_str()) == 0);
        // The same kind for the same sandbox, later: another event, which has no entry yet.
        append_command(folder.path, id, sandbox::EventKind::command_start);
        append_command(folder.path, id, sandbox::EventKind::command_end);
        append_command(folder.path, id, sandbox::EventKind::teardown);
        server::SandboxAudit next(world.access.audit, folder.path);
        must(next.step());
        must(next.step());
        std::vector<std::string> all = once;
        all.insert(all.end(), {"sandbox_command_start", "sandbox_command_end", "sandbox_teardown"});
        CHECK(recorded(world) == all);
        CHECK(must(world.access.audit.verify(access::Caller::system())).ok);
    });
}
