// Projects: restricted ones count only bindings, deleted ones are gone at once and their data in the end.
#include "access/testing.h"

#include <set>

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;

namespace {

// A store that fails a given number of times for each project.
class StubbornStore final : public ProjectData {
public:
    explicit StubbornStore(int failures) : m_failures(failures) {}
    Result<> delete_project_data(const ProjectId& project) override {
        ++calls;
        if (m_tries[project]++ < m_failures) return unavailable("not now");
        deleted.insert(project);
        return {};
    }
    int calls = 0;
    std::set<ProjectId> deleted;

private:
    const int m_failures;
    std::map<ProjectId, int> m_tries;
};

std::vector<std::string> names(const Page<Project>& page) {
    std::vector<std::string> found;
    for (const auto& project : page.data) found.push_back(project.name);
    return found;
}

} // namespace

TEST_CASE("in a restricted project only bindings count, but those who may bind decide who gets in") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        const Caller owner = world.join(world.space, "owner@example.com", Role::owner);
        const Caller ada = world.join(world.space, "ada@example.com", Role::member);
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const ProjectId id = world.add_project(ada, world.space, "secret", true).id;
        const auto find = [&](const Caller& caller) { return outcome(projects.find(caller, world.space, id.text())); };

        CHECK(find(ada) == "ok"); // its creator is bound to it
        CHECK(find(bob) == "not_found");
        CHECK(outcome(projects.find(bob, world.space, "secret")) == "not_found");
        CHECK(outcome(projects.update(bob, id, {.name = "x"})) == "not_found");
        CHECK(outcome(projects.bindings(bob, id)) == "not_found");
        CHECK(names(must(projects.list(bob, world.space, {}, {}))).empty());
        // The owner of the space, and of the installation: knows of it, cannot read or change it, can bind.
        for (const Caller& mighty : {owner, world.admin}) {
            CHECK(find(mighty) == "forbidden");
            CHECK(outcome(projects.update(mighty, id, {.restricted = false})) == "forbidden");
            CHECK(outcome(projects.remove(mighty, id)) == "forbidden");
            CHECK(names(must(projects.list(mighty, world.space, {}, {}))).size() == 1);
            CHECK(must(projects.bindings(mighty, id)).size() == 1);
        }
        must(projects.bind(owner, id, owner.user.text(), Role::owner));
        CHECK(find(owner) == "ok");
        must(projects.bind(owner, id, bob.user.text(), Role::viewer));
        CHECK(find(bob) == "ok");
        CHECK(outcome(projects.update(bob, id, {.description = "x"})) == "forbidden"); // bound as viewer, no more
        CHECK(outcome(projects.update(ada, id, {.description = "x"})) == "ok");
        CHECK(outcome(projects.update(ada, id, {.restricted = false})) == "forbidden"); // opening needs project_bind
        must(projects.unbind(owner, id, bob.user.text()));
        CHECK(find(bob) == "not_found");
        CHECK(outcome(projects.unbind(owner, id, bob.user.text())) == "not_found");
        must(projects.update(owner, id, {.restricted = false}));
        CHECK(find(bob) == "ok");
        // Whoever closes a project stays in it.
        must(projects.unbind(owner, id, owner.user.text()));
        must(projects.update(owner, id, {.restricted = true}));
        CHECK(find(owner) == "ok");
        CHECK(find(bob) == "not_found");
    });
}

TEST_CASE("bindings go to members and service keys of the space only, and give no more than the giver has") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        const SpaceId other = world.add_space("other");
        const Caller stranger = world.join(other, "stranger@example.com", Role::owner);
        const Caller admin = world.join(world.space, "ada@example.com", Role::admin);
        const Key service = must(world.access.keys.create(
            admin, world.space, {.name = "robot", .kind = KeyKind::service, .scopes = {"read"}, .role = Role::member}));
        const Key personal = must(world.access.keys.create(admin, world.space, {.name = "mine"}));
        const Key foreign = must(world.access.keys.create(
            stranger, other, {.name = "robot", .kind = KeyKind::service, .role = Role::member}));
        const ProjectId id = world.add_project(world.admin, world.space, "secret", true).id;
        const auto bind = [&](const std::string& principal, Role role = Role::viewer) {
            return outcome(projects.bind(admin, id, principal, role));
        };
        for (const std::string& nobody : {stranger.user.text(), foreign.id.text(), personal.id.text(), std::string(),
                                          std::string("nobody"), std::string("ada@example.com")})
            CHECK(bind(nobody) == "not_found");
        CHECK(bind(admin.user.text(), Role::owner) == "forbidden");
        CHECK(bind(service.id.text(), Role::admin) == "ok");
        // The key's scope still limits what the binding gives.
        const Caller robot = world.with_key(*service.key);
        CHECK(outcome(projects.find(robot, world.space, "secret")) == "ok");
        CHECK(outcome(projects.update(robot, id, {.description = "x"})) == "forbidden");
        // A binding left behind lets no stranger into the space.
        must(world.database.execute("INSERT INTO bindings (project_id, principal, role, created_at) VALUES (?,?,?,0)",
                                    id, stranger.user, "owner"));
        CHECK(outcome(projects.find(stranger, world.space, id.text())) == "not_found");
        const auto bindings = must(projects.bindings(admin, id));
        CHECK(bindings.size() == 3);
    });
}

