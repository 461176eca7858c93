// Measures sandboxes beside other ways to start a process; prints one JSON object. Run by bench/sandbox.sh.
#include "base/file.h"
#include "base/text.h"
#include "bench/machine_state.h"
#include "crypto/crypto.h"
#include "sandbox/image/layer.h"
#include "sandbox/image/store.h"
#include "sandbox/image/tree.h"
#include "sandbox/image/volume.h"
#include "sandbox/local/local_provider.h"
#include "sandbox/wall/process_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <map>
#include <sched.h>
#include <set>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace hone::sandbox {
namespace {

using Clocked = std::vector<double>;

double now_ms() {
    return static_cast<double>(SystemClock().steady().count()) / 1e6;
}

json::Object summary(Clocked times) {
    std::sort(times.begin(), times.end());
    if (times.empty()) return {{"runs", 0}};
    const auto at = [&](double share) {
        return times[std::min(times.size() - 1, static_cast<size_t>(share * static_cast<double>(times.size())))];
    };
    return {{"runs", static_cast<int64_t>(times.size())},
            {"p50_ms", at(0.5)},
            {"p90_ms", at(0.9)},
            {"p99_ms", at(0.99)},
            {"min_ms", times[0]}};
}

double p50(const json::Object& object) {
    const json::Value* value = object.if_contains("p50_ms");
    return value == nullptr ? 0 : value->as_double();
}

[[noreturn]] void die(const std::string& why) {
    std::fprintf(stderr, "bench: %s\n", why.c_str());
    std::exit(1);
}

template <class T>
T must(Result<T> result) {
    if (!result.ok()) die(result.error().message);
    return std::move(result).value();
}

// Exit status of a host program, output thrown away.
int run_host(const std::vector<std::string>& argv) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int descriptor : {0, 1, 2})
        ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    std::vector<char*> arguments;
    for (const std::string& text : argv) arguments.push_back(const_cast<char*>(text.c_str()));
    arguments.push_back(nullptr);
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), ::environ);
    ::posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed == 0) ::waitpid(pid, &status, 0);
    return failed == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// From its start to its end; negative when it fails or is not installed.
double time_host(const std::vector<std::string>& argv) {
    const double begin = now_ms();
    return run_host(argv) == 0 ? now_ms() - begin : -1;
}

SandboxSpec spec_of(std::vector<std::string> argv) {
    SandboxSpec spec;
    Command command;
    command.argv = std::move(argv);
    spec.command = command;
    return spec;
}

