// Branches as bundles and patches, from an agent that may be hostile, with git in real sandboxes.
#include "forge/house.test.h"
#include "forge/push/bundle.h"

using namespace hone;
using namespace hone::forge;
using namespace hone::forge::testing;

namespace {

class PushList final : public PushListener {
public:
    Result<> pushed(const Push& push) override {
        pushes.push_back(push);
        if (!complaint.empty()) return conflict(complaint);
        return {};
    }
    std::vector<Push> pushes;
    std::string complaint;
};

struct AgentHouse : House {
    PushList list;
    AgentHouse() { quarantine.set_listener(&list); }

    // Files that the agent's own git makes in its clone, `work`, at v1.
    std::string file(const std::string& script, const std::string& name) {
        shell(folder.path, "rm -f out; cd work; git checkout -q -f -B try v1; " + script);
        return read_file(folder.path + "/" + name).value();
    }
    std::string bundle(const std::string& script, const std::string& range = "v1..try") {
        return file(script + "\ngit bundle create -q ../out " + range, "out");
    }
    Wanted wanted() { return {world.space, "run_1", url(), "", {}}; }
    Result<std::string> offer_bundle(const std::string& bytes) { return supply.receive(wanted(), {bytes, {}}); }
    Result<std::string> offer_patch(const std::string& text, const std::string& branch = "fix") {
        return supply.receive(wanted(), {{}, {text, branch, "A message"}});
    }
    std::string why(const Result<std::string>& taken) {
        CHECK(list.pushes.empty());
        return taken.ok() ? "taken: " + taken.value() : taken.error().message;
    }
    std::string log(const std::string& commit, const std::string& format) {
        const RunRepo repo = must(quarantine.find("run_1", "shop"));
        GitJob job;
        job.arguments = {"--git-dir=/quarantine", "log", "--format=" + format, commit};
        job.mounts = quarantine.mounts(repo);
        const GitOutput output = must(git.run(job));
        CHECK_MESSAGE(output.exit_code == 0, output.err);
        return output.out;
    }
};

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a bundle becomes a branch of the run, and a later one its next commit") {
    AgentHouse house;
    const std::string first = house.bundle("echo two > file; git commit -qam two", "v1..try HEAD");
    CHECK(must(house.offer_bundle(first)) == "hone/run_1/try waits for review.");
    REQUIRE(house.list.pushes.size() == 1);
    const Push& push = house.list.pushes[0];
    CHECK(push.branch == "hone/run_1/try");
    CHECK(push.repo_name == "shop");
    CHECK(push.base_commit == must(house.quarantine.find("run_1", "shop")).base_commit);
    CHECK(house.log(push.head_commit, "%s") == "two\none\n");
    CHECK(has(must(house.offer_bundle(first)), "already")); // the same again
    CHECK(house.list.pushes.size() == 1);
    // Another history on the same branch replaces it; the rejection of a reviewer is returned as the error.
    house.list.complaint = "this branch was rejected by a reviewer; push another one";
    const std::string second = house.bundle("echo three > file; git commit -qam three");
    CHECK(has(must(house.offer_bundle(second)), "rejected by a reviewer"));
    CHECK(house.list.pushes.size() == 2);
    CHECK(house.log(house.list.pushes[1].head_commit, "%s") == "three\none\n");
}

TEST_CASE("a branch of a newer commit than the one that was opened is compared with that commit") {
    AgentHouse house;
    must(house.supply.supply(house.wanted()));
    const std::string opened = house.head();
    shell(house.folder.path, "cd work; git checkout -q main");
    house.commit("newer");
    const std::string newer = house.head();
    house.world.clock.advance(std::chrono::minutes(2)); // the mirror is old
    const std::string bundle = house.file("git checkout -q -B try main; echo two > other; git add .; git commit -qm "
                                          "two; git bundle create -q ../out main..try",
                                          "out");
    must(house.offer_bundle(bundle));
    REQUIRE(house.list.pushes.size() == 1);
    CHECK(house.list.pushes[0].base_commit == newer);
    CHECK(newer != opened);
}