TEST_CASE("names are unique in a space, also after a rename, and settings are checked") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        const SpaceId other = world.add_space("other");
        const Project one = world.add_project(world.admin, world.space, "one");
        const Project two = world.add_project(world.admin, world.space, "two");
        world.add_project(world.admin, other, "one");
        CHECK(outcome(projects.create(world.admin, world.space, " one ", "", false, {})) == "conflict");
        CHECK(outcome(projects.update(world.admin, two.id, {.name = "one"})) == "conflict");
        CHECK(outcome(projects.update(world.admin, one.id, {.name = "one"})) == "ok");
        CHECK(outcome(projects.update(world.admin, two.id, {.name = "\n"})) == "invalid");
        for (const int64_t days : {int64_t{0}, int64_t{-1}, int64_t{36501}})
            CHECK(outcome(projects.create(world.admin, world.space, "x", "", false, days)) == "invalid");
        CHECK(must(projects.update(world.admin, one.id, {.retention_days = 7})).retention_days == 7);
        CHECK(must(projects.update(world.admin, one.id, {.description = "d"})).retention_days == 7);
        CHECK_FALSE(
            must(projects.update(world.admin, one.id, {.retention_days = std::optional<int64_t>()})).retention_days);
        const Caller viewer = world.join(world.space, "vic@example.com", Role::viewer);
        CHECK(outcome(projects.create(viewer, world.space, "x", "", false, {})) == "forbidden");
        CHECK(outcome(projects.update(viewer, one.id, {.name = "x"})) == "forbidden");
        CHECK(outcome(projects.remove(viewer, one.id)) == "forbidden");
        CHECK(outcome(projects.find(World::guest(), world.space, "one")) == "unauthorized");
        // Named with the id of another: the id wins.
        const Project decoy = world.add_project(world.admin, world.space, one.id.text());
        CHECK(must(projects.find(world.admin, world.space, one.id.text())).id == one.id);
    });
}

TEST_CASE("name_contains takes wildcards literally and ASCII letters in any case, alike on both engines") {
    for_each_world([](World& world) {
        for (const char* name : {"100% done", "100 done", "snake_case", "snakeXcase", "back\\slash", "Ärger", "Upper"})
            world.add_project(world.admin, world.space, name);
        using Names = std::vector<std::string>;
        const auto list = [&](const std::string& part) {
            return names(must(world.access.projects.list(world.admin, world.space, part, {})));
        };
        CHECK(list("%") == Names{"100% done"});
        CHECK(list("_") == Names{"snake_case"});
        CHECK(list("\\") == Names{"back\\slash"});
        CHECK(list("0_d").empty());
        CHECK(list("uPPER") == Names{"Upper"});
        CHECK(list("Ärg") == Names{"Ärger"});
        CHECK(list("ärg").empty());
        CHECK(list("").size() == 7);
        for (const std::string& bad : {std::string(101, 'x'), std::string("a\0", 2), std::string("\xff")})
            CHECK(outcome(world.access.projects.list(world.admin, world.space, bad, {})) == "invalid");
    });
}

TEST_CASE("pages stay stable while projects come and go") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        std::vector<ProjectId> ids;
        for (int i = 0; i < 10; ++i) ids.push_back(world.add_project(world.admin, world.space, std::to_string(i)).id);
        const auto first = must(projects.list(world.admin, world.space, {}, {4, {}}));
        REQUIRE(first.next_cursor);
        must(projects.remove(world.admin, ids[3])); // the one the cursor stands on
        must(projects.remove(world.admin, ids[5]));
        world.add_project(world.admin, world.space, "new");
        const auto second = must(projects.list(world.admin, world.space, {}, {4, first.next_cursor}));
        CHECK(names(second) == std::vector<std::string>{"4", "6", "7", "8"});
        const auto third = must(projects.list(world.admin, world.space, {}, {4, second.next_cursor}));
        CHECK(names(third) == std::vector<std::string>{"9", "new"});
        CHECK_FALSE(third.next_cursor);
        CHECK(outcome(projects.list(world.admin, world.space, {}, {4, std::string(400, 'A')})) == "invalid");
    });
}

