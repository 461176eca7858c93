// The same cases for every provider, one JSON line for each: what docs/providers.md prints.
//   provider_conformance local DATA_FOLDER HONE_PROGRAM [gvisor]
//   provider_conformance kubernetes DATA_FOLDER KUBECONFIG NAMESPACE IMAGE [first|gvisor]
// With gvisor the sandboxes have that tier (in a cluster by the RuntimeClass `gvisor`). What a tier does not have is
// said in `declared`: a case is left out only where the refusal of it is tested instead.
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "kubernetes/link/link.h"
#include "kubernetes/provider/kubernetes_provider.h"
#include "sandbox/image/layer.h"
#include "sandbox/local/local_provider.h"

#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <iostream>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace hone;
using namespace hone::sandbox;

namespace {

constexpr int64_t patience = 60'000;
using Open = std::function<Result<std::unique_ptr<Provider>>()>;

Result<> expect(bool holds, const std::string& what) {
    return holds ? Result<>() : Result<>(internal("not so: " + what));
}

Command shell(const std::string& script) {
    Command command;
    command.argv = {"/bin/sh", "-c", script};
    command.env.value = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
    return command;
}

Tier wanted_tier = Tier::ns; // of all cases; set once

SandboxSpec plain_spec() {
    SandboxSpec spec;
    spec.minimum_tier = wanted_tier;
    spec.limits.value.memory_bytes = int64_t{128} << 20;
    spec.limits.value.cpus = 0.2;
    spec.limits.value.disk_bytes = int64_t{64} << 20;
    spec.limits.value.pids = 64;
    spec.network = NetworkMode::broker;
    spec.keep = true;
    spec.detached = true;
    spec.labels.value = {{"run", "conformance"}};
    if (wanted_tier == Tier::gvisor) { // its kernel is a program with threads of its own, within the same limits
        spec.limits.value.memory_bytes = int64_t{512} << 20;
        spec.limits.value.cpus = 1.0;
        spec.limits.value.pids = 400;
    }
    return spec;
}

Result<std::string> text_of(Sandbox& box, int64_t command, Stream wanted = Stream::out) {
    std::string text;
    for (int64_t offset = 0;;) {
        const Output output = TRY(box.output(command, offset, patience));
        for (const Output::Part& part : output.parts)
            if (part.stream == wanted) text += part.bytes;
        offset = output.next;
        if (output.finished) return text;
    }
}

Result<std::string> run(Sandbox& box, const std::string& script, int64_t expected = 0) {
    const int64_t number = TRY(box.execute(shell(script)));
    const CommandResult result = TRY(box.wait(number, patience));
    const std::string text = TRY(text_of(box, number));
    if (result.exit_code != expected)
        return internal("exit code of `" + script + "`: " + std::to_string(result.exit_code.value_or(-1)) + " " + text +
                        TRY(text_of(box, number, Stream::err)) + result.error.value_or(""));
    return text;
}

struct Bench {
    std::string folder;
    Open open;
    std::unique_ptr<Provider> provider;
    std::unique_ptr<Sandbox> box; // shared by most cases
    std::string declared;         // why the case that runs is refused by this tier

