// Spaces and members: nobody gives or takes more than they have, and an owner always stays.
#include "access/testing.h"

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

TEST_CASE("a member cannot grant or remove a role with more permissions than their own") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        const Caller owner = world.join(world.space, "owner@example.com", Role::owner);
        const Caller admin = world.join(world.space, "ada@example.com", Role::admin);
        const Caller member = world.join(world.space, "bob@example.com", Role::member);
        const auto set = [&](const Caller& by, const Caller& whom, Role role) {
            return outcome(spaces.set_role(by, world.space, whom.user, role));
        };
        CHECK(set(admin, member, Role::owner) == "forbidden");
        CHECK(set(admin, admin, Role::owner) == "forbidden");
        CHECK(set(admin, owner, Role::viewer) == "forbidden");
        CHECK(set(admin, owner, Role::owner) == "forbidden");
        CHECK(outcome(spaces.remove_member(admin, world.space, owner.user)) == "forbidden");
        CHECK(outcome(world.access.invites.create(admin, world.space, "x@example.com", Role::owner)) == "forbidden");
        CHECK(set(member, member, Role::member) == "forbidden");
        CHECK(outcome(spaces.remove_member(member, world.space, admin.user)) == "forbidden");
        CHECK(set(admin, member, Role::admin) == "ok");
        CHECK(set(owner, member, Role::owner) == "ok");
        CHECK(must(world.access.spaces.find(world.again(member), "default")).role == Role::owner);
        CHECK(set(World::guest(), member, Role::viewer) == "unauthorized");
    });
}

TEST_CASE("the last owner of a space stays, all other members can leave") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        const Caller viewer = world.join(world.space, "vic@example.com", Role::viewer);
        CHECK(outcome(spaces.remove_member(world.admin, world.space, world.admin.user)) == "conflict");
        CHECK(outcome(spaces.set_role(world.admin, world.space, world.admin.user, Role::admin)) == "conflict");
        CHECK(must(spaces.members(world.admin, world.space, {})).data.size() == 2);
        CHECK(outcome(spaces.remove_member(viewer, world.space, viewer.user)) == "ok");
        CHECK(outcome(spaces.find(world.again(viewer), "default")) == "not_found");
        const Caller owner = world.join(world.space, "owner@example.com", Role::owner);
        CHECK(outcome(spaces.remove_member(owner, world.space, owner.user)) == "ok");
        // A space without any owner can still be managed by the installation's.
        must(world.database.execute("UPDATE members SET role = 'admin'"));
        const Caller late = world.join(world.space, "late@example.com", Role::member);
        CHECK(outcome(spaces.set_role(world.admin, world.space, late.user, Role::viewer)) == "ok");
        CHECK(outcome(spaces.remove_member(world.admin, world.space, late.user)) == "ok");
    });
}

TEST_CASE("removing a member ends their keys, rotated ones included, and their bindings") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const Caller ada = world.join(world.space, "ada@example.com", Role::admin);
        const Project secret = world.add_project(ada, world.space, "secret", true);
        const Key key = must(keys.create(ada, world.space, {.name = "k"}));
        const Key successor = must(keys.rotate(ada, key.id, std::chrono::hours(24)));
        CHECK(world.count("bindings") == 1);
        must(world.access.spaces.remove_member(world.admin, world.space, ada.user));
        CHECK(world.count("bindings") == 0);
        const auto works = [&](const Key& k) { return outcome(keys.authenticate(*k.key, "", "")); };
        CHECK(works(key) == "unauthorized");
        CHECK(works(successor) == "unauthorized");
        const Caller back = world.join(world.space, "ada@example.com", Role::admin);
        CHECK(works(key) == "unauthorized");
        CHECK(works(successor) == "unauthorized");
        CHECK(outcome(world.access.projects.find(back, world.space, "secret")) == "forbidden"); // may bind, not read
    });
}

TEST_CASE("deleting a space needs its name, takes everything with it and keeps the last space") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        CHECK(outcome(spaces.remove(world.admin, world.space, "default")) == "conflict");
        const SpaceId other = world.add_space("other");
        const Caller admin = world.join(other, "ada@example.com", Role::admin);
        world.add_project(world.admin, other, "p", true);
        const Key key = must(world.access.keys.create(admin, other, {.name = "k"}));
        must(world.access.invites.create(world.admin, other, "new@example.com", Role::viewer));
        CHECK(outcome(spaces.remove(admin, other, "other")) == "forbidden");
        for (const std::string& wrong : {std::string(), std::string("Other"), other.text()})
            CHECK(outcome(spaces.remove(world.admin, other, wrong)) == "invalid");
        must(spaces.remove(world.admin, other, "other"));
        CHECK(outcome(spaces.find(world.admin, "other")) == "not_found");
        CHECK(outcome(world.access.keys.authenticate(*key.key, "", "")) == "unauthorized");
        for (const char* empty : {"bindings", "projects", "api_keys", "invites WHERE accepted_at IS NULL"})
            CHECK(world.count(empty) == 0);
        CHECK(world.count("deleted_projects") == 1);
        CHECK(outcome(spaces.remove(world.admin, world.space, "default")) == "conflict");
    });
}

