// Reading the audit log: filters, pages, who may read what, and what never stands in it.
#include "access/testing.h"

#include <algorithm>

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

namespace {

std::vector<std::string> actions(World& world, const Caller& caller, const std::optional<SpaceId>& space,
                                 const AuditFilter& filter) {
    std::vector<std::string> found;
    for (const auto& entry : must(world.access.audit.list(caller, space, filter, {})).data)
        found.push_back(entry.action);
    return found;
}

// Every text of every table, as an attacker who stole the database would read it.
std::string all_text(sql::Database& database) {
    std::string all;
    for (const char* table : {"users", "spaces", "members", "invites", "projects", "bindings", "deleted_projects",
                              "api_keys", "login_sessions", "login_failures", "audit_entries", "audit_head"}) {
        const auto rows = must(database.query("SELECT * FROM " + std::string(table)));
        for (const auto& row : rows)
            for (size_t column = 0; column < row.size(); ++column)
                if (const auto* text = std::get_if<std::string>(&row.value(column))) all += *text + "\n";
    }
    return all;
}

} // namespace

TEST_CASE("the log has an entry for each change of the version that serves") {
    for_each_world([](World& world) {
        for (const char* version : {"0.1.0", "0.1.0", "0.2.0", "0.2.0", "0.1.0"})
            must(world.access.note_version(version));
        std::string changes;
        for (const auto& entry : must(world.access.audit.list(world.admin, {}, {.action = "version_change"}, {})).data)
            changes += json::print(entry.details) + entry.target + " ";
        CHECK(changes == R"({"from":"0.2.0"}0.1.0 {"from":"0.1.0"}0.2.0 {"from":""}0.1.0 )");
    });
}

TEST_CASE("the list is newest first and every filter narrows it") {
    for_each_world([](World& world) {
        const Time start = world.clock.now() + std::chrono::hours(1);
        world.clock.advance(std::chrono::hours(1));
        for (const auto* action : {"project_create", "project_delete", "projects_other", "key_create"}) {
            must(world.access.audit.record(world.admin,
                                           {action, world.space, action == std::string("key_create") ? "key_1" : "p"}));
            world.clock.advance(std::chrono::seconds(10));
        }
        must(world.access.audit.record(Caller::system(), {"project_other", {}, "p"}));
        using Names = std::vector<std::string>;
        const auto in_space = [&](AuditFilter filter) {
            if (!filter.after) filter.after = start;
            return actions(world, world.admin, world.space, filter);
        };
        CHECK(in_space({}) == Names{"key_create", "projects_other", "project_delete", "project_create"});
        CHECK(in_space({.action = "project_*"}) == Names{"project_delete", "project_create"});
        CHECK(in_space({.action = "project_create"}) == Names{"project_create"});
        CHECK(in_space({.action = "project_"}).empty());
        CHECK(in_space({.action = "%"}).empty());
        CHECK(in_space({.action = "_roject_*"}).empty());
        CHECK(in_space({.action = "*"}).size() == 4);
        CHECK(in_space({.target = "key_1"}) == Names{"key_create"});
        CHECK(in_space({.actor = world.admin.user.text()}).size() == 4);
        CHECK(in_space({.actor = "admin@localhost"}).size() == 4);
        CHECK(in_space({.actor = "somebody"}).empty());
        // At or after, and before.
        CHECK(in_space({.after = start + std::chrono::seconds(10), .before = start + std::chrono::seconds(20)}) ==
              Names{"project_delete"});
        CHECK(actions(world, world.admin, {}, {.action = "project_*", .after = start}) ==
              Names{"project_other", "project_delete", "project_create"});
        CHECK(actions(world, world.admin, {}, {.actor = "hone", .after = start}) == Names{"project_other"});
    });
}

TEST_CASE("pages of the log neither repeat nor skip while entries are added") {
    for_each_world([](World& world) {
        for (int i = 0; i < 25; ++i)
            must(world.access.audit.record(Caller::system(), {"machine_act", {}, std::to_string(i)}));
        PageRequest request{7, {}};
        std::vector<std::string> seen;
        for (int pages = 0; pages < 10; ++pages) {
            const auto page = must(world.access.audit.list(Caller::system(), {}, {.action = "machine_act"}, request));
            for (const auto& entry : page.data) seen.push_back(entry.target);
            must(world.access.audit.record(Caller::system(), {"machine_act", {}, "late"}));
            request.cursor = page.next_cursor;
            if (!request.cursor) break;
        }
        REQUIRE(seen.size() == 25);
        for (int i = 0; i < 25; ++i) CHECK(seen[static_cast<size_t>(i)] == std::to_string(24 - i));
        for (const std::string cursor : {"", "!", "bm90IGEgbnVtYmVy", "AAAA"}) // the third: "not a number"
            CHECK(outcome(world.access.audit.list(Caller::system(), {}, {}, {7, cursor})) == "invalid");
    });
}