    Result<> start() {
        TRY(make_directories(folder + "/mounted/below", 0755));
        TRY(write_file(folder + "/mounted/below/file", "first", 0644));
        TRY(write_file(folder + "/single", "one", 0644));
        SandboxSpec spec = plain_spec();
        spec.mounts.value = {{folder + "/mounted", "/hone", true}, {folder + "/single", "/etc/hone-single", true}};
        spec.env.value = {{"OF_SPEC", "yes"}};
        spec.command = shell("echo out; echo err >&2; exit 3");
        // Of a sandbox of this machine with gVisor only a session's workspace can be read from outside.
        if (wanted_tier == Tier::gvisor && provider->capabilities().threads) spec.thread = "conformance";
        box = TRY(provider->start(spec));
        return expect(TRY(box->view()).tier == wanted_tier, "the tier");
    }
};

Result<> first_command(Bench& bench) {
    TRY(bench.start());
    const CommandResult result = TRY(bench.box->wait(0, patience));
    TRY(expect(result.exit_code == 3, "exit code 3"));
    TRY(expect(TRY(text_of(*bench.box, 0)) == "out\n", "stdout"));
    return expect(TRY(text_of(*bench.box, 0, Stream::err)) == "err\n", "stderr");
}

Result<> further_commands(Bench& bench) {
    Command command = shell("echo $OF_SPEC $OF_COMMAND; pwd; id -u | grep -vx 0 > /dev/null");
    command.env.value["OF_COMMAND"] = "too";
    command.cwd = std::string("/tmp");
    const int64_t number = TRY(bench.box->execute(command));
    TRY(expect(TRY(bench.box->wait(number, patience)).exit_code == 0, "exit code 0, and not root"));
    return expect(TRY(text_of(*bench.box, number)) == "yes too\n/tmp\n", "environment and folder");
}

Result<> missing_program(Bench& bench) {
    Command command;
    command.argv = {"/bin/absent-program"};
    const auto number = bench.box->execute(command);
    if (!number.ok()) return {}; // a provider may say so at once
    const CommandResult result = TRY(bench.box->wait(number.value(), patience));
    return expect(result.error.has_value() && result.error->find("No such file") != std::string::npos, "says why");
}

Result<> input_arrives(Bench& bench) {
    Command command = shell("cat");
    command.open_stdin = true;
    const int64_t number = TRY(bench.box->execute(command));
    std::string sent;
    for (int i = 0; i < 100'000; ++i) sent += std::to_string(i) + "\n";
    for (std::string_view rest = sent; !rest.empty();)
        rest.remove_prefix(TRY(bench.box->write_input(number, rest, patience)));
    TRY(bench.box->close_input(number));
    TRY(expect(TRY(bench.box->wait(number, patience)).exit_code == 0, "it ended"));
    TRY(expect(TRY(text_of(*bench.box, number)) == sent, "every byte, once and in order"));
    return expect(!bench.box->write_input(number, "x", 0).ok(), "nothing reads it any more");
}

Result<> output_by_offset(Bench& bench) {
    const int64_t number = TRY(bench.box->execute(shell("for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done")));
    TRY(bench.box->wait(number, patience));
    const std::string whole = TRY(text_of(*bench.box, number));
    const auto other = TRY(bench.provider->attach(bench.box->id()));
    TRY(expect(TRY(text_of(*other, number)) == whole, "the same for another reader"));
    auto again = TRY(bench.open());
    auto later = TRY(again->attach(bench.box->id()));
    TRY(expect(TRY(text_of(*later, number)) == whole, "the same for another server"));
    TRY(expect(TRY(later->view()).labels.at("run") == "conformance", "labels stay"));
    bench.box = std::move(later); // the earlier server has lost its right to it
    bench.provider = std::move(again);
    return {};
}

Result<> signals_arrive(Bench& bench) {
    const int64_t number =
        TRY(bench.box->execute(shell("trap 'exit 9' TERM; echo ready; while :; do sleep 0.1; done")));
    TRY(bench.box->output(number, 0, patience));
    TRY(bench.box->signal(number, SIGTERM));
    return expect(TRY(bench.box->wait(number, patience)).exit_code == 9, "its own handler ran");
}

Result<> command_timeout(Bench& bench) {
    Command command = shell("exec sleep 600");
    command.timeout_ms = 300;
    const CommandResult result = TRY(bench.box->wait(TRY(bench.box->execute(command)), patience));
    return expect(result.signal.has_value() && !result.limits_hit.empty() && result.limits_hit[0] == LimitHit::timeout,
                  "ended by its timeout");
}

Result<> terminal_works(Bench& bench) {
    Command command = shell("test -t 0 && test -t 1 && echo terminal");
    command.pty = true;
    auto executed = bench.box->execute(command);
    if (!executed.ok() && wanted_tier == Tier::gvisor && executed.error().message == "tier gvisor has no terminals") {
        bench.declared = executed.error().message;
        return {};
    }
    const int64_t number = TRY(std::move(executed));
    TRY(bench.box->wait(number, patience));
    return expect(TRY(text_of(*bench.box, number)).starts_with("terminal"), "a terminal");
}

Result<> mounts_are_there(Bench& bench) {
    TRY(expect(TRY(run(*bench.box, "cat /hone/below/file /etc/hone-single")) == "firstone", "their content"));
    TRY(run(*bench.box, "echo x > /hone/below/file 2> /dev/null || exit 7", 7));
    TRY(run(*bench.box, "echo x > /etc/hone-single 2> /dev/null || exit 7", 7));
    {
        const Fd file(::open((bench.folder + "/mounted/below/file").c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
        TRY(write_all(file.get(), "second"));
    }
    TRY(bench.box->refresh({bench.folder + "/mounted/below/file", "/hone/below/file", true}));
    return expect(TRY(run(*bench.box, "cat /hone/below/file")) == "second", "the changed content");
}

Result<> files_come_out(Bench& bench) {
    TRY(run(*bench.box,
            "mkdir /workspace/folder; echo content > /workspace/folder/a; ln -s /etc/passwd /workspace/link"));
    const auto files = TRY(bench.box->files());
    const auto entries = TRY(files->list("", {}));
    TRY(expect(entries.size() >= 2 && entries[0].name == "folder" && entries[0].kind == FileKind::folder, "a folder"));
    const std::string path = bench.folder + "/received";
    const auto receive = [&](const auto& read) -> Result<std::string> {
        const Fd into(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        TRY(read(into.get()));
        return read_file(path);
    };
    const std::string content = TRY(receive([&](int into) { return files->copy("folder/a", into, {}); }));
    TRY(expect(content == "content\n", "a file"));
    TRY(expect(!files->copy("link", 1, {}).ok(), "a link is not followed"));
    const std::string archive = TRY(receive([&](int into) { return files->archive("folder", into, {}); }));
    return expect(archive.size() % 512 == 0 && archive.find("content\n") != std::string::npos, "an archive");
}

Result<> connections_come_out(Bench& bench) {
    auto listeners = TRY(bench.box->listeners());
    TRY(expect(listeners.size() == 2, "two"));
    const int64_t number = TRY(bench.box->execute(shell(
        "if command -v bash > /dev/null; then bash -c 'exec 3<>/dev/tcp/127.0.0.1/3129; echo hello >&3; cat <&3'; "
        "else echo hello | nc 127.0.0.1 3129; fi")));
    pollfd wait{listeners[1].get(), POLLIN, 0};
    TRY(expect(::poll(&wait, 1, patience) == 1, "a connection to 3129"));
    const Fd accepted(::accept4(listeners[1].get(), nullptr, nullptr, SOCK_CLOEXEC));
    char word[16];
    pollfd ready{accepted.get(), POLLIN, 0};
    TRY(expect(::poll(&ready, 1, patience) == 1, "bytes"));
    TRY(expect(::read(accepted.get(), word, sizeof word) == 6, "six bytes"));
    TRY(write_all(accepted.get(), "response\n"));
    ::shutdown(accepted.get(), SHUT_RDWR);
    TRY(bench.box->wait(number, patience));
    return expect(TRY(text_of(*bench.box, number)) == "response\n", "what was sent back");
}

Result<> nothing_else_leaves(Bench& bench) {
    for (const char* address : {"1.1.1.1 443", "10.77.0.1 6443", "10.96.0.1 443", "10.77.0.1 10250"}) {
        std::string slashed(address);
        slashed[slashed.find(' ')] = '/';
        TRY(run(*bench.box,
                "if command -v bash > /dev/null; then timeout 2 bash -c 'exec 3<>/dev/tcp/" + slashed +
                    "' 2> /dev/null; else timeout 2 nc " + address + " < /dev/null 2> /dev/null; fi && exit 1; exit 7",
                7));
    }
    return {};
}

Result<> wall_clock(Bench& bench) {
    SandboxSpec spec = plain_spec();
    spec.limits.value.wall_clock_ms = 3000;
    spec.command = shell("sleep 600");
    const auto box = TRY(bench.provider->start(spec));
    const SandboxView view = TRY(box->wait_stopped(patience));
    const Result<> held = expect(std::ranges::count(view.limits_hit, LimitHit::timeout) == 1, "ended by its time");
    TRY(box->destroy());
    return held;
}

Result<> ends_with_first_command(Bench& bench) {
    SandboxSpec spec = plain_spec();
    spec.keep = false;
    spec.command = shell("sleep 600 & echo done");
    const auto box = TRY(bench.provider->start(spec));
    TRY(box->wait_stopped(patience));
    const std::string text = TRY(text_of(*box, 0));
    TRY(box->destroy());
    return expect(text == "done\n", "its output is there after the end");
}

Result<> too_much_is_rejected(Bench& bench) {
    const auto capabilities = bench.provider->capabilities();
    SandboxSpec spec = plain_spec();
    spec.minimum_tier = Tier::gvisor;
    if (std::ranges::count(capabilities.tiers, Tier::gvisor) == 0)
        TRY(expect(!bench.provider->start(spec).ok(), "a tier that the provider does not have"));
    spec = plain_spec();
    spec.root = std::string("absent-image");
    TRY(expect(!bench.provider->start(spec).ok(), "an image that there is not"));
    spec = plain_spec();
    spec.layers.value = {std::string(64, 'a')};
    return expect(!bench.provider->start(spec).ok(), "a layer that there is not");
}

// Built once, in a sandbox of its own, from what a script left in the home; there before the first command.
Result<> layer_is_used(Bench& bench) {
    const Store store = TRY(Store::open(bench.folder));
    if (wanted_tier == Tier::gvisor) {
        SandboxSpec spec = plain_spec();
        spec.capture = bench.folder + "/captured";
        for (const char* part : {"/upper", "/work"}) TRY(make_directories(*spec.capture + part, 0755));
        const auto refused = bench.provider->start(spec);
        TRY(expect(!refused.ok(), "it is refused"));
        bench.declared = refused.error().message;
        return expect(bench.declared == "tier gvisor builds no layers", "its words: " + bench.declared);
    }
    Preparation preparation;
    preparation.space = "conformance";
    preparation.limits = *plain_spec().limits;
    preparation.script = "mkdir -p tree/deep; echo made >> tree/file; ln -s tree/file link; ln tree/file hard; "
                         "chmod 750 tree/deep; echo out of the script";
    PreparedLayer layer = TRY(prepare_layer(*bench.provider, store, preparation));
    TRY(expect(layer.built && layer.log == "out of the script\n", "it was built, with its output"));
    layer = TRY(prepare_layer(*bench.provider, store, preparation));
    TRY(expect(!layer.built, "it was built once"));
    const auto over = [&](const std::string& script) -> Result<std::string> {
        SandboxSpec spec = plain_spec();
        spec.layers.value = {layer.key};
        spec.command = shell("cd /home/worker; " + script);
        auto started = bench.provider->start(spec);
        if (!started.ok()) return std::move(started).error();
        const auto box = std::move(started).value();
        const CommandResult result = TRY(box->wait(0, patience));
        const std::string text = TRY(text_of(*box, 0)) + TRY(text_of(*box, 0, Stream::err));
        TRY(box->destroy());
        TRY(expect(result.exit_code == 0, "exit code 0 with the layer: " + text));
        return text;
    };
    const auto first = over("cat link hard; ls -l tree; echo changed > tree/file; cat link; echo more > other");
    if (!first.ok()) return first.error();
    TRY(expect(first.value().starts_with("made\nmade\n") && first.value().ends_with("changed\n") &&
                   first.value().find("drwxr-x---") != std::string::npos,
               "the home of the script: " + first.value()));
    TRY(expect(TRY(over("cat hard; test ! -e other")) == "made\n", "what one changes the next does not see"));
    // A script that fails leaves nothing.
    preparation.script = "echo half > half; exit 3";
    const auto failed = prepare_layer(*bench.provider, store, preparation);
    TRY(expect(!failed.ok() && failed.error().message.starts_with("the init script exited with 3"), "its exit code"));
    return expect(!file_exists(store.layers() + "/" + TRY(layer_key(store, preparation, bench.provider->layer_root()))),
                  "no layer of it");
}

Result<> stop_and_destroy(Bench& bench) {
    TRY(expect(TRY(bench.box->stop()).state == State::stopped, "stopped"));
    const SandboxId id = bench.box->id();
    TRY(bench.box->destroy());
    TRY(expect(!bench.provider->attach(id).ok() || std::ranges::count(TRY(bench.provider->list()), id) == 0,
               "it is gone"));
    return bench.provider->destroy(id); // again: nothing happens
}

// A command connects as the cluster does, and says what a server says first; it must get nothing back. A process that
// the cluster started would have its response long before the end of its input.
Result<> takes_no_channel(Sandbox& box) {
    kubernetes::LinkIdentity identity;
    identity.sandbox = box.id().text();
    identity.epoch = int64_t{1} << 40;
    identity.session = "of-a-command";
    kubernetes::Link link(identity);
    link.connected();
    std::string hello;
    for (const char letter : link.take_output(64 << 10)) {
        const auto byte = static_cast<unsigned char>(letter);
        hello += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
                  static_cast<char>('0' + (byte & 7))};
    }
    TRY(expect(!hello.empty(), "a hello"));
    for (const std::string& first : {"printf '" + hello + "'; sleep 3", std::string("cat /dev/zero")})
        TRY(expect(
            TRY(run(box,
                    "{ " + first + "; } 2> /dev/null | /hone-bin/hone-pod channel 2> /dev/null | head -c 1 | wc -c")) ==
                "0\n",
            "no response to: " + first.substr(0, 6)));
    return {};
}

// Only in pods: what a command there could use against the first process.
Result<> walls_of_pod(Bench& bench) {
    Sandbox& box = *bench.box;
    if (wanted_tier == Tier::gvisor) { // no rules for files (docs/adr/0026-gvisor-in-pods.md)
        bench.declared = "gVisor and the filter alone; a command can end the first process";
        for (const char* place : {"/hone-bin/x", "/hone/x", "/bin/x"})
            TRY(run(box, std::string("touch ") + place + " 2> /dev/null && exit 1; exit 7", 7));
        TRY(run(box, "unshare -U true > /dev/null 2>&1 && exit 1; exit 7", 7));
        TRY(run(box, "test -e /var/run/secrets && exit 1; exit 7", 7));
        TRY(expect(TRY(run(box, "grep -E '^(Seccomp|CapEff):' /proc/self/status | tr -d '\\t\\n'")) ==
                       "CapEff:0000000000000000Seccomp:2",
                   "filter and no privileges"));
        return takes_no_channel(box);
    }
    for (const char* place : {"/hone-bin/x", "/hone-files/x", "/hone-files/m0/x", "/hone-state/x", "/hone/x", "/bin/x"})
        TRY(run(box, std::string("touch ") + place + " 2> /dev/null && exit 1; exit 7", 7));
    TRY(run(box, "cat /proc/1/environ > /dev/null 2>&1 && exit 1; exit 7", 7));
    TRY(run(box, "ls /proc/1/fd > /dev/null 2>&1 && exit 1; exit 7", 7));
    TRY(run(box, "rm -f /hone-state/channel 2> /dev/null && exit 1; exit 7", 7));
    TRY(run(box, "kill -9 1 2> /dev/null; kill -TERM 1 2> /dev/null; exit 7", 7));
    TRY(expect(TRY(run(box, "grep -E '^(Seccomp|NoNewPrivs|CapEff):' /proc/self/status | tr -d '\\t\\n'")) ==
                   "CapEff:0000000000000000NoNewPrivs:1Seccomp:2",
               "filter and no privileges"));
    TRY(run(box, "unshare -U true > /dev/null 2>&1 && exit 1; exit 7", 7));
    TRY(run(box, "test -e /var/run/secrets && exit 1; exit 7", 7));
    // The socket of the channel can be reached, and says nothing to a process of the sandbox.
    TRY(takes_no_channel(box));
    return expect(TRY(box.view()).state == State::running, "it still runs");
}

struct Case {
    const char* name;
    Result<> (*work)(Bench&);
    bool only_pods = false;
};
constexpr Case cases[] = {
    {"a first command with its output and exit code", first_command},
    {"further commands with environment and folder", further_commands},
    {"a missing program", missing_program},
    {"input, every byte once", input_arrives},
    {"output by offset, for other readers and after a restart", output_by_offset},
    {"signals", signals_arrive},
    {"a timeout of a command", command_timeout},
    {"a terminal", terminal_works},
    {"mounts, read-only and refreshed", mounts_are_there},
    {"files out: list, copy, archive", files_come_out},
    {"connections to the broker's ports", connections_come_out},
    {"no other connection", nothing_else_leaves},
    {"walls around the first process", walls_of_pod, true},
    {"the wall clock", wall_clock},
    {"the end with the first command", ends_with_first_command},
    {"prepared layers", layer_is_used},
    {"a spec that it cannot keep is rejected", too_much_is_rejected},
    {"stop and destroy", stop_and_destroy},
};

Result<Open> opener(const std::vector<std::string>& words) {
    const std::string folder = words[1];
    if (words[0] == "local") {
        const std::string program = words[2];
        return Open([folder, program] { return open_local_provider({folder, program}); });
    }
    if (words.size() < 5) return invalid("usage: provider_conformance kubernetes FOLDER KUBECONFIG NAMESPACE IMAGE");
    return Open([folder, words]() -> Result<std::unique_ptr<Provider>> {
        static const SystemClock clock;
        kubernetes::ProviderOptions options;
        options.access = TRY(kubernetes::parse_kubeconfig(TRY(read_file(words[2])), "",
                                                          std::filesystem::path(words[2]).parent_path().string()));
        options.name_space = words[3];
        options.pods.image = options.pods.tools_image = words[4];
        options.pods.pull_policy = "Never";
        if (wanted_tier == Tier::gvisor) options.pods.runtime_classes[Tier::gvisor] = "gvisor";
        options.folder = folder + "/kubernetes";
        options.store = TRY(Store::open(folder));
        return kubernetes::open_kubernetes_provider(std::move(options), clock);
    });
}

void print(const char* name, const Result<>& done, const std::string& declared) {
    std::cout << json::print(json::Object{{"case", name},
                                          {"ok", done.ok()},
                                          {"why", done.ok() ? std::string() : done.error().message},
                                          {"declared", declared}})
              << std::endl;
}

} // namespace

int main(int count, char** given) {
    crypto::start();
    set_log(LogFormat::text, Level::warning);
    ::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> words(given + 1, given + count);
    if (words.size() < 3) return 2;
    if (words.back() == "gvisor") wanted_tier = Tier::gvisor;
    const auto open = opener(words);
    if (!open.ok()) return std::cerr << open.error().message << "\n", 2;
    Bench bench{words[1], open.value(), {}, {}, {}};
    auto provider = bench.open();
    if (!provider.ok()) return std::cerr << provider.error().message << "\n", 2;
    bench.provider = std::move(provider).value();
    const std::string only = words[0] == "kubernetes" && words.size() > 5 ? words[5] : "";
    bool all = true;
    for (const Case& each : cases) {
        if (each.only_pods && words[0] == "local") continue;
        if (only == "first" && &each != std::begin(cases) && &each != std::end(cases) - 1) continue;
        bench.declared.clear();
        const auto done = !bench.box && &each != cases ? Result<>(internal("there is no sandbox")) : each.work(bench);
        all = all && done.ok();
        print(each.name, done, bench.declared);
    }
    return all ? 0 : 1;
}
