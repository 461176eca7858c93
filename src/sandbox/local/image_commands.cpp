// `hone image build` and `hone image prune`.
#include "base/text.h"
#include "sandbox/image/recipe.h"
#include "sandbox/local/commands.h"
#include "sandbox/local/local_provider.h"

#include <cstdio>

namespace hone::sandbox {

namespace {

constexpr int exit_failed = 125;

int report_failure(const Error& error) {
    std::fprintf(stderr, "hone: %s\n", error.message.c_str());
    return exit_failed;
}

std::string name_of_recipe(const BuildImageOptions& options) {
    if (!options.name.empty()) return options.name;
    const std::string file = options.recipe.substr(options.recipe.rfind('/') + 1);
    return file.substr(0, file.rfind('.') == 0 ? std::string::npos : file.rfind('.'));
}

Result<ImageRecipe> read_recipe(const std::string& path) {
    if (path == "default") return default_recipe();
    const std::string text = TRY(read_file(path, 1 << 20));
    const size_t slash = path.rfind('/');
    return parse_recipe(text, slash == std::string::npos ? "." : path.substr(0, slash + 1));
}

Result<ImageView> build_from(const BuildImageOptions& options) {
    const ImageRecipe recipe = TRY(read_recipe(options.recipe));
    ImageOptions image;
    image.most_bytes = TRY(parse_bytes(options.most_bytes));
    const std::string mirror = options.mirror.empty() ? std::string(public_archive) : options.mirror;
    if (!(mirror.starts_with("https://") || mirror.starts_with("http://")) || !is_printable_ascii(mirror))
        return invalid("--mirror takes the address of an archive, such as https://deb.debian.org/debian/");
    const Store store = TRY(Store::open(options.data_directory));
    LocalOptions local;
    local.data_directory = options.data_directory;
    local.spawner = SpawnerKind::inside;
    const auto provider = TRY(open_local_provider(local));
    auto built = build_image(*provider, store, name_of_recipe(options), recipe, mirror, image);
    store.empty_trash();
    return built;
}

} // namespace

int build_image_command(const BuildImageOptions& options) {
    const auto image = build_from(options);
    if (!image.ok()) return report_failure(image.error());
    if (options.json) {
        std::fputs(json::print_pretty(json::to_value(image.value())).c_str(), stdout);
        return 0;
    }
    std::printf("%s  version %lld, %lld files, %lld bytes\n", image.value().name.c_str(),
                static_cast<long long>(*image.value().version), static_cast<long long>(image.value().files),
                static_cast<long long>(image.value().bytes));
    return 0;
}

int prune_images_command(const std::string& data_directory, const std::string& age, bool as_json) {
    const auto pruned = [&]() -> Result<std::vector<std::string>> {
        const int64_t longest = TRY(parse_duration_ns(age));
        const Store store = TRY(Store::open(data_directory));
        auto removed = TRY(prune_images(store, SystemClock().now() - Duration(longest)));
        store.empty_trash();
        return removed;
    }();
    if (!pruned.ok()) return report_failure(pruned.error());
    if (as_json) {
        json::Array names;
        for (const std::string& name : pruned.value()) names.emplace_back(name);
        std::fputs(json::print_pretty(names).c_str(), stdout);
        return 0;
    }
    for (const std::string& name : pruned.value()) std::printf("%s\n", name.c_str());
    return 0;
}

} // namespace hone::sandbox
