// For tests only: a space with a repository on this machine, its mirror and its quarantine.
#pragma once

#include "access/testing.h"
#include "forge/supply.h"
#include "forge/testing.h"

namespace hone::forge::testing {

using access::testing::must;
using access::testing::outcome;

inline std::unique_ptr<secret::MasterKeys> master_keys_in(const std::string& directory) {
    secret::MasterKeyOptions options;
    options.create_file = true;
    options.file = directory + "/master.key";
    return must(secret::MasterKeys::open(std::move(options)));
}

// A space with a repository that lies on this machine.
struct House : Workbench {
    sql::testing::FreshDatabase fresh{sql::Engine::sqlite, sql::testing::Schema::migrated};
    access::testing::World world{fresh.database()};
    std::unique_ptr<secret::MasterKeys> keys = master_keys_in(folder.path);
    secret::Vault vault{world.database, world.clock, world.access.audit, *keys};
    skill::Skills skills{world.database, world.clock, world.access, vault};
    Repos repos{world.database, world.clock, world.access, skills, folder.path + "/repos"};
    Mirrors mirrors{repos, git, world.clock, {folder.path + "/mirrors"}};
    Quarantine quarantine{world.database, world.clock, mirrors, git, {folder.path + "/quarantine"}};
    Supply supply{repos, mirrors, quarantine, skills};

    House() {
        shell(folder.path, "mkdir -p " + own() +
                               "; git init -q -b main work; cd work; echo one > file; git add .; "
                               "git commit -qm one; git tag -am first v1; git clone -q --bare . " +
                               own() + "/shop.git");
    }
    std::string own() const { return folder.path + "/repos/" + world.space.text(); }
    std::string url() const { return "file://" + own() + "/shop.git"; }
    void commit(const std::string& text) {
        shell(folder.path, "cd work; echo " + text + " > file; git commit -qam " + text + "; git push -q " + own() +
                               "/shop.git HEAD:main");
    }
    std::string head() { return head_of("HEAD"); }
    std::string head_of(const std::string& name) {
        shell(folder.path, "git -C work rev-parse '" + name + "^{commit}' > head");
        return std::string(trim(read_file(folder.path + "/head").value()));
    }
};

} // namespace hone::forge::testing
