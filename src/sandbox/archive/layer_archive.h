// A prepared layer as one stream of bytes, for a server on another machine: files, directories, links, modes, times,
// and what an overlay records about removed and replaced entries. Owners are left out: a layer has one. Reading is
// bounded and never leaves the directory, whatever the stream contains. One thread.
#pragma once

#include "base/file.h"
#include "base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace hone::sandbox {

struct LayerLimits {
    int64_t most_entries = 2'000'000;
    int64_t most_bytes = int64_t{8} << 30; // of files
    int most_depth = 100;
};

// Writes what `upper` has. conflict: the layer has something that does not make sense elsewhere.
Result<> pack_layer(int upper, const LayerLimits& limits, const std::function<Result<>(std::string_view)>& take);

// Reads it into the empty directory `upper`. `next` returns pieces, an empty one at the end. corrupt: this is no layer.
Result<> unpack_layer(int upper, std::optional<uid_t> owner, const LayerLimits& limits,
                      const std::function<Result<std::string>()>& next);

// Prepared layers that servers share. Called by prepare_layer while it holds the lock of the layer.
class LayerExchange {
public:
    virtual ~LayerExchange() = default;
    // Makes `directory`/upper, verified; false: no server has offered it.
    virtual Result<bool> fetch(const std::string& key, const std::string& directory) = 0;
    // This server has built it. Returns immediately.
    virtual void offer(const std::string& key) = 0;
};

} // namespace hone::sandbox