// From asking for a sandbox to knowing its result with every process gone.
double run_once(Provider& provider, const SandboxSpec& spec) {
    if (!provider.await_ready(10'000)) die("no sandbox is prepared"); // nothing for a provider that prepares none
    const double begin = now_ms();
    auto sandbox = must(provider.start(spec));
    const SandboxView view = must(sandbox->wait_stopped());
    const double took = now_ms() - begin;
    if (view.commands[0].exit_code != 0) die("the command failed");
    must(sandbox->destroy());
    return took;
}

// A bundle for crun and runsc with the host's /usr.
void write_bundle(const std::string& directory) {
    for (const char* name : {"usr", "dev", "proc"}) must(make_directories(directory + "/rootfs/" + name));
    for (const char* name : {"bin", "lib", "lib64"})
        if (::symlink((std::string("usr/") + name).c_str(), (directory + "/rootfs/" + name).c_str()) != 0 &&
            errno != EEXIST)
            die("symlink");
    must(write_file(directory + "/config.json",
                    R"({"ociVersion":"1.0.2","process":{"terminal":false,"user":{"uid":0,"gid":0},"args":["/bin/true"],
"env":["PATH=/usr/bin:/bin"],"cwd":"/","noNewPrivileges":true,"capabilities":{"bounding":[],"effective":[],"permitted":[]}},
"root":{"path":"rootfs","readonly":true},"hostname":"x","mounts":[{"destination":"/usr","type":"bind","source":"/usr","options":["rbind","ro"]},
{"destination":"/proc","type":"proc","source":"proc"}],"linux":{"namespaces":[{"type":"pid"},{"type":"network"},{"type":"ipc"},{"type":"uts"},{"type":"mount"}]}})"));
}

// crun 1.8 refuses a machine with both cgroup versions mounted: hide the second from it.
void hide_unified() {
    if (::unshare(CLONE_NEWNS) != 0) return;
    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    ::umount2("/sys/fs/cgroup/unified", MNT_DETACH);
}

// A provider that keeps sandboxes prepared, as the server's does, and one that does not.
struct Providers {
    Provider& warm;
    Provider& cold;
};

json::Object start_times(const Providers& providers, const std::string& hone, const std::string& folder, int runs) {
    write_bundle(folder + "/bundle");
    int serial = 0;
    const std::vector<std::pair<std::string, std::function<double()>>> ways{
        {"posix_spawn", [&] { return time_host({"/bin/true"}); }},
        {"hone_ns", [&] { return run_once(providers.warm, spec_of({"/bin/true"})); }},
        {"hone_ns_unprepared", [&] { return run_once(providers.cold, spec_of({"/bin/true"})); }},
        {"hone_version",
         [&] {
             return time_host({hone, "--version"});
         }},
        {"hone_command",
         [&] {
             return time_host({hone, "sandbox", "run", "--data-dir", folder + "/command", "--", "/bin/true"});
         }},
        {"bwrap",
         [&] {
             return time_host({"bwrap",     "--unshare-all", "--cap-drop", "ALL",       "--die-with-parent",
                               "--ro-bind", "/usr",          "/usr",       "--symlink", "usr/bin",
                               "/bin",      "--symlink",     "usr/lib",    "/lib",      "--symlink",
                               "usr/lib64", "/lib64",        "--dev",      "/dev",      "--proc",
                               "/proc",     "--tmpfs",       "/tmp",       "/bin/true"});
         }},
        {"crun",
         [&] {
             return time_host({"crun", "--root", folder + "/crun", "run", "--bundle", folder + "/bundle",
                               "bench" + std::to_string(serial++)});
         }},
        {"runsc",
         [&] {
             return time_host({"runsc", "--root", folder + "/runsc", "--platform=ptrace", "--network=none",
                               "--ignore-cgroups", "run", "--bundle", folder + "/bundle",
                               "bench" + std::to_string(serial++)});
         }},
    };
    std::map<std::string, Clocked> times;
    for (int i = 0; i < runs; ++i)
        for (const auto& [name, way] : ways) {
            if (name == "runsc" && i % 8 != 0) continue; // a hundred times slower: fewer runs
            // What the one before left to do in the background must not be paid by the next: its replacement, and
            // namespaces that the kernel takes apart under locks that the next one wants.
            if (!providers.warm.await_ready(10'000)) die("no sandbox is prepared");
            std::this_thread::sleep_for(std::chrono::milliseconds(40));
            const double took = way();
            if (took > 0) times[name].push_back(took);
        }
    json::Object result;
    for (const auto& [name, list] : times) result[name] = summary(list);
    if (const json::Value* measure = result.if_contains("bwrap")) {
        const double unit = p50(measure->as_object());
        for (auto& [name, entry] : result) entry.as_object()["p50_to_bwrap"] = p50(entry.as_object()) / unit;
    }
    return result;
}

json::Object layer_times(Provider& provider, const Store& store, int runs, int files, int megabytes) {
    Preparation preparation;
    preparation.space = "bench";
    const int bytes = static_cast<int>(int64_t{megabytes} * 1024 * 1024 / files);
    preparation.script =
        "mkdir -p /opt/data && cd /opt/data && python3 -c 'import os\nfor i in range(" + std::to_string(files) +
        "):\n  d=str(i//500)\n  os.makedirs(d,exist_ok=True)\n  open(d+\"/\"+str(i),\"wb\").write(os.urandom(" +
        std::to_string(bytes) + "))'\n";
    preparation.timeout_ms = int64_t{600'000};
    preparation.limits.value.disk_bytes = int64_t{8} << 30;
    const double begin = now_ms();
    const PreparedLayer layer = must(prepare_layer(provider, store, preparation));
    const double built = now_ms() - begin;
    SandboxSpec with = spec_of({"/bin/true"});
    with.layers.value.push_back(layer.key);
    Clocked plain, layered;
    for (int i = 0; i < runs; ++i) {
        plain.push_back(run_once(provider, spec_of({"/bin/true"})));
        layered.push_back(run_once(provider, with));
    }
    const json::Object without = summary(plain), on_top = summary(layered);
    return {{"files", files},     {"megabytes", megabytes}, {"build_ms", built},
            {"without", without}, {"with", on_top},         {"ratio", p50(on_top) / p50(without)}};
}

json::Object fork_time(Provider& provider, const Store& store, int megabytes) {
    SandboxSpec spec =
        spec_of({"/bin/sh", "-c",
                 "dd if=/dev/urandom of=/workspace/data bs=1M count=" + std::to_string(megabytes) + " 2>/dev/null"});
    spec.thread = "bench-from";
    spec.limits.value.disk_bytes = int64_t{1} << 30;
    run_once(provider, spec);
    const Volumes volumes(store, ::geteuid() == 0);
    const double begin = now_ms();
    must(volumes.fork("bench-from", "bench-to"));
    const double took = now_ms() - begin;
    must(volumes.remove("bench-from"));
    must(volumes.remove("bench-to"));
    store.empty_trash();
    return {{"megabytes", megabytes}, {"fork_ms", took}};
}

// Things that a leak would add to.
std::map<std::string, int64_t> inventory() {
    std::map<std::string, int64_t> counts;
    const auto mounts = must(read_file("/proc/self/mountinfo"));
    counts["mounts"] = std::count(mounts.begin(), mounts.end(), '\n');
    std::map<std::string, std::set<std::string>> namespaces;
    const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
    while (const dirent* entry = ::readdir(processes.get())) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
        const auto name = read_file(std::string("/proc/") + entry->d_name + "/comm", 64);
        if (name.ok() && (trim(name.value()) == "hone-shim" || trim(name.value()) == "hone-init"))
            ++counts["processes"];
        for (const char* kind : {"mnt", "net", "pid", "user"}) {
            char target[64] = {};
            if (::readlink((std::string("/proc/") + entry->d_name + "/ns/" + kind).c_str(), target, sizeof target - 1) >
                0)
                namespaces[kind].insert(target);
        }
    }
    for (const auto& [kind, set] : namespaces) counts["namespaces " + kind] = static_cast<int64_t>(set.size());
    const std::unique_ptr<FILE, int (*)(FILE*)> find(
        ::popen("find /sys/fs/cgroup -name 'sbx_*' -type d 2>/dev/null | wc -l; losetup -a 2>/dev/null | wc -l", "r"),
        ::pclose);
    long long groups = 0, loops = 0;
    if (std::fscanf(find.get(), "%lld %lld", &groups, &loops) == 2) counts["cgroups"] = groups, counts["loops"] = loops;
    return counts;
}

json::Object many(Provider& provider, const Store& store, int count) {
    SandboxSpec spec = spec_of({"/bin/sleep", "1000"});
    spec.limits.value.memory_bytes = int64_t{64} << 20;
    const auto before = inventory();
    std::vector<std::unique_ptr<Sandbox>> sandboxes(static_cast<size_t>(count));
    const double begin = now_ms();
    std::vector<std::thread> starters;
    for (int worker = 0; worker < 4; ++worker)
        starters.emplace_back([&, worker] {
            for (int i = worker; i < count; i += 4) sandboxes[static_cast<size_t>(i)] = must(provider.start(spec));
        });
    for (std::thread& starter : starters) starter.join();
    const double up = now_ms() - begin;
    int64_t process_bytes = 0, group_bytes = 0;
    for (const auto& sandbox : sandboxes) {
        const SandboxView view = must(sandbox->view());
        const auto status = must(read_file("/proc/" + std::to_string(view.pid) + "/stat", 4096));
        // The shim is the parent; its tree is everything of this sandbox.
        const std::string after_name = status.substr(status.rfind(')') + 2);
        const auto parent = must(parse_integer(split(after_name, ' ')[1]));
        process_bytes += process_tree_use(static_cast<pid_t>(parent)).memory_bytes;
        group_bytes += view.peak_memory_bytes;
    }
    const double down_begin = now_ms();
    std::vector<std::thread> stoppers;
    for (int worker = 0; worker < 4; ++worker)
        stoppers.emplace_back([&, worker] {
            for (int i = worker; i < count; i += 4) must(sandboxes[static_cast<size_t>(i)]->destroy());
        });
    for (std::thread& stopper : stoppers) stopper.join();
    const double down = now_ms() - down_begin;
    sandboxes.clear();
    std::map<std::string, int64_t> after;
    json::Object left;
    for (int attempt = 0; attempt < 100; ++attempt) { // the kernel frees namespaces a moment later
        after = inventory();
        left.clear();
        for (const auto& [name, number] : after)
            if (const auto known = before.find(name); number > (known == before.end() ? 0 : known->second))
                left[name] = number - (known == before.end() ? 0 : known->second);
        if (left.empty()) break;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    left["folders"] = static_cast<int64_t>(store.sandboxes().size());
    return {{"count", count},
            {"up_ms", up},
            {"down_ms", down},
            {"pss_bytes_each", process_bytes / count},
            {"peak_cgroup_bytes_each", group_bytes / count},
            {"left", left}};
}

// One after the other as fast as they go: the pool cannot keep up, and should not make it worse.
json::Object back_to_back(Provider& provider, int runs) {
    Clocked times;
    const double begin = now_ms();
    for (int i = 0; i < runs; ++i) {
        const double start = now_ms();
        auto sandbox = must(provider.start(spec_of({"/bin/true"})));
        must(sandbox->wait_stopped());
        times.push_back(now_ms() - start);
        must(sandbox->destroy());
    }
    const double took = now_ms() - begin;
    json::Object result = summary(times);
    result["starts_per_second"] = runs * 1000 / took;
    return result;
}

constexpr const char* usage =
    "usage: bench_sandbox HONE [--runs 200] [--ballast-mb 1024] [--layer-files 50000] [--layer-mb 500] "
    "[--many 100] [--only many,fork,layer,start,back_to_back,big_server]";

struct Options {
    std::map<std::string, int> numbers{
        {"--runs", 200}, {"--ballast-mb", 1024}, {"--layer-files", 50'000}, {"--layer-mb", 500}, {"--many", 100}};
    std::string only; // all of them when empty

    bool wants(std::string_view part) const {
        const auto parts = split(only, ',');
        return only.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
    }
};

Options read_options(int argc, char** argv) {
    Options options;
    if (argc < 2 || argc % 2 != 0) die(usage);
    for (int i = 2; i + 1 < argc; i += 2) {
        if (std::string_view(argv[i]) == "--only") {
            options.only = argv[i + 1];
        } else {
            const auto number = parse_integer(argv[i + 1]);
            if (!options.numbers.contains(argv[i]) || !number.ok() || number.value() < 1) die(usage);
            options.numbers[argv[i]] = static_cast<int>(number.value());
        }
    }
    return options;
}

void add_ratios(json::Object& report, const json::Object& times) {
    const auto ratio = [&](const char* a, const char* b) {
        const json::Value *x = times.if_contains(a), *y = times.if_contains(b);
        return x && y ? p50(x->as_object()) / p50(y->as_object()) : 0.0;
    };
    report["hone_to_bwrap"] = ratio("hone_ns", "bwrap");
    report["hone_unprepared_to_bwrap"] = ratio("hone_ns_unprepared", "bwrap");
    report["hone_command_to_bwrap"] = ratio("hone_command", "bwrap");
    report["hone_to_crun"] = ratio("hone_ns", "crun");
    report["runsc_to_hone"] = ratio("runsc", "hone_ns");
}

int run_bench(int argc, char** argv) {
    Options options = read_options(argc, argv);
    crypto::start();
    const bench::MachineState state;
    char folder[] = "/var/tmp/hone-bench-XXXXXX";
    if (::mkdtemp(folder) == nullptr) die("mkdtemp");
    const std::string hone = argv[1];
    const int runs = options.numbers["--runs"];
    auto cold = must(open_local_provider({std::string(folder) + "/cold", hone}));
    auto warm = must(open_local_provider({folder, hone, SpawnerKind::executed, 2}));
    const Store store = must(Store::open(folder));
    const Store cold_store = must(Store::open(std::string(folder) + "/cold"));
    for (int i = 0; i < 10; ++i) run_once(*warm, spec_of({"/bin/true"})); // warm
    json::Object report;
    if (options.wants("many")) report["many"] = many(*cold, cold_store, options.numbers["--many"]);
    if (options.wants("fork")) report["fork"] = fork_time(*cold, cold_store, options.numbers["--layer-mb"]);
    if (options.wants("layer"))
        report["layer"] = layer_times(*warm, store, std::max(20, runs / 4), options.numbers["--layer-files"],
                                      options.numbers["--layer-mb"]);
    hide_unified(); // after the spawners have started: only what runs from here is affected
    if (options.wants("start")) {
        const json::Object times = start_times({*warm, *cold}, hone, folder, runs);
        report["start"] = times;
        add_ratios(report, times);
    }
    if (options.wants("back_to_back")) report["back_to_back"] = back_to_back(*warm, std::max(1, runs / 2));
    if (options.wants("big_server")) {
        std::vector<char> ballast(static_cast<size_t>(options.numbers["--ballast-mb"]) << 20, 1);
        Clocked list;
        for (int i = 0; i < std::max(1, runs / 2); ++i) list.push_back(run_once(*warm, spec_of({"/bin/true"})));
        report["start_from_big_server"] = summary(list);
        report["ballast_mb"] = static_cast<int64_t>(ballast.size() >> 20);
    }
    warm.reset();
    cold.reset();
    report["machine"] = state.report();
    (void)remove_tree(folder).ok();
    std::fputs(json::print_pretty(report).c_str(), stdout);
    return 0;
}

} // namespace
} // namespace hone::sandbox

int main(int argc, char** argv) {
    return hone::sandbox::run_bench(argc, argv);
}
