// For tests of access and of what stands on it: a small installation on a real database, with a clock to move.
//   TEST_CASE("…") { access::testing::for_each_world([](World& world) { … CHECK(…); }); }
// Needs TEST_LIBRARIES hone_sql_testing. Not part of the product; one thread, the functions of `access` any thread.
#pragma once

#include "access/access.h"
#include "access/audit/seal.h"
#include "sql/testing.h"

namespace hone::access::testing {

inline const std::string good_password = "correct horse battery";

// "ok", or the code of the error: reads well in CHECK and in its message.
template <class T>
std::string outcome(const Result<T>& result) {
    return result.ok() ? "ok" : code_name(result.error().code);
}

template <class T>
T must(Result<T> result) {
    if (!result.ok()) FAIL(result.error().message, " | ", result.error().trail);
    return std::move(result).value();
}

// The installation after its first start: the space `default` and admin@localhost, who is logged in.
class World {
public:
    explicit World(sql::Database& opened, Policy policy = cheap_policy())
        : database(opened),
          clock(must(parse_time("2026-03-01T12:00:00Z"))),
          access((crypto::start(), opened), clock, policy) {
        must(access.first_start(good_password));
        admin = login("admin@localhost");
        space = admin.roles.begin()->first;
    }

    static Policy cheap_policy() {
        Policy policy;
        policy.password_cost = crypto::PasswordCost::cheap;
        return policy;
    }
    static Caller guest(std::string peer = "192.0.2.1") { return Caller::guest(std::move(peer), "req-1"); }

    Caller login(const std::string& email, const std::string& password = good_password) {
        return must(access.logins.login(guest(), email, password, "test")).caller;
    }
    // The same person with the roles of now.
    Caller again(const Caller& person) { return login(person.name); }
    // A person who was invited to a space and came.
    Caller join(const SpaceId& where, const std::string& email, Role role) {
        const Invite invite = must(access.invites.create(admin, where, email, role));
        return must(access.invites.accept(guest(), token_of(invite), {}, good_password, "test")).caller;
    }
    SpaceId add_space(const std::string& name) { return must(access.spaces.create(admin, name, "")).id; }
    Project add_project(const Caller& caller, const SpaceId& where, const std::string& name, bool restricted = false) {
        return must(access.projects.create(caller, where, name, "", restricted, {}));
    }
    Caller with_key(const std::string& key) { return must(access.keys.authenticate(key, "192.0.2.2", "req-2")); }

    static std::string token_of(const Invite& invite) { return invite.path->substr(invite.path->rfind('/') + 1); }
    int64_t count(const std::string& from) {
        if (from.starts_with("audit_entries")) must(seal_audit_log(database));
        const auto rows = must(database.query("SELECT COUNT(*) FROM " + from));
        return rows.front().integer(0);
    }

    sql::Database& database;
    FakeClock clock;
    Access access;
    Caller admin;
    SpaceId space;
};

// Only what access itself writes; much quicker than a database for each case.
inline void empty_tables(sql::Database& database) {
    must(database.write([](sql::Transaction& transaction) -> Result<> {
        for (const char* table : {"bindings", "deleted_projects", "projects", "api_keys", "invites", "members",
                                  "custom_roles", "spaces", "login_sessions", "login_failures", "known_peers",
                                  "password_resets", "users", "audit_entries", "audit_head", "audit_inbox"})
            TRY(transaction.execute("DELETE FROM " + std::string(table)));
        TRY(transaction.execute("INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')"));
        return {};
    }));
}

// One of each engine for the whole test program.
inline sql::Database& kept_database(sql::Engine engine) {
    using sql::testing::FreshDatabase, sql::testing::Schema;
    static FreshDatabase sqlite(sql::Engine::sqlite, Schema::migrated);
    static FreshDatabase postgres(sql::Engine::postgres, Schema::migrated);
    return engine == sql::Engine::sqlite ? sqlite.database() : postgres.database();
}

// Runs `test` once per engine, each with a database that holds nothing yet.
template <class Test>
void for_each_empty_database(Test&& test) {
    for (const sql::Engine engine : sql::testing::all_engines) {
        INFO("on ", sql::testing::engine_name(engine));
        sql::Database& database = kept_database(engine);
        empty_tables(database);
        test(database);
    }
}

// The same, with an installation in it.
template <class Test>
void for_each_world(Test&& test) {
    for_each_empty_database([&](sql::Database& database) {
        World world(database);
        test(world);
    });
}

} // namespace hone::access::testing
