// Real git in real sandboxes, through the real broker and gateway, against a real smart-HTTP server that asks for a
// password: fetch, clone, push, and what must not work.
#include "server/repositories.h"
#include "access/testing.h"
#include "broker/gateway/gateway.h"
#include "broker/testing.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/local/test_folder.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using namespace hone;
using namespace hone::server;
using access::testing::must;

namespace {

constexpr std::string_view token = "canary-7c1f0b6e9d2a4853";
constexpr const char* run_id = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV";
constexpr const char* other_run = "run_01ARZ3NDEKTSV4RRFFQ69G5FAW";

void shell(const std::string& directory, const std::string& script) {
    REQUIRE(write_file(directory + "/script.sh", "set -e\ncd '" + directory + "'\n" + script + "\n", 0700).ok());
    const std::string command = "HOME=" + directory +
                                " GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.com "
                                "GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.com /bin/sh " +
                                directory + "/script.sh >" + directory + "/script.log 2>&1";
    const int status = std::system(command.c_str());
    REQUIRE_MESSAGE(status == 0, read_file(directory + "/script.log").value());
}

std::unique_ptr<sandbox::Provider> provider_in(const std::string& directory) {
    std::signal(SIGPIPE, SIG_IGN);
    return must(sandbox::open_local_provider({directory, sandbox::hone_program()}));
}

std::unique_ptr<secret::MasterKeys> master_keys_in(const std::string& directory) {
    secret::MasterKeyOptions options;
    options.create_file = true;
    options.file = directory + "/master.key";
    return must(secret::MasterKeys::open(std::move(options)));
}

// tests/git_server with one repository; ends when its input does.
class GitServer {
public:
    GitServer(const std::string& root, const net::testing::CertificateFiles& certificate) : m_root(root) {
        shell(root, "git init -q -b main work; cd work; echo 'a shop' > README.md; git add .; git commit -qm one; "
                    "mkdir -p services/cart; echo 1 > services/cart/cart.py; git add .; git commit -qm two; "
                    "git tag -am first v1; mkdir ../team; git clone -q --bare . ../team/shop.git");
        REQUIRE(::pipe(m_input) == 0);
        REQUIRE(::pipe(m_output) == 0);
        m_process = ::fork();
        if (m_process == 0) {
            ::dup2(m_input[0], 0);
            ::dup2(m_output[1], 1);
            for (const int descriptor : {m_input[1], m_output[0]}) ::close(descriptor);
            const std::string basic = "x-access-token:" + std::string(token);
            const std::string script = std::string(HONE_SOURCE_DIR) + "/tests/git_server/git_server.py";
            ::execlp("python3", "python3", script.c_str(), root.c_str(), certificate.certificate.c_str(),
                     certificate.key.c_str(), "--basic", basic.c_str(), "--push", nullptr);
            ::_exit(127);
        }
        ::close(m_input[0]);
        ::close(m_output[1]);
        char text[16] = "";
        REQUIRE(::read(m_output[0], text, sizeof text - 1) > 0);
        m_port = std::string(trim(text));
    }
    ~GitServer() {
        ::close(m_input[1]);
        ::close(m_output[0]);
        int status = 0;
        ::waitpid(m_process, &status, 0);
    }
    const std::string& port() const { return m_port; }
    std::string answer(const std::string& script) {
        shell(m_root, "(" + script + ") > answer");
        return std::string(trim(read_file(m_root + "/answer").value()));
    }
    std::string requests() { return read_file(m_root + "/requests.log").value(); }

private:
    const std::string m_root;
    int m_input[2] = {}, m_output[2] = {};
    pid_t m_process = 0;
    std::string m_port;
};

class Listener final : public forge::PushListener {
public:
    Result<> pushed(const forge::Push& push) override {
        pushes.push_back(push);
        if (!complaint.empty()) return invalid(complaint);
        return {};
    }
    std::vector<forge::Push> pushes;
    std::string complaint;
};

// A server's worth of parts, a forge, and a worker's sandbox.
struct House {
    sandbox::Folder folder;
    std::unique_ptr<sandbox::Provider> provider = provider_in(folder.path);
    net::testing::TestAuthority authority;
    net::testing::CertificateFiles certificate = authority.issue("git", "DNS:git.test");
    std::string root = folder.path + "/forge";
    GitServer forge{(must(make_directories(root)), root), certificate};
    sql::testing::FreshDatabase fresh{sql::Engine::sqlite, sql::testing::Schema::migrated};
    access::testing::World world{fresh.database()};
    SystemClock now; // of certificates, which git compares with its own
    std::unique_ptr<secret::MasterKeys> keys = master_keys_in(folder.path);
    secret::Vault vault{world.database, world.clock, world.access.audit, *keys};
    skill::Skills skills{world.database, world.clock, world.access, vault};
    broker::UsageLedger ledger{world.database};
    broker::Budgets budgets{world.database, ledger, world.access.audit, world.clock};
    telemetry::Prices prices = telemetry::Prices::built_in();
    broker::Gateway gateway{{}, budgets, prices, now, nullptr, nullptr};
    std::unique_ptr<broker::Dialer> dialer;
    std::unique_ptr<Repositories> repositories;
    std::unique_ptr<broker::Broker> broker;
    Listener listener;
    std::unique_ptr<sandbox::Sandbox> box;
    std::map<std::string, std::string> environment;

