// Mirrors and quarantines of repositories on this machine, with git in real sandboxes. Clones and pushes by real
// clients through the real gateway: tests/e2e/repos.py.
#include "forge/house.test.h"

using namespace hone;
using namespace hone::forge;
using namespace hone::forge::testing;
using access::Caller;

TEST_CASE("a mirror holds what the repository has, and later what is new") {
    House house;
    const Repo repo = must(house.repos.create(house.world.admin, house.world.space, {.url = house.url()}));
    CHECK(repo.name == "shop");
    CHECK(repo.state == MirrorState::created);
    const Repo first = must(house.mirrors.fetch(repo.id));
    CHECK(first.state == MirrorState::ready);
    CHECK(first.head_ref == "refs/heads/main");
    CHECK(first.refs == 2);
    const std::string before = house.head();
    CHECK(find_ref(must(house.mirrors.refs(repo.id)), "refs/tags/v1")->commit == before);
    // Fresh: nothing is fetched. A minute later: what is new comes, and nothing else.
    house.commit("two");
    CHECK(must(house.mirrors.fetch_if_old(first)).bytes == first.bytes);
    house.world.clock.advance(std::chrono::minutes(2));
    const Repo second = must(house.mirrors.fetch_if_old(first));
    CHECK(second.bytes > first.bytes);
    CHECK(find_ref(must(house.mirrors.refs(repo.id)), "refs/heads/main")->commit == house.head());
    const GitOutput log = must(house.git.run({.arguments = {"--git-dir=/mirror", "log", "--format=%s", "main"},
                                              .mounts = {{house.mirrors.path(repo.id), "/mirror"}}}));
    CHECK(log.out == "two\none\n");
}

TEST_CASE("many small packs become one, and nothing is lost, not even what no ref leads to any more") {
    House house;
    const Repo repo = must(house.repos.create(house.world.admin, house.world.space, {.url = house.url()}));
    must(house.mirrors.fetch(repo.id));
    const std::string left = house.head();
    // Fifty packs as fifty fetches would have left them, of commits that are gone.
    const std::string packs = house.mirrors.path(repo.id) + "/objects/pack";
    shell(house.folder.path, "cd work; for i in $(seq 49); do echo $i > file; git commit -qam $i; "
                             "git rev-parse HEAD HEAD^{tree} HEAD:file | git pack-objects -q " +
                                 packs + "/pack > /dev/null; done; git rev-parse HEAD > ../gone; git reset -q --hard " +
                                 left);
    house.commit("two");
    must(house.mirrors.fetch(repo.id));
    shell(house.folder.path, "ls " + packs + " | wc -l > count");
    CHECK(trim(read_file(house.folder.path + "/count").value()) == "2");
    const std::string gone(trim(read_file(house.folder.path + "/gone").value()));
    const GitOutput log = must(house.git.run({.arguments = {"--git-dir=/mirror", "log", "--format=%s", gone},
                                              .mounts = {{house.mirrors.path(repo.id), "/mirror"}}}));
    CHECK_MESSAGE(log.out.starts_with("49\n48\n"), log.err);
    CHECK(log.out.ends_with("\none\n"));
}

TEST_CASE("a repository that is not there is an error that stays to be read") {
    House house;
    const Repo repo = must(
        house.repos.create(house.world.admin, house.world.space, {.url = "file://" + house.own() + "/absent.git"}));
    CHECK_FALSE(house.mirrors.fetch(repo.id).ok());
    const Repo failed = must(house.repos.find(house.world.admin, repo.id));
    CHECK(failed.state == MirrorState::failed);
    CHECK_FALSE(failed.error.empty());
}

TEST_CASE("a mirror larger than allowed is refused") {
    House house;
    shell(house.folder.path, "cd work; head -c 3000000 /dev/urandom > big; git add big; git commit -qm big; "
                             "git push -q " +
                                 house.own() + "/shop.git HEAD:main");
    MirrorOptions small{house.folder.path + "/small"};
    small.most_bytes = 1'000'000;
    Mirrors mirrors(house.repos, house.git, house.world.clock, small);
    const Repo repo = must(house.repos.create(house.world.admin, house.world.space, {.url = house.url()}));
    CHECK(outcome(mirrors.fetch(repo.id)) == "too_large");
    CHECK(size_of_packs(mirrors.path(repo.id)) == 0);
}

