#include "sandbox/image/layer.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/archive/layer_archive.h"
#include "sandbox/image/tree.h"
#include "sandbox/wall/enter.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace hone::sandbox {

namespace {

constexpr std::string_view mechanism = "hone-layer-2";
// Layers without it were keyed by a plain hash, without space and values: they are never used again.
constexpr std::string_view key_prefix = "v2-";
constexpr size_t log_bytes = 64 << 10;
constexpr int64_t check_every_ms = 200;

// One part of the hashed text: its length first, so that no two lists read the same.
void add(std::string& text, std::string_view part) {
    text += std::to_string(part.size()) + ":" + std::string(part) + ",";
}

Result<> make_build_directory(const std::string& directory) {
    TRY(remove_tree(directory));
    for (const char* name : {"", "/upper", "/work"}) {
        const std::string path = directory + name;
        if (::mkdir(path.c_str(), 0755) != 0) return system_error("create " + path, errno);
        if (::geteuid() == 0 && ::chown(path.c_str(), inside_uid, inside_uid) != 0)
            return system_error("create " + path, errno);
    }
    return {};
}

struct Outcome {
    CommandResult result;
    std::string log;
};

bool has_succeeded(const CommandResult& result) {
    return result.exit_code == 0 && result.limits_hit.empty();
}

// The output of a build up to its end.
Result<> follow_build(Sandbox& sandbox, int64_t command, const std::function<bool()>& cancelled, std::string& log) {
    int64_t offset = 0;
    for (bool finished = false; !finished;) {
        const auto output = sandbox.output(command, offset, cancelled ? check_every_ms : -1);
        if (cancelled && cancelled()) return conflict("the preparation of the layer was cancelled");
        if (!output.ok() && output.error().code == Code::busy) continue;
        if (!output.ok()) return output.error();
        for (const Output::Part& part : output.value().parts) log += part.bytes;
        if (log.size() > 2 * log_bytes) log.erase(0, log.size() - log_bytes);
        offset = output.value().next;
        finished = output.value().finished;
    }
    return {};
}

// With a network the command must wait until that is connected: the sandbox starts idle.
Result<Outcome> run_command(Sandbox& sandbox, Command command, BuildNetwork* network,
                            const std::function<bool()>& cancelled) {
    int64_t number = 0;
    if (network != nullptr) {
        const auto variables = TRY(network->connect(TRY(sandbox.listeners())));
        for (const Mount& mount : network->mounts()) TRY(sandbox.refresh(mount)); // with what the connection made
        for (const auto& [name, value] : variables) command.env.value.emplace(name, value);
        number = TRY(sandbox.execute(command));
    }
    Outcome outcome;
    TRY(follow_build(sandbox, number, cancelled, outcome.log));
    if (network != nullptr) {
        TRY(sandbox.wait(number));
        (void)sandbox.stop().ok(); // with all that the script left running: nothing writes to the layer later
    }
    TRY(sandbox.wait_stopped());
    outcome.result = TRY(sandbox.wait(number));
    if (outcome.log.size() > log_bytes) outcome.log.erase(0, outcome.log.size() - log_bytes);
    return outcome;
}

Result<Outcome> run_script(Provider& provider, const Preparation& preparation, const std::string& directory,
                           const BuildOptions& options) {
    std::unique_ptr<BuildNetwork> network;
    if (options.network) network = TRY(options.network());
    SandboxSpec spec;
    spec.root = preparation.root;
    spec.layers = preparation.layers;
    spec.env = preparation.env;
    spec.network = preparation.network;
    spec.limits = preparation.limits;
    spec.mounts = preparation.mounts;
    spec.capture = directory;
    spec.labels.value["purpose"] = "prepare";
    Command command;
    command.argv = {"/bin/sh", "-ec", (network ? network->prelude() : "") + preparation.script};
    if (!options.arguments.empty()) command.argv.push_back("prepare");
    command.argv.insert(command.argv.end(), options.arguments.begin(), options.arguments.end());
    command.cwd = std::string(worker_home);
    command.timeout_ms = preparation.timeout_ms;
    if (network) {
        spec.keep = true;
        for (const Mount& mount : network->mounts()) spec.mounts.value.push_back(mount);
    } else {
        spec.command = command;
    }
    const auto sandbox = TRY(options.start ? options.start(spec) : provider.start(spec));
    auto outcome = run_command(*sandbox, std::move(command), network.get(), options.cancelled);
    network.reset();
    const auto saved =
        outcome.ok() && has_succeeded(outcome.value().result) ? sandbox->save_capture(options.cancelled) : Result<>();
    TRY(sandbox->destroy());
    if (!saved.ok()) return saved.error();
    return outcome;
}

std::string describe(const CommandResult& result) {
    for (const LimitHit limit : result.limits_hit) return "ran into its limit: " + std::string(name_of(limit));
    if (result.error) return *result.error;
    if (result.exit_code) return "exited with " + std::to_string(*result.exit_code);
    return "was killed by signal " + std::to_string(result.signal.value_or(0));
}

// The right to build the layer; nothing when it is there. Sandboxes that use it hold it too, so that only who finds it
// missing takes the exclusive lock.
Result<Fd> wait_for_layer(const Store& store, const std::string& place, const std::function<bool()>& cancelled) {
    for (;;) {
        if (file_exists(place + "/upper")) {
            const Fd held = TRY(store.hold(place)); // marks its last use
            if (file_exists(place + "/upper")) return Fd();
        }
        Fd alone = store.try_alone(place);
        if (alone.is_open() && !file_exists(place + "/upper")) return alone;
        if (alone.is_open()) continue;
        if (cancelled && cancelled()) return conflict("the preparation of the layer was cancelled");
        std::this_thread::sleep_for(std::chrono::milliseconds(check_every_ms));
    }
}

// Makes a layer visible that is complete in `directory`.
Result<> publish_layer(const std::string& directory, const std::string& place, const std::string& space) {
    TRY(write_file(directory + "/space", space));
    TRY(sync_file_system(directory));
    if (::rename(directory.c_str(), place.c_str()) != 0) return system_error("publish the layer", errno);
    return {};
}

// A layer that another server built. One that cannot be fetched is built here.
bool fetch_layer(LayerExchange* exchange, const std::string& key, const std::string& directory) {
    if (exchange == nullptr) return false;
    const auto fetched = exchange->fetch(key, directory);
    if (!fetched.ok())
        log(Level::warning, "a prepared layer of another server cannot be used and is built again",
            {{"layer", key}, {"why", fetched.error().message}});
    return fetched.ok() && fetched.value();
}

// An upgraded machine is another root.
std::string version_of_root(const Store& store, const std::string& root) {
    if (root == "host") {
        struct stat status {};
        return ::stat("/var/lib/dpkg/status", &status) == 0 ? std::to_string(status.st_mtim.tv_sec) : std::string();
    }
    auto digest = read_file(store.images() + "/" + root + "/digest", 4096);
    return digest.ok() ? std::move(digest).value() : std::string();
}

} // namespace