TEST_CASE("a deleted project is not visible any more, and every store is called until its data is deleted") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        StubbornStore willing(0), stubborn(2);
        projects.add_data_owner(stubborn);
        projects.add_data_owner(willing);
        const ProjectId id = world.add_project(world.admin, world.space, "p").id;
        must(projects.remove(world.admin, id));
        CHECK(outcome(projects.find(world.admin, world.space, id.text())) == "not_found");
        CHECK(outcome(projects.remove(world.admin, id)) == "not_found");
        CHECK(outcome(projects.create(world.admin, world.space, "p", "", false, {})) == "ok"); // the name is free
        CHECK(must(projects.purge()) == 0);
        CHECK(willing.deleted.count(id) == 1); // one store's failure does not keep the others
        CHECK(must(projects.purge()) == 0);
        CHECK(must(projects.purge()) == 1);
        CHECK(stubborn.deleted.count(id) == 1);
        CHECK(world.count("deleted_projects") == 0);
        const int calls = stubborn.calls;
        CHECK(must(projects.purge()) == 0);
        CHECK(stubborn.calls == calls);
    });
}

TEST_CASE("many projects that cannot be purged yet do not keep the others waiting") {
    for_each_world([](World& world) {
        struct PickyStore final : ProjectData {
            Result<> delete_project_data(const ProjectId& project) override {
                if (project.text().starts_with("project_a")) return unavailable("not now");
                return {};
            }
        } picky;
        world.access.projects.add_data_owner(picky);
        must(world.database.write([&](sql::Transaction& transaction) -> Result<> {
            for (int i = 0; i < 115; ++i)
                TRY(transaction.execute(
                    "INSERT INTO deleted_projects (id, space_id, name, deleted_at) VALUES (?,'','',?)",
                    (i < 105 ? "project_a" : "project_b") + std::to_string(1000 + i), i));
            return {};
        }));
        CHECK(must(world.access.projects.purge()) == 10);
        CHECK(world.count("deleted_projects") == 105);
    });
}

TEST_CASE("sending traces makes the project on first use, with trace_write and nothing else") {
    for_each_world([](World& world) {
        auto& projects = world.access.projects;
        const auto sending = must(world.access.keys.create(
            world.admin, world.space,
            {.name = "sender", .kind = KeyKind::service, .scopes = {"trace_write"}, .role = Role::member}));
        const Caller sender = world.with_key(*sending.key);
        const Project made = must(projects.find_or_create_for_traces(sender, world.space, "shop"));
        CHECK(must(projects.find_or_create_for_traces(sender, world.space, " shop ")).id == made.id);
        CHECK(world.count("projects") == 1);
        CHECK(world.count("audit_entries WHERE action = 'project_create'") == 1);
        CHECK(outcome(projects.create(sender, world.space, "other", "", false, {})) == "forbidden");
        CHECK(outcome(projects.find_or_create_for_traces(sender, world.space, "")) == "invalid");

        const Caller viewer = world.join(world.space, "viewer@example.com", Role::viewer);
        CHECK(outcome(projects.find_or_create_for_traces(viewer, world.space, "shop")) == "forbidden");
        CHECK(outcome(projects.find_or_create_for_traces(World::guest(), world.space, "shop")) == "unauthorized");
        const SpaceId elsewhere = world.add_space("elsewhere");
        CHECK(outcome(projects.find_or_create_for_traces(sender, elsewhere, "shop")) == "not_found");

        // A restricted project takes traces only from those who were let in.
        const ProjectId secret = world.add_project(world.admin, world.space, "secret", true).id;
        CHECK(outcome(projects.find_or_create_for_traces(sender, world.space, "secret")) == "forbidden");
        must(projects.bind(world.admin, secret, sending.id.text(), Role::member));
        CHECK(must(projects.find_or_create_for_traces(sender, world.space, "secret")).id == secret);

        must(projects.update(world.admin, made.id, {.retention_days = 7}));
        CHECK(must(projects.retention_days()) == std::map<std::string, int64_t>{{made.id.text(), 7}});
    });
}
