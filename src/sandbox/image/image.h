// Roots other than the host's: unpacked from a tar, an OCI layout or a directory. Unpacking happens in a sandbox, so a
// hostile archive reaches nothing. Any process; a lock per image.
#pragma once

#include "sandbox/image/store.h"
#include "sandbox/provider/provider.h"

#include <string>
#include <vector>

namespace hone::sandbox {

struct ImageView {
    std::string name;
    std::string source;
    std::string digest;
    int64_t bytes = 0;
    int64_t files = 0;
    Time created{};
    Defaulted<int64_t> version = int64_t{1};
    Defaulted<std::map<std::string, std::string>> environment;
    static constexpr Pack fields{
        Field{"name", &ImageView::name, "Name."},
        Field{"source", &ImageView::source, "What it was made from."},
        Field{"digest", &ImageView::digest, "Hash of the source, part of the key of layers on it."},
        Field{"bytes", &ImageView::bytes, "Size on disk."},
        Field{"files", &ImageView::files, "Files."},
        Field{"created", &ImageView::created, "When it was added."},
        Field{"version", &ImageView::version, "Counts the images that have had this name."},
        Field{"environment", &ImageView::environment, "Variables of every command in it."},
    };
};

struct ImageOptions {
    std::string program; // the hone binary that unpacks inside; empty: this executable
    int64_t most_bytes = int64_t{16} << 30;
    int64_t most_files = 1'000'000;
    bool replace = false; // an image of this name that no sandbox uses; Code::busy otherwise
    std::string source{}; // as it is shown; empty: the path
    std::map<std::string, std::string> environment{};
};

Result<ImageView> add_image(Provider& provider, const Store& store, const std::string& name, const std::string& source,
                            const ImageOptions& options);
Result<std::vector<ImageView>> list_images(const Store& store);
// Code::busy while a sandbox uses it.
Result<> remove_image(const Store& store, const std::string& name);
// Removes images that no sandbox has used since `before`; returns their names. Those in use stay.
Result<std::vector<std::string>> prune_images(const Store& store, Time before);
// Variables of commands in an image; empty for other roots.
std::map<std::string, std::string> image_environment(const Store& store, const std::string& root);

// The layers of an OCI layout, lowest first, as paths of their blobs. `index` is index.json; `blob` reads a blob by
// digest.
struct OciLayer {
    std::string path;
    std::string media_type;
};
Result<std::vector<OciLayer>> oci_layers(const std::string& directory);

} // namespace hone::sandbox