TEST_CASE("patches become commits on the commit that they name, or on the newest one") {
    AgentHouse house;
    const std::string change =
        "echo two > file; mkdir d; echo x > d/y; git add .; git commit -qm 'Second é' -m 'with a body'; "
        "echo three > file; git commit -qam third; ";
    const std::string series =
        house.file(change + "git format-patch -q --cover-letter --stdout --base=v1 v1..try > ../out", "out");
    CHECK(must(house.offer_patch(series)) == "hone/run_1/fix waits for review.");
    REQUIRE(house.list.pushes.size() == 1);
    CHECK(house.log(house.list.pushes[0].head_commit, "%an|%s|%b") == "t|third|\nt|Second é|with a body\n\nt|one|\n");
    CHECK(house.list.pushes[0].base_commit == house.head_of("v1"));
    const std::string diff = house.file(change + "git diff v1 try > ../out", "out");
    CHECK(must(house.offer_patch(diff, "plain")) == "hone/run_1/plain waits for review.");
    CHECK(house.log(house.list.pushes[1].head_commit, "%an|%s") == "Hone worker|A message\nt|one\n");
    // The repository moved on: a series that names its commit still fits, a diff of it does not.
    shell(house.folder.path, "cd work; git checkout -q main");
    house.commit("newer");
    house.world.clock.advance(std::chrono::minutes(2));
    CHECK(must(house.offer_patch(series, "again")) == "hone/run_1/again waits for review.");
    CHECK(house.list.pushes[2].base_commit == house.head_of("v1"));
    CHECK(has(house.offer_patch(diff, "late").error().message, "patch failed: file:1"));
}

TEST_CASE("hostile bundles leave nothing but their reason") {
    AgentHouse house;
    const auto tree = [&](const std::string& mode, const std::string& name) {
        return house.bundle(
            "blob=$(echo x | git hash-object -w --stdin); printf '" + mode + " " + name +
            "\\0' > ../t; perl -e 'print pack q(H40), shift' $blob >> ../t; tree=$(git hash-object -w -t "
            "tree --literally ../t); git reset -q --soft $(git commit-tree -m made -p HEAD $tree)");
    };
    for (const auto& [name, fault] : {std::pair{"..", "hasDotdot"}, std::pair{".git", "hasDotgit"},
                                      std::pair{".GiT", "hasDotgit"}, std::pair{"a/b", "fullPathname"}}) {
        const std::string why = house.why(house.offer_bundle(tree("100644", name)));
        CHECK_MESSAGE(has(why, fault), name, ": ", why);
    }
    // A commit of its own making is no base.
    std::string bundle = house.bundle(
        "echo a > file; git commit -qam a; git branch -f before; echo b > file; git commit -qam b", "before..try");
    CHECK(has(house.why(house.offer_bundle(bundle)), "which repository shop does not have"));
    // A ref that the pack does not contain, a pack that is cut, changed, or not one.
    const std::string good = house.bundle("echo two > file; git commit -qam two");
    std::string other = good;
    other.replace(other.find(" refs/heads/try") - 40, 40, std::string(40, 'd'));
    CHECK(has(house.why(house.offer_bundle(other)), "refused"));
    CHECK(has(house.why(house.offer_bundle(good.substr(0, good.size() - 30))), "refused"));
    std::string changed = good;
    changed[changed.size() - 30] = static_cast<char>(changed[changed.size() - 30] ^ 0x55);
    CHECK(has(house.why(house.offer_bundle(changed)), "refused"));
    CHECK(has(house.why(house.offer_bundle(good.substr(0, good.find("PACK") + 12))), "refused"));
    CHECK(has(house.why(house.offer_bundle(good.substr(0, good.find("PACK") + 6))), "interrupted"));
    // A thousand million objects by its head.
    std::string many = good;
    many.replace(many.find("PACK") + 8, 4, "\x3b\x9a\xca\x01");
    CHECK(has(house.why(house.offer_bundle(many)), "at most 200000 objects"));
    // Tags, notes and refs of others.
    CHECK(has(house.why(house.offer_bundle(
                  house.bundle("git tag -f -am x evil; git commit -qm e --allow-empty", "v1..try evil"))),
              "branches only"));
    // Options as the address of a submodule, and a file of 60 MB.
    CHECK(has(
        house.why(house.offer_bundle(house.bundle("printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./evil\\n' > "
                                                  ".gitmodules; git add .; git commit -qm option"))),
        "gitmodulesUrl"));
    CHECK(has(house.why(house.offer_bundle(
                  house.bundle("head -c 60000000 /dev/zero > bomb; git add .; git commit -qm bomb"))),
              "bomb has 57 MiB; a file has at most 50 MiB"));
    shell(house.folder.path, "cd quarantine/run_1/*.git; find . -type f | sort > " + house.folder.path + "/files");
    CHECK(read_file(house.folder.path + "/files").value() ==
          "./HEAD\n./config\n./objects/info/alternates\n./packed-refs\n");
    must(house.offer_bundle(good)); // and an honest one is taken after all that
    CHECK(house.list.pushes.size() == 1);
}

