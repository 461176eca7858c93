// API keys: when they work, what they may, and that they never make anything stronger than themselves.
#include "access/testing.h"

#include <set>
#include <thread>

using namespace hone;
using namespace hone::access;
using namespace hone::access::testing;
using std::chrono::hours;
using std::chrono::seconds;

namespace {

std::string use(World& world, const Key& key) {
    return outcome(world.access.keys.authenticate(*key.key, "192.0.2.2", "req"));
}

Key service_key(World& world, const Caller& by, Role role, std::vector<std::string> scopes = {"all"}) {
    return must(world.access.keys.create(
        by, world.space, {.name = "robot", .kind = KeyKind::service, .scopes = std::move(scopes), .role = role}));
}

} // namespace

TEST_CASE("a key works until it expires or is revoked, and a clock set back revives no revoked key") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const Key key = must(keys.create(world.admin, world.space, {.name = "k"}));
        CHECK(key.key->starts_with(key.prefix));
        CHECK(key.prefix.size() < 15);
        CHECK(use(world, key) == "ok");
        std::string flipped = *key.key;
        flipped.back() = flipped.back() == 'A' ? 'E' : 'A';
        for (const std::string& bad :
             {std::string(), flipped, *key.key + "A", key.key->substr(5), std::string(48, 'x')})
            CHECK(outcome(keys.authenticate(bad, "", "")) == "unauthorized");

        const Key brief =
            must(keys.create(world.admin, world.space, {.name = "k", .expires_at = world.clock.now() + hours(1)}));
        world.clock.advance(hours(1) - seconds(1));
        CHECK(use(world, brief) == "ok");
        world.clock.advance(seconds(1));
        CHECK(use(world, brief) == "unauthorized");
        CHECK(must(keys.find(brief.id)).state == KeyState::expired);
        CHECK(outcome(keys.create(world.admin, world.space, {.name = "k", .expires_at = world.clock.now()})) ==
              "invalid");

        CHECK(must(keys.revoke(world.admin, key.id)).state == KeyState::revoked);
        CHECK(use(world, key) == "unauthorized");
        world.clock.jump(-hours(24));
        CHECK(use(world, key) == "unauthorized");
        CHECK(must(keys.find(key.id)).state == KeyState::revoked);
        CHECK(must(keys.list(world.admin, world.space, {}, {})).data.size() == 1);
        CHECK(must(keys.list(world.admin, world.space, {.include_revoked = true}, {})).data.size() == 2);
        CHECK(outcome(keys.revoke(world.admin, key.id)) == "conflict");
        CHECK(outcome(keys.rotate(world.admin, key.id, {})) == "conflict");
    });
}

TEST_CASE("a rotated key works for its grace and no longer, and is rotated once") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const Key old = service_key(world, world.admin, Role::member);
        const ProjectId project = world.add_project(world.admin, world.space, "secret", true).id;
        must(world.access.projects.bind(world.admin, project, old.id.text(), Role::viewer));
        const Key fresh = must(keys.rotate(world.admin, old.id, hours(1)));
        CHECK(fresh.role == Role::member);
        CHECK(*fresh.key != *old.key);
        CHECK(outcome(world.access.projects.find(world.with_key(*fresh.key), world.space, "secret")) == "ok");
        CHECK(outcome(keys.rotate(world.admin, old.id, hours(1000))) == "conflict");
        world.clock.advance(hours(1) - seconds(1));
        CHECK(use(world, old) == "ok");
        world.clock.advance(seconds(1));
        CHECK(use(world, old) == "unauthorized");
        CHECK(use(world, fresh) == "ok");
        const Key third = must(keys.rotate(world.admin, fresh.id, {}));
        CHECK(use(world, fresh) == "unauthorized");
        world.clock.jump(-hours(2));
        CHECK(use(world, fresh) == "unauthorized");
        CHECK(use(world, third) == "ok");
        std::string outcomes[2];
        {
            std::jthread one([&] { outcomes[0] = outcome(keys.rotate(world.admin, third.id, hours(1))); });
            std::jthread two([&] { outcomes[1] = outcome(keys.rotate(world.admin, third.id, hours(1))); });
        }
        CHECK(std::multiset<std::string>{outcomes[0], outcomes[1]} == std::multiset<std::string>{"conflict", "ok"});
    });
}