TEST_CASE("the export gives all entries in order, in pieces") {
    for_each_world([](World& world) {
        for (int i = 0; i < 10; ++i) must(world.access.audit.record(Caller::system(), {"machine_act", {}, "x"}));
        int64_t seq = 0;
        for (;;) {
            const auto piece = must(world.access.audit.entries_after(world.admin, {}, seq, 4));
            for (const auto& entry : piece) CHECK(entry.seq == ++seq);
            if (piece.size() < 4) break;
        }
        CHECK(seq == world.count("audit_entries"));
        for (const auto& entry : must(world.access.audit.entries_after(world.admin, world.space, 0, 1000)))
            CHECK(entry.space_id == world.space);
    });
}

TEST_CASE("admins read the log of their space only, others none") {
    for_each_world([](World& world) {
        const SpaceId other = world.add_space("other");
        const Caller space_admin = world.join(world.space, "ada@example.com", Role::admin);
        const Caller member = world.join(world.space, "bob@example.com", Role::member);
        const auto& audit = world.access.audit;
        const auto page = must(audit.list(space_admin, world.space, {}, {}));
        CHECK_FALSE(page.data.empty());
        for (const auto& entry : page.data) CHECK(entry.space_id == world.space);
        CHECK(outcome(audit.list(space_admin, other, {}, {})) == "not_found");
        CHECK(outcome(audit.list(space_admin, {}, {}, {})) == "forbidden");
        CHECK(outcome(audit.entries_after(space_admin, other, 0, 10)) == "not_found");
        CHECK(outcome(audit.entries_after(space_admin, {}, 0, 10)) == "forbidden");
        CHECK(outcome(audit.list(member, world.space, {}, {})) == "forbidden");
        CHECK(outcome(audit.list(World::guest(), world.space, {}, {})) == "unauthorized");
    });
}

TEST_CASE("no password, session token, invite token or key stands anywhere in the database") {
    for_each_world([](World& world) {
        auto& access = world.access;
        std::vector<std::string> secrets{good_password, "another good password", "my-wrong-password"};
        const Invite invite = must(access.invites.create(world.admin, world.space, "ada@example.com", Role::admin));
        secrets.push_back(World::token_of(invite));
        const Login ada =
            must(access.invites.accept(World::guest(), World::token_of(invite), "Ada", good_password, "t"));
        secrets.push_back(ada.token);
        const Key personal = must(access.keys.create(ada.caller, world.space, {.name = "mine"}));
        const Key service = must(access.keys.create(ada.caller, world.space,
                                                    {.name = "robot", .kind = KeyKind::service, .role = Role::member}));
        secrets.insert(secrets.end(), {*personal.key, *service.key});
        secrets.push_back(*must(access.keys.rotate(ada.caller, personal.id, std::chrono::hours(1))).key);
        must(access.keys.revoke(ada.caller, service.id));
        const Login second = must(access.logins.login(World::guest(), "ada@example.com", good_password, "t"));
        secrets.push_back(second.token);
        must(access.logins.change_password(ada.caller, good_password, "another good password"));
        CHECK(outcome(access.logins.login(World::guest(), "ada@example.com", "my-wrong-password", "t")) ==
              "unauthorized");
        // Into the wrong field, as people do.
        CHECK(outcome(access.logins.login(World::guest(), "my-wrong-password", "x", "t")) == "unauthorized");

        const std::string all = all_text(world.database);
        CHECK(all.find("ada@example.com") != std::string::npos);
        for (const auto& secret : secrets) {
            CHECK(secret.size() > 10);
            CHECK(all.find(secret) == std::string::npos);
        }
        for (const auto& entry : must(access.audit.entries_after(Caller::system(), {}, 0, 1000)))
            CHECK(json::print(entry.details).find(ada.caller.csrf_token) == std::string::npos);
    });
}