    House() {
        must(vault.start());
        auto resolver = std::make_unique<broker::testing::TestResolver>();
        resolver->lead("git.test", {"127.0.0.1:" + forge.port()});
        dialer = must(broker::Dialer::create({authority.ca_file()}, std::move(resolver),
                                             [](const auto&, broker::Reach) { return std::nullopt; }));
        repositories = must(Repositories::open(
            {world.database, world.clock, world.access, skills, vault, provider.get(), folder.path}));
        broker = must(broker::Broker::start({}, *dialer, now, &gateway));
        repositories->connect(*broker);
        repositories->quarantine()->set_listener(&listener);
        gateway.set_git(repositories->gateway_git());
    }
    ~House() {
        if (box) (void)box->destroy().ok();
    }

    std::string url() const { return "https://git.test/team/shop.git"; }
    std::string skill(std::string_view value = token) {
        skill::NewSkill wanted{"forge", skill::SkillType::github};
        wanted.setup.variables["GITHUB_URL"] = "https://git.test";
        skill::Secrets secrets;
        secrets.emplace("GH_TOKEN", crypto::SecretBytes(value));
        return must(skills.create(world.admin, world.space, wanted, secrets)).id.text();
    }
    forge::Supplied supply(const std::string& run, const std::string& skill_id) {
        return must(repositories->supply()->supply({world.space, run, url(), "", {skill_id}}));
    }
    // A sandbox of this run, with its gateway.
    void start_worker() {
        const std::string shared = folder.path + "/shared";
        must(make_directories(shared, 0755));
        sandbox::SandboxSpec spec;
        spec.keep = true;
        spec.network = sandbox::NetworkMode::broker;
        spec.mounts.value = {{shared, "/hone", true}};
        box = must(provider->start(spec));
        must(gateway.add_run(run_id, {}));
        auto listeners = must(box->listeners());
        broker::RunAccess access;
        access.run_id = run_id;
        access.decisions = std::make_shared<broker::testing::RecordedDecisions>();
        access.secrets = std::make_shared<broker::testing::TestSecrets>(std::map<std::string, std::string>{});
        const auto session = must(broker->attach(access, {std::move(listeners.at(0)), std::move(listeners.at(1))}));
        const auto told = must(broker::sandbox_environment(*session));
        for (const auto& [name, value] : told.variables) environment[name] = value;
        environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";
        environment["HOME"] = "/workspace";
        for (const char* who : {"AUTHOR", "COMMITTER"}) {
            environment["GIT_" + std::string(who) + "_NAME"] = "w";
            environment["GIT_" + std::string(who) + "_EMAIL"] = "w@example.com";
        }
    }
    std::string inside(const std::string& script) {
        sandbox::Command command;
        command.argv = {"/bin/sh", "-c", script};
        command.env.value = environment;
        return sandbox::read_all(*box, must(box->execute(command)));
    }
};

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

const std::string gateway_url = "http://127.0.0.1:3129/git/";
const std::string own = "hone/" + std::string(run_id) + "/";

} // namespace

