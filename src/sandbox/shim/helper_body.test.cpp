// Helpers on a machine that makes no namespaces, with a real spawner and real shims.
#include "sandbox/helper/helper.h"
#include "sandbox/local/bare_place.h"
#include "sandbox/wall/process_memory.h"

#include "base/testing.h"
#include "base/text.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <poll.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

#define EXPECT(...)                                                                                                    \
    if (!(__VA_ARGS__)) return fmt::format("line {}: {}", __LINE__, #__VA_ARGS__)
#define EXPECT_OK(outcome)                                                                                             \
    if (!(outcome).ok()) return fmt::format("line {}: {}", __LINE__, (outcome).error().message)

// A server's folder with a provider, and a root for one helper.
struct HelperPlace {
    std::unique_ptr<Provider> provider;
    std::string root;
    std::string secret;
};

Result<HelperPlace> open_helper_place(const std::string& folder) {
    HelperPlace place;
    place.root = folder + "/root";
    place.secret = folder + "/secret";
    TRY(make_directories(place.root));
    TRY(write_file(place.secret, "canary"));
    place.provider = TRY(open_local_provider({folder, hone_program()}));
    return place;
}

SandboxSpec helper_spec(const HelperPlace& place, const std::string& script) {
    SandboxSpec spec = shell(script);
    spec.without_namespaces = place.root;
    return spec;
}

struct HelperEnded {
    SandboxView view;
    std::string said;
};

Result<HelperEnded> run_helper(const HelperPlace& place, const SandboxSpec& spec) {
    const auto sandbox = TRY(place.provider->start(spec));
    HelperEnded ended;
    ended.view = TRY(sandbox->wait_stopped(60'000));
    for (int64_t offset = 0;;) {
        const Output output = TRY(sandbox->output(0, offset, 1000));
        for (const auto& part : output.parts) ended.said += part.bytes;
        offset = output.next;
        if (output.finished) break;
    }
    TRY(sandbox->destroy());
    return ended;
}

bool hits_limit(const SandboxView& view, LimitHit limit) {
    return std::count(view.limits_hit.begin(), view.limits_hit.end(), limit) == 1;
}

bool process_lives(pid_t pid) {
    const auto text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
    return text.ok() && text.value().find(") Z ") == std::string::npos &&
           text.value().find(") X ") == std::string::npos;
}

} // namespace

TEST_CASE("without namespaces a helper runs in a folder, and its view states it") {
    CHECK(in_bare_place([](const std::string& folder) -> std::string {
              EXPECT(namespaces_refused() != 0);
              const auto place = open_helper_place(folder);
              EXPECT_OK(place);
              EXPECT(!place.value().provider->makes_namespaces().value());
              SandboxSpec spec = helper_spec(place.value(), "pwd; git --version; cat '" + place.value().secret +
                                                                "'; cat < /etc/passwd; exit 3");
              spec.labels.value["git"] = "test";
              const auto ended = run_helper(place.value(), spec);
              EXPECT_OK(ended);
              const auto& [view, said] = ended.value();
              EXPECT(view.without_namespaces);
              EXPECT(view.limits_by == LimitKeeper::rlimit);
              EXPECT(view.disk_by == "watched directory");
              EXPECT(view.commands.size() == 1 && view.commands[0].exit_code == 3);
              EXPECT(said.find(place.value().root + "/workspace\n") != std::string::npos);
              EXPECT(said.find("git version") != std::string::npos);
              EXPECT(said.find("canary") == std::string::npos);
              EXPECT(said.find("root:") == std::string::npos);
              EXPECT(said.find("Permission denied") != std::string::npos);
              const auto log = read_file(folder + "/sandbox/audit.jsonl");
              EXPECT_OK(log);
              EXPECT(log.value().find("\"without_namespaces\":true") != std::string::npos);
              EXPECT(log.value().find("\"tier\":\"") == std::string::npos);
              return {};
          }) == "");
}

TEST_CASE("without namespaces what is no helper is refused") {
    CHECK(in_bare_place([](const std::string& folder) -> std::string {
              const auto place = open_helper_place(folder);
              EXPECT_OK(place);
              const auto worker = place.value().provider->start(shell("true"));
              EXPECT(!worker.ok());
              EXPECT(worker.error().message.find("namespaces") != std::string::npos);
              SandboxSpec writes = helper_spec(place.value(), "true");
              writes.mounts.value.push_back({folder, "/given", false});
              EXPECT(!place.value().provider->start(writes).ok());
              SandboxSpec terminal = helper_spec(place.value(), "true");
              terminal.command->pty = true;
              EXPECT(!place.value().provider->start(terminal).ok());
              SandboxSpec missing = helper_spec(place.value(), "true");
              missing.without_namespaces = folder + "/missing";
              EXPECT(!place.value().provider->start(missing).ok());
              EXPECT(place.value().provider->list().value().empty());
              return {};
          }) == "");
}

TEST_CASE("root makes no helper without namespaces") {
    if (::geteuid() != 0) return skip_test("root");
    const auto possible = helpers_possible();
    REQUIRE(!possible.ok());
    CHECK(possible.error().message.find("ordinary user") != std::string::npos);
}

TEST_CASE("with namespaces the folder of a helper is not used") {
    Folder folder;
    auto place = open_helper_place(folder.path);
    REQUIRE_MESSAGE(place.ok(), place.error().message);
    REQUIRE(place.value().provider->makes_namespaces().value());
    const auto ended = run_helper(place.value(), helper_spec(place.value(), "pwd; cat '" + place.value().secret + "'"));
    REQUIRE_MESSAGE(ended.ok(), ended.error().message);
    CHECK(!ended.value().view.without_namespaces);
    CHECK(ended.value().said.starts_with("/workspace\n"));
    CHECK(ended.value().said.find("canary") == std::string::npos);
}

TEST_CASE("what a helper leaves behind ends with it, also when its keeper is killed") {
    CHECK(in_bare_place([](const std::string& folder) -> std::string {
              const auto place = open_helper_place(folder);
              EXPECT_OK(place);
              // Two generations that ignore what can be ignored, and whose parent has ended. tail ends by itself when
              // nobody reads its output any more, so it has none.
              const std::string script = "trap '' TERM HUP INT; : > grown; (sh -c 'trap \"\" TERM HUP INT; echo $$; "
                                         "exec tail -f grown > /dev/null 2>&1' &); "
                                         "cat > /dev/null";
              for (const bool is_keeper_killed : {false, true}) {
                  SandboxSpec spec = helper_spec(place.value(), script);
                  spec.command->open_stdin = true;
                  const auto sandbox = place.value().provider->start(spec);
                  EXPECT_OK(sandbox);
                  std::string said;
                  for (int64_t offset = 0; said.find('\n') == std::string::npos;) {
                      const auto output = sandbox.value()->output(0, offset, 60'000);
                      EXPECT_OK(output);
                      for (const auto& part : output.value().parts) said += part.bytes;
                      offset = output.value().next;
                      EXPECT(!output.value().finished);
                  }
                  const auto orphan = parse_integer(trim(said));
                  EXPECT_OK(orphan);
                  EXPECT(process_lives(static_cast<pid_t>(orphan.value())));
                  const auto keeper = static_cast<pid_t>(sandbox.value()->view().value().pid);
                  if (is_keeper_killed) {
                      EXPECT(::kill(keeper, SIGKILL) == 0);
                      for (int i = 0; i < 6000 && process_lives(keeper); ++i) ::poll(nullptr, 0, 10);
                      EXPECT(process_lives(static_cast<pid_t>(orphan.value()))); // nobody has ended it so far
                      EXPECT(place.value().provider->reconcile().value() == 1);
                  } else {
                      EXPECT_OK(sandbox.value()->stop());
                      EXPECT_OK(sandbox.value()->destroy());
                  }
                  EXPECT(!process_lives(static_cast<pid_t>(orphan.value())));
                  EXPECT(place.value().provider->list().value().empty());
              }
              return {};
          }) == "");
}

TEST_CASE("a helper without namespaces is ended at its limits") {
    CHECK(in_bare_place([](const std::string& folder) -> std::string {
              const auto place = open_helper_place(folder);
              EXPECT_OK(place);
              SandboxSpec disk = helper_spec(
                  place.value(), "i=0; while [ $i -lt 4000 ]; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done");
              disk.limits.value.disk_bytes = int64_t{8} << 20;
              auto ended = run_helper(place.value(), disk);
              EXPECT_OK(ended);
              EXPECT(hits_limit(ended.value().view, LimitHit::disk));
              SandboxSpec many =
                  helper_spec(place.value(), "i=0; while [ $i -lt 100 ]; do cat <&3 & i=$((i+1)); done; wait");
              many.command->argv[2] = "exec 3<&0; " + many.command->argv[2];
              many.command->open_stdin = true;
              many.limits.value.pids = int64_t{20};
              ended = run_helper(place.value(), many);
              EXPECT_OK(ended);
              EXPECT(hits_limit(ended.value().view, LimitHit::pids));
              SandboxSpec slow = helper_spec(place.value(), "while :; do :; done");
              slow.command->timeout_ms = int64_t{200};
              ended = run_helper(place.value(), slow);
              EXPECT_OK(ended);
              EXPECT(hits_limit(ended.value().view, LimitHit::timeout));
              return {};
          }) == "");
}

TEST_CASE("the workspace of a helper is the folder that was made, whatever it puts in its place") {
    CHECK(in_bare_place([](const std::string& folder) -> std::string {
              const auto place = open_helper_place(folder);
              EXPECT_OK(place);
              SandboxSpec spec =
                  helper_spec(place.value(), "echo mine > file; cd ..; mv workspace other && mkdir workspace && mv "
                                             "workspace w2; cp -P /proc/self workspace 2>/dev/null; touch workspace");
              spec.keep = true;
              const auto sandbox = place.value().provider->start(spec);
              EXPECT_OK(sandbox);
              EXPECT_OK(sandbox.value()->wait(0, 60'000));
              const auto opened = sandbox.value()->workspace();
              EXPECT_OK(opened);
              const Fd file(::openat(opened.value().get(), "file", O_RDONLY | O_CLOEXEC));
              EXPECT(file.is_open());
              EXPECT_OK(sandbox.value()->destroy());
              return {};
          }) == "");
}