TEST_CASE("a personal key acts as its user does now, a service key has a role of its own") {
    for_each_world([](World& world) {
        auto& access = world.access;
        const Caller ada = world.join(world.space, "ada@example.com", Role::admin);
        const Key personal = must(access.keys.create(ada, world.space, {.name = "mine"}));
        const Key service = service_key(world, ada, Role::viewer);
        CHECK(world.with_key(*personal.key).permissions_in(world.space) == permissions_of(Role::admin));
        CHECK(world.with_key(*personal.key).principal() == ada.user.text());
        CHECK(world.with_key(*service.key).permissions_in(world.space) == permissions_of(Role::viewer));
        CHECK(world.with_key(*service.key).principal() == service.id.text());
        must(access.spaces.set_role(world.admin, world.space, ada.user, Role::viewer));
        CHECK(world.with_key(*personal.key).permissions_in(world.space) == permissions_of(Role::viewer));
        must(access.users.update(world.admin, ada.user, {.disabled = true}));
        CHECK(use(world, personal) == "unauthorized");
        CHECK(use(world, service) == "ok");
        must(access.users.update(world.admin, ada.user, {.disabled = false}));
        CHECK(use(world, personal) == "ok");
        must(access.spaces.remove_member(world.admin, world.space, ada.user));
        CHECK(use(world, personal) == "unauthorized");
        CHECK(outcome(access.keys.create(world.admin, world.space, {.name = "x", .kind = KeyKind::service})) ==
              "invalid");
        CHECK(outcome(access.keys.create(world.admin, world.space, {.name = "x", .role = Role::viewer})) == "invalid");
    });
}

TEST_CASE("a key never may more than its role and its scope both allow") {
    for_each_world([](World& world) {
        std::vector<std::vector<std::string>> scope_sets{
            {"all"}, {"read"}, {"read", "key_create"}, {"project_create", "user_manage"}};
        for (const auto& row : permission_table()) scope_sets.push_back({std::string(name_of(row.permission))});
        const Key key = service_key(world, world.admin, Role::viewer);
        for (const auto& role : enum_names(Role{}))
            for (const auto& scopes : scope_sets) {
                std::string joined;
                for (const auto& scope : scopes) joined += (joined.empty() ? "" : " ") + scope;
                must(world.database.execute("UPDATE api_keys SET role = ?, scopes = ?", role.name, joined));
                const Caller caller = world.with_key(*key.key);
                const PermissionSet most = permissions_of(role.value) & must(scope_of(scopes));
                CHECK(caller.permissions_in(world.space) == most);
                CHECK(caller.permissions_of_installation().empty());
                for (const auto& row : permission_table()) {
                    CHECK(caller.require(row.permission, world.space).ok() == most.has(row.permission));
                    CHECK(outcome(caller.require(row.permission, SpaceId("space_other"))) == "not_found");
                    CHECK(outcome(caller.require(row.permission)) == "forbidden");
                }
            }
    });
}