TEST_CASE("a mirror is fetched through the broker with a credential that never enters the sandbox") {
    House house;
    const std::string skill = house.skill();
    const forge::Supplied supplied = house.supply(run_id, skill);
    CHECK(supplied.repo.skill_id == skill);
    CHECK(supplied.repo.refs == 2);
    CHECK(supplied.warning.empty());
    CHECK(supplied.checkout.base_commit == house.forge.answer("git -C work rev-parse HEAD"));
    // Without the credential nothing comes, what came before stays, and the error has no secret.
    must(house.repositories->repos().update(house.world.admin, supplied.repo.id,
                                            {.skill_id = std::optional<std::string>()}));
    CHECK_FALSE(house.repositories->mirrors()->fetch(supplied.repo.id).ok());
    const forge::Repo failed = must(house.repositories->repos().find(house.world.admin, supplied.repo.id));
    CHECK(failed.state == forge::MirrorState::failed);
    CHECK(failed.refs == 2);
    CHECK_FALSE(has(failed.error, token));
    const auto audit = must(house.world.access.audit.list(house.world.admin, house.world.space, {}, {}));
    int64_t requests = 0;
    for (const auto& entry : audit.data) {
        requests += entry.action == "forge_request" ? 1 : 0;
        CHECK_FALSE(has(json::print(json::to_value(entry)), token));
    }
    CHECK(requests >= 3);
}

TEST_CASE("a worker clones and pushes through the gateway, its own branches only") {
    House house;
    const forge::Supplied supplied = house.supply(run_id, house.skill());
    house.supply(other_run, *supplied.repo.skill_id);
    house.start_worker();
    const std::string before = house.forge.answer("git -C team/shop.git for-each-ref");
    std::string said =
        house.inside("git clone " + gateway_url + "shop 2>&1; cd shop && cat README.md && git log --oneline | wc -l");
    CHECK_MESSAGE(has(said, "a shop\n2\n"), said);
    said = house.inside("cd shop; git checkout -q -b " + own +
                        "work; echo more >> README.md; git commit -qam more; "
                        "git push origin HEAD 2>&1; echo \"push: $?\"; git rev-parse HEAD");
    CHECK_MESSAGE(has(said, "push: 0"), said);
    CHECK(has(said, "waits for review"));
    REQUIRE(house.listener.pushes.size() == 1);
    const forge::Push& push = house.listener.pushes[0];
    CHECK(push.run == run_id);
    CHECK(push.repo == supplied.repo.id.text());
    CHECK(push.branch == own + "work");
    CHECK(push.base_commit == supplied.checkout.base_commit);
    CHECK(has(said, push.head_commit));
    // What must not work, with a reason that the worker can read.
    const std::string wrong = "only branches below " + own + " can be pushed";
    for (const std::string& target :
         {std::string("main"), std::string("refs/tags/v2"), "refs/heads/hone/" + std::string(other_run) + "/x"}) {
        said = house.inside("cd shop; git push origin HEAD:" + target + " 2>&1; echo \"push: $?\"");
        CHECK_MESSAGE((has(said, wrong) && has(said, "push: 1")), said);
    }
    said = house.inside("cd shop; git push origin :" + own + "work 2>&1; echo \"push: $?\"");
    CHECK_MESSAGE(has(said, "push: 1"), said);
    // Again and with force, on its own branch; a complaint of the listener is heard.
    house.listener.complaint = "too many branches";
    said = house.inside("cd shop; git commit -q --amend -m better; git push -f origin HEAD 2>&1; echo \"push: $?\"; "
                        "git fetch -q; git rev-parse HEAD origin/" +
                        own + "work | uniq | wc -l");
    CHECK_MESSAGE((has(said, "push: 0\n1\n") && has(said, "too many branches")), said);
    const auto branches = must(house.repositories->repos().branches(house.world.admin, supplied.repo.id, {}));
    REQUIRE(branches.data.size() == 1);
    CHECK(branches.data[0].pushes == 2);
    // The forge has heard of nothing.
    CHECK(house.forge.answer("git -C team/shop.git for-each-ref") == before);
    CHECK_FALSE(has(house.forge.requests(), "receive-pack"));
}

