// Custom roles: what they do not name is denied, and nobody composes, changes or gives more than they have.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

namespace {

using Names = std::vector<std::string>;

CustomRole compose(World& world, const std::string& name, std::vector<std::string> permissions) {
    return must(world.access.custom_roles.create(world.admin, world.space, {name, "", std::move(permissions)}));
}

// A person who was a viewer and got the custom role.
Caller person_with(World& world, const std::string& email, const std::string& role) {
    const Caller joined = world.join(world.space, email, Role::viewer);
    must(world.access.spaces.set_role(world.admin, world.space, joined.user, RoleChoice(role)));
    return world.again(joined);
}

} // namespace

TEST_CASE("a custom role gives exactly its permissions, to logins and to personal keys") {
    for_each_world([](World& world) {
        compose(world, "auditor", {"member_read", "audit_read", "key_create"});
        const Caller ada = person_with(world, "ada@example.com", "auditor");
        const std::vector<std::string> wanted{"space_read", "member_read", "key_create", "audit_read"};
        CHECK(ada.permissions_in(world.space).names() == wanted);
        CHECK(ada.custom_role_in(world.space) == "auditor");
        CHECK(ada.role_in(world.space) == Role::viewer);
        CHECK(outcome(world.access.projects.list(ada, world.space, {}, {})) == "forbidden");
        CHECK(outcome(world.access.audit.list(ada, world.space, {}, {})) == "ok");
        const Key key = must(world.access.keys.create(ada, world.space, {.name = "mine"}));
        CHECK(world.with_key(*key.key).permissions_in(world.space).names() == wanted);
        const Space shown = must(world.access.spaces.find(ada, "default"));
        CHECK(shown.custom_role == "auditor");
        CHECK(shown.permissions == wanted);
        const auto members = must(world.access.spaces.members(world.admin, world.space, {})).data;
        CHECK(members.back().custom_role == "auditor");
        // A built-in role replaces it.
        must(world.access.spaces.set_role(world.admin, world.space, ada.user, Role::member));
        CHECK(world.again(ada).permissions_in(world.space) == permissions_of(Role::member));
        CHECK(world.again(ada).custom_role_in(world.space).empty());
    });
}

TEST_CASE("a changed custom role counts with the next request, and a role that members have stays") {
    for_each_world([](World& world) {
        auto& roles = world.access.custom_roles;
        const CustomRole role = compose(world, "starter", {"project_read", "run_start"});
        const Caller ada = person_with(world, "ada@example.com", "starter");
        CHECK(ada.permissions_in(world.space).has(Permission::run_start));
        must(roles.update(world.admin, world.space, "starter",
                          {.name = "reader", .permissions = Names{"project_read"}}));
        CHECK_FALSE(world.again(ada).permissions_in(world.space).has(Permission::run_start));
        CHECK(world.again(ada).custom_role_in(world.space) == "reader");
        CHECK(must(roles.find(world.admin, world.space, role.id.text())).members == 1);
        CHECK(outcome(roles.remove(world.admin, world.space, "reader")) == "conflict");
        must(world.access.spaces.set_role(world.admin, world.space, ada.user, Role::viewer));
        CHECK(outcome(roles.remove(world.admin, world.space, "reader")) == "ok");
        CHECK(outcome(roles.find(world.admin, world.space, "reader")) == "not_found");
        int64_t seq = 0;
        CHECK(must(world.access.audit.rights_changed_since(seq)));
        CHECK(world.count("audit_entries WHERE action IN ('role_create', 'role_update', 'role_delete')") == 3);
    });
}

TEST_CASE("no caller composes, changes, gives or takes a custom role with more than its own permissions") {
    for_each_world([](World& world) {
        auto& roles = world.access.custom_roles;
        auto& spaces = world.access.spaces;
        compose(world, "strong", {"secret_write", "member_manage"});
        compose(world, "manager", {"member_read", "member_manage", "role_manage"});
        const Caller manager = person_with(world, "mia@example.com", "manager");
        const Caller admin = world.join(world.space, "ada@example.com", Role::admin);
        const Caller viewer = world.join(world.space, "vic@example.com", Role::viewer);
        const auto make = [&](const Caller& by, std::vector<std::string> permissions) {
            return outcome(roles.create(by, world.space, {"new", "", std::move(permissions)}));
        };
        CHECK(make(World::guest(), {}) == "unauthorized");
        CHECK(make(viewer, {}) == "forbidden");
        CHECK(make(admin, {}) == "forbidden"); // composing is for owners
        CHECK(make(manager, {"secret_write"}) == "forbidden");
        CHECK(make(manager, {"member_read"}) == "ok");
        // Neither its own role nor one with other permissions.
        CHECK(outcome(roles.update(manager, world.space, "manager",
                                   {.permissions = Names{"member_manage", "role_manage", "run_start"}})) ==
              "forbidden");
        CHECK(outcome(roles.update(manager, world.space, "strong", {.permissions = Names{"member_read"}})) ==
              "forbidden");
        CHECK(outcome(roles.remove(manager, world.space, "strong")) == "forbidden");
        CHECK(outcome(spaces.set_role(manager, world.space, manager.user, RoleChoice("strong"))) == "forbidden");
        CHECK(outcome(spaces.set_role(manager, world.space, manager.user, Role::viewer)) == "forbidden");
        CHECK(outcome(world.access.invites.create(manager, world.space, "x@example.com", RoleChoice("strong"))) ==
              "forbidden");
        // Nor a member who holds more, whatever the order of the roles.
        CHECK(outcome(spaces.set_role(manager, world.space, viewer.user, RoleChoice("new"))) == "forbidden");
        CHECK(outcome(spaces.remove_member(manager, world.space, admin.user)) == "forbidden");
        const Caller key_owner = world.again(manager);
        CHECK(outcome(world.access.keys.create(key_owner, world.space,
                                               {.name = "k", .kind = KeyKind::service, .role = Role::viewer})) ==
              "forbidden");
        // A role of another space is none here.
        const SpaceId other = world.add_space("other");
        CHECK(outcome(spaces.set_role(world.admin, other, world.admin.user, RoleChoice("strong"))) == "not_found");
        CHECK(outcome(roles.find(viewer, other, "strong")) == "not_found");
    });
}