TEST_CASE("a limited key makes and rotates nothing wider or longer-lived than itself") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const Key wide = must(keys.create(world.admin, world.space, {.name = "wide"}));
        const Key narrow = must(
            keys.create(world.admin, world.space, {.name = "narrow", .scopes = {"read", "key_create", "key_manage"}}));
        const Caller caller = world.with_key(*narrow.key);
        const auto make = [&](const NewKey& wanted) { return outcome(keys.create(caller, world.space, wanted)); };
        CHECK(make({.name = "x"}) == "forbidden");
        CHECK(make({.name = "x", .scopes = {"read", "project_create"}}) == "forbidden");
        CHECK(make({.name = "x", .scopes = {"read"}}) == "ok");
        CHECK(make({.name = "x", .kind = KeyKind::service, .role = Role::admin}) == "forbidden");
        CHECK(make({.name = "x", .kind = KeyKind::service, .scopes = {"read"}, .role = Role::admin}) == "ok");
        CHECK(outcome(keys.rotate(caller, wide.id, {})) == "forbidden");
        for (const std::vector<std::string>& bad : {std::vector<std::string>{}, {"everything"}, {""}, {"read all"}})
            CHECK(outcome(keys.create(world.admin, world.space, {.name = "x", .scopes = bad})) == "invalid");

        const Time end = world.clock.now() + hours(1);
        const Key brief = must(keys.create(world.admin, world.space, {.name = "brief", .expires_at = end}));
        const Caller passing = world.with_key(*brief.key);
        CHECK(outcome(keys.create(passing, world.space, {.name = "x"})) == "forbidden");
        CHECK(outcome(keys.create(passing, world.space, {.name = "x", .expires_at = end + seconds(1)})) == "forbidden");
        CHECK(outcome(keys.create(passing, world.space, {.name = "x", .expires_at = end})) == "ok");
        CHECK(outcome(keys.rotate(passing, wide.id, {})) == "forbidden");
        const Key next = must(keys.rotate(passing, brief.id, hours(24)));
        CHECK(next.expires_at == end);
        CHECK(outcome(keys.create(passing, world.space, {.name = "x", .expires_at = end})) == "forbidden");

        const Caller admin = world.join(world.space, "ada@example.com", Role::admin);
        CHECK(outcome(keys.create(admin, world.space, {.name = "x", .kind = KeyKind::service, .role = Role::owner})) ==
              "forbidden");
        CHECK(outcome(keys.rotate(admin, service_key(world, world.admin, Role::owner).id, {})) == "forbidden");
        CHECK(outcome(keys.rotate(admin, wide.id, {})) == "forbidden"); // somebody else's personal key
        const Key robot = service_key(world, admin, Role::admin);
        CHECK(outcome(keys.create(world.with_key(*robot.key), world.space, {.name = "x"})) == "forbidden");
    });
}

TEST_CASE("owners of the installation see the keys of all spaces, and those that are not used") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const SpaceId other = must(world.access.spaces.create(world.admin, "other", "")).id;
        const Caller ada = world.join(world.space, "ada@example.com", Role::owner);
        const Key used = must(keys.create(ada, world.space, {.name = "used"}));
        const Key idle = must(keys.create(world.admin, other, {.name = "idle"}));
        const Key never = must(keys.create(ada, world.space, {.name = "never"}));
        CHECK(use(world, used) == "ok");
        CHECK(use(world, idle) == "ok");
        world.clock.advance(hours(24 * 40));
        CHECK(use(world, used) == "ok");
        const Key fresh = must(keys.create(ada, world.space, {.name = "fresh"}));
        const auto names = [&](const Caller& caller, const std::optional<SpaceId>& space, const KeyFilter& filter,
                               int64_t limit = 100) {
            std::string text;
            PageRequest page{limit, {}};
            do {
                const auto part = must(keys.list(caller, space, filter, page));
                for (const Key& key : part.data) text += key.name + " " + key.space_name + " " + key.user_email + "; ";
                page.cursor = part.next_cursor;
            } while (page.cursor);
            return text;
        };
        const std::string admin = world.admin.name;
        const std::string by_use = "never default ada@example.com; fresh default ada@example.com; idle other " + admin +
                                   "; used default ada@example.com; ";
        for (const int64_t limit : {1, 3, 100}) CHECK(names(world.admin, {}, {.by_last_use = true}, limit) == by_use);
        CHECK(names(world.admin, {}, {.unused_for = hours(24 * 30), .by_last_use = true}) ==
              "never default ada@example.com; idle other " + admin + "; ");
        CHECK(names(ada, world.space, {.unused_for = hours(24 * 30)}) == "never default ada@example.com; ");
        CHECK(outcome(keys.list(ada, {}, {}, {})) == "forbidden");
        CHECK(outcome(keys.list(world.admin, {}, {.by_last_use = true}, {10, to_base64url("key_1")})) == "invalid");
        // A key of an owner lists them too, if it is not limited.
        const Key reader = must(keys.create(world.admin, world.space, {.name = "reader", .scopes = {"read"}}));
        CHECK(outcome(keys.list(must(keys.authenticate(*reader.key, "", "")), {}, {}, {})) == "forbidden");
    });
}

