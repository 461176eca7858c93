// Prepared layers: what an init script did to a root, built once in a sandbox of its own, then used read-only by every
// sandbox with the same preparation. The key is a hash of everything that went in. Any process; a lock per layer.
#pragma once

#include "sandbox/image/store.h"
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
    Defaulted<std::string> root = std::string("host");
    Defaulted<std::vector<std::string>> layers;
    std::string script;
    Defaulted<std::map<std::string, std::string>> env;
    Defaulted<std::map<std::string, std::string>> inputs;
    Defaulted<int64_t> timeout_ms = int64_t{120'000};
    Defaulted<OnFailure> on_failure = OnFailure::abort;
    Defaulted<NetworkMode> network = NetworkMode::none;
    Defaulted<Limits> limits;
    static constexpr std::tuple fields{
        Field{"root", &Preparation::root, "As in a sandbox."},
        Field{"layers", &Preparation::layers, "Layers below this one, lowest first."},
        Field{"script", &Preparation::script, "Run by /bin/sh -e as the worker, with a writable root."},
        Field{"env", &Preparation::env, "Environment of the script; only the names are part of the key."},
        Field{"inputs", &Preparation::inputs, "Name and hash of files the script depends on, such as lock files."},
        Field{"timeout_ms", &Preparation::timeout_ms, "Ends the script after this long."},
        Field{"on_failure", &Preparation::on_failure, "abort, or degrade: go on without the layer."},
        Field{"network", &Preparation::network, "As in a sandbox."},
        Field{"limits", &Preparation::limits, "As in a sandbox."},
    };
};

struct PreparedLayer {
    std::string key;
    bool built = false;    // by this call
    bool degraded = false; // the script failed and that was allowed: use no layer
    std::string log;       // what the script said, when this call built it or it failed; at most 64 KiB of its end
};

// The key alone, without building.
Result<std::string> layer_key(const Store& store, const Preparation& preparation);

// Finds or builds. While one process builds, others that want the same layer wait for it. `given_up` is asked now and
// then: true ends the building or the waiting.
Result<PreparedLayer> prepare_layer(Provider& provider, const Store& store, const Preparation& preparation,
                                    const std::function<bool()>& given_up = {});

struct LayerGarbage {
    int64_t removed = 0;
    int64_t kept = 0;
    int64_t kept_bytes = 0;
};
// Removes layers not used since `before`, then the least recently used ones until the rest fits in `most_bytes`.
// Layers in use stay.
Result<LayerGarbage> collect_layers(const Store& store, Time before, int64_t most_bytes);

} // namespace hone::sandbox