TEST_CASE("a run gets the requested branch, tag or commit, as it was when the run started") {
    House house;
    const std::string first = house.head();
    house.commit("two");
    const auto given = [&](const std::string& run, const std::string& ref) {
        return house.supply.supply({house.world.space, run, house.url(), ref, {}});
    };
    CHECK(must(given("run_1", "")).checkout.base_commit == house.head());
    CHECK(must(given("run_1", "")).checkout.base_ref == "refs/heads/main");
    CHECK(must(given("run_2", "v1")).checkout.base_commit == first);
    CHECK(must(given("run_3", first)).checkout.base_commit == first);
    CHECK(must(given("run_4", first.substr(0, 10))).checkout.base_commit == first);
    CHECK(outcome(given("run_5", "absent")) == "not_found");
    CHECK(outcome(given("run_5", "--upload-pack=x")) == "invalid");
    CHECK(outcome(house.supply.supply({house.world.space, "run_6", "file:///etc", "", {}})) == "forbidden");
    // The quarantine of one run is not one of another.
    CHECK(outcome(house.quarantine.serve({"run_9", "shop", GitService::upload_pack, true, "version=2"})) ==
          "not_found");
    auto served = must(house.quarantine.serve({"run_1", "shop", GitService::upload_pack, true, ""}));
    const std::string advertised = must(served->read());
    CHECK(advertised.starts_with("001e# service=git-upload-pack\n0000"));
    CHECK(advertised.find(house.head() + " refs/heads/main") != std::string::npos);
    CHECK(must(served->read()).empty());
    must(house.quarantine.remove("run_1"));
    CHECK(outcome(house.quarantine.find("run_1", "shop")) == "not_found");
    CHECK_FALSE(file_exists(house.folder.path + "/quarantine/run_1"));
}