TEST_CASE("spaces are found and chosen by id or name, an id first, only by those who belong") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        const SpaceId other = world.add_space("other");
        const Caller ada = world.join(other, "ada@example.com", Role::viewer);
        CHECK(must(spaces.find(ada, "other")).id == other);
        CHECK(must(spaces.choose(ada, {})) == other);
        CHECK(outcome(spaces.choose(ada, "default")) == "not_found");
        CHECK(outcome(spaces.choose(World::guest(), "other")) == "unauthorized");
        const SpaceId decoy = world.add_space(other.text()); // named with the id of another
        CHECK(must(spaces.find(world.admin, other.text())).id == other);
        CHECK(must(spaces.choose(world.admin, other.text())) == other);
        CHECK(must(spaces.list(ada, {})).data.size() == 1);
        CHECK(must(spaces.list(world.admin, {})).data.size() == 3);
        CHECK(outcome(spaces.update(world.admin, decoy, {.name = "other"})) == "conflict");
        CHECK(outcome(spaces.create(world.admin, " other ", "")) == "conflict");
        CHECK(outcome(spaces.create(ada, "mine", "")) == "forbidden");
        CHECK(outcome(spaces.update(ada, other, {.name = "mine"})) == "forbidden");
        // An installation owner acts as owner everywhere, also where they are listed as less.
        must(world.database.execute("UPDATE members SET role = 'viewer' WHERE space_id = ?", decoy));
        CHECK(outcome(spaces.update(world.again(world.admin), decoy, {.name = "renamed"})) == "ok");
    });
}

TEST_CASE("a member of one space gets not_found for everything in another") {
    for_each_world([](World& world) {
        auto& spaces = world.access.spaces;
        auto& invites = world.access.invites;
        auto& projects = world.access.projects;
        auto& keys = world.access.keys;
        const auto& audit = world.access.audit;
        const SpaceId theirs = world.add_space("theirs");
        const Caller bob = world.join(theirs, "bob@example.com", Role::owner);
        const ProjectId project = world.add_project(bob, theirs, "p").id;
        const Key key = must(keys.create(bob, theirs, {.name = "k"}));
        const Invite invite = must(invites.create(bob, theirs, "new@example.com", Role::viewer));
        const Caller ada = world.join(world.space, "ada@example.com", Role::owner);
        const Key own = must(keys.create(ada, world.space, {.name = "k"}));
        for (const Caller& caller : {ada, world.with_key(*own.key)}) {
            CHECK(outcome(audit.list(caller, theirs, {}, {})) == "not_found");
            CHECK(outcome(audit.entries_after(caller, theirs, 0, 10)) == "not_found");
            CHECK(outcome(spaces.find(caller, theirs.text())) == "not_found");
            CHECK(outcome(spaces.find(caller, "theirs")) == "not_found");
            CHECK(outcome(spaces.choose(caller, "theirs")) == "not_found");
            CHECK(outcome(spaces.update(caller, theirs, {.name = "x"})) == "not_found");
            CHECK(outcome(spaces.remove(caller, theirs, "theirs")) == "not_found");
            CHECK(outcome(spaces.members(caller, theirs, {})) == "not_found");
            CHECK(outcome(spaces.set_role(caller, theirs, bob.user, Role::viewer)) == "not_found");
            CHECK(outcome(spaces.set_role(caller, world.space, bob.user, Role::viewer)) == "not_found");
            CHECK(outcome(spaces.remove_member(caller, theirs, bob.user)) == "not_found");
            CHECK(outcome(spaces.remove_member(caller, theirs, ada.user)) == "not_found");
            CHECK(outcome(spaces.remove_member(caller, world.space, bob.user)) == "not_found");
            CHECK(outcome(invites.list(caller, theirs, {})) == "not_found");
            CHECK(outcome(invites.create(caller, theirs, "x@example.com", Role::viewer)) == "not_found");
            CHECK(outcome(invites.revoke(caller, theirs, invite.id)) == "not_found");
            CHECK(outcome(invites.revoke(caller, world.space, invite.id)) == "not_found");
            CHECK(outcome(projects.list(caller, theirs, {}, {})) == "not_found");
            CHECK(outcome(projects.find(caller, theirs, "p")) == "not_found");
            CHECK(outcome(projects.find(caller, world.space, "p")) == "not_found");
            CHECK(outcome(projects.find(caller, world.space, project.text())) == "not_found");
            CHECK(outcome(projects.create(caller, theirs, "x", "", false, {})) == "not_found");
            CHECK(outcome(projects.update(caller, project, {.name = "x"})) == "not_found");
            CHECK(outcome(projects.remove(caller, project)) == "not_found");
            CHECK(outcome(projects.bindings(caller, project)) == "not_found");
            CHECK(outcome(projects.bind(caller, project, ada.user.text(), Role::viewer)) == "not_found");
            CHECK(outcome(projects.unbind(caller, project, bob.user.text())) == "not_found");
            CHECK(outcome(keys.list(caller, theirs, {.include_revoked = true}, {})) == "not_found");
            CHECK(outcome(keys.create(caller, theirs, {.name = "x"})) == "not_found");
            CHECK(outcome(keys.revoke(caller, key.id)) == "not_found");
            CHECK(outcome(keys.rotate(caller, key.id, {})) == "not_found");
        }
        CHECK(must(invites.find(World::token_of(invite))).space_name == "theirs");
        CHECK(outcome(keys.authenticate(*key.key, "", "")) == "ok");
    });
}