TEST_CASE("people see and manage their own keys, those with key_manage all of the space") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const Caller ada = world.join(world.space, "ada@example.com", Role::viewer);
        const Caller bob = world.join(world.space, "bob@example.com", Role::member);
        const Key hers = must(keys.create(ada, world.space, {.name = "hers"}));
        const Key robot = service_key(world, world.admin, Role::viewer);
        CHECK(must(keys.list(ada, world.space, {.include_revoked = true}, {})).data.size() == 1);
        CHECK(must(keys.list(bob, world.space, {.include_revoked = true}, {})).data.empty());
        CHECK(must(keys.list(world.admin, world.space, {.include_revoked = true}, {})).data.size() == 2);
        for (const auto& listed : must(keys.list(world.admin, world.space, {.include_revoked = true}, {})).data)
            CHECK_FALSE(listed.key);
        for (const KeyId& id : {hers.id, robot.id}) {
            CHECK(outcome(keys.revoke(bob, id)) == "not_found");
            CHECK(outcome(keys.rotate(bob, id, {})) == "not_found");
            CHECK(outcome(keys.revoke(World::guest(), id)) == "unauthorized");
        }
        CHECK(outcome(keys.create(bob, world.space, {.name = "x", .kind = KeyKind::service, .role = Role::viewer})) ==
              "forbidden");
        CHECK(outcome(keys.revoke(ada, hers.id)) == "ok");
        CHECK(outcome(keys.revoke(world.admin, robot.id)) == "ok");
    });
}

TEST_CASE("installation permissions come through a personal key only within its scope") {
    for_each_world([](World& world) {
        auto& keys = world.access.keys;
        const SpaceId other = world.add_space("other");
        const auto with = [&](std::vector<std::string> scopes) {
            return world.with_key(
                *must(keys.create(world.admin, world.space, {.name = "k", .scopes = std::move(scopes)})).key);
        };
        CHECK(outcome(world.access.audit.verify(with({"all"}))) == "ok");
        CHECK(outcome(world.access.audit.verify(with({"audit_verify"}))) == "ok");
        CHECK(outcome(world.access.audit.verify(with({"read"}))) == "forbidden");
        CHECK(outcome(world.access.users.list(with({"audit_verify"}), {})) == "forbidden");
        // An installation owner's key still belongs to one space.
        CHECK(outcome(world.access.projects.list(with({"all"}), other, {}, {})) == "not_found");
        CHECK(must(world.access.spaces.list(with({"all"}), {})).data.size() == 1);
        CHECK(must(world.access.spaces.list(with({"key_create"}), {})).data.empty());
        // With the office goes what the key could do.
        const Caller ada = world.join(world.space, "ada@example.com", Role::viewer);
        must(world.access.users.update(world.admin, ada.user, {.installation_owner = true}));
        const Key key = must(keys.create(world.again(ada), world.space, {.name = "k"}));
        CHECK(outcome(world.access.audit.verify(world.with_key(*key.key))) == "ok");
        CHECK(world.with_key(*key.key).role_in(world.space) == Role::owner);
        must(world.access.users.update(world.admin, ada.user, {.installation_owner = false}));
        CHECK(outcome(world.access.audit.verify(world.with_key(*key.key))) == "forbidden");
        CHECK(world.with_key(*key.key).role_in(world.space) == Role::viewer);
    });
}

TEST_CASE("a key whose stored scope or role this build does not know is refused") {
    for_each_world([](World& world) {
        const Key key = service_key(world, world.admin, Role::viewer, {"read"});
        CHECK(use(world, key) == "ok");
        for (const char* scopes : {"read rocket_launch", "", "read ", "ALL"}) {
            must(world.database.execute("UPDATE api_keys SET scopes = ?", scopes));
            CHECK(use(world, key) == "unauthorized");
        }
        must(world.database.execute("UPDATE api_keys SET scopes = 'read', role = 'emperor'"));
        CHECK(use(world, key) == "unauthorized");
        must(world.database.execute("UPDATE api_keys SET role = NULL"));
        CHECK(use(world, key) == "unauthorized");
    });
}