Result<std::string> layer_key(const Store& store, const Preparation& preparation, const std::string& elsewhere) {
    if (preparation.space.empty()) return invalid("a layer belongs to a space");
    std::string text;
    add(text, mechanism);
    add(text, preparation.space);
    add(text, *preparation.root);
    add(text, elsewhere.empty() ? version_of_root(store, *preparation.root) : elsewhere);
    add(text, std::to_string(preparation.layers.value.size()));
    for (const std::string& layer : *preparation.layers) add(text, layer);
    add(text, preparation.script);
    add(text, name_of(*preparation.network));
    for (const auto* list : {&*preparation.env, &*preparation.inputs}) {
        add(text, std::to_string(list->size()));
        for (const auto& [name, value] : *list) {
            add(text, name);
            add(text, value);
        }
    }
    const std::string key = TRY(store.key(store.layers()));
    return std::string(key_prefix) + to_hex(crypto::keyed_hash(key, text));
}

Result<PreparedLayer> prepare_layer(Provider& provider, const Store& store, const Preparation& preparation,
                                    const BuildOptions& options) {
    if (preparation.script.size() > 100'000) return too_large(std::string(options.what) + " is larger than 100 kB");
    if (*preparation.root != "host" && !is_plain_name(*preparation.root))
        return invalid("a layer's root is host or an image");
    PreparedLayer prepared;
    prepared.key = TRY(layer_key(store, preparation, provider.layer_root()));
    const std::string place = store.layers() + "/" + prepared.key;
    const Fd alone = TRY(wait_for_layer(store, place, options.cancelled));
    if (!alone.is_open()) return prepared;
    ::futimens(alone.get(), nullptr);

    const std::string directory = store.layers() + "/.build-" + prepared.key;
    TRY(make_build_directory(directory));
    if (fetch_layer(provider.layer_exchange(), prepared.key, directory)) {
        TRY(remove_tree(directory + "/work"));
        TRY(publish_layer(directory, place, preparation.space));
        prepared.fetched = true;
        return prepared;
    }
    if (provider.layer_exchange() != nullptr) TRY(make_build_directory(directory)); // without a part of it
    Outcome outcome = TRY(run_script(provider, preparation, directory, options));
    prepared.log = repair_utf8(outcome.log);
    const CommandResult& result = outcome.result;
    if (!has_succeeded(result)) {
        TRY(store.discard(directory));
        prepared.degraded = *preparation.on_failure == OnFailure::degrade;
        if (prepared.degraded) return prepared;
        return conflict(std::string(options.what) + " " + describe(result) + "\n" + prepared.log);
    }
    TRY(remove_tree(directory + "/work"));
    TRY(write_file(directory + "/log", outcome.log));
    TRY(publish_layer(directory, place, preparation.space));
    prepared.built = true;
    if (LayerExchange* exchange = provider.layer_exchange()) exchange->offer(prepared.key);
    return prepared;
}

void discard_obsolete_layers(const Store& store) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(store.layers().c_str()), ::closedir);
    while (const dirent* entry = stream ? ::readdir(stream.get()) : nullptr) {
        const std::string path = store.layers() + "/" + entry->d_name;
        if (entry->d_name[0] == '.' || std::string_view(entry->d_name).starts_with(key_prefix) ||
            !file_exists(path + "/upper"))
            continue;
        const Fd alone = store.try_alone(path);
        if (alone.is_open() && store.discard(path).ok()) ::unlink((path + ".lock").c_str());
    }
}

