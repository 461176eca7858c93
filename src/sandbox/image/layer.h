// Prepared layers: what an init script did to a root, built once in a sandbox of its own, then used read-only by every
// sandbox of the same space with the same preparation. The key is a keyed hash of everything that determines the
// result. Any process; a lock per layer.
#pragma once

#include "sandbox/image/store.h"
#include "sandbox/provider/build_network.h"
#include "sandbox/provider/provider.h"

#include <functional>
#include <map>
#include <string>

namespace hone::sandbox {

enum class OnFailure { abort, degrade };
constexpr auto enum_names(OnFailure) {
    return std::array{EnumName{OnFailure::abort, "abort"}, EnumName{OnFailure::degrade, "degrade"}};
}

struct Preparation {
    std::string space;
    Defaulted<std::string> root = std::string("host");
    Defaulted<std::vector<std::string>> layers;
    std::string script;
    Defaulted<std::map<std::string, std::string>> env;
    Defaulted<std::map<std::string, std::string>> inputs;
    Defaulted<int64_t> timeout_ms = int64_t{120'000};
    Defaulted<OnFailure> on_failure = OnFailure::abort;
    Defaulted<NetworkMode> network = NetworkMode::none;
    Defaulted<Limits> limits;
    Defaulted<std::vector<Mount>> mounts;
    static constexpr Pack fields{
        Field{"space", &Preparation::space, "Space that builds and uses it; another space never gets the same layer."},
        Field{"root", &Preparation::root, "As in a sandbox."},
        Field{"layers", &Preparation::layers, "Layers below this one, lowest first."},
        Field{"script", &Preparation::script, "Run by /bin/sh -e as the worker, with a writable root."},
        Field{"env", &Preparation::env, "Environment of the script: names and values are part of the key."},
        Field{"inputs", &Preparation::inputs, "Name and hash of files the script depends on, such as lock files."},
        Field{"timeout_ms", &Preparation::timeout_ms, "Ends the script after this long."},
        Field{"on_failure", &Preparation::on_failure, "abort, or degrade: continue without the layer."},
        Field{"network", &Preparation::network, "As in a sandbox; `broker` when the layer is built with a network."},
        Field{"limits", &Preparation::limits, "As in a sandbox."},
        Field{"mounts", &Preparation::mounts, "Further directories of the host for the script; not part of the key."},
    };
};

struct PreparedLayer {
    std::string key;
    bool built = false;    // by this call
    bool fetched = false;  // by this call, from another server
    bool degraded = false; // the script failed and that was allowed: use no layer
    std::string log;       // output of the script, when this call built it or it failed; at most 64 KiB of its end
};

// The space of layers that the command line builds: no server's space has this name.
constexpr std::string_view command_line_space = "command-line";

// The key alone, without building. An HMAC with a key of this installation: it cannot be computed or guessed outside,
// and nothing about the script's variables can be learned from it.
// `elsewhere`: where the programs of the root come from, if not from this machine (Provider::layer_root).
Result<std::string> layer_key(const Store& store, const Preparation& preparation, const std::string& elsewhere = {});

struct BuildOptions {
    std::function<bool()> cancelled{};         // called every 200 ms: true ends the build or the wait
    MakeBuildNetwork network{};                // called when the layer is built; empty: without network
    std::vector<std::string> arguments{};      // $1, $2, … of the script; part of the key only by `inputs`
    std::string_view what = "the init script"; // in errors
    // Starts the sandbox in which it is built; empty: the provider does. For callers that wait while there is no room.
    std::function<Result<std::unique_ptr<Sandbox>>(const SandboxSpec&)> start{};
};

// Finds or builds. While one process builds, others that need the same layer wait for it.
Result<PreparedLayer> prepare_layer(Provider& provider, const Store& store, const Preparation& preparation,
                                    const BuildOptions& options = {});

// Removes layers with keys of an earlier version, which no sandbox can get any more. Layers in use stay.
void discard_obsolete_layers(const Store& store);

// False: it is in use. One that is not there counts as removed.
Result<bool> remove_layer(const Store& store, const std::string& key);

struct StoredLayer {
    std::string key;
    std::string space; // empty: built before it was recorded
    Time used{};
    int64_t bytes = 0;
};
Result<std::vector<StoredLayer>> stored_layers(const Store& store);

struct LayerGarbage {
    int64_t removed = 0;
    int64_t kept = 0;
    int64_t kept_bytes = 0;
};
// Removes layers with keys of an earlier version, layers not used since `before`, then the least recently used ones
// until the rest fits in `most_bytes`. Layers in use stay.
Result<LayerGarbage> collect_layers(const Store& store, Time before, int64_t most_bytes);

} // namespace hone::sandbox