TEST_CASE("when a key was last used is written at most once a minute") {
    for_each_world([](World& world) {
        const Key key = service_key(world, world.admin, Role::viewer);
        const auto last_used = [&] { return must(world.access.keys.find(key.id)).last_used_at; };
        CHECK_FALSE(last_used());
        const Time start = world.clock.now();
        CHECK(use(world, key) == "ok");
        CHECK(last_used() == start);
        world.clock.advance(seconds(60));
        CHECK(use(world, key) == "ok");
        CHECK(last_used() == start);
        world.clock.advance(seconds(1));
        CHECK(use(world, key) == "ok");
        CHECK(last_used() == start + seconds(61));
        world.clock.jump(-hours(1));
        CHECK(use(world, key) == "ok");
        CHECK(last_used() == world.clock.now());
    });
}

TEST_CASE("a run key reads its own project and nothing else, and ends with the run") {
    for_each_world([](World& world) {
        const Caller member = world.join(world.space, "starter@example.com", Role::member);
        const Project mine = world.add_project(world.admin, world.space, "mine");
        const Project other = world.add_project(world.admin, world.space, "other");
        const NewRunKey wanted{.run = "run_1",
                               .space = world.space,
                               .project = mine.id,
                               .user = member.user,
                               .expires_at = world.clock.now() + std::chrono::hours(1)};
        const std::string secret = *must(world.access.keys.create_for_run(wanted)).key;
        const Caller run = world.with_key(secret);
        CHECK(run.run == "run_1");
        CHECK(outcome(world.access.projects.find(run, world.space, "mine")) == "ok");
        CHECK(outcome(world.access.projects.find(run, world.space, "other")) == "not_found");
        CHECK(outcome(world.access.projects.find(run, world.space, other.id.text())) == "not_found");
        CHECK(outcome(world.access.projects.find(run, world.space, "mine", Permission::eval_write)) == "forbidden");
        CHECK(must(world.access.projects.list(run, world.space, {}, {})).data.size() == 1);
        CHECK(outcome(world.access.projects.create(run, world.space, "new", "", false, {})) == "forbidden");
        CHECK(outcome(world.access.keys.list(run, world.space, {}, {})) == "forbidden");
        // Nobody else sees it among the keys, and a second one replaces it.
        CHECK(must(world.access.keys.list(world.admin, world.space, {.include_revoked = true}, {})).data.empty());
        const std::string second = *must(world.access.keys.create_for_run(wanted)).key;
        CHECK(outcome(world.access.keys.authenticate(secret, "", "")) == "unauthorized");
        // Its starter loses the space: so does the key.
        CHECK(outcome(world.access.keys.authenticate(second, "", "")) == "ok");
        must(world.access.spaces.remove_member(world.admin, world.space, member.user));
        CHECK(outcome(world.access.keys.authenticate(second, "", "")) == "unauthorized");
        must(world.access.keys.end_for_run("run_1"));
        CHECK(world.count("run_keys") == 0);
    });
}

TEST_CASE("a run key of a restricted project needs the binding of its starter") {
    for_each_world([](World& world) {
        const Caller member = world.join(world.space, "starter@example.com", Role::member);
        const Project secret_project = world.add_project(world.admin, world.space, "secret", true);
        const std::string secret =
            *must(world.access.keys.create_for_run({.run = "run_2",
                                                    .space = world.space,
                                                    .project = secret_project.id,
                                                    .user = member.user,
                                                    .expires_at = world.clock.now() + std::chrono::hours(1)}))
                 .key;
        CHECK(outcome(world.access.projects.find(world.with_key(secret), world.space, "secret")) == "not_found");
        must(world.access.projects.bind(world.admin, secret_project.id, member.user.text(), Role::viewer));
        CHECK(outcome(world.access.projects.find(world.with_key(secret), world.space, "secret")) == "ok");
    });
}