TEST_CASE("a push over a limit is refused with a reason in git's own words") {
    House house;
    must(house.supply.supply({house.world.space, "run_1", house.url(), "", {}}));
    QuarantineOptions options{house.folder.path + "/quarantine"};
    options.push_files = 3;
    options.push_file_bytes = 1 << 20;
    options.push_objects = 100;
    Quarantine strict(house.world.database, house.world.clock, house.mirrors, house.git, options);
    const auto push = [&](const std::string& work) {
        shell(house.folder.path, "cd work; git checkout -q -B try v1; tip=HEAD; " + work +
                                     "\ngit rev-parse $tip > ../tip; git rev-list --objects v1..$tip | git "
                                     "pack-objects -q --stdout > ../pack");
        const std::string tip(trim(read_file(house.folder.path + "/tip").value()));
        std::string line = std::string(40, '0') + " " + tip + " refs/heads/hone/run_1/try";
        line += '\0';
        line += " report-status side-band-64k";
        auto exchange = must(strict.serve({"run_1", "shop", GitService::receive_pack}));
        must(exchange->write(packet(line) + "0000" + read_file(house.folder.path + "/pack").value()));
        must(exchange->finish());
        return must(exchange->read());
    };
    const auto refuses = [&](const std::string& work, std::string_view reason) {
        const std::string answer = push(work);
        CHECK_MESSAGE(answer.find(reason) != std::string::npos, answer);
        CHECK(answer.find("ng refs/heads/hone/run_1/try") != std::string::npos);
    };
    refuses("for i in 1 2 3 4; do echo $i > f$i; done; git add .; git commit -qm many",
            "refs/heads/hone/run_1/try: a branch changes at most 3 files");
    refuses("head -c 3000000 /dev/zero > 'large one'; git add .; git commit -qm large",
            "large one has 2 MiB; a file has at most 1 MiB");
    refuses("for i in $(seq 40); do echo $i > file; git commit -qam $i; done", "a push has at most 100 objects");
    // Forty objects that name 10^30 files.
    refuses("tree=$(printf '100644 blob %s\\tf\\n' $(git rev-parse HEAD:file) | git mktree)\nfor i in $(seq 30); do "
            "tree=$(for j in 0 1 2 3 4 5 6 7 8 9; do printf '040000 tree %s\\t%s\\n' $tree $j; done | git mktree); "
            "done\ntip=$(git commit-tree -m bomb -p HEAD $tree)",
            "a branch changes at most 3 files");
    refuses("printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./evil\\n' > .gitmodules; git add .; git commit -qm "
            "option",
            "gitmodulesUrl");
    CHECK(push("echo fine > fine; git add .; git commit -qm fine").find("unpack ok") != std::string::npos);
    CHECK(size_of_packs(house.folder.path + "/quarantine/run_1/" +
                        must(house.quarantine.find("run_1", "shop")).repo_id.text() + ".git") < 10'000);
}

TEST_CASE("objects that no git would make are not fetched; faults of form that old programs left are") {
    House house;
    const Repo repo = must(house.repos.create(house.world.admin, house.world.space, {.url = house.url()}));
    const auto fetch = [&](const std::string& mode_and_name, const std::string& author) {
        shell(house.folder.path, "cd '" + house.own() +
                                     "/shop.git'; blob=$(echo x | git hash-object -w --stdin); printf '" +
                                     mode_and_name +
                                     "\\0' > ../../../tree; perl -e 'print pack q(H40), shift' $blob >> ../../../tree; "
                                     "tree=$(git hash-object -w -t tree --literally ../../../tree); printf 'tree "
                                     "'$tree'\\nauthor " +
                                     author +
                                     "\\ncommitter A <a@b> 1 +0000\\n\\nodd\\n' > ../../../commit; git update-ref "
                                     "refs/heads/odd $(git hash-object -w -t commit --literally ../../../commit)");
        return house.mirrors.fetch(repo.id);
    };
    CHECK(must(fetch("0100644 file", "A<a@b> 1 +051800")).refs == 3); // a zero and a time zone as of 2008
    for (const std::string name : {"..", ".git"}) {
        const auto refused = fetch("100644 " + name, "A <a@b> 1 +0000");
        REQUIRE_FALSE(refused.ok());
        CHECK_MESSAGE(refused.error().message.find("fsck") != std::string::npos, refused.error().message);
    }
}

TEST_CASE("repositories belong to a space and its people") {
    House house;
    auto& world = house.world;
    const Repo repo = must(house.repos.create(world.admin, world.space, {.url = "https://git.example.com/team/shop"}));
    const Caller viewer = world.join(world.space, "viewer@example.com", access::Role::viewer);
    const auto other = world.add_space("other");
    const Caller stranger = world.join(other, "stranger@example.com", access::Role::owner);
    CHECK(must(house.repos.find(viewer, repo.id)).url == repo.url);
    CHECK(outcome(house.repos.update(viewer, repo.id, {.name = "x"})) == "forbidden");
    CHECK(outcome(house.repos.find(stranger, repo.id)) == "not_found");
    CHECK(outcome(house.repos.remove(stranger, repo.id)) == "not_found");
    CHECK(outcome(house.repos.create(stranger, world.space, {.url = "https://git.example.com/a"})) == "not_found");
    // One row per address, one name per space.
    CHECK(outcome(house.repos.create(world.admin, world.space, {.url = "https://GIT.example.com/team/shop/"})) ==
          "conflict");
    CHECK(must(house.repos.find_or_create(world.space, repo.url, {}, "run_1")).id == repo.id);
    CHECK(must(house.repos.find_or_create(world.space, "https://git.example.com/b/shop", {}, "run_1")).name ==
          "shop-2");
    // A private address is for owners of the installation, a skill for those who can see it.
    const Caller admin = world.join(world.space, "boss@example.com", access::Role::admin);
    CHECK(outcome(house.repos.create(admin, world.space,
                                     {.url = "https://git.example.com/p", .allow_private = true})) == "forbidden");
    CHECK(outcome(house.repos.create(admin, world.space, {.url = "https://git.example.com/p", .skill_id = "absent"})) ==
          "not_found");
    must(house.repos.remove(world.admin, repo.id));
    CHECK(outcome(house.repos.find(world.admin, repo.id)) == "not_found");
}

TEST_CASE("a local repository belongs to a space: another space neither registers nor clones it") {
    House house;
    const access::SpaceId other = house.world.add_space("other");
    const std::string theirs = house.folder.path + "/repos/" + other.text();
    shell(house.folder.path, "mkdir -p " + theirs + "; ln -s " + house.own() + "/shop.git " + theirs + "/link.git");
    const auto registers = [&](const std::string& url) {
        return outcome(house.repos.create(house.world.admin, other, {.url = url}));
    };
    const auto clones = [&](const std::string& url) {
        return outcome(house.supply.supply({other, "run_1", url, "", {}}));
    };
    // The victim's folder by its path, through `..`, and as a folder above it.
    for (const std::string& url : {house.url(), "file://" + theirs + "/../" + house.world.space.text() + "/shop.git",
                                   "file://" + house.folder.path + "/repos", "file://" + house.folder.path + "/work"}) {
        CHECK(registers(url) == "forbidden");
        CHECK(clones(url) == "forbidden");
    }
    // A symbolic link can be registered, but nothing is read through it.
    CHECK(clones("file://" + theirs + "/link.git") == "forbidden");
    const Repo linked = must(house.repos.find(house.world.admin, other, "link"));
    CHECK(outcome(house.mirrors.fetch(linked.id)) == "forbidden");
    CHECK(size_of_packs(house.mirrors.path(linked.id)) == 0);
    // A row that was registered when there was one folder for all: the first space keeps it, others do not get it.
    shell(house.folder.path, "git clone -q --bare work repos/old.git");
    const std::string old = "file://" + house.folder.path + "/repos/old.git";
    CHECK(registers(old) == "forbidden");
    for (const auto& [space, at] : {std::pair{house.world.space, 1}, std::pair{other, 2}})
        must(house.world.database.execute(
            "INSERT INTO repos (id, space_id, name, url, default_ref, skill_id, path_scope, allow_private, state, "
            "head_ref, refs, bytes, fetched_at, error, notes, created_by, created_at) VALUES (?, ?, 'old', ?, '', "
            "NULL, '', 0, 'new', '', 0, 0, NULL, '', '', '', ?)",
            make_id<RepoTag>(house.world.clock), space, old, at));
    CHECK(outcome(house.supply.supply({house.world.space, "run_2", old, "", {}})) == "ok");
    CHECK(clones(old) == "forbidden");
}