Result<bool> remove_layer(const Store& store, const std::string& key) {
    if (!is_plain_name(key) || key.find('/') != std::string::npos) return invalid("not the key of a layer");
    const std::string path = store.layers() + "/" + key;
    if (!file_exists(path + "/upper")) return true;
    const Fd alone = store.try_alone(path);
    if (!alone.is_open()) return false;
    TRY(store.discard(path));
    ::unlink((path + ".lock").c_str());
    return true;
}

Result<std::vector<StoredLayer>> stored_layers(const Store& store) {
    std::vector<StoredLayer> layers;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(store.layers().c_str()), ::closedir);
    if (!stream) return system_error("read " + store.layers(), errno);
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string path = store.layers() + "/" + entry->d_name;
        struct stat status {};
        if (entry->d_name[0] == '.' || !file_exists(path + "/upper") || ::stat((path + ".lock").c_str(), &status) != 0)
            continue;
        const Fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const int64_t used_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
        auto space = read_file(path + "/space", 200);
        layers.push_back({entry->d_name, space.ok() ? std::move(space).value() : "",
                          Time(std::chrono::nanoseconds(used_ns)), measure_tree(opened.get(), INT64_MAX).bytes});
    }
    return layers;
}

Result<LayerGarbage> collect_layers(const Store& store, Time before, int64_t most_bytes) {
    struct Layer {
        std::string path;
        int64_t used_ns;
        int64_t bytes;
    };
    std::vector<Layer> layers;
    LayerGarbage garbage;
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(store.layers().c_str()), ::closedir);
    if (!stream) return system_error("read " + store.layers(), errno);
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string path = store.layers() + "/" + entry->d_name;
        const bool current = std::string_view(entry->d_name).starts_with(key_prefix);
        struct stat status {};
        if (entry->d_name[0] == '.' || !file_exists(path + "/upper") || ::stat((path + ".lock").c_str(), &status) != 0)
            continue;
        const Fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        const int64_t bytes = measure_tree(opened.get(), INT64_MAX).bytes;
        const int64_t used_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
        layers.push_back({path, current ? used_ns : 0, bytes});
        garbage.kept_bytes += bytes;
    }
    std::sort(layers.begin(), layers.end(), [](const Layer& a, const Layer& b) { return a.used_ns < b.used_ns; });
    for (const Layer& layer : layers) {
        const bool wanted = layer.used_ns >= to_ns(before) && garbage.kept_bytes <= most_bytes;
        const Fd alone = wanted ? Fd() : store.try_alone(layer.path);
        if (!alone.is_open()) {
            ++garbage.kept;
            continue;
        }
        TRY(store.discard(layer.path));
        ::unlink((layer.path + ".lock").c_str());
        garbage.kept_bytes -= layer.bytes;
        ++garbage.removed;
    }
    return garbage;
}

} // namespace hone::sandbox