TEST_CASE("only whole installation owners make or change installation owners, and one always stays") {
    for_each_world([](World& world) {
        auto& users = world.access.users;
        const Caller ada = world.join(world.space, "ada@example.com", Role::owner);
        CHECK(outcome(users.update(ada, ada.user, {.installation_owner = true})) == "forbidden");
        CHECK(outcome(users.list(ada, {})) == "forbidden");
        const auto key =
            must(world.access.keys.create(world.admin, world.space, {.name = "k", .scopes = {"user_manage"}}));
        const Caller limited = world.with_key(*key.key);
        CHECK(outcome(users.update(limited, ada.user, {.name = "Ada"})) == "ok");
        CHECK(outcome(users.update(limited, ada.user, {.installation_owner = true})) == "forbidden");
        CHECK(outcome(users.update(limited, world.admin.user, {.disabled = true})) == "forbidden");
        CHECK(outcome(users.update(world.admin, world.admin.user, {.disabled = true})) == "conflict");
        CHECK(outcome(users.update(world.admin, world.admin.user, {.installation_owner = false})) == "conflict");
        must(users.update(world.admin, ada.user, {.installation_owner = true}));
        CHECK(outcome(users.update(world.again(ada), world.admin.user, {.installation_owner = false})) == "ok");
        CHECK(outcome(users.list(world.again(world.admin), {})) == "forbidden");
        CHECK(outcome(users.rename(limited, "x")) == "forbidden");
        CHECK(must(users.rename(ada, " Ada L. ")).name == "Ada L.");
    });
}

TEST_CASE("names, members and roles are read for other folders, many in one query") {
    for_each_world([](World& world) {
        const Caller member = world.join(world.space, "bob@example.com", Role::member);
        const SpaceId other = world.add_space("other");
        const SpaceId unknown("space_unknown");
        const std::vector<SpaceId> ids{world.space, other, unknown};
        const auto names = must(world.access.spaces.names(ids));
        CHECK(names.size() == 2);
        CHECK(names.at(other) == "other");
        CHECK(must(world.access.spaces.names({})).empty());

        const auto found = must(world.access.spaces.find_member(world.space, member.user));
        REQUIRE(found);
        CHECK(found->email == "bob@example.com");
        CHECK(!must(world.access.spaces.find_member(other, member.user)));
        CHECK(must(world.access.users.roles_of(member.user)) ==
              std::map<SpaceId, HeldRole>{{world.space, Role::member}});

        const auto project = world.add_project(world.admin, world.space, "named");
        const std::vector<ProjectId> projects{project.id, ProjectId("proj_unknown")};
        CHECK(must(world.access.projects.names(projects)) == std::map<ProjectId, std::string>{{project.id, "named"}});
        const auto owners = must(world.access.spaces.of_installation_owners(10));
        CHECK(std::find(owners.begin(), owners.end(), world.space) != owners.end());
    });
}