TEST_CASE("hostile patches leave nothing but their reason") {
    AgentHouse house;
    const auto adds = [](const std::string& path, const std::string& mode = "100644") {
        return "diff --git a/" + path + " b/" + path + "\nnew file mode " + mode + "\n--- /dev/null\n+++ b/" + path +
               "\n@@ -0,0 +1 @@\n+x\n";
    };
    const auto why = [&](const std::string& text, const std::string& branch = "fix") {
        return house.why(house.offer_patch(text, branch));
    };
    CHECK(has(why(adds("../outside")), "invalid path '../outside'"));
    CHECK(has(why(adds(".git/hooks/post-checkout", "100755")), "invalid path '.git/hooks/post-checkout'"));
    CHECK(has(why(adds("sub/.GIT/config")), "invalid path"));
    CHECK(has(why(adds("/etc/passwd")), "invalid path '/etc/passwd'"));
    CHECK(has(why(adds("l", "120000") + adds("l/passwd")), "beyond a symbolic link"));
    CHECK(has(why("nonsense"), "the patch changes nothing"));
    CHECK(has(why("From nobody\n"), "does not apply"));
    CHECK(has(why("diff --git a/absent b/absent\n--- a/absent\n+++ b/absent\n@@ -1 +1 @@\n-a\n+b\n"),
              "absent: does not exist"));
    CHECK(has(why(adds("f") + "\nbase-commit: " + std::string(40, 'e') + "\n"), "has no commit eeee"));
    for (const char* branch : {"", "../main", "a..b", "-x", "a b", "x.lock", "a/", "@{-1}"})
        CHECK_MESSAGE(has(why(adds("f"), branch), "not the name of a branch"), branch);
    std::string many;
    for (int i = 0; i < 101; ++i)
        many += "From " + std::string(40, 'a') + " Mon Sep 17 00:00:00 2001\nFrom: a <a@b>\nSubject: s\n\n---\n" +
                adds("f" + std::to_string(i)) + "--\n2\n\n";
    CHECK(has(why(many), "at most 100 commits"));
    // A message is a text, never a header or an option; a link that leads out is only text in a tree.
    must(house.supply.receive(house.wanted(),
                              {{}, {adds("odd", "120000"), "odd", "--amend\nFrom: other <o@o>\n$(id)"}}));
    REQUIRE(house.list.pushes.size() == 1);
    CHECK(house.log(house.list.pushes[0].head_commit, "%an|%s") ==
          "Hone worker|--amend From: other <o@o> $(id)\nt|one\n");
}

TEST_CASE("a repository that another server opened for the run is opened here too") {
    AgentHouse house;
    const RunRepo first = must(house.supply.supply(house.wanted())).checkout;
    Quarantine elsewhere(house.world.database, house.world.clock, house.mirrors, house.git,
                         {house.folder.path + "/other"});
    elsewhere.set_listener(&house.list);
    Supply other(house.repos, house.mirrors, elsewhere, house.skills);
    CHECK_FALSE(elsewhere.is_here("run_1", first.repo_id));
    const std::string bundle = house.bundle("echo two > file; git commit -qam two");
    CHECK(must(other.receive(house.wanted(), {bundle, {}})) == "hone/run_1/try waits for review.");
    CHECK(must(elsewhere.find("run_1", "shop")).base_commit == first.base_commit);
    CHECK(elsewhere.is_here("run_1", first.repo_id));
}