TEST_CASE("a run key holds what its starter's key holds, and ends with it") {
    for_each_world([](World& world) {
        const Project project = world.add_project(world.admin, world.space, "mine");
        const auto start = [&](const Key& starter, const std::string& run) {
            return *must(world.access.keys.create_for_run({.run = run,
                                                           .space = world.space,
                                                           .project = project.id,
                                                           .user = starter.user_id,
                                                           .role = starter.role,
                                                           .key = starter.id,
                                                           .expires_at = world.clock.now() + std::chrono::hours(1)}))
                        .key;
        };
        const auto reads = [&](const std::string& secret) {
            return outcome(world.access.projects.find(world.with_key(secret), world.space, "mine"));
        };
        auto& keys = world.access.keys;
        // Started by keys that cannot read the project: neither can the worker.
        const Key personal =
            must(keys.create(world.admin, world.space, {.name = "starter", .scopes = {"run_start", "run_read"}}));
        const Key service =
            must(keys.create(world.admin, world.space,
                             {.name = "ci", .kind = KeyKind::service, .scopes = {"run_start"}, .role = Role::member}));
        CHECK(reads(start(personal, "run_1")) == "not_found");
        CHECK(reads(start(service, "run_2")) == "not_found");
        const Key reader =
            must(keys.create(world.admin, world.space, {.name = "reader", .scopes = {"run_start", "project_read"}}));
        const std::string secret = start(reader, "run_3");
        CHECK(reads(secret) == "ok");
        must(keys.revoke(world.admin, reader.id));
        CHECK(outcome(keys.authenticate(secret, "", "")) == "unauthorized");
        const Key brief = must(keys.create(
            world.admin, world.space, {.name = "brief", .expires_at = world.clock.now() + std::chrono::minutes(5)}));
        const std::string brief_run = start(brief, "run_4");
        CHECK(reads(brief_run) == "ok");
        world.clock.advance(std::chrono::minutes(6));
        CHECK(outcome(keys.authenticate(brief_run, "", "")) == "unauthorized");
    });
}

TEST_CASE("runs of a bound service key and of bound Signal read a restricted project, others do not") {
    for_each_world([](World& world) {
        const Project closed = world.add_project(world.admin, world.space, "closed", true);
        const Key service = must(world.access.keys.create(
            world.admin, world.space, {.name = "ci", .kind = KeyKind::service, .role = Role::member}));
        const auto run_of = [&](std::optional<KeyId> key, bool by_signal) {
            const auto made =
                must(world.access.keys.create_for_run({.run = key ? "run_1" : "run_2",
                                                       .space = world.space,
                                                       .project = closed.id,
                                                       .role = Role::viewer,
                                                       .key = key,
                                                       .started_by_signal = by_signal,
                                                       .expires_at = world.clock.now() + std::chrono::hours(1)}));
            return world.with_key(*made.key);
        };
        const auto reads = [&](const Caller& caller) {
            return outcome(world.access.projects.find(caller, world.space, closed.id.text()));
        };
        CHECK(reads(run_of(service.id, false)) == "not_found");
        CHECK(reads(run_of({}, true)) == "not_found");
        must(world.access.projects.bind(world.admin, closed.id, service.id.text(), Role::viewer));
        CHECK(reads(run_of(service.id, false)) == "ok");
        CHECK(reads(run_of({}, true)) == "not_found");
        const Binding bound =
            must(world.access.projects.bind(world.admin, closed.id, std::string(signal_principal), Role::viewer));
        CHECK(bound.name == "Signal");
        const Caller signal = run_of({}, true);
        CHECK(reads(signal) == "ok");
        CHECK(must(world.access.projects.list(signal, world.space, {}, {})).data.size() == 1);
        CHECK(outcome(world.access.projects.find(signal, world.space, closed.id.text(), Permission::eval_write)) ==
              "forbidden");
        must(world.access.projects.unbind(world.admin, closed.id, std::string(signal_principal)));
        CHECK(reads(signal) == "not_found");
    });
}