TEST_CASE("names and permissions of custom roles are checked") {
    for_each_world([](World& world) {
        auto& roles = world.access.custom_roles;
        const auto make = [&](const std::string& name, std::vector<std::string> permissions) {
            return outcome(roles.create(world.admin, world.space, {name, "", std::move(permissions)}));
        };
        CHECK(make("Owner", {}) == "invalid");
        CHECK(make("", {}) == "invalid");
        CHECK(make("x", {"fly"}) == "invalid");
        CHECK(make("x", {"user_manage"}) == "invalid"); // of the installation
        CHECK(make("x", {"all"}) == "invalid");
        CHECK(make("x", {}) == "ok");
        CHECK(make("x", {}) == "conflict");
        CHECK(must(roles.find(world.admin, world.space, "x")).permissions == std::vector<std::string>{"space_read"});
        for (int i = 1; i < 100; ++i) REQUIRE(make("r" + std::to_string(i), {}) == "ok");
        CHECK(make("one too many", {}) == "conflict");
        CHECK(outcome(RoleChoice::of({}, {})) == "invalid");
        CHECK(outcome(RoleChoice::of(Role::viewer, "x")) == "invalid");
    });
}

TEST_CASE("a custom role is never the owner that a space keeps, and limits bindings of restricted projects") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        compose(world, "everything", permissions_of(Role::owner).names());
        const Caller ada = person_with(world, "ada@example.com", "everything");
        CHECK(ada.permissions_in(world.space) == permissions_of(Role::owner));
        CHECK(ada.role_in(world.space) == Role::admin);
        CHECK(outcome(spaces.set_role(world.admin, world.space, world.admin.user, Role::viewer)) == "conflict");
        compose(world, "reader", {"project_read"});
        const Caller bob = person_with(world, "bob@example.com", "reader");
        const Project hidden = world.add_project(world.admin, world.space, "hidden", true);
        CHECK(outcome(world.access.projects.find(bob, world.space, "hidden", Permission::project_read)) == "not_found");
        must(world.access.projects.bind(world.admin, hidden.id, bob.user.text(), Role::admin));
        CHECK(outcome(world.access.projects.find(bob, world.space, "hidden", Permission::project_read)) == "ok");
        CHECK(outcome(world.access.projects.find(bob, world.space, "hidden", Permission::trace_write)) == "forbidden");
    });
}

TEST_CASE("an invite gives a custom role, and nothing once the role was deleted") {
    for_each_world([](World& world) {
        compose(world, "reader", {"project_read"});
        const Invite invite =
            must(world.access.invites.create(world.admin, world.space, "ada@example.com", RoleChoice("reader")));
        CHECK(invite.custom_role == "reader");
        CHECK(must(world.access.invites.find(World::token_of(invite))).custom_role == "reader");
        const Invite late =
            must(world.access.invites.create(world.admin, world.space, "bob@example.com", RoleChoice("reader")));
        const Caller ada =
            must(world.access.invites.accept(World::guest(), World::token_of(invite), {}, good_password, "test"))
                .caller;
        CHECK(ada.custom_role_in(world.space) == "reader");
        must(world.access.spaces.remove_member(world.admin, world.space, ada.user));
        must(world.access.custom_roles.remove(world.admin, world.space, "reader"));
        CHECK(outcome(world.access.invites.find(World::token_of(late))) == "not_found");
        CHECK(outcome(world.access.invites.accept(World::guest(), World::token_of(late), {}, good_password, "test")) ==
              "not_found");
    });
}

TEST_CASE("groups of single sign-on replace a custom role") {
    for_each_world([](World& world) {
        compose(world, "reader", {"project_read"});
        const Caller ada = person_with(world, "ada@example.com", "reader");
        must(world.database.write([&](sql::Transaction& transaction) -> Result<> {
            CHECK(TRY(
                world.access.spaces.change_member(transaction, Caller::system(), world.space, ada.user, Role::viewer)));
            return {};
        }));
        CHECK(world.again(ada).permissions_in(world.space) == permissions_of(Role::viewer));
    });
}
