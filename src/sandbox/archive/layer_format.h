// The records of which an archive of files consists: of a prepared layer (layer_archive.h), of the home of a pod
// (home_archive.h). Directories with their entries inside, in the order of their names. Packing follows no link;
// reading bounds and checks everything, and leaves it to a sink what is done with an entry. One thread.
#pragma once

#include "base/file.h"
#include "base/result.h"
#include "sandbox/archive/layer_archive.h"

#include <ctime>
#include <map>
#include <vector>

namespace hone::sandbox {

using LayerAttributes = std::map<std::string, std::string>;

struct PackOptions {
    std::string_view magic;
    std::string_view left_out{};                               // of the entries at the top
    Result<LayerAttributes> (*attributes)(int file) = nullptr; // null: files have none
};
Result<> pack_entries(int folder, const PackOptions& options, const LayerLimits& limits,
                      const std::function<Result<>(std::string_view)>& take);

struct LayerDescription {
    mode_t mode = 0; // without set-id bits
    timespec modified{};
    LayerAttributes attributes;
};

// What an archive has, in its order. Names are single plain parts of a path.
class LayerSink {
public:
    virtual ~LayerSink() = default;
    // Up to its `leave` all entries are in this directory.
    virtual Result<> enter(const std::string& name) = 0;
    virtual Result<> leave(const LayerDescription& description) = 0;
    virtual Result<> begin_file(const std::string& name) = 0;
    virtual Result<> data(std::string_view bytes) = 0;
    virtual Result<> end_file(const LayerDescription& description) = 0;
    virtual Result<> symbolic_link(const std::string& name, const std::string& target) = 0;
    // `target`: the parts of a path from the top.
    virtual Result<> hard_link(const std::string& name, const std::vector<std::string>& target) = 0;
    // Hides an entry of what is below.
    virtual Result<> removed(const std::string& name) = 0;
};

struct ReadOptions {
    std::string_view magic;
    bool (*may_have)(std::string_view attribute) = nullptr; // null: no entry has any
    bool must_be_sorted = false;                            // then no name can come twice
};
// `next` returns pieces, an empty one at the end. corrupt: this is no such archive.
Result<> read_entries(const ReadOptions& options, const LayerLimits& limits,
                      const std::function<Result<std::string>()>& next, LayerSink& sink);

Error bad_layer(const std::string& why);
// One part of a path that leads nowhere else.
bool is_entry_name(std::string_view name);

} // namespace hone::sandbox