TEST_CASE("shallow, partial and old clones work; repositories of others and other services do not") {
    House house;
    house.supply(run_id, house.skill());
    house.start_worker();
    const auto try_it = [&](const std::string& command) {
        return house.inside("cd /workspace; " + command + " 2>&1; echo \"exit: $?\"");
    };
    CHECK(has(try_it("git clone -q --depth 1 " + gateway_url + "shop a && git -C a log --oneline | wc -l"),
              "1\nexit: 0"));
    CHECK(has(try_it("git clone -q --filter=blob:none " + gateway_url + "shop.git b && ls b"), "README.md"));
    CHECK(has(try_it("git -c protocol.version=0 clone -q " + gateway_url + "shop c && ls c"), "README.md"));
    CHECK(has(try_it("git clone -q -b v1 " + gateway_url + "shop d && ls d"), "README.md"));
    CHECK(has(try_it("git clone -q " + gateway_url + "other e"), "exit: 128"));
    CHECK(has(try_it("git clone -q '" + gateway_url + "../mirrors/shop' e"), "exit: 128"));
    CHECK(has(try_it("curl -s -o /dev/null -w '%{http_code}' " + gateway_url + "shop/HEAD"), "404"));
    CHECK(has(try_it("curl -s -o /dev/null -w '%{http_code}' " + gateway_url + "shop/objects/info/packs"), "404"));
    CHECK(has(
        try_it("curl -s -o /dev/null -w '%{http_code}' '" + gateway_url + "shop/info/refs?service=git-upload-archive'"),
        "404"));
    CHECK(
        has(try_it("curl -s -o /dev/null -w '%{http_code}' -d 0000 " + gateway_url + "shop/git-receive-pack"), "415"));
    const std::string push_type = "-H 'content-type: application/x-git-receive-pack-request' ";
    CHECK(has(try_it("curl -s -o /dev/null -w '%{http_code}' " + push_type + "-d junk " + gateway_url +
                     "shop/git-receive-pack"),
              "400"));
    // The credential is nowhere: not in files, not in the environment of any process, not in what git was told.
    const std::string searched =
        house.inside("(env; cat /proc/[0-9]*/environ; find /workspace /hone /tmp -type f -exec cat {} +) 2>/dev/null | "
                     "grep -a -c '" +
                     std::string(token) + "'");
    CHECK(trim(searched) == "0");
}

TEST_CASE("hostile objects are refused, and hostile configuration is never read") {
    House house;
    const forge::Supplied supplied = house.supply(run_id, house.skill());
    house.start_worker();
    std::string said = house.inside("git clone -q " + gateway_url + "shop; cd shop; git checkout -q -b " + own +
                                    "work; "
                                    "printf '* filter=evil diff=evil\\n' > .gitattributes; ln -s /etc/passwd passwd; "
                                    "ln -s ../../../etc up; touch readme.md; "
                                    "printf x > \"$(printf 'caf\\351')\"; mkdir hooks; printf '#!/bin/sh\\ntouch "
                                    "/tmp/owned\\n' > hooks/update; chmod +x hooks/update; "
                                    "git add -A; git commit -qm odd; git push -q origin HEAD 2>&1; echo \"push: $?\"");
    CHECK_MESSAGE(has(said, "push: 0"), said);
    // Trees that no git would make, refused by git's own check and for just that fault; an honest tree is taken.
    const auto push_tree = [&](const std::string& name) {
        return house.inside("cd shop; blob=$(echo x | git hash-object -w --stdin); printf '100644 " + name +
                            "\\0' > /tmp/t; perl -e 'print pack q(H40), shift' $blob >> /tmp/t; tree=$(git "
                            "hash-object -w -t tree --literally /tmp/t); git push origin $(git commit-tree -m made -p "
                            "HEAD $tree):refs/heads/" +
                            own + "made 2>&1; echo \"push: $?\"");
    };
    for (const auto& bad : {std::pair{"..", "hasDotdot"}, std::pair{".git", "hasDotgit"},
                            std::pair{".GiT", "hasDotgit"}, std::pair{"a/b", "fullPathname"}}) {
        said = push_tree(bad.first);
        CHECK_MESSAGE((has(said, bad.second) && has(said, "fsck error") && has(said, "push: 1")), bad.first, ": ",
                      said);
    }
    said = push_tree("file");
    CHECK_MESSAGE(has(said, "push: 0"), said);
    // A bomb: 200 MB of zeros are 200 KB on the wire.
    said = house.inside("cd shop; head -c 200000000 /dev/zero > bomb; git add bomb; git commit -qm bomb; git push -q "
                        "origin HEAD 2>&1; echo \"push: $?\"");
    CHECK_MESSAGE((has(said, "bomb has 190 MiB; a file has at most 50 MiB") && has(said, "push: 1")), said);
    const std::string quarantine = house.folder.path + "/quarantine/" + run_id + "/" + supplied.repo.id.text() + ".git";
    CHECK(forge::size_of_packs(quarantine) < (1 << 20));
    // Nothing but packs and our own four files is there.
    shell(house.folder.path, "cd " + quarantine + "; find . -type f ! -path './objects/pack/pack-*' | sort > " +
                                 house.folder.path + "/files");
    CHECK(read_file(house.folder.path + "/files").value() ==
          "./HEAD\n./config\n./objects/info/alternates\n./packed-refs\n");
    CHECK_FALSE(file_exists("/tmp/owned"));
}
